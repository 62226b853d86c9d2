"""What a node keeps in mind of its work for those who operate it: views, moves, and sums of it.

Idea. All of it is seen here anyway, and little of it is kept: the last views and moves, sums since
the node began, and what the sequencers have reported of groups last. No protocol reads it; the
trace has all of it, on disk, where one is written. Every node sees each move begin and end; how
long its groups got no numbers only the target sees whole, what waited meanwhile source and target.

Times are those of the service's clock (`now`), in seconds.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from groupcore.events import ViewInstalled
from groupcore.histogram import SHORT_S, TIMES_S, Histogram
from groupcore.sequencing.asked import Asked
from groupcore.sequencing.commands import Command, LoadSample, ReportLoad
from groupcore.sequencing.directory_changes import MoveBegan, MoveCancelled, OwnerMoved
from groupcore.sequencing.names import GroupId
from groupcore.view import Address, View

VIEWS_MAX = 100
MOVES_MAX = 500
FAILOVER = "failover"
"""The cause of a move that no directory has begun: the groups' sequencer is gone."""


@dataclass(frozen=True, slots=True)
class SeenView:
    """A view that was installed here at `at_s`."""

    at_s: float
    view: View


@dataclass(slots=True)
class SeenMove:
    """A move of `groups` as this node has seen it; `number` 0 for a failover.

    `stopped_s`: the source has said where they end, known there alone; `ended_s`: the order has
    moved them, or called it off (`cancelled`); `resumed_s`: the target gives numbers in all of them
    again, known there alone. `last[i]` is the last number of the former epoch of `groups[i]`, empty
    before the order says it. `held`: requests that have waited here meanwhile.
    """

    number: int
    groups: tuple[GroupId, ...]
    source: Address
    target: Address
    reason: str
    began_s: float
    stopped_s: float | None = None
    ended_s: float | None = None
    resumed_s: float | None = None
    cancelled: bool = False
    last: tuple[int, ...] = ()
    epochs: tuple[int, ...] = ()
    held: int = 0
    waiting: set[GroupId] = field(default_factory=set)


