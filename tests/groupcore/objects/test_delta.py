"""The delta algebra against slow, obvious versions that work code point by code point."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupcore.objects.delta import (
    Delta,
    apply,
    base_length,
    canonical,
    check_text,
    compose,
    divide,
    growth,
    inserts_text,
    invert,
    parse_delta,
    shift,
    transform,
    transform_position,
)
from groupcore.objects.refusal import (
    BadChangeError,
    OutOfRangeError,
    RefusalError,
    TooLargeError,
)
from groupcore.objects.text import ReplicatedText

LETTERS = "ab\n😀é𝒳"
texts = st.text(LETTERS, max_size=12)


@st.composite
def deltas(draw: st.DrawFn, length: int) -> Delta:
    """A canonical delta that applies to a text of `length` code points."""
    items: list[int | str] = []
    left = length
    for _ in range(draw(st.integers(0, 6))):
        kind = draw(st.sampled_from("rid"))
        if kind == "i":
            items.append(draw(st.text("xyz🚀", min_size=1, max_size=3)))
        elif left:
            count = draw(st.integers(1, left))
            left -= count
            items.append(count if kind == "r" else -count)
    return canonical(items)


@st.composite
def text_and_deltas(draw: st.DrawFn, count: int) -> tuple[str, list[Delta]]:
    text = draw(texts)
    return text, [draw(deltas(len(text))) for _ in range(count)]


def slow_apply(delta: Delta, text: str) -> str:
    out: list[str] = []
    left = list(text)
    for item in delta:
        if isinstance(item, str):
            out.extend(item)
        else:
            for _ in range(abs(item)):
                point = left.pop(0)
                if item > 0:
                    out.append(point)
    return "".join(out + left)


def is_canonical(delta: Delta) -> bool:
    kinds = "".join("i" if isinstance(x, str) else "r" if x > 0 else "d" for x in delta)
    bad = ("rr", "ii", "dd", "di")
    return (
        "" not in delta
        and 0 not in delta
        and not (kinds.endswith("r") or any(pair in kinds for pair in bad))
    )


@given(text_and_deltas(1))
def test_apply_does_what_the_letters_say(case: tuple[str, list[Delta]]) -> None:
    text, (delta,) = case
    assert apply(delta, text) == slow_apply(delta, text)
    assert len(apply(delta, text)) == len(text) + growth(delta)
    assert base_length(delta) <= len(text)


@given(st.lists(st.one_of(st.integers(-3, 3), st.text("ab", max_size=2)), max_size=8))
def test_canonical_gives_the_canonical_form_and_keeps_the_effect(items: list[int | str]) -> None:
    delta = canonical(items)
    assert is_canonical(delta)
    assert canonical(delta) == delta
    assert parse_delta(list(delta)) == delta
    text = "0123456789" * 3
    assert slow_apply(delta, text) == slow_apply(tuple(items), text)
    assert inserts_text(delta) == any(isinstance(item, str) and item for item in items)


@given(texts, st.data())
def test_compose_is_one_edit_after_the_other(text: str, data: st.DataObject) -> None:
    first = data.draw(deltas(len(text)))
    middle = apply(first, text)
    second = data.draw(deltas(len(middle)))
    both = compose(first, second)
    assert is_canonical(both)
    assert apply(both, text) == apply(second, middle)


@given(text_and_deltas(1))
def test_invert_leads_back(case: tuple[str, list[Delta]]) -> None:
    text, (delta,) = case
    back = invert(delta, text)
    assert is_canonical(back)
    assert apply(back, apply(delta, text)) == text


@given(text_and_deltas(2))
def test_transform_converges_from_both_sides(case: tuple[str, list[Delta]]) -> None:
    text, (first, later) = case
    later_over = transform(later, first, other_first=True)
    first_over = transform(first, later, other_first=False)
    assert is_canonical(later_over)
    assert is_canonical(first_over)
    assert apply(later_over, apply(first, text)) == apply(first_over, apply(later, text))


def test_of_two_inserts_at_one_place_the_first_ordered_stands_left() -> None:
    assert transform((1, "b"), (1, "a"), other_first=True) == (2, "b")
    assert transform((1, "a"), (1, "b"), other_first=False) == (1, "a")


@given(text_and_deltas(1), st.data())
def test_divide_edits_both_halves_as_the_whole(
    case: tuple[str, list[Delta]], data: st.DataObject
) -> None:
    text, (delta,) = case
    at = data.draw(st.integers(0, len(text)))
    before, behind = divide(delta, at)
    assert is_canonical(before)
    assert is_canonical(behind)
    halves = apply(before, text[:at]), apply(behind, text[at:])
    assert "".join(halves) == apply(delta, text)
    assert transform_position(at, delta) == len(halves[0])


def test_an_insert_at_the_very_place_of_a_split_stays_before_it() -> None:
    assert divide((2, "x", -1), 2) == ((2, "x"), (-1,))


@given(text_and_deltas(1), texts)
def test_shift_edits_behind_a_prefix(case: tuple[str, list[Delta]], prefix: str) -> None:
    text, (delta,) = case
    moved = shift(delta, len(prefix))
    assert is_canonical(moved)
    assert apply(moved, prefix + text) == prefix + apply(delta, text)


def test_positions_are_code_points() -> None:
    assert apply((1, "!", -1), "😀🚀x") == "😀!x"


def test_an_edit_behind_the_end_is_out_of_range() -> None:
    with pytest.raises(OutOfRangeError):
        apply((4, "x"), "abc")
    with pytest.raises(OutOfRangeError):
        invert((-4,), "abc")


@pytest.mark.parametrize(
    "wire",
    [
        None, 1, "a", {}, [0], [""], ["a", "b"], [1, 2, "a"], [-1, -1], [-1, "a"], ["a", 1], [1],
        [True, "a"], [1.0, "a"], [[1, {}], "a"], [["a", {}]], [None], [b"a"], ["a\r"], ["\x00"],
        ["\ud83d"],
    ],
)  # fmt: skip
def test_only_the_canonical_form_is_parsed(wire: object) -> None:
    with pytest.raises(BadChangeError):
        parse_delta(wire)


def test_a_delta_keeps_the_limits_of_a_text() -> None:
    assert parse_delta([3, "ab", -1], text_max=4) == (3, "ab", -1)
    with pytest.raises(OutOfRangeError):
        parse_delta([3, "ab", -2], text_max=4)
    with pytest.raises(TooLargeError):
        parse_delta(["abcde"], text_max=4)
    with pytest.raises(TooLargeError):
        parse_delta(["abc", 1, "de"], text_max=4)
    with pytest.raises(TooLargeError):
        check_text("abcde", text_max=4)
    with pytest.raises(BadChangeError):
        check_text(5)


wire_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64) | st.floats() | st.text()
    | st.binary(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@given(wire_values | st.lists(st.integers(-5, 5) | st.text(max_size=3), max_size=5))
def test_parsing_any_value_gives_a_delta_or_a_refusal(wire: object) -> None:
    try:
        delta = parse_delta(wire)
    except RefusalError:
        return
    assert is_canonical(delta)


@given(texts, st.data())
def test_a_replicated_text_follows_its_edits(text: str, data: st.DataObject) -> None:
    replica = ReplicatedText(text)
    for _ in range(3):
        delta = data.draw(deltas(len(text)))
        text = slow_apply(delta, text)
        replica.apply(delta)
        assert (str(replica), len(replica)) == (text, len(text))


def test_a_refused_edit_leaves_the_text_as_it_was() -> None:
    text = ReplicatedText("abc", text_max=4)
    with pytest.raises(TooLargeError):
        text.apply(("xy",))
    with pytest.raises(OutOfRangeError):
        text.apply((-4,))
    assert repr(text) == "ReplicatedText('abc')"
