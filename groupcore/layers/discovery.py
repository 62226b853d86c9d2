"""Discovery: who else is there, and whether there is a view to join.

Idea. A node that is in no view multicasts a question several times a second; who hears it
answers with the view that it is in. The question itself tells what the asker has on disk, so
nodes that all look for a view find each other by their questions. The coordinator of a view says
from time to time that the view exists.

Place. Lowest layer. Membership reads what was found.

Source. JGroups PING and MERGE2's FIND_INITIAL_MBRS (pbcast design).

Invariants.
  I1  What was heard is forgotten after `memory_s`: only the living are found.
  I2  A node that looks for a view asks until it is in one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, TypeVar

from groupcore.batch import Batch, Header
from groupcore.effects import Down, Effect, Notify, StartTimer
from groupcore.events import Connect, Event, Found, PrimaryLost, PrimaryRegained, ViewInstalled
from groupcore.headers import travels
from groupcore.layer import Layer
from groupcore.view import Address, View

FOUND_MAX = 256

Seen = TypeVar("Seen", tuple[float, View | None, bool], tuple[float, View, bool])


@travels(34)
@dataclass(slots=True)
class Discover(Header):
    """Node without a view to everybody: who is there? I last knew view `basis`, or none.

    `empty`: my disk counts for nothing; it was lost, or has never had the state.
    """

    kind: ClassVar[str] = "discovery.discover"
    basis: View | None
    empty: bool = False


@travels(35)
@dataclass(slots=True)
class Present(Header):
    """Member to an asker or to everybody: I am in this view; it can (not) decide now."""

    kind: ClassVar[str] = "discovery.present"
    view: View
    primary: bool


@dataclass(frozen=True, slots=True)
class DiscoveryOptions:
    """Seconds: between two questions, between two announcements, memory for what was heard."""

    ask_every_s: float = 0.1
    announce_every_s: float = 1.0
    memory_s: float = 1.5


class Discovery(Layer):
    """Asks, answers and remembers."""

    name = "PING"
    headers = (Discover, Present)
    hears = (
        Connect,
        ViewInstalled,
        PrimaryLost,
        PrimaryRegained,
    )
    provides = frozenset({"discovery"})

    def __init__(
        self,
        me: Address,
        known: Callable[[], View | None],
        options: DiscoveryOptions,
        is_empty: Callable[[], bool] = bool,
    ) -> None:
        self.me = me
        self.known = known
        self.is_empty = is_empty
        self.options = options
        self.view: View | None = None
        self.primary = True
        self.seekers: dict[Address, tuple[float, View | None, bool]] = {}
        self.members: dict[Address, tuple[float, View, bool]] = {}

    def seeking(self, now: float) -> dict[Address, View | None]:
        """Who looks for a view, with the last view it knew; sorted by address (I1)."""
        if not self.seekers:
            return {}
        oldest = now - self.options.memory_s
        return {p: seen[1] for p, seen in sorted(self.seekers.items()) if seen[0] >= oldest}

    def empty(self, now: float) -> frozenset[str]:
        """Which nodes look for a view without a disk that counts (I1)."""
        oldest = now - self.options.memory_s
        seen = self.seekers.items()
        return frozenset(p.name for p, (heard, _, empty) in seen if empty and heard >= oldest)

    def present(self, now: float) -> dict[Address, tuple[View, bool]]:
        """Who is in a view, with the view and whether it is primary; sorted by address (I1)."""
        oldest = now - self.options.memory_s
        return {p: seen[1:] for p, seen in sorted(self.members.items()) if seen[0] >= oldest}

    def on_up(self, batch: Batch, now: float) -> list[Effect]:
        """A question or an answer."""
        sender = batch.sender
        match batch.headers[-1]:
            case Discover() as discover:
                self.members.pop(sender, None)
                heard_of = (now, discover.basis, discover.empty)
                self.seekers = {**self.recent(self.seekers, now), sender: heard_of}
                answer = [] if self.view is None else self.say(sender)
                return [*answer, Notify(Found())]
            case Present() as present:
                self.seekers.pop(sender, None)
                heard = (now, present.view, present.primary)
                self.members = {**self.recent(self.members, now), sender: heard}
                return [Notify(Found())]
        raise AssertionError("not a header of PING")

    def recent(self, found: dict[Address, Seen], now: float) -> dict[Address, Seen]:
        """The table, without what is too old when it is full: every restart is a new address."""
        if len(found) < FOUND_MAX:
            return found
        oldest = now - self.options.memory_s
        kept = [(address, seen) for address, seen in found.items() if seen[0] >= oldest]
        return dict(kept[-FOUND_MAX:])

    def say(self, destination: Address | None) -> list[Effect]:
        """Tell one node, or everybody, which view this is."""
        assert self.view is not None
        present = Present(self.view, self.primary)
        return [Down(Batch(self.me, destination, (present,), reliable=False))]

    def on_event(self, event: Event, now: float) -> list[Effect]:
        """Start asking; stop when there is a view; remember whether it can decide."""
        match event:
            case Connect():
                return [StartTimer("tick", 0)]
            case ViewInstalled():
                self.view, self.primary = event.view, True
            case PrimaryLost():
                self.primary = False
            case PrimaryRegained():
                self.primary = True
            case _:
                pass
        return []

    def on_timer(self, timer: str, now: float) -> list[Effect]:
        """Ask (I2), or say that the view exists."""
        if self.view is None:
            asked = Discover(self.known(), self.is_empty())
            question = Batch(self.me, None, (asked,), reliable=False)
            return [Down(question), StartTimer("tick", self.options.ask_every_s)]
        again = StartTimer("tick", self.options.announce_every_s)
        if self.view.coordinator != self.me and self.primary:
            return [again]
        return [*self.say(None), again]
