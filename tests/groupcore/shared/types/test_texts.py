"""Texts and outlines: concurrent edits are carried over each other, and replicas converge."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from itertools import chain, islice
from random import Random

import pytest

from groupcore.objects import Delta, TextChange
from groupcore.objects.changes import DeleteChange
from groupcore.objects.refusal import (
    BadChangeError,
    BaseTooOldError,
    BlockDeletedError,
    NoSuchBlockError,
    OutOfRangeError,
    TooLargeError,
)
from groupcore.objects.rich_delta import Run, plain
from groupcore.shared import ArgumentsError, Changed, MisfitError, Pending, RefusedError, Replaced
from groupcore.shared.testing import BAD_WEATHER, Weather, World, WorldNode
from groupcore.shared.types import Editor, Outline, OutlineEdited, RichText, Text, TextEdited
from groupcore.shared.types.editor import Bunch
from groupcore.shared.types.history import HISTORY_MAX
from groupcore.shared.types.outline import ContentCodec, TransactionCodec

LETTERS = "ab😀é𝒳"
WEATHERS = pytest.mark.parametrize("weather", [Weather(), BAD_WEATHER], ids=["good", "bad"])


def error_of(editor: Editor) -> Exception | None:
    return editor.error


async def confirmed(world: World, editors: list[Editor]) -> None:
    """Until every edit has its place in the order and is delivered at all nodes."""
    while any(editor.unconfirmed for editor in editors):
        await world.settle()
        await world.elapse(0.01)
    await world.settle()
    world.assert_equal("text")


def test_the_verbs_of_a_text() -> None:
    text = Text()
    changes = text.changes()
    assert text.append("hello").result() == 1
    text.insert(0, "oh, ")
    text.delete(0, 2)
    text.replace(0, 2, "Well, ")
    assert (str(text), len(text), text.version) == ("Well, hello", 11, 4)
    (detail,) = changes.take()[-1].details  # type: ignore[union-attr]
    assert detail == TextEdited(4, ("Well, ", -2))
    for at, count in ((12, 0), (-1, 0), (3, 20), (0, -1)):
        with pytest.raises(OutOfRangeError):
            text.replace(at, count, "x")


def test_an_edit_is_carried_over_those_since_its_base() -> None:
    text = Text()
    text.append("ac")
    text.edit(1, (1, "b"))
    text.edit(1, (2, "d"))
    text.edit(1, (-1,))
    assert text.text == "bcd"


def test_the_first_in_the_order_stands_left() -> None:
    text = Text()
    text.edit(0, ("1",))
    text.edit(0, ("2",))
    assert text.text == "12"


def test_what_extends_its_writers_words_stands_left() -> None:
    text, rich = Text(), RichText()
    text.edit(0, ("[A",)), rich.edit(0, (Run("[A"),))
    text.edit(0, ("[C]",)), rich.edit(0, (Run("[C]"),))
    text.edit(1, (2, "]"), True), rich.edit(1, (2, Run("]")), True)
    assert (text.text, plain(rich.content)) == ("[A][C]", "[A][C]")


def test_edits_that_make_no_sense_are_refused() -> None:
    text = Text()
    with pytest.raises(BadChangeError):
        text.edit(1, ("x",)).result()
    with pytest.raises(OutOfRangeError):
        text.edit(0, (5, "x")).result()
    for delta in ((0,), (1,), ("",), ("a\r",), [1, "x"], (1.5,)):
        with pytest.raises(ArgumentsError):
            text.edit(0, delta)  # type: ignore[arg-type]
    text.append("x" * 60_000)
    with pytest.raises(TooLargeError):
        text.append("x" * 60_000).result()
    assert (len(text), text.version) == (60_000, 1)


def test_edits_against_versions_long_ago_are_refused() -> None:
    text = Text()
    for _ in range(2 * HISTORY_MAX):
        text.append("x")
    text.edit(HISTORY_MAX, ("a",)).result()
    with pytest.raises(BaseTooOldError):
        text.edit(0, ("a",)).result()
    assert len(text._recent) <= 2 * HISTORY_MAX


@WEATHERS
@pytest.mark.parametrize("seed", range(10))
def test_what_editors_show_converges_with_the_text(seed: int, weather: Weather) -> None:
    async def write(world: World, node: WorldNode, count: int) -> Editor:
        text = await node.open(Text, "text")
        editor = Editor(text)
        for number in range(count):
            shown = editor.text
            at = world.draw.randint(0, len(shown))
            cut = world.draw.randint(0, min(3, len(shown) - at))
            letters = [world.draw.choice(LETTERS) for _ in range(world.draw.randint(0, 3))]
            new = f"{''.join(letters)}{number}" if world.draw.random() < 0.7 else ""
            editor.replace(at, cut, new)
            assert editor.text == shown[:at] + new + shown[at + cut :]
            await world.elapse(world.draw.random() / 20)
        return editor

    async def main(world: World) -> None:
        writers = [world.spawn(write(world, world.node(name), 30)) for name in "abc"]
        editors = [await writer for writer in writers]
        await confirmed(world, editors)
        texts = [replica.target.text for replica in world.replicas("text").values()]  # type: ignore[attr-defined]
        assert [editor.text for editor in editors] == texts
        assert all(editor.error is None for editor in editors)

    World(seed, weather).run(main)


@WEATHERS
@pytest.mark.parametrize("seed", range(10))
def test_words_of_many_at_one_place_are_whole(seed: int, weather: Weather) -> None:
    """All type at the end of what they see, letter by letter, and go elsewhere between words."""

    letters = map(chr, itertools.count(0x4E00))
    words = [["".join(islice(letters, 4)) for _ in range(6)] for _ in "abc"]

    async def write(world: World, number: int) -> Editor:
        editor = Editor(await world.node("abc"[number]).open(Text, "text"))
        for word in words[number]:
            at = len(editor.text)
            for typed, letter in enumerate(word, 1):
                editor.insert(at, letter)
                await world.elapse(world.draw.expovariate(20.0))
                at = editor.text.index(word[:typed]) + typed
            if world.draw.random() < 0.3:
                editor.insert(0, "|")
        return editor

    async def main(world: World) -> None:
        writers = [world.spawn(write(world, number)) for number in range(3)]
        editors = [await writer for writer in writers]
        await confirmed(world, editors)
        [text] = {editor.text for editor in editors}
        torn = [word for word in chain.from_iterable(words) if text.count(word) != 1]
        assert not torn, text

    World(seed, weather).run(main)


def test_an_editor_sends_one_bunch_at_a_time() -> None:
    async def main(world: World) -> None:
        text = await world.node("a").open(Text, "text")
        editor = Editor(text)
        for letter in "hello":
            editor.insert(len(editor.text), letter)
        editor.delete(0, 1)
        assert (editor.text, editor.unconfirmed, text.version) == ("ello", True, 0)
        while editor.unconfirmed:
            await world.settle()
            await world.elapse(0.01)
        assert (text.text, text.version) == ("ello", 2)
        with pytest.raises(OutOfRangeError):
            editor.insert(9, "x")
        editor.close()

    World(1).run(main)


def test_an_editor_whose_edit_is_not_taken_keeps_the_text_and_says_why() -> None:
    async def main(world: World) -> None:
        text = await world.node("a").open(Text, "text")
        editor = Editor(text)
        for _ in range(2):
            editor.insert(0, "x" * 50_000)
            await world.settle()
        assert editor.error is None
        editor.insert(0, "y")
        await world.settle()
        await world.elapse(0.1)
        assert isinstance(error_of(editor), TooLargeError)
        editor.insert(0, "z")
        assert editor.text.startswith("zyx")
        await world.settle()
        assert text.version == 2

    World(1).run(main)


def test_an_edit_that_is_too_large_to_be_sent_is_kept_and_told() -> None:
    async def main(world: World) -> None:
        editor = Editor(await world.node("a").open(Text, "text"))
        editor.insert(0, "x" * 70_000)
        assert isinstance(error_of(editor), RefusedError)
        editor.insert(0, "y")
        assert (len(editor.text), editor.unconfirmed) == (70_001, True)

    World(1).run(main)


def test_the_verbs_of_an_outline() -> None:
    outline = Outline()
    changes = outline.changes()
    assert (outline.title, len(outline)) == ("untitled", 0)
    outline.rename("Plans")
    first = outline.insert("one two", kind="paragraph").result()
    last = outline.insert("three", after=first).result()
    outline.set(first, kind="heading", level=2)
    outline.write(first, 0, 3, "ONE")
    outline.split(first, 4, "new", kind="quote")
    assert outline.blocks() == [
        (first, {"kind": "heading", "level": 2}, "ONE "),
        ("new", {"kind": "quote"}, "two"),
        (last, {}, "three"),
    ]
    outline.set(first, level=None)
    outline.move(last, None)
    outline.join("new", first)
    assert outline.blocks() == [(last, {}, "three"), (first, {"kind": "heading"}, "ONE two")]
    assert (outline.text(first), first in outline, outline.title) == ("ONE two", True, "Plans")
    outline.delete(last)
    assert (len(outline), outline.version) == (1, 10)
    seen = [change.details for change in changes.take() if isinstance(change, Changed)]
    assert all(isinstance(detail, OutlineEdited) for (detail,) in seen)
    with pytest.raises(NoSuchBlockError):
        outline.delete(last)
    with pytest.raises(NoSuchBlockError):
        outline.edit(last, ("x",)).result()
    with pytest.raises(ArgumentsError):
        outline.submit(0, (TextChange(first, (0,)),))
    with pytest.raises(ArgumentsError):
        outline.submit(0, ("text",))  # type: ignore[arg-type]
    with pytest.raises(BadChangeError):
        outline.insert("x", colour="red").result()
    with pytest.raises(BadChangeError):
        outline.submit(99, (TextChange(first, ("a",)),)).result()


def test_what_turns_out_to_do_nothing_leaves_an_outline_as_it_is() -> None:
    outline = Outline()
    first = outline.insert("one").result()
    last = outline.insert("two", after=first).result()
    changes = outline.changes()
    for done in (outline.move(last, first), outline.edit(first, ()), outline.set(last)):
        assert done.result() == outline.version == 2
    base = outline.version
    outline.delete(last)
    assert outline.submit(base, (DeleteChange(last, first),)).result() == 3  # others did it before
    assert [block for block, _, _ in outline.blocks()] == [first]
    told = [change.details for change in changes.take() if isinstance(change, Changed)]
    assert [len(details) for details in told] == [0, 0, 0, 1, 0]


def test_writing_into_a_block_that_was_deleted_is_refused() -> None:
    outline = Outline()
    block = outline.insert("text").result()
    base = outline.version
    outline.delete(block)
    with pytest.raises(BlockDeletedError):
        outline.submit(base, (TextChange(block, ("x",)),)).result()


async def test_an_outline_in_a_transaction_that_fails_is_what_it_was() -> None:
    outline = Outline()
    block = outline.insert("one").result()
    before = (outline.blocks(), outline.version)
    shown: list[Pending[int]] = []

    async def fail() -> None:
        async with outline.transaction() as both:
            base = outline.version
            shown.append(both.submit(base, (TextChange(block, ("x",)),)))
            both.submit(base, (TextChange("nowhere", ("x",)),))

    with pytest.raises(NoSuchBlockError):
        await fail()
    assert (outline.blocks(), outline.version) == before
    assert shown[0].error is not None


def some_delta(draw: Random, length: int) -> Delta:
    at = draw.randint(0, length)
    return (at, "x") if at else ("x",)


def act(draw: Random, outline: Outline, number: int) -> None:
    """One random edit of the outline."""
    blocks = outline.blocks()
    if not blocks:
        outline.insert(f"{number}")
        return
    block, _, text = draw.choice(blocks)
    other = draw.choice(blocks)[0]
    acts: list[Callable[[], object]] = [
        lambda: outline.insert(f"{number}", after=block),
        lambda: outline.insert(f"{number}"),
        lambda: outline.edit(block, some_delta(draw, len(text))),
        lambda: outline.edit(block, some_delta(draw, len(text))),
        lambda: outline.split(block, draw.randint(0, len(text)), f"s{number}"),
        lambda: outline.delete(block),
        lambda: outline.set(block, kind="quote"),
        lambda: outline.rename(f"title {number}"),
        lambda: outline.move(block, None),
    ]
    if other != block:
        acts.append(lambda: outline.move(block, other))
        acts.append(lambda: outline.join(block, other))
    draw.choice(acts)()


@WEATHERS
@pytest.mark.parametrize("seed", range(8))
def test_random_edits_of_an_outline_converge(seed: int, weather: Weather) -> None:
    async def main(world: World) -> None:
        draw = world.draw
        outlines = [await world.node(name).open(Outline, "o") for name in "abc"]
        await outlines[0].insert("start")
        for number in range(60):
            act(draw, draw.choice(outlines), number)
            if draw.random() < 0.3:
                await world.elapse(draw.random() / 20)
            if number == 30:
                outlines.append(await world.node("d").open(Outline, "o"))
        await world.settle()
        world.assert_equal("o")

    World(seed, weather).run(main)


def test_a_state_that_is_no_outline_is_refused() -> None:
    for wire in (
        None,
        ["title"],
        ["title", [["a", {}]]],
        ["title", [["a", {"kind": "odd"}, ""]]],
        ["title", [["a", {}, ""], ["a", {}, ""]]],
    ):
        with pytest.raises(MisfitError):
            ContentCodec().from_wire(wire)
    with pytest.raises(MisfitError):
        ContentCodec().to_wire("title")
    for changes in (None, [], [["odd"]]):
        with pytest.raises(MisfitError):
            TransactionCodec().from_wire(changes)


def test_an_outline_that_is_too_far_ahead_or_behind_is_refused() -> None:
    outline = Outline()
    block = outline.insert("x").result()
    for _ in range(2 * HISTORY_MAX):
        outline.write(block, 0, 1, "y").result()
    with pytest.raises(BaseTooOldError):
        outline.submit(0, (TextChange(block, ("z",)),)).result()
    many = tuple(TextChange(block, ("z",)) for _ in range(800))
    with pytest.raises(BaseTooOldError, match="too much"):
        outline.submit(outline.version - 1_000, many).result()


def test_what_extends_its_writers_words_in_an_outline_stands_left() -> None:
    outline = Outline()
    block = outline.insert("x").result()
    version = outline.version
    outline.submit(version, (TextChange(block, (1, "[A")),)).result()
    outline.submit(version, (TextChange(block, (1, "[C]")),)).result()
    outline.submit(version + 1, (TextChange(block, (3, "]"), extends=True),)).result()
    assert outline.blocks()[0][2] == "x[A][C]"


def test_an_editor_of_a_text_that_was_taken_anew() -> None:
    text = Text()
    editor, busy = Editor(text), Editor(text)
    text.append("one")
    assert editor.text == busy.text == "one"
    editor._changes.push(Replaced(9))
    assert (editor.text, editor.error) == ("one", None)
    busy._sent = Bunch(("x",), None)
    busy._changes.push(Replaced(9))
    assert busy.unconfirmed
    assert isinstance(error_of(busy), OutOfRangeError)
