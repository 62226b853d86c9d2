"""Documents in the test kit."""

from __future__ import annotations

from collections.abc import Awaitable, Coroutine
from typing import TypeVar

from groupcore.sequencing.names import Process
from groupcore.shared.documents import Document, open_document
from groupcore.shared.documents.tending import Secure
from groupcore.shared.testing import World

T = TypeVar("T")


class Desk:
    """A node of a world, as what a document needs."""

    def __init__(self, world: World, name: str, principal: str = "") -> None:
        self.world = world
        self.node = world.node(name, principal)
        self._ids = 0

    @property
    def process(self) -> Process:
        return self.node.process

    def open(self, kind: type[T], name: str) -> Awaitable[T]:
        return self.node.open(kind, name)

    def new_id(self) -> str:
        self._ids += 1
        return f"{self.node.name}{self.process.node.incarnation}-{self._ids}"

    def start(self, coroutine: Coroutine[object, None, None]) -> None:
        self.world.spawn(coroutine)


async def sit_down(
    world: World, name: str, keep: bool = False, copies: int = 1, secure: Secure | None = None
) -> Document:
    """Open the document "plan" at the node of this name."""
    desk = Desk(world, name)
    return await open_document(desk, "plan", author=name, keep=keep, copies=copies, secure=secure)


async def rest(world: World) -> None:
    """Let everybody do what is left to do."""
    for _ in range(8):
        await world.settle()
        await world.elapse(0.01)