class Watch:
    """One for all lives of a node. `now` is set before anything is told in a turn.

    `frames`, `messages` and `size_bytes` count what this node has numbered, `crossed` of these
    messages those that rest on frames of another sequencer, by that one. `outcomes` are the moves
    of groups that have ended here: `moved` and `failover` by their target, `cancelled` by their
    source, so that the sum over all nodes has each once.

    Times in s, of this node's clock: `order_s` from the coming of a frame's oldest request to its
    numbers, `deliver_s` from there until it is in its order here and is delivered, if it rests on
    nothing that is not there, `pauses_s` those of moves to this node.
    """

    def __init__(self) -> None:
        self.now = 0.0
        self.frames = 0
        self.messages = 0
        self.size_bytes = 0
        self.crossed: Counter[Address] = Counter()
        self.order_s = Histogram(SHORT_S)
        self.deliver_s = Histogram(SHORT_S)
        self.pauses_s = Histogram(TIMES_S)
        self.outcomes: Counter[str] = Counter()
        self.views: deque[SeenView] = deque(maxlen=VIEWS_MAX)
        self.views_seen = 0
        self.moves: deque[SeenMove] = deque(maxlen=MOVES_MAX)
        self.reports: dict[Address, dict[GroupId, LoadSample]] = {}
        self._waited_s = 0.0
        self._stamped: deque[tuple[int, float]] = deque()
        self._me: Address | None = None
        self._moving: dict[GroupId, SeenMove] = {}

    def begin(self, me: Address) -> None:
        """A life of the node begins: what the former one was in the middle of is over."""
        self._me = me
        self.reports.clear()
        self._moving.clear()
        self._stamped.clear()

    # --- how much -------------------------------------------------------------------------------

    def stamped(
        self, frame: int, messages: int, size_bytes: int, since: float, rests: Iterable[Address]
    ) -> None:
        """A frame has its number; it rests on frames of these. Its oldest request: `since`."""
        self.frames += 1
        self.messages += messages
        self.size_bytes += size_bytes
        for other in rests:
            if other != self._me:
                self.crossed[other] += messages
        waited_s = self.now - since
        self._waited_s = max(self._waited_s, waited_s)
        self.order_s.observe(waited_s)
        self._stamped.append((frame, self.now))

    def recorded(self, by: Address, frame: int) -> None:
        """The frames of a sequencer up to this one are in their order here; its own count."""
        stamped = self._stamped if by == self._me else ()
        while stamped and stamped[0][0] <= frame:
            self.deliver_s.observe(self.now - self._stamped.popleft()[1])

    def take_waited_s(self) -> float:
        """The longest that a request has waited for its number since this was asked before."""
        waited_s, self._waited_s = self._waited_s, 0.0
        return waited_s

    def ordered(self, by: Address, command: Command) -> None:
        """A command that the order has brought: sequencers report the groups that are busy."""
        if isinstance(command, ReportLoad):
            self.reports[by] = {sample.group: sample for sample in command.samples}

    def sample_of(self, group: GroupId, owner: Address) -> LoadSample | None:
        """What the group's sequencer has reported of it last; None: it is idle."""
        return self.reports.get(owner, {}).get(group)

    # --- views and moves ------------------------------------------------------------------------

    def viewed(self, event: ViewInstalled) -> None:
        """A view begins here."""
        self.views.append(SeenView(self.now, event.view))
        self.views_seen += 1
        for gone in [node for node in self.reports if node not in event.view.members]:
            del self.reports[gone]

    def began(self, change: MoveBegan) -> None:
        """A move has begun."""
        known = self._moving.get(change.groups[0])
        if known is not None and known.number == change.move:
            return  # it was under way when this node took the directory over
        ends = (change.source, change.target, change.reason)
        self._keep(SeenMove(change.move, change.groups, *ends, self.now))

    def stopped(self, groups: tuple[GroupId, ...]) -> None:
        """This node has said where these groups ended."""
        move = self._moving.get(groups[0])
        if move is not None:
            move.stopped_s = self.now

    def moved(self, change: OwnerMoved) -> None:
        """The order says that the target sequences from here on."""
        move = self._moving.get(change.groups[0])
        if move is None or move.number != change.move:
            return
        move.ended_s = self.now
        move.last, move.epochs = change.last, change.epochs
        if self._me == move.target:
            self.outcomes["moved"] += len(move.groups)
            move.waiting.update(move.groups)
        elif self._me != move.source:
            self._let_go(move)

    def cancelled(self, change: MoveCancelled) -> None:
        """The groups stay with the source."""
        move = self._moving.get(change.groups[0])
        if move is not None and move.number == change.move:
            move.ended_s, move.cancelled = self.now, True
            if self._me == move.source:
                self.outcomes["cancelled"] += len(move.groups)
            self._let_go(move)

    def inherited(self, source: Address, groups: Iterable[GroupId], me: Address) -> None:
        """This node sequences these groups from here on, as `source` is gone."""
        named = tuple(groups)
        self.outcomes[FAILOVER] += len(named)
        move = SeenMove(0, named, source, me, FAILOVER, self.now, ended_s=self.now)
        move.waiting.update(named)
        self._keep(move)

    def handed_on(self, group: GroupId, stretches: list[Asked]) -> list[Asked]:
        """What has waited here for a group that is another's from here on; gives it back."""
        move = self._moving.get(group)
        if move is not None and move.ended_s is not None:
            move.held += sum(len(asked.runs) for asked in stretches)
            del self._moving[group]
        return stretches

    def resumed(self, group: GroupId, stretches: Iterable[Asked]) -> None:
        """This node gives numbers in a group; what has waited for that, but for what the former
        sequencer has counted.
        """
        move = self._moving.pop(group, None)
        if move is None:
            return
        move.held += sum(len(asked.runs) for asked in stretches if not asked.forwarded)
        move.waiting.discard(group)
        if not move.waiting:
            move.resumed_s = self.now
            self.pauses_s.observe(self.now - move.began_s)

    def _keep(self, move: SeenMove) -> None:
        self.moves.append(move)
        for group in move.groups:
            self._moving[group] = move

    def _let_go(self, move: SeenMove) -> None:
        for group in move.groups:
            self._moving.pop(group, None)
