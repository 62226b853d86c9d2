"""Joint moves: things of several cells that are changed together, seen by nobody half-done.

Idea. Who moves things of several cells *prepares* the move in each of them, the deciding one first.
Prepared things stay where they are, and nobody else changes them. When all have said yes, the move
is decided in the deciding cell, at one place of its order; the others are told by parcels. A screen
shows the move as done in all cells as soon as one cell that is open there knows it to be done. All
have prepared before it was decided, and whoever sees what was decided has been given what that
depends on (CT2): so each screen changes at one moment, whatever cells it has. A thing that goes on
to another cell takes the verdict along: who has only that one, and one that has yet to be told,
sees the same.

Where the one who began it has departed from the deciding cell before it was decided, it is not
done: no lock outlives its owner. A cell keeps what has become of a move until all of its cells
know it.

Source. Decision 190. Two-phase commit with presumed abort (Mohan, Lindsay and Obermarck, 1986);
visibility as read atomic transactions give it (Bailis et al., "RAMP", 2014).

Invariants.
  J1  A joint move is done in all of its cells or in none.
  J2  A screen shows all of it as done or nothing, whichever of the cells it has.
  J3  Whoever dies, every prepared thing is free again, once the departure has its place.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from groupcore.sequencing.names import Process
from groupcore.shared.operations import operation
from groupcore.shared.places.handover import Handover
from groupcore.shared.places.limits import EDITS_MAX, PENDING_MAX, WENT_MAX
from groupcore.shared.places.parts import (
    Decided,
    Joint,
    Outcome,
    Verdict,
    name_of,
)
from groupcore.shared.places.refusals import (
    BadPathError,
    BadThingError,
    NoSuchThingError,
    NotHereError,
    NotMemberError,
    ThingBusyError,
    ThingHeldError,
)
from groupcore.shared.places.squares import is_path
from groupcore.shared.places.thing import Edit, Thing, check_edits, edited

CELLS_MAX = 16
"""Most cells that have a part in one joint move."""
ID_MAX = 200
"""Most characters of a joint move's id."""


