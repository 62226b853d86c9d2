"""The shared text with marks."""

from __future__ import annotations

from collections.abc import Callable
from typing import get_args

import pytest

from groupcore.objects.refusal import BadChangeError, OutOfRangeError, TooLargeError
from groupcore.objects.rich_delta import Format, RichDelta, Run, joined, plain, rich
from groupcore.shared import ArgumentsError
from groupcore.shared.changes import Changed
from groupcore.shared.errors import MisfitError
from groupcore.shared.machine import Entry, Machine
from groupcore.shared.messages import encode_operate
from groupcore.shared.testing import BAD_WEATHER, World
from groupcore.shared.types import RichText, RichTextEdited
from groupcore.shared.types.rich_text import RichCodec, RichContent, RichEdit, marks_at
from tests.groupcore.shared.ports import GROUP, ME


def test_what_is_typed_goes_on_as_the_text_before_it_but_links_and_code_end() -> None:
    text = joined(
        joined(rich("ab", bold=True, link="/x"), rich("cd", code=True)),
        rich("\ufffc", embed="p1", alt="a cat"),
    )
    assert marks_at(text, 0) == ()
    assert marks_at(text, 1) == (("bold", True), ("link", "/x"))
    assert marks_at(text, 2) == (("bold", True),)
    assert marks_at(text, 3) == (("code", True),)
    assert marks_at(text, 4) == ()
    assert marks_at(text, 5) == ()


def test_verbs_write_format_and_embed() -> None:
    text = RichText()
    text.insert(0, "hello", bold=True).result()
    text.insert(5, " you").result()
    text.format(0, 5, bold=None, link="https://example.org").result()
    text.embed(9, "p1", alt="a cat").result()
    text.delete(5, 1).result()
    assert str(text) == "helloyou\ufffc"
    assert len(text) == 9
    assert text.version == 5
    assert text.content == (
        Run("hello", (("link", "https://example.org"),)),
        Run("you", (("bold", True),)),
        Run("\ufffc", (("alt", "a cat"), ("embed", "p1"))),
    )


def test_two_type_and_format_at_once_and_see_one_text() -> None:
    async def main(world: World) -> None:
        a = await world.node("a").open(RichText, "t")
        b = await world.node("b").open(RichText, "t")
        await a.insert(0, "abcdef")
        await world.settle()
        calls = [a.insert(3, "AA"), b.format(1, 4, bold=True), a.delete(0, 1), b.insert(6, "B")]
        for call in calls:
            await call
        await world.settle()
        assert a.content == b.content
        assert "A" in str(a)
        assert "B" in str(b)
        world.assert_equal("t")

    for seed in range(10):
        World(seed, BAD_WEATHER).run(main)


def test_changes_tell_the_edit_as_it_was_done() -> None:
    text = RichText()
    changes = text.changes()
    text.insert(0, "abc").result()
    text.edit(0, (Run("X"),)).result()
    seen = [change.details for change in changes.take() if isinstance(change, Changed)]
    assert seen == [
        (RichTextEdited(1, (Run("abc"),)),),
        (RichTextEdited(2, (3, Run("X"))),),
    ]
    assert plain(text.content) == "abcX"


@pytest.mark.parametrize(
    "delta", [(1,), (Run("a"), Run("b")), (Run(""),), ("text",), (Format(1, ()),)]
)
def test_what_is_no_canonical_delta_is_not_sent(delta: RichDelta) -> None:
    with pytest.raises(ArgumentsError):
        RichText().edit(0, delta)


def test_an_edit_is_parsed_once_and_the_text_that_it_gives_checked_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    codecs = [get_args(one)[1] for one in (RichEdit, RichContent)]
    seen: list[object] = []

    def counted(codec: RichCodec, which: str) -> Callable[[object, int], RichDelta]:
        judge = getattr(codec, which)

        def count(value: object, most: int) -> RichDelta:
            seen.append(value)
            return judge(value, most)  # type: ignore[no-any-return]

        return count

    for codec in codecs:
        for which in ("_parse", "_check"):
            monkeypatch.setattr(codec, which, counted(codec, which))
    made = Machine(RichText(), GROUP)
    made.apply(Entry(1, ME, 0, None, True))
    seen.clear()
    made.apply(Entry(2, ME, 1, encode_operate(0, [("edit", [0, ["abc"]])])))
    assert seen == [["abc"], (Run("abc"),)]
    for bad in ((1.0,), (Run("a"), Run("b")), [Run("a")], "abc"):
        for codec in codecs:
            for judge in (codec.check, codec.require, codec.to_wire):
                with pytest.raises(MisfitError):
                    judge(bad)


def test_places_behind_the_end_versions_to_come_and_too_much_text_are_refused() -> None:
    text = RichText()
    with pytest.raises(OutOfRangeError):
        text.insert(1, "x")
    with pytest.raises(OutOfRangeError):
        text.edit(0, (1, -1)).result()
    with pytest.raises(BadChangeError):
        text.edit(1, (Run("x"),)).result()
    text.insert(0, "x" * 100_000).result()
    with pytest.raises(TooLargeError):
        text.insert(0, "x").result()
