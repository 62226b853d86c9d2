"""Which members are heard by multicasts and not by unicasts: a member's view of each path to it.

Idea. What is multicast and what is sent to one member take different ways: a firewall, a full queue
or a wrong route may stop one and not the other. A member's heartbeat, a multicast, comes with a
unicast every second time. Heartbeats that come without are counted, so neither a pause of the
member nor one of this node is taken for a broken path. Where many have come without, the member is
asked, and unheard when nothing comes of that either.

Place. A part of failure detection, without time or messages of its own.
Source. Fault matrix, rows 9 and 10: `multicast_watch` has the other path.
"""

from __future__ import annotations

from collections.abc import Iterable, Set

from groupcore.view import Address, View

DIRECTS_MAX = 32
"""Unicasts that go with one heartbeat at most; in a larger view they go round."""
EVERY = 2
"""With how many heartbeats one unicast to a member goes."""
NEARLY = 4
"""Heartbeats by which those may be apart whose unicasts ended together."""
ASK_S = 0.1
"""Least time between two questions to a node that is heard by one without a view."""
ANSWERS_MAX = 256


def directly(member: Address) -> Address | None:
    """The way to a member where all unicasts arrive: to it alone."""
    return member


class Paths:
    """One member's. `indirect`: the members whose unicasts do not come, though heartbeats do."""

    def __init__(self, me: Address, missed_max: int) -> None:
        self.indirect: frozenset[Address] = frozenset()
        self._me = me
        self._missed_max = missed_max
        self._others: tuple[Address, ...] = ()
        self._missed: dict[Address, int] = {}
        self._answers: dict[Address, float] = {}
        self._asked: dict[Address, float] = {}
        self._ticks = 0
        self._next = 0

    def on_view(self, view: View) -> None:
        """A view begins: its members are watched anew."""
        self.indirect = frozenset()
        self._others = tuple(member for member in view.members if member != self._me)
        self._missed = {}
        self._answers, self._asked = {}, {}
        self._next = 0

    @property
    def bound(self) -> int:
        """Heartbeats without a unicast from which on a member is lost."""
        rounds = -(-len(self._others) // DIRECTS_MAX)
        return self._missed_max * max(1, rounds)

    def on_heartbeat(self, member: Address) -> None:
        """A heartbeat of the present view has come."""
        self._missed[member] = self._missed.get(member, 0) + 1

    def on_direct(self, member: Address) -> bool:
        """A unicast has come; whether that member's were missed."""
        self._missed[member] = 0
        if member not in self.indirect:
            return False
        self.indirect -= {member}
        return True

    def doubtful(self) -> list[Address]:
        """Whom to ask now: half of what loses them has come without a unicast."""
        half = self.bound // 2
        return [member for member in self._others if self._missed.get(member, 0) > half]

    def lost(self, unheard: Set[Address]) -> list[Address]:
        """Whose unicasts do not come, from now on; who is unheard already is not looked at.

        With the first goes who is nearly as far: of a node that gets no unicasts at all, it is to
        be known at once that it hears nobody, and not that it could go on with the others.
        """
        missed = {one: self._missed.get(one, 0) for one in self._others if one not in unheard}
        if max(missed.values(), default=0) <= self.bound:
            return []
        found = [one for one, count in missed.items() if count > self.bound - NEARLY]
        self.indirect |= frozenset(found)
        return found

    def next_directs(self) -> tuple[Address, ...]:
        """To whom a unicast goes with this heartbeat."""
        self._ticks += 1
        if self._ticks % EVERY or not self._others:
            return ()
        if len(self._others) <= DIRECTS_MAX:
            return self._others
        first, self._next = self._next, (self._next + DIRECTS_MAX) % len(self._others)
        return (self._others[first:] + self._others[:first])[:DIRECTS_MAX]

    # --- a node without a view ------------------------------------------------------------------

    def unasked(self, heard: Iterable[Address], now: float) -> list[Address]:
        """Whom of those just heard a node without a view has to ask whether unicasts arrive."""
        asked = [one for one in heard if now - self._asked.get(one, float("-inf")) >= ASK_S]
        if len(self._asked) > ANSWERS_MAX:
            self._asked.clear()
        for one in asked:
            self._asked[one] = now
        return asked

    def on_answer(self, node: Address, now: float) -> None:
        """A question was answered: unicasts get there and back."""
        if len(self._answers) > ANSWERS_MAX:
            self._answers.clear()
        self._answers[node] = now

    def has_answered(self, node: Address, since: float) -> bool:
        """Whether an answer of the node has come at or after that time."""
        return self._answers.get(node, float("-inf")) >= since
