"""Taking back one's own changes, and only those: what others did since then stays.

A step is what one has done: things as they were, and as they were behind it. Its inverse gives each
field the value from before, only where it still has the value from behind: so a field that somebody
else has changed since then stays as it is. What was put is deleted only if it is as this person
knows it; what was deleted is put again where it lay, with more `hops` than it ever had here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from groupcore.shared.places.limits import WENT_MAX
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


def wish_for(
    step: Step, now: Mapping[str, Thing], hops: Mapping[str, int] = MappingProxyType({})
) -> Wish:
    """What does `step` to the things as they are now, without undoing what others have done.

    `step.before` is how this person knows them; what was put is deleted only if it is like that.
    `hops`: the most that things had that this person has deleted, where that is known.
    """
    before = {thing.id: thing for thing in step.before}
    after = {thing.id: thing for thing in step.after}
    puts = [
        replace(thing, hops=max(thing.hops, hops.get(one, 0)) + 1)
        for one, thing in after.items()
        if one not in before and one not in now
    ]
    edits = [
        Edit(one, changed, _values(before[one], changed))
        for one, thing in after.items()
        if one in before and one in now and (changed := difference(before[one], thing))
    ]
    deletions = [
        (one, now[one].version)
        for one, thing in before.items()
        if one not in after and one in now and not difference(thing, now[one])
    ]
    return Wish(tuple(puts), tuple(edits), tuple(deletions))


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
    _hops: dict[str, int] = field(default_factory=dict)

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
        return self._wish(step.inverse, now)

    def redo(self, now: Mapping[str, Thing]) -> Wish | None:
        """What does the last step again that was taken back; None when there is none."""
        if not self._undone:
            return None
        step = self._undone.pop()
        self._done.append(step)
        return self._wish(step, now)

    def _wish(self, step: Step, now: Mapping[str, Thing]) -> Wish:
        wish = wish_for(step, now, self._hops)
        for thing in (*wish.puts, *(now[one] for one, _ in wish.deletions)):
            self._hops.pop(thing.id, None)
            self._hops[thing.id] = thing.hops
        while len(self._hops) > WENT_MAX:
            del self._hops[next(iter(self._hops))]
        return wish
