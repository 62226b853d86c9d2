"""Ownership: which groups this node sequences, from when to when, and what it knows ahead of time.

Source. Paper, section 4.3: 1 suspend, 4 resume; design, 4.8 and 4.9.

Invariants.
  I1  A group is active only while the directory says that it is this node's, no move of it is under
      way, and its record holds all that its former sequencers have numbered (10, 11).
  I2  What is numbered in a component of strict groups is delivered behind all that the former
      sequencers of any of them have numbered (T2).
"""

from __future__ import annotations

from groupcore.context import Numbers, merge_into
from groupcore.sequencing.log import Position
from groupcore.sequencing.names import GroupId, Order, Place, Process
from groupcore.sequencing.plane import Plane
from groupcore.sequencing.record import Record


class Takeover:
    """Groups that this node has got together, from one source: ready together.

    `last` are the numbers up to which their records must be; `behind` the frames of former
    sequencers that must be recorded first. `given_at`: where the order gives them to this node,
    which with a log must be saved: otherwise a power cut could take the epoch, not its messages.
    """

    __slots__ = ("behind", "given_at", "last")

    def __init__(self, last: dict[GroupId, int], behind: Numbers, given_at: Position) -> None:
        self.last = last
        self.behind = behind
        self.given_at = given_at

    def ready(self, plane: Plane) -> bool:
        """Whether the records hold all that the former sequencers have numbered."""
        if plane.log is not None and plane.place_saved < self.given_at:
            return False
        if self.behind and not _are_over(plane):
            return False  # an earlier sequencer of the group may be gone as well
        for stream, frame in self.behind.items():
            known = plane.streams.get(stream)
            if known is not None and known.recorded < frame:
                return False
        for group, last in self.last.items():
            record = plane.records.get(group)
            if record is not None and (record.seqno < last or record.waiting):
                return False
        return True

    def carry(self, plane: Plane) -> Numbers:
        """Where the strict ones of them stood: what is said next must be delivered behind that."""
        carry: Numbers = {}
        for group in self.last:
            record = plane.records.get(group)
            if record is None or record.order is not Order.STRICT:
                continue
            stream, frame = record.place[:2]
            if stream is not None:
                merge_into(carry, {stream: frame})
        carry.pop(plane.me, None)
        return carry


def _are_over(plane: Plane) -> bool:
    """Whether the streams of all that are gone have ended, and are on record here."""
    if plane.directory.ending_streams():
        return False
    streams = plane.streams.values()
    return all(one.end is None or one.recorded >= one.end for one in streams)


class Owned:
    """A group that this node sequences.

    `seqno` is its last number. `senders`, `members` and `requests` are ahead of the record, which
    follows when the frames are held. `since`: the place in the order from which it is this node's;
    `takeover`: what it waits for before it begins. `suspended`: it migrates; `frame`: the last
    frame of this node's stream with a run of it. `carry`: what every message of the group has to be
    delivered behind, until stable.
    """

    __slots__ = (
        "carry",
        "frame",
        "members",
        "requests",
        "senders",
        "seqno",
        "since",
        "suspended",
        "takeover",
    )

    def __init__(self, takeover: Takeover, since: Place) -> None:
        self.since = since
        self.takeover: Takeover | None = takeover
        self.seqno = 0
        self.senders: dict[int, int] = {}
        self.members: dict[Process, bool] | None = None
        self.requests: dict[int, int] | None = None
        self.suspended = False
        self.frame = 0
        self.carry: Numbers = {}


class Ownership:
    """The groups of this node."""

    def __init__(self, plane: Plane) -> None:
        self._plane = plane
        self.owned: dict[GroupId, Owned] = {}
        self._starting: list[Takeover] = []

    def own(self, last: dict[GroupId, int], behind: Numbers) -> None:
        """Sequence these groups from here on, once the records hold what they have to."""
        # A group that is new here is in the log of whoever has a frame of it: it need not wait.
        is_new = all(self._plane.directory.entries[group].epoch == 1 for group in last)
        takeover = Takeover(last, behind, (0, 0) if is_new else self._plane.place)
        for group in last:
            self.owned[group] = Owned(takeover, self._plane.ordered)
        self._starting.append(takeover)

    def disown(self, group: GroupId) -> None:
        """Sequence it no longer."""
        self.owned.pop(group, None)

    def suspend(self, group: GroupId, on: bool) -> None:
        """Give no numbers in this group, as it migrates; or again, as it stays after all."""
        owned = self.owned.get(group)
        if owned is not None:
            owned.suspended = on

    def stopped_at(self, groups: tuple[GroupId, ...]) -> tuple[tuple[int, ...], int] | None:
        """The last numbers of suspended groups and the last frame with them; None: not yet."""
        numbers, frame = [], 0
        for group in groups:
            owned = self.owned.get(group)
            if owned is None or owned.takeover is not None:
                return None
            numbers.append(owned.seqno)
            frame = max(frame, owned.frame)
        return tuple(numbers), frame

    def start(self) -> list[GroupId]:
        """Begin with what is ready by now; which groups that are."""
        started: list[GroupId] = []
        if not self._starting:
            return started
        for takeover in [one for one in self._starting if one.ready(self._plane)]:
            self._starting.remove(takeover)
            carry = takeover.carry(self._plane)
            for group in takeover.last:
                owned, record = self.owned.get(group), self._plane.records.get(group)
                if owned is None or owned.takeover is not takeover or record is None:
                    continue
                owned.takeover, owned.seqno = None, record.seqno
                if record.order is Order.STRICT:
                    owned.carry = dict(carry)
                    self.share_carry(group)
                started.append(group)
        return started

    def has_component(self, group: GroupId) -> bool:
        """Whether this node has begun with all that a strict group's component is made of."""
        owned = map(self.owned.get, self._plane.directory.component(group))
        return all(one is not None and one.takeover is None for one in owned)

    def share_carry(self, group: GroupId) -> None:
        """What one group of a component is delivered behind, the others are (I2)."""
        component = [
            owned
            for other in self._plane.directory.component(group)
            if (owned := self.owned.get(other)) is not None
        ]
        together: Numbers = {}
        for owned in component:
            merge_into(together, owned.carry)
        for owned in component:
            owned.carry = dict(together)

    def active(self, group: GroupId) -> tuple[Owned, Record] | None:
        """The group, when this node may give numbers in it now (I1)."""
        owned = self.owned.get(group)
        if owned is None or owned.suspended or owned.takeover is not None:
            return None
        record = self._plane.records.get(group)
        if record is None or not self._plane.primary:
            return None
        return owned, record

    def is_member(self, owned: Owned, record: Record, process: Process) -> bool:
        """Whether the process is a member, as far as this node has stamped."""
        return (owned.members or {}).get(process, process in record.members)

    def on_recorded(self, group: GroupId, process: Process, joined: bool) -> None:
        """The record has caught up with a change that this node has stamped."""
        owned = self.owned.get(group)
        if owned is None:
            return
        if owned.members and owned.members.get(process) is joined:
            del owned.members[process]
            owned.members = owned.members or None  # empty dictionaries keep their room
        record = self._plane.records[group]
        key = self._plane.senders.key(process)
        if owned.requests and owned.requests.get(key, 0) <= (record.requests or {}).get(key, 0):
            owned.requests.pop(key, None)
            owned.requests = owned.requests or None
