"""What the parts of a node's communication module share: its tables, and what it puts out."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Container, Iterable
from typing import TYPE_CHECKING

from groupcore.batch import Batch, Header
from groupcore.context import Numbers
from groupcore.digest import Digest
from groupcore.events import Event
from groupcore.sequencing.archive import Archive
from groupcore.sequencing.asked import Asked
from groupcore.sequencing.chains import Chains
from groupcore.sequencing.commands import Command, encode_command
from groupcore.sequencing.directory import Directory
from groupcore.sequencing.events import ServiceEvent
from groupcore.sequencing.log import Log, Position
from groupcore.sequencing.names import BEGINNING, GroupId, MessageId, Place, Process
from groupcore.sequencing.options import ServiceOptions
from groupcore.sequencing.reaches import Reaches
from groupcore.sequencing.record import Hold, Record, Senders
from groupcore.sequencing.shelf import Shelf
from groupcore.sequencing.stream import Stream
from groupcore.sequencing.watch import Watch
from groupcore.view import Address, View

if TYPE_CHECKING:
    from groupcore.sequencing.tracing import Recorder

AHEAD_MAX = 1 << 20
"""So many frames of a stream may be news to a node; whoever names later ones is mistaken."""


class Plane:
    """The tables of one node.

    `primary`: this node may sequence and order now. `ready`: its directory and records are
    those of the cluster. `early`: runs that wait for their group's former ones. `progress` grows
    with every run that is delivered or recorded: whoever waits for something looks again then.
    `frozen`: how far this node acknowledges while the view is being changed, and no further.
    `control`: what the control plane's stack is to be told.
    `ordered`: up to where this node has applied the control plane's order, counted by views;
    `place`: the same by epochs; `place_saved`: up to where that is saved.
    With a log, `unsaved` has what was sent here and is accepted, by stream: frame,
    group, message. `trace` writes down what happens here, if anybody wants to know;
    `watch` keeps a little of it in mind.
    """

    def __init__(self, me: Address, options: ServiceOptions, shelf: Shelf | None = None) -> None:
        self.me = me
        self.options = options
        self.view: View | None = None
        self.primary = False
        self.ready = False
        self.directory = Directory(options.k, options.placement)
        self.records: dict[GroupId, Record] = {}
        self.streams: dict[Address, Stream] = {}
        self.reaches = Reaches(options.k)
        self.senders = Senders()
        self.chains = Chains()
        self.gone: set[Address] = set()
        self.early = 0
        self._requests = 0
        self.progress = 0
        self.sends: list[Batch] = []
        self.frozen: Digest | None = None
        self.commands: list[bytes] = []
        self.control: list[Event] = []
        self.events: list[ServiceEvent] = []
        self.trace: Recorder | None = None
        self.watch = Watch()
        self.watch.begin(me)
        self.counters: Counter[str] = Counter()
        self.ordered: Place = BEGINNING
        self.place: Position = (0, 0)
        self.place_saved: Position = (0, 0)
        self.log = Log(me) if options.durable else None
        self.archive: Archive | None = None
        if options.durable:
            self.archive = Archive(options.archive_bytes, options.archive_total_bytes, shelf)
        self.unsaved: dict[Address, deque[tuple[int, GroupId, MessageId]]] | None = None
        if options.durable:
            self.unsaved = {}
        self.own = self.stream(me)
        self.own.start(0)

    # --- putting out ----------------------------------------------------------------------------

    def to(self, destination: Address | None, header: Header) -> None:
        """Send a header without a body, to one node or to all."""
        self.sends.append(Batch(self.me, destination, (header,)))

    def propose(self, command: Command) -> None:
        """Say this in the control plane's order."""
        self.commands.append(encode_command(command))

    def tell(self, event: ServiceEvent) -> None:
        """Tell the host of what concerns who is given what."""
        self.events.append(event)
        if self.trace is not None:
            self.trace.told(event)

    def resumed(self, group: GroupId, last: int, early: Iterable[Asked]) -> None:
        """This node gives numbers in a group that it has begun with; `early` has waited for it."""
        self.watch.resumed(group, early)
        if self.trace is not None:
            self.trace.resumed(group, last)

    def take_out(self, group: GroupId, hold: Hold, process: Process) -> None:
        """A process of this node is given nothing more of the group."""
        if hold.local.pop(process, None) is not None and self.trace is not None:
            self.trace.left(group, process)

    def request(self) -> int:
        """The number of a new request of this node."""
        self._requests += 1
        return self._requests

    # --- looking up -----------------------------------------------------------------------------

    def stream(self, address: Address) -> Stream:
        """The stream of this sequencer, known or not."""
        stream = self.streams.get(address)
        if stream is None:
            stream = self.streams[address] = Stream(address)
        return stream

    def owner(self, group: GroupId) -> Address | None:
        """Who sequences the group now, as far as this node has been told."""
        return self.directory.owner_of(group)

    def acknowledged(self, stream: Stream) -> int:
        """Up to which frame of the stream this node says to have it."""
        if self.frozen is None:
            return stream.received
        return min(stream.received, self.frozen.get(stream.address, 0))

    @property
    def has_log_only(self) -> bool:
        """Whether this life has a log and was in no view yet: what it has is what it has stored."""
        return self.log is not None and self.view is None

    @property
    def numbers_nothing(self) -> bool:
        """Whether requests wait: the window is full, or the view has been stopped.

        Nothing becomes held then; and whose group it is in the next view this node may not know
        yet, while others are in that view already and send to the new sequencer.
        """
        return self.frozen is not None or self.own.kept_bytes > self.options.window_bytes

    @property
    def view_number(self) -> int:
        """The number of the present view; 0 before the first."""
        return 0 if self.view is None else self.view.number

    def in_view(self, node: Address) -> bool:
        """Whether the node is a member of the present view."""
        return self.view is not None and node in self.view.members

    def member_nodes(self, record: Record, but: Container[Process] = ()) -> dict[Address, int]:
        """The nodes of the view with members, by where the first of these has joined, in order.

        `but`: members that do not count.
        """
        nodes: dict[Address, int] = {}
        for process, joined_at in sorted(record.members.items(), key=lambda one: one[1]):
            if self.in_view(process.node) and process not in but:
                nodes.setdefault(process.node, joined_at)
        return nodes

    def place_of(self, group: GroupId) -> int:
        """Where the first of this node's members has joined; 0 without one."""
        record = self.records.get(group)
        return 0 if record is None else self.member_nodes(record).get(self.me, 0)

    def has_no_member(self, record: Record) -> bool:
        """Whether no process of this node is a member of the group any more."""
        return all(process.node != self.me for process in record.members)

    def safe(self, stream: Address) -> int:
        """Up to which frame the stream outlives this view: held, and with a log saved."""
        return self.reaches.held(stream) if self.log is None else self.reaches.saved(stream)

    def saved_here(self, stream: Stream) -> int:
        """What this node says to have saved of a stream; no more than it acknowledges."""
        if self.log is None:
            return self.acknowledged(stream)
        saved = self.log.saved.get(stream.address, 0)
        return saved if self.frozen is None else min(saved, self.frozen.get(stream.address, 0))

    def await_saved(self, stream: Address, frame: int, group: GroupId, message: MessageId) -> None:
        """What was sent here is accepted, with this frame; its sender is told when it is saved."""
        if self.unsaved is not None:
            self.unsaved.setdefault(stream, deque()).append((frame, group, message))

    # --- contexts -------------------------------------------------------------------------------

    def drop_stable(self, numbers: Numbers) -> None:
        """Leave out what is stable: it constrains nobody (design, 4.4 a)."""
        for address, number in list(numbers.items()):
            stream = self.streams.get(address)
            if stream is None or number <= stream.stable:
                del numbers[address]  # a stream that is not known any more has ended, and is stable

    def is_credible(self, numbers: Numbers) -> bool:
        """Whether there may be such frames: of a stream that has ended none are behind its end.

        One that lives may have got further than this node has heard, but not by that much.
        """
        for address, number in numbers.items():
            stream = self.streams.get(address)
            if stream is None:
                continue
            last = stream.highest + AHEAD_MAX if stream.end is None else stream.end
            if number > last:
                return False
        return True

    def loose(self, numbers: Numbers) -> Numbers:
        """What a context names that this node has not recorded: what names it rests on that."""
        loose: Numbers = {}
        for address, number in numbers.items():
            stream = self.streams.get(address)
            if stream is not None and stream.recorded < number and address != self.me:
                loose[address] = number
        return loose

    def given(self) -> Numbers:
        """What any process of this node may have been given, as far as it constrains anybody."""
        return {
            address: stream.recorded
            for address, stream in self.streams.items()
            if stream.recorded > stream.stable
        }

    def settled(self, numbers: Numbers, concerns: Callable[[Record], bool]) -> bool:
        """CT2: whether all that the context names has been delivered here, of groups that count."""
        for address, number in numbers.items():
            stream = self.streams.get(address)
            if stream is None:
                if address not in self.gone:
                    return False
            elif not stream.settled(number, concerns):
                return False
        return True


def shares(one: Hold | None, other: Hold | None) -> bool:
    """Whether two groups have a process of this node in common."""
    if one is None or other is None:
        return False
    small, large = (one, other) if len(one.local) < len(other.local) else (other, one)
    return any(process in large.local for process in small.local)
