"""The trace of one schedule: what happened at which process, in the order it happened.

A process is one life of one node, `(n, inc)`. Times `t` are nanoseconds since the schedule began.
Records are named tuples in memory; JSON lines on demand; the trace hash covers every record, so
two runs with equal hashes did the same (reliability, C.1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from hashlib import blake2b
from json import dumps
from typing import NamedTuple, TypeVar, cast

from msgpack import Packer

from groupcore.sim.trace_deletions import DELETION_EVENTS, DeletionRecord
from groupcore.sim.trace_documents import DOCUMENT_EVENTS, DocumentRecord
from groupcore.sim.trace_groups import GROUP_EVENTS, GroupDelivered, GroupRecord
from groupcore.sim.trace_kept import KEPT_EVENTS, KeptRecord
from groupcore.sim.trace_pages import PAGE_EVENTS, PageRecord
from groupcore.sim.trace_places import PLACE_EVENTS, PlaceRecord
from groupcore.view import Address

Process = tuple[str, int]
Slot = tuple[int, int]


class Mid(NamedTuple):
    """Identity of a message: who sent it, in which life, and which of its messages it is."""

    origin: str
    inc: int
    lseq: int


class Sent(NamedTuple):
    """An application handed a message over; `to` is the life it is for, None: all, in order."""

    t: int
    n: str
    inc: int
    mid: Mid
    h: int
    to: Address | None


class Delivered(NamedTuple):
    """An application was given a message; `position` 0 is a unicast, `view` the view's number."""

    t: int
    n: str
    inc: int
    epoch: int
    position: int
    mid: Mid
    h: int
    view: int


class Viewed(NamedTuple):
    """A process installed a view; `previous` is its predecessor where the process knows it.

    `floor` is where the view's epoch began; `recovered`: this view began it, from disk. `voters`
    decide what follows, by name (empty: all members).
    """

    t: int
    n: str
    inc: int
    number: int
    epoch: int
    lineage: int
    members: tuple[Address, ...]
    previous: tuple[Address, ...] | None
    previous_number: int
    fresh: bool
    position: int
    floor: int
    recovered: bool
    holders: tuple[Address, ...]
    voters: tuple[str, ...] = ()


class Accepted(NamedTuple):
    """A node's disk holds that it has accepted this successor of its view.

    `voted`: whose votes it was made of; `voters`: who votes on what follows it, by name.
    """

    t: int
    n: str
    inc: int
    number: int
    lineage: int
    members: tuple[Address, ...]
    voted: tuple[Address, ...] = ()
    voters: tuple[str, ...] = ()


class Lived(NamedTuple):
    """A turn in a life: start, crash, leave, left, excluded, refused, stranded, gone.

    `stranded`: the state could not be had from anybody, the life was given up.
    """

    t: int
    n: str
    inc: int
    what: str
    detail: str


class Took(NamedTuple):
    """The application has the state up to `position`, from `source` (its own name: its journal).

    `had_epoch` and `had_position` say what its journal held before; `sh` is the hash of the state
    that was taken, empty where nobody has computed it.
    """

    t: int
    n: str
    inc: int
    epoch: int
    position: int
    source: str
    had_epoch: int
    had_position: int
    must_match: bool
    sh: str = ""


class Secured(NamedTuple):
    """A node's disk holds its application's journal up to this place."""

    t: int
    n: str
    inc: int
    epoch: int
    position: int


class Acked(NamedTuple):
    """A process was told that all up to this place is saved.

    `members` are those of its view, `voters` those who decide what follows it, by name (empty: all
    members).
    """

    t: int
    n: str
    inc: int
    epoch: int
    position: int
    members: tuple[Address, ...]
    voters: tuple[str, ...] = ()


class Sampled(NamedTuple):
    """What a process keeps in its buffers at a moment, in the view of number `view`.

    `buffers`: (name, used, most allowed). `windows`: for each sender the number up to which
    everything is held here, and that up to which everything has been dropped again.
    """

    t: int
    n: str
    inc: int
    view: int
    buffers: tuple[tuple[str, int, int], ...]
    windows: tuple[tuple[Address, int, int], ...]


