"""Invariants 18, 20, 21, 25, 30 and 31 for places; 17 and 21 as for documents."""

from __future__ import annotations

from collections import Counter

from groupcore.sim.checkers.base import Checker, Violation, life
from groupcore.sim.checkers.document_pages import PageStream
from groupcore.sim.checkers.documents import DocumentReplicas
from groupcore.sim.trace import Trace
from groupcore.sim.trace_places import (
    PlaceAnswered,
    PlaceCalled,
    PlaceEnd,
    PlaceGone,
    PlaceHeld,
    PlaceInterest,
    PlaceRang,
    PlaceSaved,
    PlaceTicked,
    PlaceWrong,
)

Stretch = tuple[str, int, str]
"""A cell, an epoch of views, a stretch of its order."""


def deleted(trace: Trace) -> set[str]:
    """The things that somebody has asked to delete.

    A deletion may be done while a node does its log again, where nobody writes down what is done.
    """
    asked = {one.thing for one in trace.of(PlaceGone)}
    for call in trace.of(PlaceCalled):
        if call.what in ("delete", "undo"):
            asked.update(call.things)
    return asked


class PlaceThings(Checker):
    """18: a thing that a person was told to be put, and saved, is in the place or was deleted."""

    number, name = 18, "place-saved"

    def scan(self, trace: Trace, found: list[Violation]) -> None:
        """Each thing that was put, at the end."""
        ends = trace.of(PlaceEnd)
        if not ends or trace.healed_at is None:
            return
        done = {(one.person, one.number) for one in trace.of(PlaceAnswered) if not one.code}
        saved = {(one.person, one.number) for one in trace.of(PlaceSaved)}
        gone = trace.once(deleted)
        for end in ends:
            there = {thing for thing, _ in end.things}
            for call in trace.of(PlaceCalled):
                key = (call.person, call.number)
                if call.what != "put" or key not in done or key not in saved:
                    continue
                lost = [one for one in call.things if one not in there and one not in gone]
                if lost:
                    text = f"{lost} of {call.person} is saved, and not at {life(end.n, end.inc)}"
                    found.append(self.breach(end.t, (end.n,), text))


class PlaceOnce(Checker):
    """20: a thing is in one cell at every cut, and nothing that is done together is seen half."""

    number, name = 20, "place-once"

    def scan(self, trace: Trace, found: list[Violation]) -> None:
        """Screens, and ends."""
        for wrong in trace.of(PlaceWrong):
            text = f"{life(wrong.n, wrong.inc)} {wrong.text}"
            found.append(self.breach(wrong.t, (wrong.n,), text))
        put = {one for call in trace.of(PlaceCalled) for one in call.things}
        for end in trace.of(PlaceEnd):
            counts = Counter(thing for thing, _ in end.things)
            strange = sorted(counts.keys() - put)
            if strange and put:
                text = f"{life(end.n, end.inc)} has {strange}, which nobody has put"
                found.append(self.breach(end.t, (end.n,), text))
            for thing, count in sorted(counts.items()):
                if count > 1:
                    text = f"{life(end.n, end.inc)} has {thing} {count} times"
                    found.append(self.breach(end.t, (end.n,), text))


class PlaceSettles(Checker):
    """25: soon after healing nothing is owed or under way, and cells and outline fit together."""

    number, name = 25, "place-settles"

    def scan(self, trace: Trace, found: list[Violation]) -> None:
        """The end."""
        for end in trace.of(PlaceEnd):
            for wrong in end.wrong:
                text = f"{life(end.n, end.inc)}: {wrong}"
                found.append(self.breach(end.t, (end.n,), text))


class PlaceViews(Checker):
    """21: in the end each person has the cells that it sees, and none for nothing; its map of the
    tree is at all times that of the regions that it sees.
    """

    number, name = 21, "place-views"

    def scan(self, trace: Trace, found: list[Violation]) -> None:
        """What was written down; what is shown of each cell is judged by `PageStream`."""
        for one in trace.of(PlaceInterest):
            found.append(self.breach(one.t, (), f"{one.person} {one.text}"))


