"""Failure detection: whom a member hears, verified, and what the others report.

Idea. Every member multicasts a heartbeat, and any datagram counts as one. A member that has been
silent for `timeout_s` is asked directly, several times; if it stays silent it is **unheard**.
Heartbeats name whom their sender does not hear, so everybody knows who hears whom, and whether a
second path still reaches a member that one has lost (verified suspicion). A member is doubted
when the connection that watches over it closes, as it does when its process ends, or when another
member reports it: then it is asked at once, at short intervals. A member that slept itself, as its
own late timer shows, suspects nobody until it has listened again. Whom flow control reports as
stalled counts as heard by nobody, at all members alike: heartbeats name it, too. They also say
when their sender's ordered messages do not come back: if most others say so, it is the coordinator
that has stalled. A member that has not begun the view long after the others, as no heartbeat of it
says so, takes no part in it: it is unheard, whatever else comes from it. Heartbeats are multicasts,
so each pair is watched on the other path, too: every second heartbeat goes with a unicast to each
member, and a member of which heartbeats come and no unicasts is unheard. It could neither be asked
to do anything nor ask; whichever of the pair stays, the groups do not wait for it.

Place. Directly above the transport, which tells in each turn who was heard.

Source. JGroups FD, FD_SOCK and VERIFY_SUSPECT; fault matrix rows 10 to 14.

Invariants.
  I1  A member is unheard only after `timeout_s` of silence, or a reason to doubt it, and `pings`
      unanswered questions.
  I2  One datagram of an unheard member makes it heard again.
  I3  A member whose own timer came late by `timeout_s / 2` suspects nobody for `timeout_s`.
  I4  Only members of the view are suspected; a report of a former view counts for nothing.
  I5  Who is newly unheard is told to the others at once.
  I6  A stalled member is unheard by everybody else, in this view, while a quorum is left that is
      heard and hears one another.
  I7  The coordinator counts as stalled when more than half of the others that are heard, and at
      least two of them, say in this view that the order is late.
  I8  A member of which no heartbeat of this view has come for `begin_s` is unheard until one comes.
  I9  A member of which `direct_missed` heartbeats have come in a row and no unicast, though it was
      asked, is unheard until a unicast comes. Nobody's own sleep counts: time plays no part.
      Heartbeats name it apart (`indirect`), and what must reach the other way goes to all
      (`way_to`). That its grants do not come makes it no stalled one (I6).
      Who gets no unicasts of whom counts `parted_s` after the first has said so.
  I10 A member that has slept takes back whom it does not hear, and for `timeout_s` does not heed
      who says not to hear it: that was said of its sleep, and is said again if it is still so.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import ClassVar

from groupcore.batch import Batch, Header
from groupcore.effects import Down, Effect, Notify, StartTimer, StopTimer
from groupcore.events import (
    Connect,
    ConnectionClosed,
    Event,
    Heard,
    Lagging,
    OrderLate,
    ReachabilityChanged,
    SeenAlive,
    Slept,
    Stalled,
    ViewInstalled,
)
from groupcore.headers import travels
from groupcore.layer import Layer
from groupcore.paths import Paths
from groupcore.stalls import stalled_members
from groupcore.view import Address, View

STRANGERS_MAX = 256
NOBODY: frozenset[Address] = frozenset()


@travels(28)
@dataclass(slots=True)
class Heartbeat(Header):
    """Member to group: I live, in this view; I do not hear these, and those hold me up.

    `waiting`: what I have sent in order does not come back. `indirect`: those of the unheard whose
    multicasts come, and whose unicasts do not.
    """

    kind: ClassVar[str] = "failure_detection.heartbeat"
    view: int
    unheard: tuple[Address, ...]
    stalled: tuple[Address, ...] = ()
    waiting: bool = False
    indirect: tuple[Address, ...] = ()


@travels(29)
@dataclass(slots=True)
class Ping(Header):
    """Member to a silent member: are you there?"""

    kind: ClassVar[str] = "failure_detection.ping"


@travels(30)
@dataclass(slots=True)
class Pong(Header):
    """Answer to a ping."""

    kind: ClassVar[str] = "failure_detection.pong"


@travels(31)
@dataclass(slots=True)
class Direct(Header):
    """Member to member: what I send to you alone arrives."""

    kind: ClassVar[str] = "failure_detection.direct"


@dataclass(frozen=True, slots=True)
class DetectionOptions:
    """Seconds. A silent member is unheard after `timeout_s + (pings + 1) * interval_s` at most.

    Raising `timeout_s` tolerates longer pauses; lowering it finds a crash sooner. A doubted member
    is unheard after `(pings + 1) * doubt_interval_s`: well above a round trip and a busy turn.
    `begin_s`: so long a member may take to begin a view, what it has to get before it included.
    `direct_missed`: heartbeats of a member without a unicast of it, from half of which on it is
    asked with each; times the rounds that unicasts to all take in a large view. `parted_s`: from
    the first such report in a view until it counts who goes on without whom: some heartbeats, in
    which others find out the same.
    """

    interval_s: float = 0.1
    timeout_s: float = 0.6
    pings: int = 3
    doubt_interval_s: float = 0.02
    begin_s: float = 3.5
    direct_missed: int = 14
    parted_s: float = 0.4


class FailureDetection(Layer):
    """Listens for the members of the view."""

    name = "FD"
    headers = (Heartbeat, Ping, Pong, Direct)
    hears = (
        Heard,
        ConnectionClosed,
        SeenAlive,
        Slept,
        Stalled,
        OrderLate,
        ViewInstalled,
        Connect,
    )
    provides = frozenset({"failure detection"})
    requires_above = frozenset({"views"})

    def __init__(self, me: Address, options: DetectionOptions) -> None:
        self.me = me
        self.options = options
        self.view: View | None = None
        self.last_heard: dict[Address, float] = {}
        self.together: dict[Address, float] = {}
        self.seen_alive: dict[Address, float] = {}
        self.unanswered: dict[Address, int] = {}
        self.mine: frozenset[Address] = frozenset()
        self.begun_at = 0.0
        self.absent: frozenset[Address] = frozenset()
        self.reports: dict[Address, frozenset[Address]] = {}
        self.apart_since: float | None = None
        self.apart_counts = False
        self.indirect_reports: dict[Address, frozenset[Address]] = {}
        self.stalls: dict[Address, frozenset[Address]] = {}
        self.waiting: set[Address] = set()
        self.expected_at = 0.0
        self.slept_until = 0.0
        self.allowed_at = 0.0
        self.doubted: dict[Address, int] = {}
        self.doubt_due_at = 0.0
        self.paths = Paths(me, options.direct_missed)
        self.numbers = {"suspicions": 0, "late_timers": 0, "doubts": 0, "sleeps": 0}

    def counters(self) -> dict[str, int]:
        """Suspicions, own late timers, members doubted, own sleeps so far; members unheard, stalled
        and heard by multicasts alone now."""
        now = {"unheard": len(self.mine), "stalled": len(self.stalled())}
        return {**self.numbers, **now, "indirect": len(self.paths.indirect)}

    def unheard(self) -> dict[Address, frozenset[Address]]:
        """Who does not hear whom: this member's own ears, and what the others report (I6)."""
        heard_by_none = self.stalled()
        unheard = {self.me: self.mine, **self.reports}
        if self.is_parting():
            indirect = self.said_indirect()
            unheard = {one: deaf - indirect.get(one, NOBODY) for one, deaf in unheard.items()}
        if self.slept_until:
            unheard = {member: deaf - {self.me} for member, deaf in unheard.items()}
        if not heard_by_none:
            return unheard
        return {member: deaf | (heard_by_none - {member}) for member, deaf in unheard.items()}

    def indirect(self) -> dict[Address, frozenset[Address]]:
        """Of whom each member gets multicasts and no unicasts, as far as it has said so."""
        gone = self.stalled()
        return {member: ones - gone for member, ones in self.said_indirect().items() if ones}

    def said_indirect(self) -> dict[Address, frozenset[Address]]:
        """The same, of those who are reported as stalled, too."""
        return {**self.indirect_reports, self.me: self.mine & self.paths.indirect}

    def way_to(self, member: Address) -> Address | None:
        """Where to send what is for this member: to it, or to all (None) where it says that no
        unicasts of this one come."""
        return None if self.me in self.indirect_reports.get(member, NOBODY) else member

    def is_parting(self) -> bool:
        """Whether somebody gets no unicasts of another, and it is not known yet of whom else."""
        return self.apart_since is not None and not self.apart_counts

    def unanswering(self) -> frozenset[Address]:
        """Whom this member does not hear, whose answers do not come by multicast either."""
        return self.mine - self.paths.indirect

    def stalled(self) -> frozenset[Address]:
        """The members that hold the group up, as far as reports of them count."""
        if self.view is None or not (self.stalls or self.waiting):
            return frozenset()
        unheard = {**self.reports, self.me: self.mine}
        # What a member grants by unicasts that do not come says nothing of how fast it takes.
        indirect = self.said_indirect()
        stalls = {one: held - indirect.get(one, NOBODY) for one, held in self.stalls.items()}
        return stalled_members(self.view, unheard, self.me, stalls, self.waiting)

    def unreachable(self) -> frozenset[Address]:
        """Whom this member does not hear."""
        return self.mine

    def heard_since(self, since: float) -> tuple[Address, ...]:
        """Everybody, member or not, of whom anything came at or after that time; sorted."""
        return tuple(sorted(p for p, when in self.last_heard.items() if when >= since))

    def silent_s(self, now: float) -> float:
        """For how long no quorum of the view has said to be in it and to hear this member.

        This member counts as one of them. Infinite in no view.
        """
        if self.view is None:
            return inf
        names: list[str] = []
        heard = {**self.together, self.me: now}
        for member in sorted(heard, key=lambda one: heard[one], reverse=True):
            names.append(member.name)
            if self.view.is_quorum(names):
                return max(0.0, now - heard[member])
        return inf

    def reached_since(self, since: float) -> tuple[Address, ...]:
        """Those of `heard_since` that have answered this node's own question, too; sorted.

        So unicasts arrive in both directions. Only a node without a view asks all whom it hears.
        """
        return tuple(p for p in self.heard_since(since) if self.paths.has_answered(p, since))

    def on_up(self, batch: Batch, now: float) -> list[Effect]:
        """A heartbeat or a ping; that it was heard at all has been noted by `Heard`."""
        direct = [] if batch.destination is None else self.on_direct(batch.sender)
        return [*direct, *self.handle(batch, now)]

    def on_direct(self, member: Address) -> list[Effect]:
        """A unicast of a member (I9): if that was what is missing, the member is heard again."""
        if not self.paths.on_direct(member) or member in self.absent:
            return []
        self.mine -= {member}
        return [Notify(ReachabilityChanged())]

    def handle(self, batch: Batch, now: float) -> list[Effect]:
        """Which handler a header belongs to."""
        match batch.headers[-1]:
            case Heartbeat() as heartbeat:
                return self.on_heartbeat(batch.sender, heartbeat, now)
            case Ping():
                return [Down(self.alone(batch.sender, Pong()))]
            case Pong():
                self.paths.on_answer(batch.sender, now)
                return []
            case _:
                return []

    def on_heartbeat(self, member: Address, heartbeat: Heartbeat, now: float) -> list[Effect]:
        """Note whom the member does not hear (I4), and ask those oneself."""
        if self.view is None or member not in self.view.members:
            return []
        if heartbeat.view != self.view.number:
            lags = 0 < heartbeat.view < self.view.number
            return [Notify(Lagging(member))] if lags else []
        self.paths.on_heartbeat(member)
        if self.me not in heartbeat.unheard:
            self.together[member] = now
        stalls = self.note_stalls(member, frozenset(heartbeat.stalled))
        stalls += self.note_waiting(member, heartbeat.waiting)
        report = frozenset(heartbeat.unheard)
        indirect = frozenset(heartbeat.indirect)
        told = self.indirect_reports.get(member, NOBODY)
        self.indirect_reports[member] = indirect
        stalls += self.note_apart(now)
        # The first counts, though it names nobody.
        if self.reports.get(member) == report and told == indirect:
            return stalls
        if member in self.absent:  # it has begun the view after all (I8)
            self.absent -= {member}
            self.mine -= {member}
        # Whose multicasts come lives, and could not be asked in another way.
        former = self.reports.get(member, NOBODY) - told
        news = sorted(report - indirect - former)
        self.reports[member] = report
        doubts = [effect for one in news for effect in self.doubt(one, now)]
        return [Notify(ReachabilityChanged()), *doubts]

    def note_apart(self, now: float) -> list[Effect]:
        """Somebody gets no unicasts of another: that counts when all have had the time to say so.

        Those whose unicasts ended together find out one after the other, and who acts on the first
        report leaves behind one, where it is the others that are to go on without it.
        """
        if not any(self.said_indirect().values()):
            self.apart_since, self.apart_counts = None, False
            return []
        if self.apart_since is None:
            self.apart_since = now
        if self.apart_counts or now - self.apart_since < self.options.parted_s:
            return []
        self.apart_counts = True
        return [Notify(ReachabilityChanged())]

    def note_stalls(self, member: Address, stalled: frozenset[Address]) -> list[Effect]:
        """A member says who holds it up now (I6)."""
        if self.stalls.get(member, frozenset()) == stalled:
            return []
        self.stalls[member] = stalled
        return [Notify(ReachabilityChanged())]

    def note_waiting(self, member: Address, waiting: bool) -> list[Effect]:
        """A member says whether the order is late (I7)."""
        if waiting == (member in self.waiting):
            return []
        self.waiting ^= {member}
        return [Notify(ReachabilityChanged())]

    def on_event(self, event: Event, now: float) -> list[Effect]:
        """Somebody was heard (I2); a view says whom to listen for."""
        match event:
            case Heard():
                return self.on_heard(event.members, now)
            case ConnectionClosed(member):
                return self.doubt(member, now)
            case Slept():
                return self.on_slept(now)
            case SeenAlive():
                return self.on_seen_alive(event.members, now)
            case Stalled(members):
                return [*self.note_stalls(self.me, frozenset(members)), *self.heartbeat()]
            case OrderLate(late):
                return [*self.note_waiting(self.me, late), *self.heartbeat()]
            case ViewInstalled():
                self.view, self.mine, self.seen_alive = event.view, frozenset(), {}
                self.begun_at, self.absent = now, frozenset()
                self.reports, self.unanswered, self.doubted, self.stalls = {}, {}, {}, {}
                self.indirect_reports, self.apart_since = {}, None
                self.apart_counts = False
                self.waiting = set()
                self.slept_until = 0.0
                self.paths.on_view(event.view)
                self.together = dict.fromkeys(event.view.members, now)
                self.last_heard.update(self.together)
                return [StartTimer("tick", 0), StopTimer("doubt")]
            case Connect():
                return [StartTimer("tick", 0)]
            case _:
                return []

    def on_heard(self, members: tuple[Address, ...], now: float) -> list[Effect]:
        """Note the time; whoever was unheard is heard again."""
        for member in members:
            self.last_heard[member] = now
            if self.unanswered or self.doubted:
                self.unanswered.pop(member, None)
                self.doubted.pop(member, None)
        if len(self.last_heard) > STRANGERS_MAX:
            known = frozenset() if self.view is None else frozenset(self.view.members)
            self.last_heard = {p: t for p, t in self.last_heard.items() if p in known}
        if self.view is None:
            return [self.ping(member) for member in self.paths.unasked(members, now)]
        if not self.mine:
            return []
        back = self.mine.intersection(members) - self.absent - self.paths.indirect
        if not back:
            return []
        self.mine -= back
        return [Notify(ReachabilityChanged())]

    def on_seen_alive(self, members: tuple[Address, ...], now: float) -> list[Effect]:
        """They live, as others say: do not begin to doubt them; who is unheard stays so (I2)."""
        for member in members:
            self.seen_alive[member] = now
        return []

    def on_timer(self, timer: str, now: float) -> list[Effect]:
        """`tick`: one heartbeat, one look at who is silent; `doubt`: ask the doubted again."""
        if timer == "doubt":
            return self.ask_doubted(now)
        late = self.expected_at > 0 and now - self.expected_at > self.options.timeout_s / 2
        self.expected_at = now + self.options.interval_s
        again: list[Effect] = [StartTimer("tick", self.options.interval_s)]
        if self.view is None:
            return again
        effects = self.wake_up(now) if late else [*self.has_listened(now), *self.look(now)]
        effects += self.note_apart(now)
        directs = [Down(self.alone(to, Direct())) for to in self.paths.next_directs()]
        return [*effects, *self.heartbeat(), *directs, *again]

    def heartbeat(self) -> list[Effect]:
        """Say that this member lives, whom it does not hear, and who holds it up."""
        if self.view is None or len(self.view.members) == 1:
            return []
        unheard = tuple(member for member in self.view.members if member in self.mine)
        stalls = self.stalls.get(self.me, frozenset())
        stalled = tuple(member for member in self.view.members if member in stalls)
        indirect = tuple(member for member in unheard if member in self.paths.indirect)
        waits = self.me in self.waiting
        heartbeat = Heartbeat(self.view.number, unheard, stalled, waits, indirect)
        return [Down(Batch(self.me, None, (heartbeat,), reliable=False))]

    def wake_up(self, now: float) -> list[Effect]:
        """This member has slept: it cannot say who was silent meanwhile (I3)."""
        assert self.view is not None
        self.numbers["late_timers"] += 1
        self.unanswered, self.begun_at = {}, now
        for member in self.view.members:
            self.last_heard[member] = now
        return []

    def on_slept(self, now: float) -> list[Effect]:
        """This member was not scheduled (I3, I10): what lies unread is of the time before."""
        self.numbers["sleeps"] += 1
        options = self.options
        # Who sleeps again and again still finds a crash: between two allowances one can be found.
        if self.view is None or now < self.allowed_at:
            return []
        self.slept_until = now + options.timeout_s
        self.allowed_at = self.slept_until + options.timeout_s + options.pings * options.interval_s
        self.expected_at = now + self.options.interval_s
        self.doubted, self.mine = {}, self.mine & self.absent
        self.paths.on_view(self.view)
        return [*self.wake_up(now), *self.heartbeat(), Notify(ReachabilityChanged())]

    def has_listened(self, now: float) -> list[Effect]:
        """After a sleep: from now on it counts again who says not to hear this member (I10)."""
        if not self.slept_until or now < self.slept_until:
            return []
        self.slept_until = 0.0
        return [Notify(ReachabilityChanged())]

    def look(self, now: float) -> list[Effect]:
        """Ask the silent; who does not answer either is unheard (I1)."""
        assert self.view is not None
        lost = [*self.missing(now), *self.paths.lost(self.mine)]
        effects: list[Effect] = [self.ping(member) for member in self.paths.doubtful()]
        for member in self.view.members:
            heard_at = self.last_heard.get(member, now)
            silent_s = now - max(heard_at, self.seen_alive.get(member, heard_at))
            if member == self.me or silent_s < self.options.timeout_s:
                continue
            asked = self.unanswered.get(member, 0)
            if asked >= self.options.pings and member not in self.mine:
                lost.append(member)
                continue
            self.unanswered[member] = asked + 1
            effects.append(self.ping(member))
        return [*effects, *self.lose([member for member in lost if member not in self.mine])]

    def missing(self, now: float) -> list[Address]:
        """Who should have begun the view by now (I8)."""
        assert self.view is not None
        if now - self.begun_at < self.options.begin_s:
            return []
        absent = [m for m in self.view.members if m != self.me and m not in self.reports]
        self.absent |= frozenset(absent)
        return absent

    def ping(self, member: Address) -> Effect:
        """Ask one member whether it is there."""
        return Down(self.alone(member, Ping()))

    def alone(self, member: Address, header: Header) -> Batch:
        """A batch that goes to one member, and need not arrive."""
        return Batch(self.me, member, (header,), reliable=False)

    def lose(self, members: list[Address]) -> list[Effect]:
        """These are unheard from now on."""
        if not members:
            return []
        self.numbers["suspicions"] += len(members)
        self.mine |= frozenset(members)
        return [Notify(ReachabilityChanged())]

    def doubt(self, member: Address, now: float) -> list[Effect]:
        """There is a reason to think that a member has gone: ask it at once (I1, I4)."""
        if self.view is None or member == self.me or member not in self.view.members:
            return []
        if member in self.mine or member in self.doubted:
            return []
        self.numbers["doubts"] += 1
        self.doubted[member] = 1
        if len(self.doubted) > 1:
            return [self.ping(member)]
        return [self.ping(member), self.ask_again(now)]

    def ask_again(self, now: float) -> Effect:
        """The timer of the next question to those doubted."""
        self.doubt_due_at = now + self.options.doubt_interval_s
        return StartTimer("doubt", self.options.doubt_interval_s)

    def ask_doubted(self, now: float) -> list[Effect]:
        """Ask again; who has not answered `pings` questions is unheard (I1).

        When this timer is late, answers may lie unread: the question counts for nothing (I3).
        """
        late = now - self.doubt_due_at > self.options.doubt_interval_s
        effects: list[Effect] = []
        lost = []
        for member, asked in list(self.doubted.items()):
            if asked >= self.options.pings and not late:
                del self.doubted[member]
                lost.append(member)
                continue
            self.doubted[member] = asked if late else asked + 1
            effects.append(self.ping(member))
        if self.doubted:
            effects.append(self.ask_again(now))
        effects += self.lose(lost)
        return [*effects, *self.heartbeat()] if lost else effects