class Happened(NamedTuple):
    """The schedule did something: a fault began or ended, or a phase did."""

    t: int
    what: str
    detail: str


class Ended(NamedTuple):
    """What a live process has at the end: its view, its place in the order, its state's hash."""

    t: int
    n: str
    inc: int
    number: int
    lineage: int
    members: tuple[Address, ...]
    primary: bool
    epoch: int
    position: int
    sh: str


class Absent(NamedTuple):
    """A node that should be alive at the end, and is not in any view (`why`)."""

    t: int
    n: str
    inc: int
    why: str


class Suspect(NamedTuple):
    """A datagram that must not count; `harm` says what it did at this process, if anything.

    `what`: forged (nobody sealed it so), stale (sealed before this life began), replayed (taken
    before), resealed (this process sealed another under the same key and nonce).
    """

    t: int
    n: str
    inc: int
    what: str
    harm: str


class Wire(NamedTuple):
    """How many datagrams were sent, and a checksum over all of them in order."""

    t: int
    datagrams: int
    fingerprint: int


Record = (
    Sent
    | Delivered
    | Viewed
    | Accepted
    | Lived
    | Took
    | Happened
    | Ended
    | Absent
    | Wire
    | Secured
    | Acked
    | Sampled
    | GroupRecord
    | DocumentRecord
    | Suspect
    | KeptRecord
    | DeletionRecord
    | PlaceRecord
    | PageRecord
)

Kind = TypeVar("Kind", bound=Record)
Found = TypeVar("Found")

DISK_LOST = "disk-lost"
"""`Lived.what` of a node that starts with an empty disk in place of its own."""
CORE = "core"
"""`Happened.what` of the moment from which these nodes (its detail) are healed, others cut off."""
CORE_STUCK = "core-stuck"
"""`Happened.what` when the core did not become well in time; its detail says how it is."""
UNWELL = "unwell"
"""`Happened.what` when the whole cluster did not after healing; its detail says how it is."""
HALVES = "halves"
"""`Happened.what` when a half was parted from these in unicasts, while a newcomer learned."""
HEALED = "healed"
"""`Happened.what` of the moment from which the network and all nodes are well."""

_EVENTS: dict[type, str] = {
    Sent: "send",
    Delivered: "dlv",
    Viewed: "view",
    Accepted: "accept",
    Lived: "life",
    Took: "inst",
    Happened: "fault",
    Ended: "end",
    Absent: "absent",
    Wire: "wire",
    Secured: "sync",
    Acked: "ack",
    Sampled: "sample",
    **GROUP_EVENTS,
    Suspect: "suspect",
    **DOCUMENT_EVENTS,
    **DELETION_EVENTS,
    **KEPT_EVENTS,
    **PLACE_EVENTS,
    **PAGE_EVENTS,
}
_CODES: dict[type, int] = {kind: code for code, kind in enumerate(_EVENTS, start=1)}


