"""Invariant 12, its other half: who votes in a view knows what it begins with, and enough vote."""

from __future__ import annotations

from typing import ClassVar

from groupcore.membership.seats import VOTERS_MIN
from groupcore.sim.checkers.base import Checker, Violation
from groupcore.sim.clock import MILLISECOND
from groupcore.sim.trace import Accepted, Trace, Viewed
from groupcore.view import Address, is_quorum

GOODBYE_NS = 500 * MILLISECOND
"""Who has asked to leave for so long, and has voted, has been heard."""


class VotersKnow(Checker):
    """12: a view's voters have its state or were voters before; those with the state are a quorum.

    In an orderly way they do not become fewer than `VOTERS_MIN` but by leaving, and who has left
    is none. A view is formed from disks only where the votes of those who lived in the former one,
    and of voters that were not in it, are no quorum of that: else everything that was delivered in
    it is known. Judged at the first installation of each view whose predecessor somebody installed.
    """

    number, name = 12, "voters-know"
    has_state: ClassVar[bool] = True
    """Whether a joiner has a state to get."""

    def scan(self, trace: Trace, found: list[Violation]) -> None:
        """View by view, each with its predecessor."""
        first: dict[tuple[int, int], Viewed] = {}
        for record in trace.views:
            key = (record.lineage, record.number)
            if key in first:
                continue
            first[key] = record
            before = first.get((record.lineage, record.number - 1))
            if before is not None and record.holders:
                self._judge(trace, before, record, found)

    def _judge(self, trace: Trace, before: Viewed, view: Viewed, found: list[Violation]) -> None:
        names = {member.name for member in view.members}
        former = set(before.voters or [member.name for member in before.members])
        voters = view.voters or tuple(member.name for member in view.members)
        having = {holder.name for holder in view.holders}
        what = f"view {view.number} of voters {' '.join(voters)}"
        faults = []
        if self.has_state and (unknowing := set(voters) - having - former):
            faults.append(f"{' '.join(sorted(unknowing))} had no vote before, and has no state")
        if not (self._may_lack_deciders(view) or is_quorum(voters, having)):
            faults.append(f"only {' '.join(sorted(having))} has the state")
        if knowing := self._knowing(trace, before, view):
            faults.append(f"{' '.join(knowing)} know all of the former one: it is none from disk")
        leavers = {one.n for one in trace.lives if one.what == "leave" and one.t <= view.t}
        if not view.recovered:
            enough = min(VOTERS_MIN, len(former - (leavers - names)), 2 * len(having))
            if len(voters) < enough:
                faults.append(f"{enough} of {' '.join(sorted(former))} should vote")
        if gone := self._gone(trace, before, view) & set(voters) - names:
            faults.append(f"{' '.join(sorted(gone))} has left")
        found += [
            self.breach(view.t, (view.n,), f"{what} follows {before.number}: {fault}")
            for fault in faults
        ]

    def _may_lack_deciders(self, view: Viewed) -> bool:
        """Without a state, of a view from disk, a quorum has stored it whatever its voters had."""
        return view.recovered and not self.has_state

    def _knowing(self, trace: Trace, before: Viewed, view: Viewed) -> list[str]:
        """Of a view from disk, a quorum of the former one that has lost no memory of that."""
        voters = before.voters or tuple(member.name for member in before.members)
        names = {member.name for member in before.members}
        knowing = {
            voter.name
            for voter in self._voted(trace, view)
            if voter in before.members or voter.name not in names
        }
        quorum = view.recovered and is_quorum(voters, knowing)
        return sorted(knowing & {*voters}) if quorum else []

    def _voted(self, trace: Trace, view: Viewed) -> set[Address]:
        """Whose votes the view was made of."""
        key = (view.number, view.lineage, view.members, view.voters)
        return {
            voter
            for one in trace.of(Accepted)
            if (one.number, one.lineage, one.members, one.voters) == key and one.t <= view.t
            for voter in one.voted
        }

    def _gone(self, trace: Trace, before: Viewed, view: Viewed) -> set[str]:
        """Members of the former view who had said that they leave, and have voted on this one.

        Who has only accepted need not have been heard before it was proposed.
        """
        voted = self._voted(trace, view)
        return {
            one.n
            for one in trace.lives
            if one.what == "left"
            and one.detail
            and Address(one.n, one.inc) in voted
            and (one.n, one.inc) in before.members
            and one.t - int(one.detail) <= view.t - GOODBYE_NS
        }


class VotersDecide(VotersKnow):
    """12 where there is no state: joiners vote at once, as far as who decides is a quorum without.

    Whether a joiner begins the view nobody knows when it is decided.
    """

    has_state = False
