"""One state of three nodes of the data plane: services, queues between them, what was agreed.

The control plane is taken as what it promises: one list of commands and views, of which each node
has taken some, in their order. Between two nodes there is one queue each way, in order; a packet
is what one turn sends to one node.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from groupcore.digest import Digest
from groupcore.events import FetchCut, ViewInstalled
from groupcore.sim.clock import Clock
from groupcore.sim.explore.copying import Fixed
from groupcore.sim.explore.keying import digest, key_of_value
from groupcore.sim.explore.world import NAMES, Budget, Link, Packet, Past
from groupcore.sim.groups.life import Life
from groupcore.sim.groups.observer import ObservedService
from groupcore.sim.trace import Record, Trace
from groupcore.view import Address, View

LEFT_OUT = frozenset(
    {"counters", "options", "_options", "meter", "progress", "_now", "_since", "_trace", "_clock"}
    | {
        "_watchers",
        "_answer",
        "_seen_progress",
        "_records",
        "loads",
        "_hashes",
        "now",
        "idle",
        "_began",
    }
    | {"ties", "tie_meter", "_tie_meter", "watch"}
)
"""Fields of a service that only count, or are the same for all copies."""

NOTHING = Budget()
"""Nothing may go wrong (any more)."""
NO_PAST = Past()

Ordered = tuple[Address, bytes] | FetchCut | ViewInstalled
"""An entry of what the control plane tells: a command and who has sent it, what everybody must have
before the next view, the view."""


class StillClock(Fixed, Clock):
    """What the records of a step are dated by: how many there were before."""

    def __init__(self) -> None:
        self.now_ns = 0


class Sink(Fixed, Trace):
    """Where services and their applications write what happens, until a step has ended."""


@dataclass(frozen=True, slots=True)
class Alive:
    """What runs on a node: a service, and the application of its process."""

    service: ObservedService
    life: Life


@dataclass(frozen=True, slots=True)
class GroupNodeState:
    """One node; `alive` None: it has crashed.

    `taken`: how much of the order it has taken; `asked`: commands of its that have no place yet.
    `sent`: messages that its process has handed over, by group; `history`: a hash of all records.
    """

    number: int
    alive: Alive | None = None
    taken: int = 0
    asked: tuple[bytes, ...] = ()
    sent: tuple[tuple[int, int], ...] = ()
    history: bytes = b""
    key: bytes = b""

    @property
    def address(self) -> Address:
        """The only life of this node."""
        return Address(NAMES[self.number], 1)

    def keyed(self, now: float) -> GroupNodeState:
        """With the key of what it is at that time."""
        if self.alive is None:
            return replace(self, key=digest(self.history))
        service = self.alive.service
        # Who has something to look at again, and who has not: the counts themselves say nothing.
        pending = [
            service.plane.progress == vars(part)["_seen_progress"]
            for part in (service, *vars(service).values())
            if "_seen_progress" in getattr(part, "__dict__", ())
        ]
        state = key_of_value([self.alive.service, self.alive.life], now, LEFT_OUT)
        rest = (self.taken, self.asked, self.sent, self.history, pending)
        return replace(self, key=digest(state + repr(rest).encode()))


@dataclass(frozen=True, slots=True)
class GroupState:
    """Everything. `todo`: the script's steps that have not been taken; `stuck`: nothing helps.

    `said`: the answers of those who have been stopped for the next view.
    """

    nodes: tuple[GroupNodeState, ...]
    now: float
    links: dict[Link, tuple[Packet, ...]] = field(default_factory=dict)
    order: tuple[Ordered, ...] = ()
    view: View | None = None
    said: tuple[tuple[int, Digest], ...] = ()
    budget: Budget = NOTHING
    todo: frozenset[int] = frozenset()
    past: Past = NO_PAST
    stuck: bool = False

    def key(self) -> bytes:
        """See `search.Situation`."""
        parts = [node.key for node in self.nodes]
        for link, queue in sorted(self.links.items()):
            parts.append(repr(link).encode())
            parts += [packet.key for packet in queue]
        rest = (self.order, self.said, self.budget, sorted(self.todo), self.stuck)
        return digest(b"".join(parts) + repr(rest).encode())

    @property
    def moment(self) -> int:
        """How many records there are."""
        return self.past.length

    def living(self) -> list[tuple[GroupNodeState, Alive]]:
        """The nodes that run."""
        return [(node, node.alive) for node in self.nodes if node.alive is not None]

    @property
    def idle(self) -> bool:
        """Whether nothing is on its way, and everybody has taken all that was agreed."""
        return not (self.links or self.view_is_due()) and all(
            not node.asked and node.taken == len(self.order) for node, _ in self.living()
        )

    def cut(self) -> FetchCut | None:
        """What everybody must have before the next view, where that has been said."""
        last = self.order[-1] if self.order else None
        return last if isinstance(last, FetchCut) else None

    def view_is_due(self) -> bool:
        """Whether a member of the newest view has crashed."""
        living = {node.address for node, _ in self.living()}
        return self.view is not None and any(one not in living for one in self.view.members)


def dated(record: Record, moment: int) -> Record:
    """The record at that moment."""
    return record._replace(t=moment)
