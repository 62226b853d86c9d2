"""Who asks to join, and who is ready to be taken in.

A plain table with its rules. A node is ready when it hears every member that will stay, so that
nobody is taken in whom a broken link would have excluded again (fault matrix, row 10), and when
no other living member has its node id (row 19).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from groupcore.view import MEMBERS_MAX, Address, View

JOINERS_MAX = MEMBERS_MAX


@dataclass(slots=True)
class Applicant:
    """One node that asks: since when, when last, and whom it hears."""

    since: float
    last: float
    hears: frozenset[Address]


class Admission:
    """The nodes that ask to join this view; an entry lapses when the node asks no more."""

    def __init__(self, lapse_s: float = 0.6) -> None:
        self.lapse_s = lapse_s
        self.applicants: dict[Address, Applicant] = {}
        self.departed: dict[str, int] = {}

    def ask(self, joiner: Address, hears: Iterable[Address], now: float) -> float:
        """A request came in; since when the node has been asking without a pause."""
        known = self.applicants.get(joiner)
        since = now if known is None or now - known.last > self.lapse_s else known.since
        if known is not None or len(self.applicants) < JOINERS_MAX:
            self.applicants[joiner] = Applicant(since, now, frozenset(hears))
        return since

    def left_view(self, member: Address) -> None:
        """This life was in a view of the chain and is in it no more: it never comes back."""
        self.departed[member.name] = max(member.incarnation, self.departed.get(member.name, 0))

    def has_left(self, joiner: Address) -> bool:
        """Whether this life was in an earlier view."""
        return joiner.incarnation <= self.departed.get(joiner.name, -1)

    def withdraw(self, joiner: Address) -> None:
        """The node is in, or was refused."""
        self.applicants.pop(joiner, None)

    def ready(
        self, view: View, staying: Iterable[Address], unheard: frozenset[Address], now: float
    ) -> tuple[Address, ...]:
        """Who can be taken in now, by address."""
        stay = frozenset(staying)
        names = {m.name: m for m in view.members}
        result = []
        for joiner, applicant in sorted(self.applicants.items()):
            namesake = names.get(joiner.name)
            if now - applicant.last > self.lapse_s:
                continue
            if namesake is not None and (namesake == joiner or namesake not in unheard):
                continue
            if not stay - {namesake} <= applicant.hears:
                continue
            result.append(joiner)
        return tuple(result)

    def live_namesake(
        self, joiner: Address, view: View, heard: Iterable[Address]
    ) -> Address | None:
        """Another life of the same node id in the view that has been heard of late."""
        for member in heard:
            if member.name == joiner.name and member != joiner and member in view.members:
                return member
        return None
