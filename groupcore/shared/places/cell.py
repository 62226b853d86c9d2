"""A cell of a place: a square with the things whose centres lie in it, one group of its own.

What people do to things has its place in the cell's order, and the first in the order wins: who
grabs a thing has it, who comes behind is told who was first. A thing whose centre comes to lie
elsewhere is handed over (`groupcore.shared.places.handover`); things of several cells are moved
together by joint moves (`groupcore.shared.places.joining`); how things react is in
`groupcore.shared.places.behaviours`.

Invariants.
  C1  At most one connection has a thing: the first in the order to ask while nobody had it.
  C2  A grab ends with its connection, with its thing, and where the thing leaves the cell.
  C3  What an operation does depends on the state, its arguments and its place in the order alone.
  C4  A tick is done once, whoever sends it; where nothing moves there are none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from groupcore.sequencing.names import Process
from groupcore.shared.access import EVERYBODY, Right
from groupcore.shared.operations import operation
from groupcore.shared.places.behaviours import (
    Moment,
    acting,
    box_of,
    lit,
    operated,
    rung,
    stepped,
    walls_of,
)
from groupcore.shared.places.handover import LEAF
from groupcore.shared.places.joining import Joining
from groupcore.shared.places.limits import BALLS_MAX, EDITS_MAX, THINGS_MAX, WENT_MAX
from groupcore.shared.places.parts import (
    Acted,
    Grabbed,
    Holder,
    Rang,
    Released,
    Signal,
    ThingsGone,
    ThingsHere,
    Ticked,
    name_of,
)
from groupcore.shared.places.refusals import (
    BadThingError,
    CellFullError,
    ThingExistsError,
    ThingLockedError,
)
from groupcore.shared.places.squares import Box, is_path
from groupcore.shared.places.thing import Edit, Thing, check_edits, check_thing, edited

KEEPERS = frozenset({"accept", "become", "follow", "handed", "quartered", "tick"})
"""Operations that nodes call for themselves, as nobody in particular."""
FORMERLY: Mapping[str, tuple[str, ...]] = {
    "1c0fd0ebd34400be": (
        *("path", "role", "role_version", "things", "grabs", "active", "owes", "received", "went"),
        *("gone", "joints", "busy", "outcomes", "over", "_given", "rights", "rights_version"),
        "ticks",
    )
}
"""The fields of former versions: that one was quartered one level at a time."""
NODES_TOO = frozenset({"part"})
"""What nodes call for themselves, where a connection ends, and who may write."""
BY_MAX = 200
"""Most characters of a connection's name."""


