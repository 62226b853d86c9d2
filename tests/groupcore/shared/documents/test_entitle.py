"""A server's own accounts give a document its whole list: the newest one counts, nodes only."""

from __future__ import annotations

import pytest

from groupcore.objects.rich_delta import plain, rich
from groupcore.shared import ForbiddenError
from groupcore.shared.access import LastManagerError, Right
from groupcore.shared.documents import open_document
from groupcore.shared.testing import World
from tests.groupcore.shared.documents.office import Desk, rest
from tests.groupcore.shared.documents.test_documents import run, typed

KEEPER = {"accounts": Right.MANAGE}
BOB = {**KEEPER, "bob": Right.WRITE}


def test_the_newest_list_counts_whoever_is_late() -> None:
    async def main(world: World) -> None:
        keeper = await open_document(Desk(world, "k"), "plan", keep=True)
        await keeper.outline.entitle(5, BOB)
        await keeper.outline.entitle(4, KEEPER)
        await keeper.outline.entitle(5, KEEPER)
        assert keeper.outline.rights == BOB
        await keeper.outline.entitle(6, KEEPER)
        assert keeper.outline.rights == KEEPER

    run(main)


def test_a_list_needs_somebody_who_manages_it() -> None:
    async def main(world: World) -> None:
        keeper = await open_document(Desk(world, "k"), "plan", keep=True)
        lists: list[dict[str, Right]] = [{}, {"bob": Right.WRITE}]
        for rights in lists:
            with pytest.raises(LastManagerError):
                await keeper.outline.entitle(1, rights)
        assert keeper.outline.rights == {}

    run(main)


def test_no_person_gives_a_list_not_even_who_manages_it() -> None:
    async def main(world: World) -> None:
        ann = await open_document(Desk(world, "a", "ann"), "plan", author="ann", tend=False)
        await ann.outline.claim()
        with pytest.raises(ForbiddenError):
            await ann.outline.entitle(9, {"ann": Right.MANAGE})
        assert "entitle" in ann.outline.for_nodes

    run(main)


def test_the_blocks_follow_and_who_was_taken_out_writes_no_more() -> None:
    async def main(world: World) -> None:
        keeper = await open_document(Desk(world, "k"), "plan", keep=True)
        [block] = await keeper.insert("", [rich("text")])
        await keeper.outline.entitle(1, BOB)
        bob = await open_document(Desk(world, "b", "bob"), "plan", author="bob", tend=False)
        await bob.write(block, typed(0, "b"))
        await rest(world)
        await keeper.outline.entitle(2, KEEPER)
        await rest(world)
        with pytest.raises(ForbiddenError):
            await bob.write(block, typed(0, "late"))
        assert plain(keeper.content(block) or ()) == "btext"

    run(main)
