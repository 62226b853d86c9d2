"""An object with an access list on simulated nodes: the library's own replica, over the service.

The first process of each node has it open on behalf of its node's name. What it calls, what each
replica makes of it, and what each is shown is written into the trace.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from groupcore.sequencing.events import Joined, Released, ServiceEvent, StateInstalled
from groupcore.sequencing.names import GroupId, Order, Process
from groupcore.shared import Changed, ClosedError, ForbiddenError, operation
from groupcore.shared.access import Guarded, Right
from groupcore.shared.machine import Done
from groupcore.shared.pending import Wait, wait_never
from groupcore.shared.replica import Replica
from groupcore.shared.streams import Stream
from groupcore.sim.clock import MILLISECOND, SECOND, Clock
from groupcore.sim.fault import NAMES
from groupcore.sim.groups.drawing import FORMED_NS, draw_groups
from groupcore.sim.groups.life import Life
from groupcore.sim.groups.scenario import CALL, CLOSE, JOIN, Act, GroupScenario
from groupcore.sim.messages import content_hash
from groupcore.sim.randomness import stream
from groupcore.sim.trace import Trace
from groupcore.sim.trace_groups import (
    GroupCalled,
    GroupJudged,
    GroupSent,
    GroupShown,
    flatten_process,
)

BEGINNING = {"a": Right.MANAGE, "b": Right.WRITE, "c": Right.WRITE}
"""The list that every new object has."""


class Notes(Guarded, check_every=0):
    """Lines that some may write."""

    rights: dict[str, Right] = BEGINNING
    lines: list[str]

    @operation
    def note(self, line: str) -> int:
        """Append a line; how many there are."""
        self.lines.append(line)
        return len(self.lines)


class GuardedDesk:
    """The first process of a life with the object; it is the `GroupPort` of its replica.

    `index`: the group's place in the schedule. `unwant` is called when it has to leave the group.
    """

    wait: Wait = staticmethod(wait_never)

    def __init__(
        self, life: Life, index: int, clock: Clock, trace: Trace, unwant: Callable[[], None]
    ) -> None:
        self.installed: bytes | None = None
        self._life = life
        self._index = index
        self._clock = clock
        self._trace = trace
        self._unwant = unwant
        self._replica: Replica[Notes] | None = None
        self._shown: Stream[object] | None = None
        self._called: tuple[str, ...] = ()

    # --- for its life -----------------------------------------------------------------------------

    @property
    def group(self) -> GroupId:
        """See `life.Desk`: the group that is called so."""
        return self._life.ids.get(self._index, 0)

    def hear(self, event: ServiceEvent) -> None:
        """See `life.Desk`."""
        if isinstance(event, StateInstalled) or self._replica is None:
            self._open()
        replica = self._replica
        assert replica is not None
        if isinstance(event, StateInstalled) and event.state is not None:
            event = replace(event, state=self.installed)
        replica.feed(event)
        if isinstance(event, Joined) and event.process == self.process and replica.ready.done:
            self._follow(replica)
        self._show()
        if isinstance(event, Released):
            self._replica = self._shown = None

    def copy_state(self) -> bytes | None:
        """See `life.Desk`."""
        return None if self._replica is None else self._replica.body.state()

    def call(self, call: tuple[str, ...], now: float) -> None:
        """The process calls an operation, if it has the object open."""
        del now
        replica = self._replica
        if replica is None or not replica.ready.done or replica.ready.error is not None:
            return
        notes, self._called = replica.target, call
        try:
            match call:
                case ("note", line):
                    notes.note(line)
                case ("grant", subject, right):
                    notes.grant(subject, Right[right])
                case ("revoke", subject):
                    notes.revoke(subject)
        except (ForbiddenError, ClosedError):
            return  # it may not read the object any more

    def _open(self) -> None:
        self._replica = Replica(Notes, self)
        self._replica.body.observers.append(self)
        self._shown = None

    def _follow(self, replica: Replica[Notes]) -> None:
        if replica.ready.error is None and self._shown is None:
            self._shown = replica.changes(10_000)  # type: ignore[assignment]

    def _show(self) -> None:
        for change in self._shown.take() if self._shown is not None else ():
            if isinstance(change, Changed):
                now, position = self._clock.now_ns, change.position
                shown = (now, *self._life.address, self.group, position, self.principal)
                self._trace.add(GroupShown(*shown))

    # --- as an observer of the node's copy --------------------------------------------------------

    def on_done(self, position: int, process: Process, done: Done) -> None:
        """A call has been judged."""
        del process
        for spec, _ in done.calls[:1]:
            self._trace.add(
                GroupJudged(
                    self._clock.now_ns,
                    *self._life.address,
                    self.group,
                    position,
                    done.denied or "",
                    spec.name,
                    done.denied is None,
                )
            )

    def on_member(self, position: int, process: Process, done: Done) -> None:
        """Nothing is judged then."""

    def on_replaced(self) -> None:
        """Nothing is judged then."""

    # --- as a port --------------------------------------------------------------------------------

    @property
    def process(self) -> Process:
        """The first one."""
        return self._life.processes[0]

    @property
    def member(self) -> Process:
        """The same."""
        return self.process

    @property
    def principal(self) -> str:
        """Its node's name."""
        return self._life.address.name

    def now_s(self) -> float:
        """The world's time."""
        return self._clock.now_ns / SECOND

    def wake_at(self, at_s: float) -> None:
        """Nothing here waits for a time."""

    def join(self) -> None:
        """The host joins what is wanted."""

    def leave(self, comes_back: bool = False) -> None:
        """The host leaves what is not wanted."""
        del comes_back  # the host knows what is wanted
        self._unwant()

    def send(self, payload: bytes) -> int:
        """A call leaves."""
        life, place = self._life, (self.process, self.group)
        number = life.sent.get(place, 0) + 1
        flat = flatten_process(self.process)
        now = self._clock.now_ns
        operation, *arguments = self._called
        subject = arguments[0] if operation != "note" else ""
        right = Right[arguments[1]] if operation == "grant" else Right.NONE
        self._trace.add(GroupSent(now, flat, self.group, number, content_hash(payload)))
        called = (self.principal, operation, subject, int(right))
        self._trace.add(GroupCalled(now, flat, self.group, number, *called))
        life.sent[place] = number
        assert life.service.send(*place, [payload], self.now_s()) == number
        return number

    def authorization_of(self, text: bytes) -> bytes:
        """See `GroupPort`: nothing."""
        del text
        return b""

    def give_state(self, token: int, state: bytes | None) -> None:
        """The life gives it."""


