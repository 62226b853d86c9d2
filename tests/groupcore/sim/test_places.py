"""Places on simulated nodes: what the checkers say."""

from __future__ import annotations

from groupcore.sim.checkers.places import PLACE_CHECKERS
from groupcore.sim.trace import HEALED, Happened, Record, Trace
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

A = ("a", 1)
PLACE = ("a", 1, "place/hall/r", 1, "birth")
PUT = (PlaceCalled(1, "ann", 1, "put", ("x",)), PlaceAnswered(2, "ann", 1, "", "", ""))
SAVED = PlaceSaved(3, "ann", 1)
EMPTY = PlaceEnd(9, *A, (), ())


def judged(*records: Record) -> list[int]:
    """The invariants that these break, behind the healing."""
    trace = Trace([Happened(0, HEALED, ""), *records])
    return [one.number for checker in PLACE_CHECKERS for one in checker().check(trace)]


def held(position: int, what: str, by: str, holder: str = "") -> PlaceHeld:
    return PlaceHeld(position, *PLACE, position, what, "x", by, holder or by)


def test_what_is_saved_is_there_or_was_deleted() -> None:
    assert judged(*PUT, SAVED, PlaceEnd(9, *A, (("x", "r"),), ())) == []
    assert judged(*PUT, EMPTY) == []
    assert judged(*PUT, SAVED, EMPTY) == [18]
    assert judged(*PUT, SAVED, PlaceGone(4, *A, "x"), EMPTY) == []


def test_a_thing_is_in_one_place_and_somebody_has_put_it() -> None:
    assert judged(*PUT, PlaceEnd(9, *A, (("x", "r0"), ("x", "r1")), ())) == [20]
    assert judged(*PUT, PlaceEnd(9, *A, (("x-2", "r0"),), ())) == [20]
    assert judged(PlaceWrong(5, *A, "shows x twice")) == [20]


def test_the_first_has_it_and_the_others_are_told_who() -> None:
    assert judged(held(1, "got", "ann"), held(2, "refused", "bob", "ann")) == []
    assert judged(held(1, "got", "ann"), held(2, "got", "bob")) == [30]
    assert judged(held(1, "got", "ann"), held(2, "free", ""), held(3, "got", "bob")) == []
    assert judged(held(1, "got", "ann"), held(2, "refused", "bob", "eve")) == [30]
    told = (PlaceCalled(1, "bob", 1, "grab", ("x",)), PlaceAnswered(2, "bob", 1, "", "bob", ""))
    assert judged(*told) == [30]
    assert judged(*told, held(3, "got", "bob")) == []


def test_ticks_are_done_once_and_timers_ring_once_and_in_time() -> None:
    one, two = (PlaceTicked(n, *PLACE, n, n) for n in (1, 2))
    assert judged(one, two) == []
    assert judged(one, one._replace(position=2)) == [31]
    rang = PlaceRang(5, *PLACE, 5, "t", 100, 120)
    assert judged(rang, rang) == []
    assert judged(rang, rang._replace(position=6)) == [31]
    assert judged(rang._replace(time_ms=99)) == [31]


def test_in_the_end_all_fits_together_and_everybody_has_what_is_seen() -> None:
    assert judged(PlaceEnd(9, *A, (), ("r owes something",))) == [25]
    assert judged(PlaceInterest(9, "ann", "lacks r0")) == [21]
