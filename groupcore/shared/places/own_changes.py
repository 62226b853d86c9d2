"""Taking back one's own changes, and only those: what others did since then stays.

A step is what one has done: things as they were, and as they were behind it. Its inverse gives each
field the value from before, only where it still has the value from behind: so a field that somebody
else has changed since then stays as it is. What was put is deleted only if nobody has touched it;
what was deleted is put again where it lay.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from groupcore.shared.places.thing import BAGS, NUMBERS, TEXTS, Changes, Edit, Thing, field_of

STEPS_MAX = 200
"""So many steps can be taken back, the last ones."""


@dataclass(frozen=True, slots=True)
class Step:
    """What one has done: the things that it concerned, `before` and `after`."""

    before: tuple[Thing, ...]
    after: tuple[Thing, ...]

    @property
    def inverse(self) -> Step:
        """What takes it back, if nobody has done anything since."""
        return Step(self.after, self.before)


@dataclass(frozen=True, slots=True)
class Wish:
    """What to ask cells for: new things, edits, and deletions with the version that they are of."""

    puts: tuple[Thing, ...] = ()
    edits: tuple[Edit, ...] = ()
    deletions: tuple[tuple[str, int], ...] = ()


def wish_for(step: Step, now: Mapping[str, Thing]) -> Wish:
    """What does `step` to the things as they are now, without undoing what others have done.

    `step.before` is how this person knows them; of what was put, the version that is now is taken
    only if it is that.
    """
    before = {thing.id: thing for thing in step.before}
    after = {thing.id: thing for thing in step.after}
    puts = [
        replace(thing, hops=thing.hops + 1)
        for one, thing in after.items()
        if one not in before and one not in now
    ]
    gone = [(one, thing.version) for one, thing in before.items() if one not in after]
    edits = [
        Edit(one, changed, _values(before[one], changed))
        for one, thing in after.items()
        if one in before and one in now and (changed := difference(before[one], thing))
    ]
    there = [(one, version) for one, version in gone if one in now]
    return Wish(tuple(puts), tuple(edits), tuple(there))


def difference(old: Thing, new: Thing) -> Changes:
    """The fields in which two versions of a thing differ, with the values of the new one."""
    names = [*NUMBERS, *TEXTS, "locked", "links"]
    for bag in BAGS:
        known = (name for thing in (old, new) for name, _ in getattr(thing, bag))
        names += [f"{bag}.{name}" for name in dict.fromkeys(known)]
    return tuple(
        (name, value) for name in names if (value := field_of(new, name)) != field_of(old, name)
    )


def _values(thing: Thing, names: Iterable[tuple[str, object]]) -> Changes:
    return tuple((name, field_of(thing, name)) for name, _ in names)


@dataclass(slots=True)
class OwnChanges:
    """What one person has done here, to be taken back and done again."""

    _done: list[Step] = field(default_factory=list)
    _undone: list[Step] = field(default_factory=list)

    def note(self, step: Step) -> None:
        """The person has done this."""
        self._done = [*self._done[1 - STEPS_MAX :], step]
        self._undone = []

    def undo(self, now: Mapping[str, Thing]) -> Wish | None:
        """What takes the last step back; None when there is none."""
        if not self._done:
            return None
        step = self._done.pop()
        self._undone.append(step)
        return wish_for(step.inverse, now)

    def redo(self, now: Mapping[str, Thing]) -> Wish | None:
        """What does the last step again that was taken back; None when there is none."""
        if not self._undone:
            return None
        step = self._undone.pop()
        self._done.append(step)
        return wish_for(step, now)
