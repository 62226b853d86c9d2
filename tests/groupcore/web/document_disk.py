"""What the nodes of a simulated cluster have on disk: what the first that keeps it has done.

A turn of the disk stores that, and tells pages what is saved. Once the power is doomed to fail, one
more turn comes; what is done behind it is lost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from msgpack import packb as pack

from groupcore.shared.pending import Pending
from groupcore.shared.replica import Replica
from groupcore.shared.tasks import wait
from groupcore.shared.testing import World, WorldNode

if TYPE_CHECKING:
    from groupcore.sequencing.names import Process

Stored = dict[str, tuple[int, bytes]]
"""Numbers and packed states of objects, by name."""

TURN_S = 0.02


class Desks(Protocol):
    """Where the disk belongs to."""

    world: World


class Disk:
    """The nodes' disk; `stored` is what it had before."""

    def __init__(self, desks: Desks, keepers: tuple[str, ...], stored: Stored) -> None:
        self.failed: Stored | None = None
        self._desks = desks
        self._world = desks.world
        self._keepers = keepers
        self._stored = stored
        self._waiting: list[tuple[WorldNode, dict[str, int], Pending[None]]] = []
        self._is_spinning = False
        self._is_doomed = False
        self._is_late = False

    def doom(self) -> None:
        """The power will fail, soon after the next turn."""
        self._is_doomed = True
        self.spin()

    def spin(self) -> None:
        """There is something to be stored."""
        if not self._is_spinning and not self._is_late:
            self._is_spinning = True
            self._world.call_at(self._world.now_s + TURN_S, self._turn)

    async def secure(self, node: WorldNode) -> None:
        """Wait until what was sent from a node up to now is stored."""
        pending: Pending[None] = Pending(wait)
        self._waiting.append((node, node.sent, pending))
        self.spin()
        await pending

    def _turn(self) -> None:
        self._is_spinning = False
        world = self._world
        here = self._here()
        waiting, self._waiting = self._waiting, []
        for node, sent, pending in waiting:
            if all(_done(here, name, node.process) >= number for name, number in sent.items()):
                pending.resolve(None)
            else:
                self._waiting.append((node, sent, pending))
        is_waiting = bool(self._waiting)
        for node in world.nodes:
            for name, user in node.users.items():
                if isinstance(user, Replica) and user.tell_saved is not None:
                    user.on_saved(_done(here, name, node.process))
                    is_waiting = is_waiting or bool(user._unsaved)
        if self._is_doomed:
            self._is_late = True
            stored = {
                **self._stored,
                **{name: (one.position, _packed(one)) for name, one in here.items()},
            }
            world.call_at(
                world.now_s + world.draw.random() * 2 * TURN_S, lambda: self._fail(stored)
            )
        elif is_waiting:
            self.spin()

    def _fail(self, stored: Stored) -> None:
        self.failed = stored

    def _here(self) -> dict[str, Replica[object]]:
        """What the first node has open; else another that keeps the document."""
        here: dict[str, Replica[object]] = {}
        for node in self._world.nodes:
            if node.name not in self._keepers:
                continue
            for name, user in node.users.items():
                if isinstance(user, Replica) and user.ready.done and not user.closed.done:
                    here.setdefault(name, user)
        return here


def _done(here: dict[str, Replica[object]], name: str, process: Process) -> int:
    """The number of the last message of a process that the first node has done."""
    found = here.get(name)
    return 0 if found is None else found.body.machine.members.get(process, 0)


def _packed(replica: Replica[object]) -> bytes:
    """The state as who begins with it will have it: nobody has the object open."""
    kept = replica.body.fresh_machine()
    kept.load(replica.packed())
    kept.go_on_alone(kept.position)
    packed: bytes = pack([replica.body.clock.now_ms(), kept.packed()])
    return packed