def draw_access(seed: int) -> GroupScenario:
    """The schedule of a seed for the data plane, with a guarded object beside its groups."""
    drawn = draw_groups(seed)
    random = stream(seed, "access")
    names = NAMES[: drawn.nodes]
    index = len(drawn.orders)
    acts = [act for act in drawn.acts if act.kind != CLOSE or act.slot > 0]

    def moment() -> int:
        return random.randint(FORMED_NS, drawn.safety_ns)

    for node in range(drawn.nodes):
        joins = [FORMED_NS + random.randint(0, 200 * MILLISECOND)]
        joins += [moment() for _ in range(random.randint(1, 4))]  # again, if it had to leave
        acts += [Act(at_ns, JOIN, node, 0, (index,)) for at_ns in joins]
    for number in range(random.randint(20, 60)):
        subject = random.choice(names)
        call = random.choice(
            (
                ("note", f"line {number}"),
                ("note", f"line {number}"),
                ("revoke", subject),
                ("grant", subject, random.choice(list(Right)).name),
                ("grant", subject, random.choice(list(Right)).name),
            )
        )
        acts.append(Act(moment(), CALL, random.randrange(drawn.nodes), call=call))
    order = int(random.choice((Order.CAUSALLY_TOTAL, Order.STRICT, Order.FIFO)))
    return replace(
        drawn,
        orders=(*drawn.orders, order),
        guarded=True,
        acts=tuple(sorted(acts, key=lambda act: act.at_ns)),
    )
