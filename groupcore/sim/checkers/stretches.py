"""What holds between power cuts: the rules of groups, judged in each stretch of the views.

A view that is formed from disks begins a new epoch of views: what was not saved before may be gone
then, though it was numbered and delivered, and its numbers are given anew. Whoever is in such an
epoch is told only what stands in it. So the records of the lives in one epoch are a history by
themselves, in which all rules hold; only what was sent and asked for before is known to it as well:
who was let in then may still count, as a life that goes on or a disk has it.
"""

from __future__ import annotations

from groupcore.sequencing.names import GroupId
from groupcore.sim.checkers.base import Checker, Violation
from groupcore.sim.checkers.group_index import is_own_join
from groupcore.sim.checkers.group_members import GroupStateTransfer
from groupcore.sim.checkers.group_order import GroupIntegrity
from groupcore.sim.checkers.group_owners import MigrationAtomicity, OneSequencer, Owners
from groupcore.sim.checkers.group_real_time import RealTimeOrder
from groupcore.sim.checkers.groups import GROUP_CHECKERS
from groupcore.sim.trace import Happened, Lived, Record, Trace, Viewed
from groupcore.sim.trace_groups import (
    GroupAccepted,
    GroupAsked,
    GroupClosed,
    GroupDelivered,
    GroupJoined,
    GroupLeft,
    GroupOwned,
    GroupProcess,
    GroupReleased,
    GroupSaved,
    GroupSent,
    GroupStamped,
    GroupState,
    GroupVolatileSent,
)
from groupcore.sim.trace_kept import GroupKept

Life = tuple[str, int]
OfProcesses = GroupAccepted | GroupSaved | GroupClosed
FOLLOWED = GroupDelivered | GroupJoined | GroupLeft | GroupState | GroupReleased
EVERYWHERE = Happened | Lived | GroupAsked | GroupSent | GroupVolatileSent
"""What every stretch knows of, whoever it was."""


def life_of(record: Record) -> Life | None:
    """The life of a node that a record is of; None where it is of none, or of people."""
    if isinstance(record, OfProcesses):
        return record.process[:2]
    n, inc = getattr(record, "n", None), getattr(record, "inc", None)
    return (n, inc) if isinstance(n, str) and isinstance(inc, int) else None


def stretches(trace: Trace) -> list[Trace]:
    """The histories of the epochs of views, in their order.

    Each has the lives that were in the epoch, from their beginning until they are in a later one.
    """
    lives: dict[Life, dict[int, None]] = {}
    for view in trace.views:
        lives.setdefault((view.n, view.inc), {})[view.epoch] = None
    epochs = sorted({view.epoch for view in trace.views})
    parts: dict[int, list[Record]] = {epoch: [] for epoch in epochs}
    reached: dict[Life, int] = {}
    records = without_repetitions(trace.records)
    outlived = Outlived(records)
    going_on: dict[int, list[Life]] = {}
    for one, its in lives.items():
        for epoch in its:
            if epoch < max(its):
                going_on.setdefault(epoch, []).append(one)
    for record in records:
        if isinstance(record, EVERYWHERE):
            for part in parts.values():
                part.append(record)
            continue
        life = life_of(record)
        if life is None:
            continue
        if isinstance(record, Viewed):
            reached[life] = record.epoch
        own = [epoch for epoch in lives.get(life, ()) if epoch >= reached.get(life, 0)]
        for epoch in own:
            parts[epoch].append(record)
        if isinstance(record, GroupStamped) and own:
            kept = GroupKept(record.t, record.group, record.process, record.number, record.seqno)
            for epoch in {
                epoch
                for one in going_on.get(own[-1], ())
                if outlived.has(one, record, own[-1])
                for epoch in lives[one]
                if epoch > own[-1]
            }:
                parts[epoch].append(kept)
    return [Trace(part) for part in parts.values()]


class Outlived:
    """Which numbers keep their contents over a power cut, though nobody may say so afterwards.

    Of a life that goes on: what it was told of a group, as it has that in memory; and its own
    messages that were saved, also where nobody has their group open any more. A message may have
    been numbered more than once, by an owner who was cut off and by its successor: it is saved
    under the number that the last one gave it, and what is told is what stands.
    """

    def __init__(self, records: list[Record]) -> None:
        self._saved: dict[tuple[GroupProcess, GroupId], int] = {}
        self._saved_as: dict[tuple[GroupProcess, GroupId, int], int] = {}
        self._told: dict[tuple[Life, GroupId], list[tuple[int, int]]] = {}
        self._floors: dict[tuple[int, GroupId], list[tuple[int, int]]] = {}
        given: dict[tuple[GroupProcess, GroupId, int], tuple[int, int, int]] = {}
        reached: dict[Life, int] = {}
        for record in records:
            if isinstance(record, Viewed):
                reached[record.n, record.inc] = record.epoch
            elif isinstance(record, GroupStamped):
                place = (reached.get((record.n, record.inc), 0), record.epoch, record.seqno)
                message = (record.process, record.group, record.number)
                given[message] = max(place, given.get(message, place))
            elif isinstance(record, GroupOwned):
                key = (reached.get((record.n, record.inc), 0), record.group)
                self._floors.setdefault(key, []).append((record.epoch, record.floor))
            elif isinstance(record, GroupSaved):
                self._save(record, given)
            elif isinstance(record, FOLLOWED) and not isinstance(record, GroupReleased):
                life = record.n, record.inc
                places = self._told.setdefault((life, record.group), [])
                places.append((reached.get(life, 0), record.seqno))

    def _save(
        self,
        saved: GroupSaved,
        given: dict[tuple[GroupProcess, GroupId, int], tuple[int, int, int]],
    ) -> None:
        """Its messages up to there are saved under the numbers that they have by now."""
        by = saved.process, saved.group
        before = self._saved.get(by, 0)
        for number in range(before + 1, saved.number + 1):
            if (*by, number) in given:
                *_, self._saved_as[*by, number] = given[*by, number]
        self._saved[by] = max(saved.number, before)

    def has(self, life: Life, stamp: GroupStamped, epoch: int) -> bool:
        """Whether this life takes what was stamped by that epoch into the later ones it is in."""
        message = (stamp.process, stamp.group, stamp.number)
        if stamp.process[:2] == life and self._saved_as.get(message) == stamp.seqno:
            return True
        floors = self._floors.get((epoch, stamp.group), ())
        if any(later > stamp.epoch and floor < stamp.seqno for later, floor in floors):
            return False
        told = self._told.get((life, stamp.group), ())
        return any(at <= epoch and seqno >= stamp.seqno for at, seqno in told)


