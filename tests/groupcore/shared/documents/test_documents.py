"""Documents over many groups, at several nodes of the test kit."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress

import pytest

from groupcore.objects.refusal import NoSuchBlockError, RefusalError
from groupcore.objects.rich_delta import RichDelta, Run, canonical, plain, rich
from groupcore.shared import ForbiddenError
from groupcore.shared.access import Right
from groupcore.shared.documents import Document, open_document
from groupcore.shared.pending import Signal
from groupcore.shared.testing import BAD_WEATHER, Weather, World
from tests.groupcore.shared.documents.office import Desk, rest, sit_down

Main = Callable[[World], Coroutine[object, None, None]]


def run(main: Main, seed: int = 1, weather: Weather | None = None) -> None:
    World(seed, weather).run(main)


async def texts(doc: Document) -> list[str]:
    return [plain(text) for _, _, text in await doc.snapshot()]


def typed(at: int, text: str) -> RichDelta:
    return canonical([at, Run(text)])


async def three(world: World) -> tuple[Document, Document, list[str]]:
    """Two keepers of a document of three blocks."""
    a, b = await sit_down(world, "a", keep=True), await sit_down(world, "b", keep=True)
    ids = await a.insert("", [rich("one"), rich("two"), rich("three")])
    await rest(world)
    return a, b, ids


def test_a_pasted_block_is_read_without_a_group_and_gets_one_when_somebody_writes() -> None:
    async def main(world: World) -> None:
        a, b, ids = await three(world)
        assert await texts(b) == ["one", "two", "three"]
        assert not a.blocks
        assert not b.blocks
        await b.write(ids[1], typed(3, "!"))
        await rest(world)
        assert list(a.blocks) == list(b.blocks) == [ids[1]]
        assert list(a.outline.seeds) == [ids[0], ids[2]]
        assert await texts(a) == ["one", "two!", "three"]

    run(main)


def test_two_that_begin_to_write_in_a_pasted_block_write_in_one() -> None:
    async def main(world: World) -> None:
        a, b, ids = await three(world)
        at_once = [
            world.spawn(doc.write(ids[0], typed(0, name))) for doc, name in ((a, "A"), (b, "B"))
        ]
        for one in at_once:
            await one
        await rest(world)
        assert await texts(a) == await texts(b)
        assert sorted((await texts(a))[0]) == sorted("ABone")

    for seed in range(5):
        run(main, seed, BAD_WEATHER)


def test_splits_of_one_block_stand_in_the_order_of_its_text() -> None:
    async def main(world: World) -> None:
        a, b, ids = await three(world)
        await a.block(ids[2])
        await b.block(ids[2])
        at_once = [world.spawn(a.split(ids[2], 3)), world.spawn(b.split(ids[2], 1))]
        for one in at_once:
            await one
        await rest(world)
        assert await texts(a) == await texts(b) == ["one", "two", "t", "hr", "ee"]

    for seed in range(10):
        run(main, seed, BAD_WEATHER)


def test_a_split_is_brought_to_its_end_when_its_node_dies() -> None:
    async def main(world: World) -> None:
        a, b, ids = await three(world)
        c = await sit_down(world, "c")
        block = await c.block(ids[2])
        await rest(world)
        c.tender.ended = True  # it gets no further
        assert await block.split(block.version, 2, "new") is None
        await rest(world)
        assert await texts(a) == ["one", "two", "th"]
        world.crash("c")
        await world.elapse(2.0)
        await rest(world)
        assert await texts(a) == await texts(b) == ["one", "two", "th", "ree"]
        assert not a.blocks[ids[2]].owes

    run(main)


def test_a_join_is_brought_to_its_end_when_its_node_dies() -> None:
    async def main(world: World) -> None:
        a, _, ids = await three(world)
        c = await sit_down(world, "c")
        block = await c.block(ids[2])
        await c.block(ids[1])
        await rest(world)
        c.tender.ended = True
        assert await block.join(ids[1])
        world.crash("c")
        await world.elapse(2.0)
        await rest(world)
        assert await texts(a) == ["one", "twothree"]

    run(main)


def test_what_is_handed_over_is_always_on_the_screen_once() -> None:
    async def main(world: World) -> None:
        a, b, ids = await three(world)
        for block in ids:
            await b.block(block)
        await rest(world)
        work: list[Signal] = [world.spawn(b.split(ids[2], 2)), world.spawn(b.join(ids[1], ids[0]))]
        while not all(one.done for one in work):
            for doc in (a, b):
                shown = "".join(plain(text or ()) for _, text in doc.screen())
                assert sorted(shown) == sorted("onetwothree"), shown
            await world.elapse(0.001)

    for seed in range(5):
        run(main, seed, BAD_WEATHER)


def test_a_join_into_a_deleted_block_does_not_come_to_be() -> None:
    async def main(world: World) -> None:
        a, b, ids = await three(world)
        await a.block(ids[1])
        await b.block(ids[2])
        await b.block(ids[1])
        await rest(world)
        world.cut_off("b")
        joining = world.spawn(b.join(ids[2], into=ids[1]))
        await a.delete(ids[1])
        await world.elapse(0.1)
        world.reconnect("b")
        assert not await joining
        await rest(world)
        assert await texts(a) == await texts(b) == ["one", "three"]

    run(main)


def test_what_is_written_into_a_block_that_was_deleted_comes_back() -> None:
    async def main(world: World) -> None:
        a, b, ids = await three(world)
        block = await b.block(ids[1])
        await rest(world)
        base = block.version
        await a.delete(ids[1])
        edited = await b.write(ids[1], typed(3, "!"), base)
        assert plain(edited.draft) == "!"
        await rest(world)
        assert await texts(b) == ["one", "three"]
        await a.write(ids[0], typed(0, "x"))
        base = a.blocks[ids[0]].version
        new = await a.split(ids[0], 1)
        await rest(world)
        await b.block(new)
        await a.delete(new)
        await rest(world)
        await b.write(ids[0], typed(3, "?"), base)
        await rest(world)
        assert [plain(text) for text in b.drafts] == ["?"]
        assert not b.blocks[new].drafts

    run(main)


def test_deleting_a_block_that_another_one_is_writing_in_deletes_it_for_all() -> None:
    async def main(world: World) -> None:
        a, b, ids = await three(world)
        await rest(world)
        writing = world.spawn(b.write(ids[1], typed(0, "x")))
        await a.delete(ids[1])
        with suppress(NoSuchBlockError):
            await writing
        await rest(world)
        assert await texts(a) == await texts(b) == ["one", "three"]
        assert {doc.blocks[ids[1]].status for doc in (a, b) if ids[1] in doc.blocks} <= {
            "deleted",
            "unborn",
        }

    for seed in range(5):
        run(main, seed, BAD_WEATHER)


def test_blocks_are_moved_and_the_place_of_one_that_is_gone_is_that_before_it() -> None:
    async def main(world: World) -> None:
        a, b, ids = await three(world)
        await a.move([ids[2]], "")
        await a.move([ids[0]], ids[0])
        await b.delete(ids[0])
        await b.insert(ids[0], [rich("four")])
        await b.move([ids[1], ids[2]], ids[0])
        await rest(world)
        assert await texts(a) == ["two", "three", "four"]
        with pytest.raises(NoSuchBlockError):
            await a.insert("nowhere", [rich("x")])
        with pytest.raises(NoSuchBlockError):
            await a.write("nowhere", typed(0, "x"))

    run(main)


def test_undo_takes_back_own_edits_only_wherever_they_are_and_redo_brings_them_again() -> None:
    async def main(world: World) -> None:
        a, b, ids = await three(world)
        await a.write(ids[0], typed(3, "AA"))
        await b.write(ids[0], typed(0, "bb"))
        await rest(world)
        await a.write(ids[0], typed(2, "A"))
        await rest(world)
        await b.split(ids[0], 4)
        await rest(world)
        assert (await texts(a))[:2] == ["bbAo", "neAA"]
        await a.undo()
        await a.undo()
        assert await a.undo() is None
        await rest(world)
        assert await texts(a) == await texts(b) == ["bbo", "ne", "two", "three"]
        await b.undo()
        await b.redo()
        assert await b.redo() is None
        await rest(world)
        assert await texts(a) == ["bbo", "ne", "two", "three"]

    run(main)


def test_a_viewport_is_in_the_groups_of_the_blocks_near_it_only() -> None:
    async def main(world: World) -> None:
        a = await sit_down(world, "a", keep=True)
        ids = await a.insert("", [rich(f"block {n}") for n in range(40)])
        for block in ids:
            await a.write(block, typed(0, "*"))
        reader = await sit_down(world, "reader")
        assert await reader.view(10, 5, margin=2) == ids[10:15]
        assert sorted(reader.blocks) == sorted(ids[8:17])
        await reader.view(30, 5, margin=2)
        await rest(world)
        assert sorted(reader.blocks) == sorted(ids[28:37])
        assert reader.own._contents.keys() == reader.blocks.keys(), "nothing is kept of closed ones"
        assert not reader._closing
        assert await reader.view(0, 2, margin=0) == ids[:2]
        assert plain(reader.content(ids[0]) or ()) == "*block 0"
        assert reader.content(ids[39]) is None
        assert await reader.find("block 39") == [(ids[39], 1)]

    run(main)


def test_a_draft_that_another_page_of_its_author_has_taken_is_nobodys() -> None:
    async def main(world: World) -> None:
        a, _, ids = await three(world)
        await a.block(ids[0])
        for block in (ids[0], "not open"):
            a._collect(block, "source:1")
        assert not a.drafts

    run(main)


def test_the_outlines_list_holds_in_the_blocks_and_a_revocation_has_an_edge_there() -> None:
    async def main(world: World) -> None:
        keeper = await open_document(Desk(world, "k"), "plan", keep=True)
        ann = await open_document(Desk(world, "a", "ann"), "plan", author="ann", tend=False)
        await ann.outline.claim()
        await ann.outline.grant("bob", Right.WRITE)
        bob = await open_document(Desk(world, "b", "bob"), "plan", author="bob", tend=False)
        [block] = await ann.insert("", [rich("text")])
        await bob.write(block, typed(0, "b"))
        new = await bob.split(block, 2)
        await rest(world)
        for name in (block, new):
            assert keeper.blocks[name].rights_version == keeper.outline.rights_version
        await ann.outline.revoke("bob")
        await rest(world)
        for name in (block, new):
            with pytest.raises(ForbiddenError):
                await bob.write(name, typed(0, "late"))
        await ann.write(block, typed(0, "a"))
        await rest(world)
        assert await texts(keeper) == ["abt", "ext"]
        assert plain(bob.blocks[block].content) == "bt"

    run(main)


def test_who_may_write_may_not_do_what_nodes_do_for_themselves() -> None:
    async def main(world: World) -> None:
        keeper = await open_document(Desk(world, "k"), "plan", keep=True)
        eve = await open_document(Desk(world, "e", "eve"), "plan", author="eve", tend=False)
        await eve.outline.claim()
        [block] = await eve.insert("", [rich("text")])
        await eve.write(block, typed(0, "x"))
        found = await eve.block(block)
        calls: list[Callable[[], Awaitable[object]]] = [
            lambda: found.follow(99, {"eve": Right.MANAGE}),
            lambda: found.handed("other", 1),
            lambda: eve.outline.planted([block]),
            eve.outline.attend,
        ]
        for call in calls:
            with pytest.raises(ForbiddenError):
                await call()
        assert await texts(keeper) == ["xtext"]

    run(main)


def test_nodes_delete_the_texts_of_blocks_that_are_taken_out_also_where_a_list_says_who_may() -> (
    None
):
    async def main(world: World) -> None:
        keeper = await open_document(Desk(world, "k"), "plan", keep=True)
        ann = await open_document(Desk(world, "a", "ann"), "plan", author="ann", tend=False)
        await ann.outline.claim()
        [block] = await ann.insert("", [rich("text")])
        await ann.write(block, typed(0, "a"))
        await ann.outline.remove([block])
        await rest(world)
        assert keeper.blocks[block].status == "deleted"
        assert not keeper.tender.troubles

    run(main)


def test_pasting_much_takes_few_messages() -> None:
    async def main(world: World) -> None:
        a = await sit_down(world, "a", keep=True)
        ids = await a.insert("", [rich("words " * 20)] * 1_000, [{"type": "quote"}] * 1_000)
        assert len(ids) == len(set(ids)) == 1_000
        position = a.outline._shared.caller.position  # type: ignore[attr-defined]
        assert position <= 10
        assert a.outline.entries[ids[-1]].type == "quote"
        await a.move(ids[:900], ids[-1])
        assert list(a.outline.order) == ids[900:] + ids[:900]
        assert await a.delete(*ids[:999]) == ids[:999]
        assert list(a.outline.order) == ids[999:]
        with pytest.raises(RefusalError):
            await a.outline.rename("")

    run(main)


def test_a_text_is_owed_until_a_second_node_has_it() -> None:
    async def main(world: World) -> None:
        a, b = [await sit_down(world, name, keep=True, copies=2) for name in ("a", "b")]
        [block] = await a.insert("", [rich("one two")])
        await a.block(block)
        await rest(world)
        world.cut_off("b")
        new = await a.split(block, 3)
        await world.elapse(1.0)
        position = a.blocks[new]._shared.caller.position  # type: ignore[attr-defined]
        await world.elapse(10.0)
        assert a.blocks[new]._shared.caller.position == position  # type: ignore[attr-defined]
        assert list(a.blocks[block].owes) == [new]
        assert await texts(a) == ["one", " two"]
        world.reconnect("b")
        await rest(world)
        assert not a.blocks[block].owes
        world.crash("a")
        await world.elapse(1.0)
        assert await texts(b) == ["one", " two"]

    run(main)
