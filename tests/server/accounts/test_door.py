"""At the socket's door: nothing is open before the document's list is in force in a block."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import cast

from groupcore.shared.documents import Document, DocumentOutline
from server.documents.entrance import Entrance
from server.node import Node
from server.routes.door import GuardedEntrance


class Settled:
    """Accounts whose lists are always up to date; an entrance; and one document that is open."""

    def __init__(self) -> None:
        self.block = SimpleNamespace(rights_version=1)
        outline = SimpleNamespace(rights_version=2)
        document = SimpleNamespace(outline=outline, blocks={"b1": self.block})
        self.documents = {"plan": cast("Document", document)}
        self.lists = self
        self.closings: list[str] = []
        self.is_broken = False

    async def settle(self, doc: str, outline: DocumentOutline) -> None:
        assert outline is self.documents[doc].outline
        if self.is_broken:
            raise TimeoutError

    async def opening(self, principal: str, kind: str, name: str) -> None:
        """It may be opened."""

    def closed(self, principal: str, kind: str, name: str) -> None:
        self.closings.append(name)

    def guarded(self) -> GuardedEntrance:
        node = SimpleNamespace(keepers=SimpleNamespace(documents=self), files=self)
        return GuardedEntrance(cast("Entrance", self), cast("Node", node))


async def test_a_block_is_open_once_it_judges_by_the_list() -> None:
    here = Settled()
    opening = asyncio.create_task(here.guarded().opening("user:1", "Block", "doc/plan/b1"))
    for _ in range(5):
        await asyncio.wait([opening], timeout=0.01)
    assert not opening.done()
    here.block.rights_version = 2
    await opening
    assert here.closings == []


async def test_what_goes_wrong_with_a_list_closes_what_was_opened() -> None:
    here = Settled()
    here.is_broken = True
    try:
        await here.guarded().opening("user:1", "Block", "doc/plan/b1")
    except TimeoutError:
        assert here.closings == ["doc/plan/b1"]
    else:
        raise AssertionError("it was opened")
