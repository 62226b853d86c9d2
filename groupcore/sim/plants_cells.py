"""Planted bugs of places: hand-over, joint moves, grabs, behaviours, the tree, what people see."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from groupcore.sequencing.names import Process
from groupcore.shared.places import afar, behaviours, cell, outlook, place, regions, shown
from groupcore.shared.places.carrying import Carrier
from groupcore.shared.places.cell import Cell
from groupcore.shared.places.handover import Handover
from groupcore.shared.places.interest import Interest, View, interest
from groupcore.shared.places.joining import Joining
from groupcore.shared.places.parts import Parcel
from groupcore.shared.places.refusals import NoSuchThingError
from groupcore.shared.places.squares import Box
from groupcore.shared.places.thing import Edit, Thing
from groupcore.sim.places import looking
from groupcore.sim.places.chart import Chart
from groupcore.sim.places.visitor import Visit, Visitor
from groupcore.sim.planting import Patch, Plant


def _taken_twice() -> list[Patch]:
    def never(self: Handover, source: str, number: int) -> bool:
        return False

    def always(self: Carrier, one: Cell, parcel: Parcel) -> bool:
        """All nodes carry, as they may."""
        return True

    return [(Handover, "_has", never), (Carrier, "_is_mine", always)]


def _last_not_carried() -> list[Patch]:
    original = Carrier._carry

    async def carry(
        self: Carrier, path: str, one: Cell, target: str, parcels: list[Parcel]
    ) -> None:
        """The last of several is said to be there, and is not."""
        await original(self, path, one, target, parcels[:-1] or parcels)
        if len(parcels) > 1:
            await one.handed(target, parcels[-1].number)

    return [(Carrier, "_carry", carry)]


def _dead_not_carried() -> list[Patch]:
    def mine(self: Carrier, one: Cell, parcel: Parcel) -> bool:
        return parcel.by == self.node

    async def look(self: place.Place) -> None:
        """Nobody looks for it, either."""

    return [(Carrier, "_is_mine", mine), (place.Place, "_look", look)]


def _left_behind() -> list[Patch]:
    def send_on(self: Handover, ids: Collection[str], below: Collection[str] = ()) -> None:
        """What a cell held before it was divided stays there."""

    return [(Handover, "_send_on", send_on)]


def _shown_where_owed() -> list[Patch]:
    def seen(cells: Mapping[str, Cell]) -> list[tuple[str, Thing]]:
        """Whether the other one has it already is not looked at."""
        held = [(path, thing) for path, one in cells.items() for thing in one.things.values()]
        owed = [
            (path, thing)
            for path, one in cells.items()
            for parcels in one.owes.values()
            for parcel in parcels
            for thing in parcel.things
        ]
        return [*held, *owed]

    return [(looking, "seen", seen), (shown, "seen", seen)]


def _joint_half_shown() -> list[Patch]:
    def as_it_was(thing: Thing, edit: Edit) -> Thing:
        return thing

    return [(shown, "edited", as_it_was)]


def _joint_left() -> list[Patch]:
    def departed(self: Joining, process: Process) -> None:
        """What it had begun stays prepared."""

    return [(Joining, "on_departed", departed)]


def _grab_stolen() -> list[Patch]:
    def free(self: Joining, thing: str, by: str) -> Thing:
        """Who has it has it no more, and is not told."""
        if thing not in self.things:
            raise NoSuchThingError(thing)
        self.grabs.pop(thing, None)
        return self.things[thing]

    return [(Joining, "_free", free)]


def _grab_outlives() -> list[Patch]:
    def departed(self: Cell, process: Process) -> None:
        Joining.on_departed(self, process)

    return [(Cell, "on_departed", departed)]


def _loser_not_told() -> list[Patch]:
    def free(self: Joining, thing: str, by: str) -> Thing:
        """That somebody has it is not said: both believe to have it."""
        if thing not in self.things:
            raise NoSuchThingError(thing)
        return self.things[thing]

    return [(Joining, "_free", free)]


def _ticks_doubled() -> list[Patch]:
    def any_number(self: Cell, number: int) -> bool:
        """Each tick that is sent is done, whoever has sent the same."""
        return True

    def oldest(self: Carrier, one: Cell) -> bool:
        """All nodes send them."""
        return True

    return [(Cell, "_is_next", any_number), (Carrier, "_is_oldest", oldest)]


def _rings_early() -> list[Patch]:
    original = behaviours.rung

    def rung(thing: Thing, time_ms: int) -> Thing | None:
        return original(thing, time_ms + 3_600_000)

    return [(cell, "rung", rung)]


def _border_unseen() -> list[Patch]:
    original = interest

    def narrow(view: View, tree: Mapping[str, str], held: Collection[str]) -> Interest:
        """One cell at the edge of what is seen is left out."""
        found = original(view, tree, held)
        return Interest(found.needed[:-1], found.far) if len(found.needed) > 1 else found

    return [(place, "interest", narrow)]


def _shown_with_gaps() -> list[Patch]:
    showing = Visitor.shown

    def gaps(
        self: Visitor, visit: Visit, name: str, birth: str, position: int, what: str, whole: bool
    ) -> None:
        if whole or position % 7:
            showing(self, visit, name, birth, position, what, whole)

    return [(Visitor, "shown", gaps)]


def _region_late() -> list[Patch]:
    def grow(self: Chart) -> None:
        """What a quartering brings into sight is looked for with the next step only."""

    return [(Chart, "grow", grow)]


def _region_early() -> list[Patch]:
    original = outlook.Outlook.news

    def news(self: outlook.Outlook, details: Iterable[object]) -> Iterator[outlook.News]:
        """What has come to be followed is of before this change, which is not told any more."""
        for one in original(self, details):
            if len(one.region) == 1:
                yield one

    return [(outlook.Outlook, "news", news)]


def _region_unseen() -> list[Patch]:
    original = regions.regions_in

    def fewer(tree: Mapping[str, str], sight: Box) -> frozenset[str]:
        """One region that is seen is left out."""
        found = sorted(original(tree, sight))
        return frozenset(found[:-1] or found)

    return [(outlook, "regions_in", fewer)]


def _afar_stale() -> list[Patch]:
    original = afar.Afar.changed

    def changed(self: afar.Afar, paths: Iterable[str]) -> list[str]:
        """What whole regions look like is told to who comes, and to nobody who is there."""
        original(self, paths)
        return []

    return [(afar.Afar, "changed", changed)]


CELL_PLANTS = (
    Plant(
        "pl-region-late",
        "a part of the tree that a quartering brings into sight is followed a moment too late",
        (21,),
        _region_late,
        profile="places",
    ),
    Plant(
        "pl-region-early",
        "a part of the tree is as of when it was looked at, and not told what comes behind that",
        (21,),
        _region_early,
        profile="places",
    ),
    Plant(
        "pl-region-unseen",
        "one of the parts of the tree that are seen is not followed",
        (21,),
        _region_unseen,
        profile="places",
    ),
    Plant(
        "pl-afar-stale",
        "who follows the top of the tree is not told when something below it looks otherwise",
        (21,),
        _afar_stale,
        profile="places",
    ),
    Plant(
        "pl-taken-twice",
        "what one cell gives to another is taken as often as it comes",
        (20, 17),
        _taken_twice,
        profile="places",
    ),
    Plant(
        "pl-last-not-carried",
        "the last of several parcels is forgotten before it is carried",
        (18, 20),
        _last_not_carried,
        profile="places",
    ),
    Plant(
        "pl-dead-not-carried",
        "what a node that died owed to another cell is carried by nobody",
        (25, 18, 20),
        _dead_not_carried,
        profile="places",
    ),
    Plant(
        "pl-left-behind",
        "what a cell held before it was divided stays there",
        (25, 18, 20),
        _left_behind,
        profile="places",
    ),
    Plant(
        "pl-shown-where-owed",
        "a thing is shown from what is owed, though the other cell has it",
        (20,),
        _shown_where_owed,
        profile="places",
    ),
    Plant(
        "pl-joint-half-shown",
        "each cell shows its part of a joint move when it is told itself",
        (20,),
        _joint_half_shown,
        profile="places",
    ),
    Plant(
        "pl-joint-left",
        "what somebody who is gone had prepared stays prepared",
        (25, 18, 20),
        _joint_left,
        profile="places",
    ),
    Plant(
        "pl-grab-stolen",
        "who grabs a thing gets it, whoever has it",
        (30,),
        _grab_stolen,
        profile="places",
    ),
    Plant(
        "pl-grab-outlives",
        "a grab does not end with its connection",
        (25, 30),
        _grab_outlives,
        profile="places",
    ),
    Plant(
        "pl-loser-not-told",
        "who grabs a thing that another one has is told to have it",
        (30,),
        _loser_not_told,
        profile="places",
    ),
    Plant(
        "pl-ticks-doubled",
        "a tick that two nodes send is done twice",
        (31,),
        _ticks_doubled,
        profile="places",
    ),
    Plant(
        "pl-rings-early",
        "a timer rings before its time in the order",
        (31,),
        _rings_early,
        profile="places",
    ),
    Plant(
        "pl-border-unseen",
        "who stands at the border of a cell is not given the one behind it",
        (21,),
        _border_unseen,
        profile="places",
    ),
    Plant(
        "pl-shown-with-gaps",
        "a visitor is not shown each seventh entry of a cell",
        (21,),
        _shown_with_gaps,
        profile="places",
    ),
)
"""Those of places; `plants.PLANTS` has all."""