class Joining(Handover):
    """The part of a cell that moves things together with other cells."""

    # --- beginning and deciding -----------------------------------------------------------------

    @operation
    def prepare(self, joint: str, cells: list[str], edits: list[Edit], by: str = "") -> None:
        """Get ready for a move of things of these cells, of which the first decides.

        That one is asked first, and the others when it has said yes: else nobody decides for them
        before who asked departs.

        Raises the refusals of an edit, and ThingBusyError, NotHereError, BadPathError.
        """
        some = check_edits(edits, EDITS_MAX)
        is_odd = not 1 < len(cells) <= CELLS_MAX or len(set(cells)) != len(cells)
        if is_odd or self.path not in cells or not all(map(is_path, cells)):
            raise BadPathError(f"a joint move is of 2 to {CELLS_MAX} cells, this one among them")
        if not 0 < len(joint) <= ID_MAX or not some:
            raise BadThingError("a joint move has an id of its own, and moves something here")
        self._require_leaf()
        self._require_member()
        if joint in self.joints or joint in self.outcomes or joint in self.over:
            raise ThingBusyError(f"the joint move {joint} is known here already")
        if len(self.joints) >= PENDING_MAX:
            raise ThingBusyError(f"{PENDING_MAX} joint moves are under way here; try again")
        for edit in some:
            edited(self._free(edit.id, by), edit)
        self.joints[joint] = Joint(joint, tuple(cells), tuple(some), name_of(self.context.process))
        for edit in some:
            self.busy[edit.id] = joint

    @operation
    def decide(self, joint: str, done: bool) -> bool:
        """Say, in the deciding cell, what becomes of a move; gives what was said first.

        Of one that nobody prepared here it is that nothing is done.
        """
        known = self.outcomes.get(joint)
        if known is not None:
            return known.done
        found = self.joints.get(joint)
        if found is None:
            return False
        if found.cells[0] != self.path:
            raise BadPathError(f"the cell {found.cells[0]} decides about this move")
        self._decide(found, done)
        return done

    def _decide(self, joint: Joint, done: bool) -> None:
        self.outcomes[joint.id] = Outcome(done, joint.cells)
        self._conclude(joint, done)
        for cell in joint.cells[1:]:
            self._owe(cell, verdicts=(Verdict(joint.id, done),))

    def _conclude(self, joint: Joint, done: bool) -> None:
        """Do what was prepared here, or let it be; the things are free."""
        del self.joints[joint.id]
        known = self.outcomes.get(joint.id)
        if known is not None:
            self.outcomes[joint.id] = _with_things(known, [edit.id for edit in joint.edits])
        for edit in joint.edits:
            self.busy.pop(edit.id, None)
            thing = self.things[edit.id]
            if done:
                thing = edited(thing, edit)
            if not self._is_here(thing):
                self._take_out(edit.id)
            self._hold([thing], edit.to)
        self.emit(Decided(joint.id, done))

    # --- what other cells say -------------------------------------------------------------------

    def _take_verdict(self, source: str, verdict: Verdict) -> None:
        joint = verdict.joint
        if verdict.asked:
            if joint not in self.joints and joint not in self.outcomes:
                self._owe(source, verdicts=(Verdict(joint, over=True),))
            return
        found = self.joints.get(joint)
        if verdict.over:
            self._forget(joint)
        else:
            known = self.outcomes.get(joint) or Outcome(verdict.done)
            self.outcomes[joint] = _with_things(known, verdict.things)
        if found is not None:
            self._conclude(found, verdict.done)

    def _verdicts_for(self, things: tuple[Thing, ...], to: str) -> tuple[Verdict, ...]:
        """What was done to these things, of what somebody may not know (J2)."""
        verdicts: list[Verdict] = []
        for joint, known in list(self.outcomes.items()):
            some = tuple(one.id for one in things if one.id in known.things)
            if some and known.done:
                verdicts.append(Verdict(joint, done=True, things=some))
                passed = tuple(dict.fromkeys((*known.passed, to)))
                self.outcomes[joint] = replace(known, passed=passed)
        return tuple(verdicts)

    def _forget(self, joint: str) -> None:
        """All cells of a move know what has become of it: so do those that were told from here."""
        known = self.outcomes.pop(joint, None)
        self.over.append(joint)
        while len(self.over) > WENT_MAX:
            del self.over[0]
        if known is not None:
            others = known.cells[1:] if known.cells[:1] == (self.path,) else ()
            for cell in dict.fromkeys((*others, *known.passed)):
                self._owe(cell, verdicts=(Verdict(joint, over=True),))

    def _on_told(self, to: str, verdict: Verdict) -> None:
        """When all know what was decided here, nobody needs to keep it."""
        known = self.outcomes.get(verdict.joint)
        is_old = verdict.over or verdict.asked or verdict.things
        if known is None or is_old or known.cells[:1] != (self.path,) or to in known.told:
            return
        told = (*known.told, to)
        if len(told) < len(known.cells) - 1:
            self.outcomes[verdict.joint] = replace(known, told=told)
        else:
            self._forget(verdict.joint)

    def on_departed(self, process: Process) -> None:
        """A move that nobody will decide is not done; one decided elsewhere is asked for (J3)."""
        name = name_of(process)
        for joint in [one for one in self.joints.values() if one.process == name]:
            if joint.cells[0] == self.path:
                self._decide(joint, False)
            else:
                self._owe(joint.cells[0], verdicts=(Verdict(joint.id, asked=self.path),))

    # --- whether a thing may be changed ---------------------------------------------------------

    def _require_leaf(self) -> None:
        if self.role != "leaf":
            raise NotHereError(f"the cell {self.path or 'that is new'} holds nothing now")

    def _require_member(self) -> None:
        """Who is not in the group does not depart from it: what it holds would be held for ever."""
        if not self.context.is_inside:
            raise NotMemberError(f"{name_of(self.context.process)} is not in {self.path}")

    def _free(self, thing: str, by: str) -> Thing:
        """The thing, if who calls may change it; a refusal says why not."""
        found = self.things.get(thing)
        if found is None:
            raise NoSuchThingError(f"{thing[:64]} is not in the cell {self.path}")
        if thing in self.busy:
            raise ThingBusyError(f"{thing} is being moved together with others; try again")
        holder = self.grabs.get(thing)
        if holder is not None and (holder.process, holder.by) != self._caller(by):
            raise ThingHeldError(thing, str(holder))
        return found

    def _caller(self, by: str) -> tuple[str, str]:
        return name_of(self.context.process), by


def _with_things(known: Outcome, things: Iterable[str]) -> Outcome:
    return replace(known, things=tuple(dict.fromkeys((*known.things, *things))))
