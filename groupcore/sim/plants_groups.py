"""Bugs to plant in the data plane: in numbers, owners and streams of groups.

Those of what is delivered when are in `plants_group_orders`.
"""

from __future__ import annotations

from collections.abc import Callable

from groupcore.batch import Batch
from groupcore.sequencing.directory import Directory
from groupcore.sequencing.directory_changes import MoveBegan
from groupcore.sequencing.inheriting import Inheriting
from groupcore.sequencing.intake import Request
from groupcore.sequencing.keeper import Keeper
from groupcore.sequencing.migration import Migration
from groupcore.sequencing.names import GroupId, Process
from groupcore.sequencing.overlap import STRONG, Overlap
from groupcore.sequencing.ownership import Owned, Ownership, Takeover
from groupcore.sequencing.plane import Plane
from groupcore.sequencing.reaches import Reaches
from groupcore.sequencing.receiver import Receiver
from groupcore.sequencing.record import Record, Run
from groupcore.sequencing.sections import Section, Unaccepted
from groupcore.sequencing.sequencer import Sequencer
from groupcore.sequencing.stream import Stream
from groupcore.sequencing.wish import Wish
from groupcore.sim.plant_schedules_groups import LATE_FRAMES, MOVED_AND_DEAD, PORTIONS, SKIPPED
from groupcore.sim.planting import Patch, Plant
from groupcore.view import Address

KEPT = 2
"""So many senders a table keeps that is too small."""


def _held_at_once() -> list[Patch]:
    def held(self: Reaches, stream: Address) -> int:
        return max(self._received.get(stream, {}).values(), default=0)

    return [(Reaches, "held", held)]


def _trimmed_early() -> list[Patch]:
    def stable(self: Reaches, stream: Address) -> int:
        said = self._delivered.get(stream, {})
        return max([said.get(member, 0) for member in self._members], default=0)

    return [(Reaches, "stable", stable)]


def _portions_forgotten() -> list[Patch]:
    """After the first portion nobody asks for the next."""

    def end_turn(self: Inheriting, now: float) -> None:
        return None

    return [(Inheriting, "end_turn", end_turn)]


def _not_fenced() -> list[Patch]:
    """What comes of a stream behind its end is taken and recorded, too."""
    following = Stream.next_to_record

    def next_to_record(self: Stream, held: int) -> Batch | None:
        end, self.end = self.end, None
        try:
            return following(self, held if end is None else self.received)
        finally:
            self.end = end

    def fence(self: Stream) -> None:
        return None

    def collect(self: Keeper, now: float) -> None:
        for address, stream in self._plane.streams.items():
            if stream.started:
                stream.drop_stable(self._plane.reaches.stable(address))

    return [
        (Stream, "next_to_record", next_to_record),
        (Stream, "fence", fence),
        (Keeper, "collect", collect),
    ]


def _no_high_water() -> list[Patch]:
    def note_last(self: Stream, number: int) -> None:
        return None

    return [(Stream, "note_last", note_last)]


def _own_maximum() -> list[Patch]:
    def ready(self: Takeover, plane: Plane) -> bool:
        return True

    return [(Takeover, "ready", ready)]


def _serves_on() -> list[Patch]:
    def keep(self: Sequencer, groups: tuple[GroupId, ...]) -> None:
        return None

    return [(Sequencer, "disown", keep), (Sequencer, "suspend", keep)]


def _begins_with_move() -> list[Patch]:
    original = Migration.on_began

    def on_began(self: Migration, change: MoveBegan) -> None:
        original(self, change)
        if change.target == self._plane.me:
            self._sequencer.own(dict.fromkeys(change.groups, 0), {}, "moved")

    return [(Migration, "on_began", on_began)]


def _primary_unasked() -> list[Patch]:
    def active(self: Ownership, group: GroupId) -> tuple[Owned, Record] | None:
        owned, record = self.owned.get(group), self._plane.records.get(group)
        if owned is None or owned.suspended or owned.takeover is not None or record is None:
            return None
        return owned, record

    return [(Ownership, "active", active)]


def _moved_before_held() -> list[Patch]:
    original = Migration.proceed

    def proceed(self: Migration) -> None:
        reaches = self._plane.reaches
        reaches.held = lambda stream: 1 << 62  # type: ignore[method-assign]
        try:
            original(self)
        finally:
            del reaches.held

    return [(Migration, "proceed", proceed)]


def _last_numbers_forgotten() -> list[Patch]:
    original = Ownership.start

    def start(self: Ownership) -> list[GroupId]:
        started = original(self)
        for group in started:
            self._plane.records[group].senders.clear()
        return started

    return [(Ownership, "start", start)]


def _small_table() -> list[Patch]:
    original = Ownership.active

    def active(self: Ownership, group: GroupId) -> tuple[Owned, Record] | None:
        found = original(self, group)
        for table in (found[0].senders, found[1].senders) if found is not None else ():
            for sender in list(table)[:-KEPT]:
                del table[sender]
        return found

    return [(Ownership, "active", active)]