class PlaceGrabs(Checker):
    """30: the first in the order has a thing until it lets go; who comes behind is told who.

    What a person is told is what stands in the order.
    """

    number, name = 30, "place-grabs"

    def scan(self, trace: Trace, found: list[Violation]) -> None:
        """Each cell's grabs in its order, and what people were told of them."""
        self._scan_order(trace, found)
        self._scan_told(trace, found)

    def _scan_order(self, trace: Trace, found: list[Violation]) -> None:
        order: dict[Stretch, dict[tuple[int, str, str], PlaceHeld]] = {}
        for one in trace.of(PlaceHeld):
            stretch = order.setdefault((one.object, one.epoch, one.birth), {})
            stretch.setdefault((one.position, one.thing, one.what), one)
        for stretch in order.values():
            holders: dict[str, str] = {}
            for one in sorted(stretch.values(), key=_place):
                self._step(one, holders, found)

    def _step(self, one: PlaceHeld, holders: dict[str, str], found: list[Violation]) -> None:
        holder = holders.get(one.thing)
        where = f"at {one.position} of {one.object}"
        if one.what == "free":
            holders.pop(one.thing, None)
        elif one.what == "got":
            if holder is not None:
                text = f"{one.by} gets {one.thing} {where}, which {holder} has"
                found.append(self.breach(one.t, (one.n,), text))
            holders[one.thing] = one.by
        elif holder is not None and holder != one.holder:
            text = f"{one.by} is told {where} that {one.holder} has {one.thing}: {holder} has"
            found.append(self.breach(one.t, (one.n,), text))

    def _scan_told(self, trace: Trace, found: list[Violation]) -> None:
        grabs = {
            (call.person, call.number) for call in trace.of(PlaceCalled) if call.what == "grab"
        }
        held = trace.of(PlaceHeld)
        won = {one.by for one in held if one.what == "got"}
        lost = {(one.by, one.holder) for one in held if one.what == "refused"}
        for told in trace.of(PlaceAnswered):
            if (told.person, told.number) not in grabs:
                continue
            if not told.code and told.by not in won:
                text = f"{told.person} is told to have what {told.by} never got"
                found.append(self.breach(told.t, (), text))
            if told.holder and (told.by, told.holder) not in lost:
                text = f"{told.person} is told that {told.holder} was first: nobody said so"
                found.append(self.breach(told.t, (), text))


def _place(one: PlaceHeld) -> tuple[int, int]:
    """Things are let go of before they are grabbed at one place."""
    return one.position, one.what != "free"


class PlaceBehaviours(Checker):
    """31: ticks are done one by one, each once; a timer rings once, and not before its time."""

    number, name = 31, "place-behaviours"

    def scan(self, trace: Trace, found: list[Violation]) -> None:
        """Each node's ticks, and all rings."""
        last: dict[tuple[str, int, Stretch], tuple[int, int]] = {}
        for tick in trace.of(PlaceTicked):
            key = (tick.n, tick.inc, (tick.object, tick.epoch, tick.birth))
            position, before = last.get(key, (0, 0))
            if tick.position <= position:
                continue  # a copy that is opened again goes through the order again
            if tick.number <= before:
                text = f"{life(*key[:2])} does tick {tick.number} of {tick.object} behind {before}"
                found.append(self.breach(tick.t, (tick.n,), text))
            last[key] = tick.position, tick.number
        rung: dict[tuple[Stretch, str, int], int] = {}
        for rang in trace.of(PlaceRang):
            place = ((rang.object, rang.epoch, rang.birth), rang.thing, rang.due_ms)
            if rung.setdefault(place, rang.position) != rang.position:
                text = f"{rang.thing} rings twice, for {rang.due_ms}"
                found.append(self.breach(rang.t, (rang.n,), text))
            if rang.time_ms < rang.due_ms:
                text = f"{rang.thing} rings {rang.due_ms - rang.time_ms} ms too early"
                found.append(self.breach(rang.t, (rang.n,), text))


PLACE_CHECKERS: tuple[type[Checker], ...] = (
    DocumentReplicas,
    PlaceThings,
    PlaceOnce,
    PageStream,
    PlaceViews,
    PlaceSettles,
    PlaceGrabs,
    PlaceBehaviours,
)
"""What holds for places."""