def without_repetitions(records: list[Record]) -> list[Record]:
    """What nodes say, without what one tells a process again that joins: from its own archive.

    A node that lets a group go keeps it in its archive, and begins with an older place of it when
    the next process joins. That it has said once, and goes on from there. What it has answered to a
    LEAVE between the two comes again in its place.
    """
    kept: list[Record | None] = []
    places: dict[tuple[Life, GroupId], int] = {}
    released: dict[tuple[Life, GroupId], int] = {}
    answers: dict[tuple[Life, GroupId], list[int]] = {}
    again: set[tuple[Life, GroupId]] = set()
    hosted: set[tuple[Life, GroupId]] = set()
    for record in records:
        kept.append(record)
        if not isinstance(record, FOLLOWED):
            continue
        key = ((record.n, record.inc), record.group)
        if isinstance(record, GroupReleased):
            released[key] = len(kept) - 1
            again.discard(key)
            hosted.discard(key)
            answers.pop(key, None)
            continue
        if isinstance(record, GroupLeft) and key not in hosted:
            answers.setdefault(key, []).append(len(kept) - 1)
            continue  # an answer: the node has no place in the group
        if isinstance(record, GroupState):
            hosted.add(key)
            if record.seqno < places.get(key, -1):
                again.add(key)
                for index in (len(kept) - 1, released.get(key, -1), *answers.pop(key, ())):
                    kept[index] = None
            else:
                places[key] = record.seqno
            continue
        if is_own_join(record) or is_parting(record):
            continue
        if key in again and record.seqno <= places[key]:
            kept[-1] = None
        places[key] = max(record.seqno, places.get(key, 0))
    return [record for record in kept if record is not None]


def is_parting(record: Record) -> bool:
    """Whether a process that attended is told that it does no more: that has no number."""
    return isinstance(record, GroupLeft) and record.seqno == 0


def in_each_stretch(checker: type[Checker]) -> type[Checker]:
    """The same rule, judged in each stretch of the views by itself."""

    class InEachStretch(Checker):
        __doc__ = checker.__doc__
        number, name = checker.number, f"{checker.name}-between-power-cuts"

        def scan(self, trace: Trace, found: list[Violation]) -> None:
            """Stretch by stretch."""
            for part in trace.once(stretches):
                for violation in checker().check(part):
                    found.append(
                        self.breach(
                            violation.t, violation.nodes, violation.text, *violation.messages
                        )
                    )

    return InEachStretch


def beginning_of(part: Trace) -> int:
    """When the first one was in a view of this stretch's own epoch, the newest in it."""
    own = max((view.epoch for view in part.views), default=0)
    return min((view.t for view in part.views if view.epoch == own), default=0)


class OneSequencerInStretch(OneSequencer):
    """10, where it is not known what those had who were in an earlier stretch only.

    Who is in both has its records of the earlier one here as well; epochs that are skipped in these
    are judged there, where all are known.
    """

    begins_at = 0

    def scan(self, trace: Trace, found: list[Violation]) -> None:
        """One pass, once it is known when the stretch has begun."""
        self.begins_at = beginning_of(trace)
        super().scan(trace, found)

    def scan_owned(
        self, record: GroupOwned, owners: Owners, lost: bool, found: list[Violation]
    ) -> None:
        """Whether an epoch is skipped."""
        if record.t >= self.begins_at:
            super().scan_owned(record, owners, lost, found)


class RealTimeInStretch(RealTimeOrder):
    """19, where a power cut may have taken what was answered before the stretch and not saved."""

    def begins_at(self, trace: Trace) -> int:
        """When the first one was in a view of the stretch."""
        return beginning_of(trace)


class MigrationInStretch(MigrationAtomicity):
    """11, where what was numbered before the stretch is not known."""

    knows_beginnings = False


class StatesOfArchives(GroupStateTransfer):
    """17, where a node begins a group with what its archive has."""

    has_archives = True


IN_STRETCHES: dict[int, type[Checker]] = {
    10: OneSequencerInStretch,
    11: MigrationInStretch,
    17: StatesOfArchives,
    19: RealTimeInStretch,
}

BETWEEN_POWER_CUTS: tuple[type[Checker], ...] = tuple(
    in_each_stretch(IN_STRETCHES.get(one.number, one))
    for one in GROUP_CHECKERS
    if one is not GroupIntegrity  # which holds throughout
)
"""All that holds for groups, between two power cuts."""
