"""The algebra of edits on text with marks, as laws."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupcore.objects.refusal import BadChangeError, OutOfRangeError, RefusalError
from groupcore.objects.rich_delta import (
    Format,
    MarkChanges,
    Marks,
    Rich,
    RichDelta,
    RichItem,
    Run,
    apply,
    canonical,
    compose,
    cut,
    divide,
    invert,
    joined,
    length,
    plain,
    rich,
    shift,
    span,
    transform,
    transform_position,
)
from groupcore.objects.rich_parsing import (
    check_rich_delta,
    parse_rich,
    parse_rich_delta,
    to_wire,
)

NAMES = st.sampled_from(["bold", "italic", "size"])
MARKS: st.SearchStrategy[Marks] = st.dictionaries(NAMES, st.integers(1, 2), max_size=2).map(
    lambda marks: tuple(sorted(marks.items()))
)
CHANGES: st.SearchStrategy[MarkChanges] = st.dictionaries(
    NAMES, st.none() | st.integers(1, 2), min_size=1, max_size=2
).map(lambda changes: tuple(sorted(changes.items())))
RUNS = st.builds(Run, st.text("abcäß𝄞\ufffc", min_size=1, max_size=4), MARKS)
TEXTS: st.SearchStrategy[Rich] = st.lists(RUNS, max_size=5).map(
    lambda runs: tuple(run for run in canonical(runs) if isinstance(run, Run))
)

RUNS_AT_ONE_PLACE = 3
"""Most runs that are inserted one behind the other: without a limit hundreds are drawn at times."""


@st.composite
def edits(draw: st.DrawFn, size: int) -> RichDelta:
    items: list[RichItem] = []
    left, here = size, 0
    while left or draw(st.booleans()):
        kind = draw(st.integers(0 if here < RUNS_AT_ONE_PLACE else 1, 3))
        if kind == 0 or not left:
            items.append(draw(RUNS))
            here += 1
            if not left:
                break
            continue
        count, here = draw(st.integers(1, left)), 0
        left -= count
        match kind:
            case 1:
                items.append(count)
            case 2:
                items.append(-count)
            case _:
                items.append(Format(count, draw(CHANGES)))
    return canonical(items)


@st.composite
def texts_and_two(draw: st.DrawFn) -> tuple[Rich, RichDelta, RichDelta]:
    text = draw(TEXTS)
    return text, draw(edits(length(text))), draw(edits(length(text)))


@st.composite
def texts_and_sequence(draw: st.DrawFn) -> tuple[Rich, RichDelta, RichDelta, RichDelta]:
    text = draw(TEXTS)
    one = draw(edits(length(text)))
    behind = apply(one, text)
    two = draw(edits(length(behind)))
    three = draw(edits(length(apply(two, behind))))
    return text, one, two, three


@given(texts_and_two())
def test_both_ways_round_lead_to_one_text(given: tuple[Rich, RichDelta, RichDelta]) -> None:
    text, one, two = given
    here = apply(transform(two, one, other_first=True), apply(one, text))
    there = apply(transform(one, two, other_first=False), apply(two, text))
    assert here == there


@given(texts_and_sequence())
def test_a_composed_edit_does_both_and_composing_is_associative(
    given: tuple[Rich, RichDelta, RichDelta, RichDelta],
) -> None:
    text, one, two, three = given
    assert apply(compose(one, two), text) == apply(two, apply(one, text))
    left, right = compose(compose(one, two), three), compose(one, compose(two, three))
    assert apply(left, text) == apply(right, text)


@given(texts_and_two())
def test_the_inverse_leads_back(given: tuple[Rich, RichDelta, RichDelta]) -> None:
    text, one, _ = given
    back = invert(one, text)
    assert apply(back, apply(one, text)) == text
    assert apply(compose(one, back), text) == text


@given(texts_and_two())
def test_results_are_canonical_and_travel(given: tuple[Rich, RichDelta, RichDelta]) -> None:
    text, one, two = given
    for delta in (
        transform(one, two, other_first=True),
        transform(one, two, other_first=False),
        compose(one, ()),
        invert(one, text),
    ):
        assert canonical(delta) == delta
    assert canonical(apply(one, text)) == apply(one, text)
    assert parse_rich_delta(to_wire(one)) == one
    assert parse_rich(to_wire(text)) == text


@given(texts_and_two(), st.data())
def test_a_divided_edit_does_the_same_to_a_divided_text(
    given: tuple[Rich, RichDelta, RichDelta], data: st.DataObject
) -> None:
    text, one, _ = given
    at = data.draw(st.integers(0, length(text)))
    before, behind = divide(one, at)
    left, right = cut(text, 0, at), cut(text, at, length(text))
    assert joined(apply(before, left), apply(behind, right)) == apply(one, text)
    assert joined(left, apply(shift(behind, 0), right)) == apply(shift(behind, at), text)


@given(texts_and_two(), st.data())
def test_a_place_moves_as_an_insert_there_would(
    given: tuple[Rich, RichDelta, RichDelta], data: st.DataObject
) -> None:
    text, one, _ = given
    at = data.draw(st.integers(0, length(text)))
    moved = transform(canonical([at, Run("X")]), one, other_first=True)
    before = 0
    for item in moved:
        if isinstance(item, Run):
            break
        before += span(item)
    assert transform_position(at, one) == before


def test_what_is_typed_inside_of_what_another_makes_bold_is_bold() -> None:
    bold = (Format(4, (("bold", True),)),)
    inside, at_edge = (2, Run("x")), (4, Run("x"))
    text = rich("abcd")
    assert apply(transform(inside, bold, other_first=True), apply(bold, text)) == rich(
        "abxcd", bold=True
    )
    assert apply(transform(bold, inside, other_first=True), apply(inside, text)) == rich(
        "abxcd", bold=True
    )
    assert apply(transform(at_edge, bold, other_first=True), apply(bold, text)) == joined(
        rich("abcd", bold=True), rich("x")
    )


def test_of_two_that_set_a_mark_the_later_one_wins() -> None:
    first, later = (Format(1, (("size", 1),)),), (Format(1, (("size", 2),)),)
    text = rich("a")
    after = apply(transform(later, first, other_first=True), apply(first, text))
    assert after == rich("a", size=2)


def test_an_edit_behind_the_end_is_refused() -> None:
    with pytest.raises(OutOfRangeError):
        apply((3, -1), rich("abc"))
    with pytest.raises(OutOfRangeError):
        invert((3, -1), rich("abc"))
    assert plain(apply((2, -1), rich("abc"))) == "ab"


@pytest.mark.parametrize(
    "wire",
    [
        "text",
        [0],
        [""],
        ["a", "b"],
        [1, 1, "a"],
        [-1, "a"],
        ["a", 3],
        [["a", {}]],
        [["a", {"bold": None}]],
        [["a", {"Bold": True}]],
        [["a", {"bold": 1.5}]],
        [["a", {"bold": "\x00"}]],
        [["a", {"link": "javascript:alert(1)"}]],
        [["a", {"link": " https://example.org"}]],
        [["a", {"embed": "picture"}]],
        [["\ufffc", {"embed": "no id"}]],
        [[2, {"embed": "other"}]],
        [[0, {"bold": True}]],
        [[-2, {"bold": True}]],
        [["a", {"bold": True}, 3]],
        [["a" * 3, {f"m{n}": True for n in range(21)}]],
        [1.0],
        [None],
        [True],
    ],
)
def test_what_is_no_canonical_delta_is_refused(wire: object) -> None:
    with pytest.raises(RefusalError):
        parse_rich_delta(wire)


ITEMS: st.SearchStrategy[RichItem] = st.one_of(
    st.builds(Run, st.sampled_from(["", "a", "\ufffc"]), MARKS),
    st.integers(-2, 2),
    st.builds(Format, st.integers(1, 2), CHANGES),
)


@given(st.lists(ITEMS, max_size=5).map(tuple))
def test_only_the_canonical_form_is_taken_from_outside_and_from_programs(items: RichDelta) -> None:
    for judge, value in ((parse_rich_delta, to_wire(items)), (check_rich_delta, items)):
        if canonical(items) == items:
            assert judge(value) == items  # type: ignore[arg-type]
        else:
            with pytest.raises(BadChangeError):
                judge(value)  # type: ignore[arg-type]


def test_links_and_embeds_that_do_no_harm_are_taken() -> None:
    wire = [
        ["a", {"link": "https://example.org/x"}],
        ["\ufffc", {"alt": "a cat", "embed": "p1"}],
        3,
        [2, {"bold": None}],
    ]
    assert to_wire(parse_rich_delta(wire)) == wire
    with pytest.raises(RefusalError):
        parse_rich(wire)
    with pytest.raises(RefusalError):
        parse_rich_delta(["abcd"], text_max=3)
    with pytest.raises(OutOfRangeError):
        parse_rich_delta([3, "a"], text_max=2)
