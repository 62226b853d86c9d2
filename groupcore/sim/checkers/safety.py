"""Invariants 17, 18 and 24: what is taken over, what is on disk, what is kept in memory."""

from __future__ import annotations

from hashlib import blake2b

from groupcore.sim.checkers.base import Checker, Violation, life
from groupcore.sim.messages import state_step
from groupcore.sim.trace import (
    DISK_LOST,
    Acked,
    Ended,
    Lived,
    Process,
    Sampled,
    Secured,
    Slot,
    Took,
    Trace,
    Viewed,
)
from groupcore.view import Address, is_quorum


class StateTransfer(Checker):
    """17: a state is what the messages up to its position lead to, taken over or lived through.

    An independent replayer folds the history that goes on, and compares its hash with that of
    each state that was taken and of each state at the end. That the first message delivered
    after it is the next one is invariant 5.
    """

    number, name = 17, "state-transfer"

    def scan(self, trace: Trace, found: list[Violation]) -> None:
        """Fold once, and stop at each position that somebody claims to have the state of."""
        claims: dict[int, list[Took | Ended]] = {}
        taken: list[Took | Ended] = [*trace.of(Took), *trace.ends]
        for record in taken:
            if record.sh and trace.stands((record.epoch, record.position)):
                claims.setdefault(record.position, []).append(record)
        digest = blake2b(digest_size=8)
        self._compare(claims.get(0, []), digest.hexdigest(), found)
        for position, entry in enumerate(trace.canonical(), start=1):
            if entry is None:
                return  # nobody delivered this one: invariant 5 tells of it
            digest.update(state_step(*entry))
            if position in claims:
                self._compare(claims[position], digest.hexdigest(), found)

    def _compare(self, claims: list[Took | Ended], right: str, found: list[Violation]) -> None:
        for claim in claims:
            if claim.sh == right:
                continue
            how = f"from {claim.source}" if isinstance(claim, Took) else "at the end"
            text = (
                f"{life(claim.n, claim.inc)} has the state {claim.sh} {how} for position "
                f"{claim.position} of epoch {claim.epoch}; the messages lead to {right}"
            )
            found.append(self.breach(claim.t, (claim.n,), text))


class SavedIsSafe(Checker):
    """18: what is said to be saved is on max(k + 1, a quorum) of the voters' disks, and stays.

    A disk holds a place when its journal reaches it: in the same epoch, or in another one that
    has it in common. With at most `K` disks lost no later epoch may begin before that place. What
    a disk held before it was lost counts too: its report may be under way.
    """

    number, name = 18, "saved-is-safe"
    K = 1

    def scan(self, trace: Trace, found: list[Violation]) -> None:
        """What each disk holds, record by record; and for each claim who holds the place."""
        disks: dict[str, Slot] = {}
        before_loss: dict[str, Slot] = {}
        floors = {view.epoch: view.floor for view in trace.views}
        lost = sum(life.what == DISK_LOST for life in trace.lives)
        for record in trace.records:
            if type(record) is Secured:
                disks[record.n] = (record.epoch, record.position)
            elif type(record) is Lived and record.what == DISK_LOST:
                before_loss[record.n] = disks.get(record.n, (0, 0))
            elif type(record) is Acked:
                self._judge(record, [disks, before_loss], floors, found)
                slot = (record.epoch, record.position)
                if lost <= self.K and not trace.stands(slot):
                    text = f"{life(record.n, record.inc)} was told that {slot} is saved; it is lost"
                    found.append(self.breach(record.t, (record.n,), text))

    def _judge(
        self,
        claim: Acked,
        disks: list[dict[str, Slot]],
        floors: dict[int, int],
        found: list[Violation],
    ) -> None:
        members = tuple(member.name for member in claim.members)
        voters = claim.voters or members
        names = tuple(name for name in voters if name in members)
        slot = (claim.epoch, claim.position)
        holders = [
            name
            for name in names
            if any(_holds(held.get(name, (0, 0)), slot, floors) for held in disks)
        ]
        if len(holders) >= min(self.K + 1, len(names)) and is_quorum(voters, holders):
            return
        text = (
            f"{life(claim.n, claim.inc)} is told that {slot} is saved; of [{' '.join(names)}] "
            f"only the disks of [{' '.join(holders)}] hold it"
        )
        found.append(self.breach(claim.t, (claim.n,), text))


def _holds(disk: Slot, slot: Slot, floors: dict[int, int]) -> bool:
    if disk[1] < slot[1]:
        return False
    later = max(disk[0], slot[0])
    return disk[0] == slot[0] or slot[1] <= floors.get(later, 0)


class BoundedMemory(Checker):
    """24: buffers stay within what is configured, and nothing is dropped that a member lacks.

    Judged at samples. What a member has dropped, every live member of the same view must hold;
    one that is still in an earlier view holds nothing of this one.
    """

    number, name = 24, "bounded-memory"

    def scan(self, trace: Trace, found: list[Violation]) -> None:
        """Each sample by itself; then those of one moment side by side."""
        members: dict[int, tuple[Address, ...]] = {}
        moment: list[Sampled] = []
        for record in trace.records:
            if type(record) is Viewed:
                members[record.number] = record.members
            elif type(record) is Sampled:
                for name, used, most in record.buffers:
                    if used > most:
                        text = f"{life(record.n, record.inc)} keeps {used} in {name}, above {most}"
                        found.append(self.breach(record.t, (record.n,), text))
                if moment and moment[0].t != record.t:
                    self._compare(moment, members, found)
                    moment = []
                moment.append(record)
        self._compare(moment, members, found)

    def _compare(
        self,
        moment: list[Sampled],
        members: dict[int, tuple[Address, ...]],
        found: list[Violation],
    ) -> None:
        held: dict[Process, Sampled] = {(sample.n, sample.inc): sample for sample in moment}
        for sample in moment:
            for sender, _, dropped in sample.windows:
                for member in members.get(sample.view, ()) if dropped else ():
                    other = held.get((member.name, member.incarnation))
                    if other is None or other.view > sample.view:
                        continue
                    has = _received(other, sample.view)
                    if has.get(sender, 0) < dropped:
                        text = (
                            f"{life(sample.n, sample.inc)} has dropped the multicasts of {sender} "
                            f"up to {dropped} in view {sample.view}; {life(*member)} holds only "
                            f"those up to {has.get(sender, 0)}"
                        )
                        found.append(self.breach(sample.t, (sample.n, member.name), text))


def _received(sample: Sampled, view: int) -> dict[Address, int]:
    """What a member holds of each sender's multicasts of that view."""
    if sample.view != view:
        return {}
    return {sender: received for sender, received, _ in sample.windows}