def _late_requests() -> list[Patch]:
    handle, admit = Sequencer._handle, Sequencer._admit

    def with_all(self: Sequencer, call: Callable[[], None]) -> None:
        plane, in_view = self._plane, self._plane.in_view
        plane.in_view = lambda node: True  # type: ignore[method-assign]
        try:
            call()
        finally:
            plane.in_view = in_view  # type: ignore[method-assign]

    def handle_all(self: Sequencer, request: Request) -> None:
        with_all(self, lambda: handle(self, request))

    def admit_all(self: Sequencer, *arguments: object) -> None:
        with_all(self, lambda: admit(self, *arguments))  # type: ignore[arg-type]

    return [(Sequencer, "_handle", handle_all), (Sequencer, "_admit", admit_all)]


def _recomposed() -> list[Patch]:
    original = Unaccepted.alone

    def alone(self: Unaccepted, process: Process, owner: Address) -> Section:
        self.payloads = self.payloads[::-1]
        return original(self, process, owner)

    return [(Unaccepted, "alone", alone)]


def _slot_skipped() -> list[Patch]:
    def wait_for_turn(self: Receiver, run: Run) -> None:
        self._put_on_record(run)

    return [(Receiver, "_wait_for_turn", wait_for_turn)]


def _s2_unasked() -> list[Patch]:
    begin = Wish.__init__

    def allowed(self: Wish, *arguments: object, **more: object) -> None:
        begin(self, *arguments, **more)  # type: ignore[arg-type]
        self.allowed = True

    def has_entered(self: Directory, process: Process, group: GroupId, request: int) -> bool:
        return True

    def has_component(self: Ownership, group: GroupId) -> bool:
        return True

    return [
        (Wish, "__init__", allowed),
        (Directory, "has_entered", has_entered),
        (Ownership, "has_component", has_component),
    ]


def _not_transitive() -> list[Patch]:
    def component(self: Overlap, group: GroupId) -> tuple[GroupId, ...]:
        near = self._common.get(group, {})
        return tuple(sorted({group, *(g for g, n in near.items() if n >= STRONG)}))

    return [(Overlap, "component", component)]


GROUP_PLANTS = (
    Plant(
        "g-held-at-once",
        "a frame is delivered before a quorum has it",
        (11, 2, 3, 5, 6, 20),
        _held_at_once,
        "sequencing",
    ),
    Plant(
        "g-trimmed-early",
        "frames are dropped before all have delivered them",
        (25, 7, 8, 11, 20),
        _trimmed_early,
        "sequencing",
    ),
    Plant(
        "g-portions-forgotten",
        "only the first of a gone node's groups get a new sequencer",
        (25,),
        _portions_forgotten,
        "sequencing",
        PORTIONS,
    ),
    Plant(
        "g-not-fenced",
        "a stream is taken on behind its end",
        (3, 2, 5, 6, 11, 20),
        _not_fenced,
        "sequencing",
        LATE_FRAMES,
    ),
    Plant(
        "g-no-high-water",
        "nobody hears that a last frame is missing",
        (25, 11),
        _no_high_water,
        "sequencing",
    ),
    Plant(
        "g-own-maximum",
        "a new sequencer begins behind what it happens to have",
        (11, 2, 3, 4, 5, 6, 10, 20),
        _own_maximum,
        "sequencing",
    ),
    Plant(
        "g-serves-on",
        "the old sequencer goes on after the hand-over",
        (10, 2, 3, 5, 6, 9, 11, 20),
        _serves_on,
        "sequencing",
    ),
    Plant(
        "g-begins-with-move",
        "the target begins when the move does",
        (10, 2, 3, 5, 6, 11, 20),
        _begins_with_move,
        "sequencing",
    ),
    Plant(
        "g-primary-unasked",
        "a sequencer goes on without a primary view",
        (10, 11, 20),
        _primary_unasked,
        "sequencing",
    ),
    Plant(
        "g-moved-before-held",
        "a group is handed over before its frames are held",
        (25, 2, 3, 5, 6, 11, 20),
        _moved_before_held,
        "sequencing",
        MOVED_AND_DEAD,
    ),
    Plant(
        "g-last-numbers-forgotten",
        "a migration forgets the senders' last numbers",
        (2, 3, 5, 6, 11, 20),
        _last_numbers_forgotten,
        "sequencing",
    ),
    Plant(
        "g-small-table",
        "who has sent what is kept of the last two senders",
        (2, 3, 5, 6, 11, 20),
        _small_table,
        "sequencing",
    ),
    Plant(
        "g-late-requests",
        "what a node has sent is numbered though it has gone",
        (16, 11, 20),
        _late_requests,
        "sequencing",
    ),
    Plant(
        "g-recomposed",
        "what is sent again is composed anew under the same number",
        (1, 3, 17, 20),
        _recomposed,
        "sequencing",
    ),
    Plant(
        "g-slot-skipped",
        "a number that has not come is skipped",
        (5, 2, 3, 4, 6, 11, 20),
        _slot_skipped,
        "sequencing",
        schedule=SKIPPED,
    ),
    Plant(
        "g-s2-unasked",
        "a process joins before its groups have one sequencer",
        (11, 8),
        _s2_unasked,
        "sequencing",
    ),
    Plant(
        "g-not-transitive",
        "groups that intersect through a third may have two sequencers",
        (11, 8, 9),
        _not_transitive,
        "sequencing",
    ),
)
