"""Bugs to plant in the data plane: in what is delivered when, and in states."""

from __future__ import annotations

from groupcore.context import Numbers
from groupcore.sequencing.chains import Chains
from groupcore.sequencing.events import Accepted
from groupcore.sequencing.joining import Joining
from groupcore.sequencing.names import GroupId, MessageId, Order
from groupcore.sequencing.ownership import Takeover
from groupcore.sequencing.plane import Plane
from groupcore.sequencing.receiver import Receiver
from groupcore.sequencing.record import Hold, Record, Run
from groupcore.sequencing.sections import Local, Unaccepted
from groupcore.sequencing.sender import Sender
from groupcore.sequencing.states import States, Taking
from groupcore.sequencing.wish import Wish
from groupcore.sim.plant_schedules_groups import (
    SILENT_HOLDER,
    STATES_UNDER_CAUSES,
    STRICT_BEHIND_CAUSES,
    STRICT_ON_THE_MOVE,
)
from groupcore.sim.planting import Patch, Plant
from groupcore.view import Address


def _without_context() -> list[Patch]:
    def nothing(self: object, *arguments: object, **more: object) -> Numbers:
        return {}

    def add_place(self: Chains, *arguments: object, **more: object) -> None:
        return None

    return [
        (Sender, "context_of", nothing),
        (Plane, "given", nothing),
        (Chains, "add_place", add_place),
    ]


def _own_unnamed() -> list[Patch]:
    """What the sequencer itself has just given numbers to, of the same process, is not named."""

    def add_place(self: Chains, *arguments: object, **more: object) -> None:
        return None

    return [(Chains, "add_place", add_place)]


def _answered_at_once() -> list[Patch]:
    """A sender is told that its messages have their places when they leave."""
    sending = Sender._send_stretch

    def send_stretch(
        self: Sender,
        local: Local,
        owner: Address | None,
        level: int,
        runs: list[Unaccepted],
        room_bytes: int,
        now: float,
    ) -> None:
        sending(self, local, owner, level, runs, room_bytes, now)
        for run in runs:
            message = MessageId(local.process, run.last)
            self._plane.events.append(Accepted(run.group, message, 0))

    return [(Sender, "_send_stretch", send_stretch)]


def _early_entries_dropped() -> list[Patch]:
    def drop_stable(self: Plane, numbers: Numbers) -> None:
        for address, number in list(numbers.items()):
            stream = self.streams.get(address)
            if stream is None or number <= stream.recorded:
                del numbers[address]

    return [(Plane, "drop_stable", drop_stable)]


def _not_waited() -> list[Patch]:
    def free(self: Receiver, *arguments: object) -> bool:
        return True

    return [(Receiver, "_is_free", free), (Receiver, "_context_is_free", free)]


def _t2_unheeded() -> list[Patch]:
    original = Receiver._is_free

    def is_free(self: Receiver, run: Run, hold: Hold) -> bool:
        record = run.record
        order = record.order
        record.order = Order.CAUSALLY_TOTAL if order is Order.STRICT else order
        try:
            return original(self, run, hold)
        finally:
            record.order = order

    return [(Receiver, "_is_free", is_free)]


def _nothing_carried() -> list[Patch]:
    def carry(self: Takeover, plane: Plane) -> Numbers:
        return {}

    return [(Takeover, "carry", carry)]


def _unsatisfied() -> list[Patch]:
    def is_settled(self: Joining, record: Record, wish: Wish, groups: dict[GroupId, None]) -> bool:
        hold = record.hold
        if hold is None or hold.waiting_for_state or hold.queue or record.waiting:
            return False
        return hold.seqno >= wish.recorded - 1

    return [(Joining, "_is_settled", is_settled)]


def _one_behind() -> list[Patch]:
    original = Joining.give

    def give(self: Joining, token: int, content: bytes) -> None:
        seqno, context = self._wanted[token]
        self._wanted[token] = (max(seqno - 1, 0), context)
        original(self, token, content)

    return [(Joining, "give", give)]


def _in_two_steps() -> list[Patch]:
    original = Joining.give

    def give(self: Joining, token: int, content: bytes) -> None:
        _, request = self.states._copying[token]
        record = self._plane.records.get(request.group)
        if record is not None and record.hold is not None:
            self._wanted[token] = (record.hold.seqno, self._wanted[token][1])
        original(self, token, content)

    return [(Joining, "give", give)]


def _silence_counts() -> list[Patch]:
    original = States._next_giver

    def next_giver(self: States, taking: Taking, now: float) -> None:
        if taking.group and taking.giver is not None:
            taking.awaiting[taking.giver] = taking.givers().get(taking.giver, 0)
        original(self, taking, now)

    return [(States, "_next_giver", next_giver)]


GROUP_ORDER_PLANTS = (
    Plant(
        "g-without-context",
        "messages are numbered without a context",
        (7, 8),
        _without_context,
        "sequencing",
    ),
    Plant(
        "g-own-unnamed",
        "a process's message does not name the one before it",
        (7, 8),
        _own_unnamed,
        "sequencing",
    ),
    Plant(
        "g-entries-dropped-early",
        "an entry is left out before all have delivered its frame",
        (7, 8),
        _early_entries_dropped,
        "sequencing",
    ),
    Plant(
        "g-not-waited",
        "a receiver waits for nothing that a context names",
        (7, 8, 2, 4, 5, 6),
        _not_waited,
        "sequencing",
    ),
    Plant(
        "g-t2-unheeded",
        "strict groups are delivered like causally-total ones",
        (8, 9),
        _t2_unheeded,
        "sequencing",
        STRICT_BEHIND_CAUSES,
    ),
    Plant(
        "g-nothing-carried",
        "a new sequencer of strict groups does not name what they had",
        (8, 9),
        _nothing_carried,
        "sequencing",
        STRICT_ON_THE_MOVE,
    ),
    Plant(
        "g-unsatisfied",
        "a joiner's states need not satisfy each other",
        (7, 8),
        _unsatisfied,
        "sequencing",
        STATES_UNDER_CAUSES,
    ),
    Plant(
        "g-state-one-behind",
        "a state is said to be of the number before",
        (2, 3, 4, 5, 6, 17, 20),
        _one_behind,
        "sequencing",
    ),
    Plant(
        "g-state-in-two-steps",
        "a state's number is taken later than the state",
        (17, 2, 3, 4, 5, 6),
        _in_two_steps,
        "sequencing",
        STATES_UNDER_CAUSES,
    ),
    Plant(
        "g-silence-counts",
        "a silent node counts as one without the state",
        (17,),
        _silence_counts,
        "sequencing",
        SILENT_HOLDER,
    ),
    Plant(
        "g-answered-at-once",
        "a message counts as answered before it has its number",
        (19, 25),
        _answered_at_once,
        "sequencing",
    ),
)
