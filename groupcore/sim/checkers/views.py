"""Invariant 12: views are agreed, and the primary views form one chain."""

from __future__ import annotations

from groupcore.sim.checkers.base import Checker, Violation, life
from groupcore.sim.trace import Accepted, Trace, Viewed
from groupcore.view import Address, is_quorum


def _members(members: tuple[Address, ...]) -> str:
    return " ".join(life(*member) for member in members)


class ViewAgreement(Checker):
    """12: one number, one membership; numbers grow at each node; each view meets its predecessor.

    Those on whose disks a view stood as accepted when it was first installed must be a quorum of
    its predecessor's voters, by node id.
    """

    number, name = 12, "view-agreement"

    def scan(self, trace: Trace, found: list[Violation]) -> None:
        """First agreement and growth, record by record; then the chain, number by number."""
        first: dict[int, Viewed] = {}
        highest: dict[str, int] = {}
        for record in trace.views:
            nodes = (record.n,)
            who = f"{life(record.n, record.inc)} installs view {record.number}"
            if (record.n, record.inc) not in record.members:
                text = f"{who} [{_members(record.members)}] without being in it"
                found.append(self.breach(record.t, nodes, text))
            if record.number <= highest.get(record.n, 0):
                text = f"{who} after {highest[record.n]}"
                found.append(self.breach(record.t, nodes, text))
            highest[record.n] = max(record.number, highest.get(record.n, 0))
            known = first.setdefault(record.number, record)
            if (known.members, known.lineage, known.epoch, known.voters) != (
                record.members,
                record.lineage,
                record.epoch,
                record.voters,
            ):
                text = (
                    f"{who} [{_members(record.members)}] of lineage {record.lineage:x}, epoch "
                    f"{record.epoch}; {life(known.n, known.inc)} installed it as "
                    f"[{_members(known.members)}] of lineage {known.lineage:x}, epoch {known.epoch}"
                )
                found.append(self.breach(record.t, (known.n, record.n), text))
        self._scan_chain(trace, first, found)

    def _scan_chain(self, trace: Trace, first: dict[int, Viewed], found: list[Violation]) -> None:
        accepted: dict[tuple[int, int, tuple[Address, ...]], list[tuple[int, str]]] = {}
        for vote in trace.of(Accepted):
            key = (vote.number, vote.lineage, vote.members)
            accepted.setdefault(key, []).append((vote.t, vote.n))
        judged: set[tuple[int, int]] = set()
        for record in trace.views:
            number, previous = record.previous_number, record.previous
            if previous is None and record.number - 1 in first:
                # A node that was not in the former view does not know it; others did.
                number, previous = record.number - 1, first[record.number - 1].members
            if previous is None or (record.number, number) in judged:
                continue
            judged.add((record.number, number))
            known = first.get(number)
            if known is not None and known.members != previous:
                text = (
                    f"view {record.number} follows {number} [{_members(previous)}], which "
                    f"{life(known.n, known.inc)} installed as [{_members(known.members)}]"
                )
                found.append(self.breach(record.t, (record.n, known.n), text))
            voters = tuple(member.name for member in previous)
            if known is not None and known.voters:
                voters = known.voters
            acceptors = accepted.get((record.number, record.lineage, record.members), [])
            agreeing = [n for t, n in acceptors if t <= record.t]
            self._check_step(record, number, voters, agreeing, found)

    def _check_step(
        self,
        record: Viewed,
        number: int,
        voters: tuple[str, ...],
        agreeing: list[str],
        found: list[Violation],
    ) -> None:
        if number >= record.number or not is_quorum(voters, agreeing):
            text = (
                f"view {record.number} [{_members(record.members)}] follows {number} of voters "
                f"{' '.join(voters)}; accepted by {' '.join(agreeing) or 'nobody'}"
            )
            found.append(self.breach(record.t, (record.n,), text))
