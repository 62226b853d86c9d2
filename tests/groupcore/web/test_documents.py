"""What a page is shown of a document's objects, from the objects themselves."""

from __future__ import annotations

from groupcore.gateway.kinds import kinds_of
from groupcore.objects.rich_delta import Run, canonical, rich
from groupcore.shared.documents import Block, DocumentOutline, Seed
from groupcore.shared.documents.parts import Parcel
from groupcore.shared.testing import World

KINDS = kinds_of([Block, DocumentOutline])


def _state(block: Block, base: int = -1) -> dict[str, object]:
    state = KINDS["Block"].snapshot(block, base)
    assert isinstance(state, dict)
    return state


def test_a_page_that_comes_back_is_given_the_steps_since_then() -> None:
    async def main(world: World) -> None:
        block = await world.node("ann").open(Block, "it")
        await block.accept("", "it", Parcel(1, "birth", rich("One two")))
        for word in ("a", "b"):
            await block.edit(block.version, canonical([1, Run(word)]))
        await block.split(2, 4, "new", (("type", "todo"),))
        await block.join("far")
        steps = [
            ["edit", [1, "b"], "", 0, 0],
            ["cut", [], "new", 1, 4],
            ["all", [], "far", 1, 0],
        ]
        assert _state(block, 1)["recent"] == steps
        assert _state(block)["recent"] is None
        assert _state(block, 9)["recent"] is None  # there is no such version

    World(1).run(main)


def test_a_joined_block_shows_what_is_under_way() -> None:
    async def main(world: World) -> None:
        block = await world.node("ann").open(Block, "it")
        await block.accept("", "it", Parcel(1, "birth", rich("One two")))
        await block.split(0, 3, "new", (("type", "todo"),))
        await block.join("far")
        state = _state(block)
        assert (state["status"], state["into"], state["number"]) == ("joined", "far", 1)
        assert (state["leaving"], state["content"]) == (["One"], [])
        assert state["births"] == [["new", {"type": "todo"}, [" two"]]]
        await block.handed("far", 1)
        await block.handed("new", 1)
        state = _state(block)
        assert (state["number"], state["leaving"], state["births"]) == (0, [], [])

    World(1).run(main)


def test_a_joined_block_tells_texts_that_it_has_passed_on_from_its_own() -> None:
    async def main(world: World) -> None:
        block = await world.node("ann").open(Block, "it")
        await block.accept("", "it", Parcel(1, "birth", rich("One")))
        await block.join("far")
        await block.accept("other", "it", Parcel(1, "append", rich("two")))
        state = _state(block)
        assert (state["number"], state["leaving"]) == (1, ["One"])
        assert state["onward"] == [["other", 1, "far", 2]]
        await block.handed("far", 1)
        state = _state(block)
        assert (state["number"], state["leaving"]) == (0, [])
        assert state["onward"] == [["other", 1, "far", 2]]

    World(1).run(main)


def test_an_outline_shows_the_seeds_of_blocks_without_a_group() -> None:
    async def main(world: World) -> None:
        outline = await world.node("ann").open(DocumentOutline, "it")
        await outline.insert("", [Seed("a", (("type", "quote"),), rich("A")), Seed("b", (), ())])
        await outline.wake(["b"])
        await outline.planted(["b"])
        assert KINDS["DocumentOutline"].snapshot(outline, -1) == {
            "title": "untitled",
            "blocks": [["a", "quote", 1, False], ["b", "paragraph", 0, True]],
            "seeds": [["a", {"type": "quote"}, ["A"]]],
        }

    World(1).run(main)
