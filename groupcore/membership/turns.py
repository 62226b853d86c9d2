"""Turns: who is to bring the next view about, and for how long that is waited for.

Idea. Who proposes follows from who hears whom, so that as a rule one does and no other. But a
member may be heard, and hear, and yet bring nothing about: its large datagrams vanish, or those to
one of the others, or its disk hangs. It looks alive to everybody and stands in the way of all. So
a turn ends: where there has been a reason for another view for `turn_s` and none has come, the
member whose turn it was is passed over, as if nobody heard it, and the next has the turn.

Source. Rotating coordinators: Chandra and Toueg, "Unreliable Failure Detectors for Reliable
Distributed Systems" (1996), section 6.2; here only who has had its turn in vain is left out.

Invariants.
  I1  Where a quorum hears one another, a turn in which no view has come ends within `turn_s` and a
      tick; so of those that bring nothing about each costs one turn.
  I2  Nobody is passed over unless a quorum is left that hears one another without it, restarted
      nodes counted; where none is left, all have their turn again.
  I3  With the next view, or when the reason has gone, nobody is passed over any more.
  I4  In the attempt of those who passed it over its answer is not waited for, and its vote, which
      may demand what only it can give, counts only where the others' do not suffice. Whether it is
      listened to when it proposes says `groupcore.membership.attention`.
  I5  Who has passed others over and brings nothing about in its own turn hears them again: they
      may have passed it over as well, and a restarted node that was to take their place may have a
      disk that does not count.
"""

from __future__ import annotations

from groupcore.membership.company import Company
from groupcore.membership.state import MembershipState
from groupcore.view import Address, View


class Turns:
    """Looks at each tick whether the one whose turn it is has had its time."""

    def __init__(self, state: MembershipState, company: Company) -> None:
        self.state = state
        self.company = company
        self.since: float | None = None
        self.numbers = {"passed_over": 0}

    def on_view(self) -> None:
        """A view begins (I3)."""
        self.since = None

    def look(self, view: View, now: float) -> None:
        """End the turn that has lasted too long (I1)."""
        whole = len(self.company.together(view)) == len(view.members)
        if whole and not self.state.blocked:
            self.company.passed_over = frozenset()
            self.since = None
            return
        self.company.pass_over(view, self.company.passed_over)  # if it still can (I2)
        if self.since is None:
            self.since = now
        if now - self.since < self.state.options.turn_s:
            return
        self.since = now
        responsible = self.responsible(view)
        if responsible == self.state.me:
            self.company.passed_over = frozenset()  # not without them either (I5)
        elif responsible is not None:
            self.numbers["passed_over"] += 1
            self.company.pass_over(view, self.company.passed_over | {responsible})

    def responsible(self, view: View) -> Address | None:
        """Whose turn it was: who had this member's promise last, else who should propose."""
        promised = self.state.record.promised
        if promised is not None and promised.proposer in view.members:
            asker = promised.proposer
            if asker != self.state.me and asker not in self.company.unreachable():
                return asker
        return self.company.leader(view)