class Trace:
    """The records of a schedule, in order; checkers ask for them by kind and by process."""

    def __init__(self, records: list[Record] | None = None) -> None:
        self.records: list[Record] = [] if records is None else records
        self._histories: dict[Process, list[Delivered | Viewed]] | None = None
        self._places: dict[Mid, Slot] | None = None
        self._limits: dict[int, int] = {}
        self._multicasts: set[Mid] | None = None
        self._canonical: list[tuple[Mid, int] | None] | None = None
        self._computed: dict[object, object] = {}
        self._kinds: dict[type, list[Record]] = {}
        self._sorted = 0

    def add(self, record: Record) -> None:
        """Append what has just happened."""
        self.records.append(record)

    def of(self, kind: type[Kind]) -> list[Kind]:
        """The records of this kind, in order."""
        if self._sorted < len(self.records):
            for record in self.records[self._sorted :]:
                self._kinds.setdefault(type(record), []).append(record)
            self._sorted = len(self.records)
        return cast("list[Kind]", self._kinds.get(kind, [])[:])

    def once(self, compute: Callable[[Trace], Found]) -> Found:
        """What this function makes of the trace, computed once: ask when all is recorded."""
        if compute not in self._computed:
            self._computed[compute] = compute(self)
        return cast(Found, self._computed[compute])

    @property
    def sent(self) -> list[Sent]:
        """Every message that was handed over."""
        return self.of(Sent)

    @property
    def views(self) -> list[Viewed]:
        """Every installation of a view."""
        return self.of(Viewed)

    @property
    def lives(self) -> list[Lived]:
        """Every turn in a life."""
        return self.of(Lived)

    @property
    def ends(self) -> list[Ended]:
        """What the live processes had at the end."""
        return self.of(Ended)

    @property
    def healed_at(self) -> int | None:
        """When all faults had ended; None when the schedule did not get that far."""
        for record in self.records:
            if type(record) is Happened and record.what == HEALED:
                return record.t
        return None

    def histories(self) -> dict[Process, list[Delivered | Viewed]]:
        """For each process its views and deliveries, in order. Cached: ask when all is recorded."""
        if self._histories is None:
            histories: dict[Process, list[Delivered | Viewed]] = {}
            for record in self.records:
                if type(record) is Delivered or type(record) is Viewed:
                    histories.setdefault((record.n, record.inc), []).append(record)
            self._histories = histories
        return self._histories

    def stands(self, slot: Slot) -> bool:
        """Whether this place is part of the history that goes on.

        An epoch that is formed from disk begins at its floor; what some had delivered behind that
        place, in an epoch before, is lost with the memory of those who held it. Cached.
        """
        epoch, position = slot
        limit = self._limits.get(epoch)
        if limit is None:
            floors = [view.floor for view in self.views if view.epoch > epoch]
            limit = self._limits[epoch] = min(floors, default=1 << 62)
        return position <= limit

    def places(self) -> dict[Mid, Slot]:
        """For each ordered message its place in the history that goes on. Cached."""
        if self._places is None:
            places: dict[Mid, Slot] = {}
            for record in self.records:
                if type(record) is Delivered and record.position and record.mid not in places:
                    slot = (record.epoch, record.position)
                    if self.stands(slot):
                        places[record.mid] = slot
            self._places = places
        return self._places

    def multicasts(self) -> set[Mid]:
        """The identities of all messages that were sent to the group. Cached."""
        if self._multicasts is None:
            self._multicasts = {sent.mid for sent in self.sent if sent.to is None}
        return self._multicasts

    def canonical(self) -> list[tuple[Mid, int] | None]:
        """The history that goes on: what stands at position 1, 2, ...; None where nobody knows.

        A message with the hash of its content. Cached.
        """
        if self._canonical is None:
            history: list[tuple[Mid, int] | None] = []
            contents = {record.mid: record.h for record in self.of(Delivered)}
            for mid, (_, position) in self.places().items():
                history += [None] * (position - len(history))
                history[position - 1] = (mid, contents[mid])
            self._canonical = history
        return self._canonical

    def deliveries(self) -> int:
        """How many messages were delivered, in order of the channel or of a group."""
        return sum(type(record) in (Delivered, GroupDelivered) for record in self.records)

    def hash(self) -> str:
        """The trace hash: equal if and only if the same things happened."""
        digest = blake2b(digest_size=16)
        pack = Packer(use_bin_type=True, autoreset=True).pack
        for record in self.records:
            digest.update(pack((_CODES[type(record)], record)))
        return digest.hexdigest()

    def lines(self) -> Iterator[str]:
        """The records as JSON lines (reliability, C.1)."""
        for record in self.records:
            yield dumps({"ev": _EVENTS[type(record)], **record._asdict()})
