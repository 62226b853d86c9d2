"""What a cell of a place gives to other cells, and takes from them.

Idea. Each cell is a group of its own, so nothing is done in two cells at one place of one order.
A thing that leaves a cell becomes part of a numbered parcel that the cell *owes* to the other one.
Owing is part of the cell's state. Whoever has both open carries the parcel; the receiver takes each
number once and in order, so several may carry, and any may die. When the receiver has it, the cell
is told so and owes it no more.

Which cell a point belongs to is said by the place's outline, in another group. So a cell is told
its role (`become`) with the version of that, and what comes to a cell that is no leaf goes on:
down to the quarter of an `inner` cell, up from one that is `out`.

Source. Decision 190; as texts are handed over between blocks, decision 28.

Invariants.
  P1  A thing is in one cell: among its things, or in a parcel that it owes and its receiver lacks.
  P2  A parcel is taken once; the n-th from one cell behind the one before it.
  P3  A parcel never fails to be taken: a cell that is full or no leaf takes it, too.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from groupcore.shared.object import SharedObject
from groupcore.shared.operations import operation
from groupcore.shared.places.limits import DEPTH_MAX, PARCEL_BYTES, SPLITS_MAX, WENT_MAX
from groupcore.shared.places.parts import (
    Handed,
    Holder,
    Joint,
    Outcome,
    Parcel,
    Released,
    Role,
    RoleSet,
    Signal,
    Taken,
    ThingsHere,
    ThingsLeft,
    Verdict,
    node_of,
)
from groupcore.shared.places.refusals import BadPathError
from groupcore.shared.places.squares import (
    contains,
    is_path,
    parent_of,
    path_at,
)
from groupcore.shared.places.thing import Thing, check_place, size_bytes

LEAF, INNER, OUT, UNBORN = "leaf", "inner", "out", "unborn"


class Handover(SharedObject):
    """The part of a cell that is its things, its role and its parcels.

    `active` are those of its things that ticks change; `went` where things have gone that were
    here; `gone` how often those had been handed over that were deleted; `busy` the things that a
    joint move has hold of, with its id.
    """

    path: str = ""
    role: Role = "unborn"
    role_version: int = 0
    things: dict[str, Thing]
    grabs: dict[str, Holder]
    active: dict[str, bool]
    owes: dict[str, list[Parcel]]
    received: dict[str, int]
    went: dict[str, str]
    gone: dict[str, int]
    joints: dict[str, Joint]
    busy: dict[str, str]
    outcomes: dict[str, Outcome]
    over: list[str]
    _given: dict[str, int]

    # --- roles ----------------------------------------------------------------------------------

    @operation
    def become(self, path: str, version: int, role: Role) -> None:
        """This cell is `path`, and has this role as of `version` of the place's tree.

        An older version does nothing. What a cell holds that is no leaf any more goes to those
        that are; nobody has it grabbed there. BadPathError.
        """
        self._become(path, version, role)

    @operation
    def quartered(self, path: str, version: int, below: list[str]) -> None:
        """As `become` with the role `inner`, where these cells below this one are inner, too.

        So what it holds goes straight to the leaves. BadPathError.
        """
        if not all(is_path(one) and one.startswith(path) for one in below[:SPLITS_MAX]):
            raise BadPathError(f"these are no cells below {path[:40]}")
        self._become(path, version, "inner", frozenset(below[:SPLITS_MAX]))

    def _become(
        self, path: str, version: int, role: Role, below: frozenset[str] = frozenset()
    ) -> None:
        if not is_path(path) or self.path not in ("", path) or role == UNBORN:
            raise BadPathError(f"no cell {path[:40]} can have the role {role}")
        if version <= self.role_version:
            return
        self.path, self.role_version = path, version
        if role == self.role:
            return
        self.role = role
        self.emit(RoleSet(role))
        if role != LEAF:
            self._send_on([one for one in self.things if one not in self.busy], below)

    def _send_on(self, ids: Iterable[str], below: frozenset[str] = frozenset()) -> None:
        """Give things to where they belong, as this cell is no leaf."""
        leaving = [self._take_out(one) for one in ids]
        self._hold(leaving, below=below)

    # --- holding --------------------------------------------------------------------------------

    def _is_here(self, thing: Thing) -> bool:
        return self.role == LEAF and contains(self.path, thing.x, thing.y)

    def _hold(
        self, things: Iterable[Thing], to: str = "", below: frozenset[str] = frozenset()
    ) -> None:
        """Have these things here, or owe them to the cell that is nearer to where they belong (P1).

        `to`: the cell in which they lie, as far as is known; `below`: cells below this one that are
        inner, as far as that is known.
        """
        here: list[Thing] = []
        there: dict[str, list[Thing]] = {}
        for thing in things:
            if self._is_here(thing):
                self._keep(thing)
                here.append(thing)
            else:
                there.setdefault(self._next_to(thing, to, below), []).append(thing)
        if here:
            self.emit(ThingsHere(tuple(here)))
        for target, leaving in there.items():
            for some in portions([replace(one, hops=one.hops + 1) for one in leaving]):
                number = self._owe(target, things=some, verdicts=self._verdicts_for(some, target))
                self.emit(ThingsLeft(some, target, number))
            self._note_went([one.id for one in leaving], target)

    def _next_to(self, thing: Thing, to: str, below: frozenset[str]) -> str:
        if self.role == INNER and contains(self.path, thing.x, thing.y):
            size = len(self.path) + 1
            path = path_at(thing.x, thing.y, DEPTH_MAX)
            while path[:size] in below and size < len(path):
                size += 1
            return path[:size]
        if self.role == LEAF and to != self.path and is_path(to) and contains(to, thing.x, thing.y):
            return to
        return parent_of(self.path)

    def _keep(self, thing: Thing) -> None:
        self.things[thing.id] = thing
        self.went.pop(thing.id, None)
        if _is_active(thing):
            self.active[thing.id] = True
        else:
            self.active.pop(thing.id, None)

    def _take_out(self, thing: str) -> Thing:
        """The thing is here no more; whoever has grabbed it has it no more."""
        found = self.things.pop(thing)
        self.active.pop(thing, None)
        if self.grabs.pop(thing, None) is not None:
            self.emit(Released((thing,)))
        return found

    def _note_went(self, things: Iterable[str], to: str) -> None:
        for one in things:
            self.went.pop(one, None)
            self.went[one] = to
        while len(self.went) > WENT_MAX:
            del self.went[next(iter(self.went))]

    # --- parcels --------------------------------------------------------------------------------

    def _owe(
        self,
        to: str,
        things: tuple[Thing, ...] = (),
        signals: tuple[Signal, ...] = (),
        verdicts: tuple[Verdict, ...] = (),
    ) -> int:
        number = self._given.get(to, 0) + 1
        self._given[to] = number
        by = node_of(self.context.process)
        self.owes.setdefault(to, []).append(Parcel(number, things, signals, verdicts, by))
        return number

    @operation
    def accept(self, source: str, parcel: Parcel) -> bool:
        """Take a parcel of the cell `source`; False: it was taken before (P2).

        Raises BadPathError, BadThingError: no cell gives such a parcel.
        """
        if not is_path(source) or source == self.path or self.role == UNBORN:
            raise BadPathError(f"{source[:40]} can give nothing to {self.path or 'a new cell'}")
        for thing in parcel.things:
            check_place(thing)
        if self._has(source, parcel.number):
            return False
        self.received[source] = parcel.number
        self.emit(Taken(source, parcel.number))
        for verdict in parcel.verdicts:
            self._take_verdict(source, verdict)
        self._hold([self._named(one) for one in parcel.things])
        for signal in parcel.signals:
            self._take_signal(signal)
        return True

    def _named(self, thing: Thing) -> Thing:
        """The thing; under another id where somebody has given its own to a thing here as well."""
        name, number = thing.id, 1
        while name in self.things:
            number += 1
            name = f"{thing.id[:56]}-{number}"
        return thing if name == thing.id else replace(thing, id=name)

    def _has(self, source: str, number: int) -> bool:
        """P2."""
        return number <= self.received.get(source, 0)

    @operation
    def handed(self, to: str, number: int) -> None:
        """The cell `to` has all parcels up to this number: they are owed no more."""
        owed = self.owes.get(to, [])
        done = [one for one in owed if one.number <= number]
        left = [one for one in owed if one.number > number]
        if left:
            self.owes[to] = left
        else:
            self.owes.pop(to, None)
        for parcel in done:
            for verdict in parcel.verdicts:
                self._on_told(to, verdict)
        self.emit(Handed(to, number))

    # --- what follows says ----------------------------------------------------------------------

    def _take_signal(self, signal: Signal) -> None:
        """See `groupcore.shared.places.cell`."""

    def _verdicts_for(self, things: tuple[Thing, ...], to: str) -> tuple[Verdict, ...]:
        """See `groupcore.shared.places.joining`."""
        return ()

    def _take_verdict(self, source: str, verdict: Verdict) -> None:
        """See `groupcore.shared.places.joining`."""

    def _on_told(self, to: str, verdict: Verdict) -> None:
        """See `groupcore.shared.places.joining`."""


def portions(things: list[Thing]) -> Iterable[tuple[Thing, ...]]:
    """The things, as many together as fit into a message."""
    some: list[Thing] = []
    used = 0
    for thing in things:
        size = size_bytes(thing)
        if some and used + size > PARCEL_BYTES:
            yield tuple(some)
            some, used = [], 0
        some.append(thing)
        used += size
    if some:
        yield tuple(some)


def _is_active(thing: Thing) -> bool:
    """Whether ticks change it: a ball that rolls, a timer that runs."""
    if thing.kind == "ball":
        return bool(thing.prop("vx") or thing.prop("vy"))
    return thing.kind == "timer" and thing.prop("due") > 0
