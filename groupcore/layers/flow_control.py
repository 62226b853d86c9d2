"""Flow control: nobody sends more than its receivers have room for.

Idea. A sender may have `credit_bytes` under way to each member: sent, and not yet consumed by the
application there. A batch goes out while all its receivers have credit left; then it waits, in
order, and the application is told to wait. Receivers count what goes up past them and give credit
back when the application has consumed it, a third of the credit at a time. A sender that waits
for somebody asks; whoever then takes less than a least pace for too long is reported as stalled,
and the group may go on without it. No header travels with the batches: both ends count the same.

Place. Above the layers that deliver reliably and in order and that stop in a view change; below
fragmentation. It stops with them, so that what is counted in a view is delivered in it.

Source. JGroups FC, MFC and UFC; fault matrix rows 8 and 21, invariant 24.

Invariants.
  I1  Towards no member is more than `credit_bytes` and one body sent and not consumed.
  I2  What waits goes out in the order in which it came, multicasts and those to one member.
  I3  A body that was cut into pieces goes out whole: no view change falls between them.
  I4  Credit is cumulative: what is lost on the way is made good by the next, for which a waiting
      sender asks.
  I5  Multicasts are counted anew in each view, from zero at both ends; a new member has full
      credit; who has left is waited for no more.
  I6  Only members are believed, of the present view, and never more than was sent to them.
  I7  Stalled is who was waited for throughout `stall_timeout_s` and took less than `pace_bytes_s`,
      while a quorum of the view did not hold this member up.
  I8  The application is told to wait before more than `credit_bytes` wait here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from groupcore.batch import Batch, Header, cost_of
from groupcore.consumption import Consumption, Stream
from groupcore.effects import Down, Effect, Notify, StartTimer, Up
from groupcore.events import Backlog, Congested, Event, FlushStarted, Stalled, ViewInstalled
from groupcore.headers import travels
from groupcore.layer import Layer
from groupcore.outflow import Account, Outflow, Pace, continues
from groupcore.view import Address, View

SETTLE_S = 0.002
"""How long a turn is waited for that would show what the application has consumed."""


@travels(11)
@dataclass(slots=True)
class Credit(Header):
    """Receiver to sender: of your multicasts (unicasts) I have got `received`; `unread` wait here.

    Both are costs in bytes; `received` counts from the beginning of the view for multicasts, from
    our first common view for unicasts, `unread` is all that the application has not consumed.
    """

    kind: ClassVar[str] = "flow_control.credit"
    view: int
    multicast: bool
    received: int
    unread: int


@travels(12)
@dataclass(slots=True)
class Ask(Header):
    """Sender to a receiver that it waits for: how much have you got and consumed?"""

    kind: ClassVar[str] = "flow_control.ask"
    view: int
    multicast: bool


@dataclass(frozen=True, slots=True)
class FlowOptions:
    """Sizes in bytes, times in seconds.

    `credit_bytes`: what one sender may have under way to one member, in messages and 64 bytes for
    each. More of it rides over longer pauses of a receiver and costs memory there. A member that
    is waited for and takes less than `pace_bytes_s` for `stall_timeout_s` is reported as stalled.
    A waiting sender asks every `ask_s`.
    """

    credit_bytes: int = 4 << 20
    stall_timeout_s: float = 1.5
    pace_bytes_s: int = 64 << 10
    ask_s: float = 0.1


def limits_itself(batch: Batch) -> bool:
    """Whether a layer above bounds these unicasts and consumes them itself."""
    return bool(batch.headers) and batch.headers[0].self_limiting


class FlowControl(Layer):
    """Counts the credit of the multicasts, and of the unicasts to each member."""

    name = "FC"
    headers = (Credit, Ask)
    hears = (FlushStarted, ViewInstalled, Backlog)
    provides = frozenset({"flow control"})
    requires_below = frozenset({"reliable multicast", "reliable unicast", "views"})

    def __init__(self, me: Address, options: FlowOptions) -> None:
        self.me = me
        self.options = options
        self.view: View | None = None
        self.frozen = True
        self.multicasts = Outflow()
        self.unicasts: dict[Address, Outflow] = {}
        self.consumption = Consumption()
        self.backlog_bytes = 0
        self.settling = False
        self.watching = False
        self.congested = False
        self.pace = Pace(options.stall_timeout_s, options.pace_bytes_s)
        self.stalled: frozenset[Address] = frozenset()
        self.numbers = {"waited": 0, "asked": 0, "credits": 0, "stalls": 0, "dropped": 0}

    def counters(self) -> dict[str, int]:
        """Batches that had to wait, questions, credits, stalls, drops; bytes that wait now."""
        now = {"waiting_bytes": self.waiting_bytes, "unread_bytes": self.backlog_bytes}
        return {**self.numbers, **now}

    @property
    def flows(self) -> tuple[Outflow, ...]:
        """All streams of this member."""
        return (self.multicasts, *self.unicasts.values())

    @property
    def waiting_bytes(self) -> int:
        """What waits for credit, in bytes."""
        return sum(flow.waiting_bytes for flow in self.flows)

    @property
    def lag_bytes(self) -> int:
        """What a member that keeps the least pace may lack of what was sent."""
        options = self.options
        return min(int(options.pace_bytes_s * options.stall_timeout_s), options.credit_bytes // 4)

    # --- sending ----------------------------------------------------------------------------------

    def on_down(self, batch: Batch, now: float) -> list[Effect]:
        """Let a batch go while there is credit (I1): one comparison and one addition."""
        if not batch.reliable:
            return [Down(batch)]
        if batch.destination is None:
            flow = self.multicasts
        elif limits_itself(batch):
            return [Down(batch)]
        else:
            flow = self.flow_to(batch.destination)
        if flow.sent >= flow.open and not self.must_follow(flow, batch):
            return self.hold(flow, batch)
        flow.sent += cost_of(batch)
        if self.watching:
            return [Down(batch)]
        self.watching = True
        return [Down(batch), StartTimer("watch", self.options.ask_s)]

    def flow_to(self, member: Address) -> Outflow:
        """The stream of my unicasts to that member."""
        flow = self.unicasts.get(member)
        if flow is None:
            flow = self.unicasts[member] = Outflow(accounts={member: Account()})
            flow.reopen(self.options.credit_bytes)
        return flow

    def must_follow(self, flow: Outflow, batch: Batch) -> bool:
        """Whether it is the rest of a body that has begun to go out (I3)."""
        frozen = self.frozen and flow is self.multicasts
        return not frozen and not flow.waiting and continues(batch)

    def hold(self, flow: Outflow, batch: Batch) -> list[Effect]:
        """No credit, or a view change: wait behind what waits already (I2)."""
        flow.hold(batch, cost_of(batch))
        self.numbers["waited"] += 1
        effects = self.congestion()
        if not self.watching:
            self.watching = True
            effects.append(StartTimer("watch", self.options.ask_s))
        return effects

    def release(self, flow: Outflow) -> list[Effect]:
        """What has credit now goes out, in order."""
        if self.frozen and flow is self.multicasts:
            return []
        taken = flow.take(self.options.credit_bytes)
        if not taken:
            return []
        return [*map(Down, taken), *self.congestion(), StartTimer("reopen", 0)]

    def congestion(self) -> list[Effect]:
        """Say when too much waits (I8), and when half of that has gone."""
        waiting, limit = self.waiting_bytes, self.options.credit_bytes
        if not self.congested and waiting >= limit:
            self.congested = True
            return [Notify(Congested(True, self.name))]
        if self.congested and waiting <= limit // 2:
            self.congested = False
            return [Notify(Congested(False, self.name))]
        return []

    # --- receiving --------------------------------------------------------------------------------

    def on_pass(self, batch: Batch, now: float) -> list[Effect]:
        """Count what goes up to the application."""
        multicast = batch.destination is None
        if not multicast and limits_itself(batch):
            return [Up(batch)]
        self.consumption.add(self.consumption.stream(batch.sender, multicast), cost_of(batch))
        if self.settling:
            return [Up(batch)]
        self.settling = True
        return [Up(batch), StartTimer("settle", 0)]

    def settle(self) -> list[Effect]:
        """Give credit back for what was consumed, where it is a third of the credit."""
        effects: list[Effect] = []
        for stream in self.consumption.settle(self.backlog_bytes):
            if 3 * stream.news >= self.options.credit_bytes:
                effects += self.tell(stream)
        return effects

    def tell(self, stream: Stream) -> list[Effect]:
        """Tell a sender how far I am with its stream."""
        assert self.view is not None
        self.numbers["credits"] += 1
        credit = Credit(self.view.number, stream.multicast, *stream.tell())
        if stream.sender == self.me:
            return self.on_credit(self.me, credit)
        return [Down(Batch(self.me, stream.sender, (credit,), reliable=False))]

    def on_settle(self) -> list[Effect]:
        """The end of a turn: what came in it is known to the application from now on.

        If it consumes at once, the next turn will show it; one comes soon when credit is due.
        """
        self.settling = False
        effects = [] if self.view is None else self.settle()
        self.consumption.end_turn()
        due = self.options.credit_bytes / 3
        if not self.backlog_bytes and self.consumption.has_news_to_be(due):
            self.settling = True
            effects.append(StartTimer("settle", SETTLE_S))
        return effects

    def on_up(self, batch: Batch, now: float) -> list[Effect]:
        """Credit, or a question for it; from members, of this view (I6)."""
        header = batch.headers[-1]
        assert isinstance(header, Credit | Ask)
        view = self.view
        if view is None or batch.sender not in view.members or header.view != view.number:
            self.numbers["dropped"] += 1
            return []
        if isinstance(header, Credit):
            return self.on_credit(batch.sender, header)
        return self.answer(batch.sender, header.multicast)

    def answer(self, sender: Address, multicast: bool) -> list[Effect]:
        """How far I am with a stream, now."""
        return [*self.settle(), *self.tell(self.consumption.stream(sender, multicast))]

    def on_credit(self, member: Address, credit: Credit) -> list[Effect]:
        """A member has consumed more of what I sent; what waited for it goes out (I4)."""
        flow = self.multicasts if credit.multicast else self.unicasts.get(member)
        account = None if flow is None else flow.accounts.get(member)
        if flow is None or account is None:
            self.numbers["dropped"] += 1
            return []
        if not account.update(min(credit.received, flow.sent), credit.unread):
            return []
        return self.release(flow)

    # --- time and views ---------------------------------------------------------------------------

    def on_timer(self, timer: str, now: float) -> list[Effect]:
        """`settle` and `reopen` at the end of a turn, `watch` while something is on the way."""
        match timer:
            case "settle":
                return self.on_settle()
            case "reopen":
                return [effect for flow in self.flows for effect in self.release(flow)]
            case _:
                return self.watch(now)

    def watch(self, now: float) -> list[Effect]:
        """Ask those who hold a stream up; say who does so for too long (I7)."""
        self.watching = False
        if self.view is None or self.frozen:
            return self.keep_watching()
        waited_for: dict[Address, int] = {}
        effects: list[Effect] = []
        for flow in self.flows:
            for member in flow.held_up_by(self.options.credit_bytes, self.lag_bytes):
                consumed = flow.accounts[member].consumed
                waited_for[member] = waited_for.get(member, 0) + consumed
                effects += self.ask(member, flow is self.multicasts)
        effects += self.judge(self.pace.look(waited_for, now))
        return [*effects, *(self.keep_watching() if waited_for else [])]

    def keep_watching(self) -> list[Effect]:
        """Look again a little later."""
        self.watching = True
        return [StartTimer("watch", self.options.ask_s)]

    def ask(self, member: Address, multicast: bool) -> list[Effect]:
        """How far is it?"""
        assert self.view is not None
        self.numbers["asked"] += 1
        if member == self.me:
            return self.answer(self.me, multicast)
        ask = Ask(self.view.number, multicast)
        return [Down(Batch(self.me, member, (ask,), reliable=False))]

    def judge(self, late: frozenset[Address]) -> list[Effect]:
        """Report who is late, if a quorum is not."""
        assert self.view is not None
        others = [member.name for member in self.view.members if member not in late]
        stalled = late if self.view.is_quorum(others) else frozenset()
        if stalled == self.stalled:
            return []
        self.numbers["stalls"] += len(stalled - self.stalled)
        self.stalled = stalled
        return [Notify(Stalled(tuple(sorted(stalled))))]

    def on_event(self, event: Event, now: float) -> list[Effect]:
        """Views stop and start the multicasts; the application says what it has not consumed."""
        match event:
            case FlushStarted():
                self.frozen = True
                self.multicasts.open = 0
                return []
            case ViewInstalled():
                if event.recovered:
                    self.multicasts.end_epoch()
                return self.on_view(event.view)
            case Backlog():
                self.backlog_bytes = event.cost_bytes
                return [] if self.view is None else self.settle()
            case _:
                return []

    def on_view(self, view: View) -> list[Effect]:
        """Count anew among the members of this view (I5)."""
        self.view, self.frozen = view, False
        self.multicasts.begin_view(view.members)
        self.unicasts = {m: flow for m, flow in self.unicasts.items() if m in view.members}
        self.consumption.begin_view(view.members)
        self.pace.begin_view()
        self.stalled = frozenset()
        return [*self.release(self.multicasts), *self.congestion()]