class Cell(Joining):
    """One cell; a new object is `unborn` until it is told its role. Details are those of `parts`.

    `ticks` counts the ticks that were done.
    """

    for_nodes = KEEPERS
    formerly = FORMERLY
    rights: dict[str, Right]
    rights_version: int = 0
    ticks: int = 0

    # --- things come, change and go -------------------------------------------------------------

    @operation
    def put(self, things: list[Thing], to: str = "") -> None:
        """Put new things here, all or none; those that lie elsewhere go on to there.

        Each has an id that no thing has had; who puts one again that was deleted gives it one more
        of `hops` than it had.

        Raises BadThingError, ThingExistsError, CellFullError, NotHereError.
        """
        self._require_leaf()
        if len(things) > EDITS_MAX or len({one.id for one in things}) != len(things):
            raise BadThingError(f"an operation puts at most {EDITS_MAX} things, each once")
        if len(self.things) + len(things) > THINGS_MAX:
            raise CellFullError(f"the cell {self.path} may have {THINGS_MAX} things")
        for thing in things:
            check_thing(thing)
            is_old = thing.hops <= self.gone.get(thing.id, -1)
            if thing.id in self.things or thing.id in self.went or is_old:
                raise ThingExistsError(f"there is a thing {thing.id} already")
        self._hold(things, to)

    @operation
    def change(self, edits: list[Edit], by: str = "") -> list[str]:
        """Change things, all or none; gives those that were changed. Moves are changes of x and y.

        Who has not got a thing that somebody has grabbed cannot change it. Raises the refusals.
        """
        self._require_leaf()
        changed: list[tuple[Thing, str]] = []
        for edit in check_edits(edits, EDITS_MAX):
            before = self._free(edit.id, by)
            after = edited(before, edit)
            if after is not before:
                changed.append((after, edit.to))
        self._hold_changed(changed)
        return [thing.id for thing, _ in changed]

    def _hold_changed(self, changed: Iterable[tuple[Thing, str]]) -> None:
        """Those that lie elsewhere now leave; nobody has them grabbed any more (C2)."""
        ways: dict[str, list[Thing]] = {}
        for thing, to in changed:
            if not self._is_here(thing):
                self._take_out(thing.id)
            ways.setdefault(to, []).append(thing)
        for to, some in ways.items():
            self._hold(some, to)

    @operation
    def delete(self, things: list[str], by: str = "", version: int = -1) -> list[str]:
        """Delete things, all or none; gives those that were there.

        `version`: only those that nobody has changed since then (0 or more), for who takes back
        that he has put them. What was bound to a thing keeps a loose end. Raises ThingLockedError,
        ThingHeldError, ThingBusyError, NotHereError.
        """
        self._require_leaf()
        gone: list[str] = []
        for one in dict.fromkeys(things[:EDITS_MAX]):
            if one not in self.things:
                continue
            thing = self._free(one, by)
            if thing.locked:
                raise ThingLockedError(f"{one} is locked; unlock it first")
            if version in (-1, thing.version):
                gone.append(one)
        for one in gone:
            self.gone.pop(one, None)
            self.gone[one] = self._take_out(one).hops
        while len(self.gone) > WENT_MAX:
            del self.gone[next(iter(self.gone))]
        if gone:
            self.emit(ThingsGone(tuple(gone)))
        return gone

    # --- grabbing -------------------------------------------------------------------------------

    @operation
    def grab(self, things: list[str], by: str = "") -> None:
        """Have these things for the connection `by`, all or none (C1).

        Raises ThingHeldError, which names who was first, NoSuchThingError, ThingBusyError,
        ThingLockedError, NotHereError.
        """
        self._require_leaf()
        self._require_member()
        if len(things) > EDITS_MAX or len(by) > BY_MAX:
            raise BadThingError(f"a grab is of {EDITS_MAX} things, by a name of {BY_MAX} letters")
        new = []
        for one in dict.fromkeys(things):
            if self._free(one, by).locked:
                raise ThingLockedError(f"{one} is locked; unlock it first")
            if one not in self.grabs:
                new.append(one)
        holder = Holder(*self._caller(by))
        for one in new:
            self.grabs[one] = holder
        if new:
            self.emit(Grabbed(tuple(new), holder))

    @operation
    def release(self, things: list[str], by: str = "") -> None:
        """Let go of things; those that this connection has not got stay as they are."""
        mine = self._caller(by)
        self._let_go(
            [
                one
                for one in dict.fromkeys(things[:EDITS_MAX])
                if (held := self.grabs.get(one)) is not None and (held.process, held.by) == mine
            ]
        )

    @operation
    def part(self, by: str) -> None:
        """The connection `by` of the calling process has ended (C2)."""
        mine = self._caller(by)
        self._let_go([one for one, held in self.grabs.items() if (held.process, held.by) == mine])

    def on_departed(self, process: Process) -> None:
        """Its connections have ended (C2), and what it began with other cells is ended (J3)."""
        super().on_departed(process)
        name = name_of(process)
        self._let_go([one for one, held in self.grabs.items() if held.process == name])

    def _let_go(self, things: list[str]) -> None:
        for one in things:
            del self.grabs[one]
        if things:
            self.emit(Released(tuple(things)))

    # --- behaviours -----------------------------------------------------------------------------

    @operation
    def operate(
        self,
        thing: str,
        action: str,
        arguments: list[int],
        by: str = "",
        lamps: dict[str, str] | None = None,
    ) -> None:
        """Have a thing do something; see `behaviours.operated` for what.

        `lamps` says where the lamps of a switch are that are in other cells, as far as who asks
        knows; one that has gone meanwhile is followed. `by` tells people apart who share a
        principal. Raises BadActionError, and the refusals.
        """
        self._require_leaf()
        before = self._free(thing, by)
        context = self.context
        who = acting(context.principal, by, name_of(context.process))
        moment = Moment(context.position, round(context.time_s * 1000), who)
        after = operated(before, action, arguments, moment)
        check_thing(after)
        self.emit(Acted(who))
        self._hold([after])
        if after.kind == "switch":
            for lamp in after.links:
                self._signal(Signal(lamp, bool(after.prop("on"))), dict(lamps or {}))

    def _signal(self, signal: Signal, lamps: Mapping[str, str]) -> None:
        cell = self.went.get(signal.lamp) or lamps.get(signal.lamp, "")
        if signal.lamp in self.things:
            self._take_signal(signal)
        elif cell != self.path and is_path(cell):
            self._owe(cell, signals=(signal,))

    def _take_signal(self, signal: Signal) -> None:
        lamp = self.things.get(signal.lamp)
        if lamp is not None:
            after = lit(lamp, signal.on)
            if after is not lamp:
                self.things[lamp.id] = after
                self.emit(ThingsHere((after,)))
        elif signal.lamp in self.went:
            self._owe(self.went[signal.lamp], signals=(signal,))

    @operation
    def tick(self, number: int) -> None:
        """Go on by one tick, if this is the next one (C4)."""
        if not self._is_next(number) or self.role != LEAF:
            return
        self.ticks = number
        self.emit(Ticked(number))
        active = [self.things[one] for one in self.active if one not in self.busy]
        self._ring([one for one in active if one.kind == "timer"])
        balls = [one for one in active if one.kind == "ball" and one.id not in self.grabs]
        if balls:
            walls = walls_of(list(self.things.values()))
            self._hold_changed([(stepped(one, walls), "") for one in balls[:BALLS_MAX]])

    def _is_next(self, number: int) -> bool:
        """C4."""
        return number == self.ticks + 1

    def _ring(self, timers: Iterable[Thing]) -> None:
        time_ms = round(self.context.time_s * 1000)
        for timer in timers:
            after = rung(timer, time_ms)
            if after is not None:
                self._hold([after])
                self.emit(Rang(timer.id, timer.prop("due")))

    def next_tick_ms(self, time_ms: int) -> int | None:
        """When the next tick is needed, in the order's time; None: not before somebody acts.

        `time_ms` is the order's time now. For a ball that rolls that is at once: who ticks keeps
        `limits.TICK_MS` between two ticks.
        """
        if self.role != LEAF:
            return None
        moments = [
            self.things[one].prop("due") if self.things[one].kind == "timer" else time_ms
            for one in self.active
            if one not in self.busy and (self.things[one].kind == "timer" or one not in self.grabs)
        ]
        return min(moments, default=None)

    # --- who may --------------------------------------------------------------------------------

    @operation
    def follow(self, version: int, rights: dict[str, Right]) -> None:
        """The place's access list, as of this version of it; an older one does nothing."""
        if version > self.rights_version:
            self.rights_version, self.rights = version, rights

    def may_call(self, principal: str, operation: str) -> bool:
        """By the list; what nodes do for themselves, only by nobody in particular."""
        if not self.rights:
            return True
        if operation in KEEPERS or (not principal and operation in NODES_TOO):
            return not principal
        return self._right(principal) >= Right.WRITE

    def may_read(self, principal: str) -> bool:
        """By the list; nodes, by nobody in particular, always."""
        return not self.rights or not principal or self._right(principal) >= Right.READ

    def _right(self, principal: str) -> Right:
        rights = self.rights
        return max(rights.get(principal, Right.NONE), rights.get(EVERYBODY, Right.NONE))


def bounds(cell: Cell) -> Box:
    """The rectangle that the things of a cell cover; an empty one where there are none."""
    boxes = [box_of(thing) for thing in cell.things.values()]
    if not boxes:
        return Box(0, 0, 0, 0)
    return Box(
        min(box.left for box in boxes),
        min(box.top for box in boxes),
        max(box.right for box in boxes),
        max(box.bottom for box in boxes),
    )
