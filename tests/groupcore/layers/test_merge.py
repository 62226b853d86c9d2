"""The rules of MERGE: notice that there are several coordinators, and say so."""

from __future__ import annotations

from random import Random

from groupcore.events import CoordinatorsFound, ViewInstalled
from groupcore.layers.merge import Merge, MergeOptions
from groupcore.view import Address, View
from tests.groupcore.layers.building import A, B, C, D, E, events, installed, timers, view_of

OTHER = view_of(D, E, number=2)


class Heard:
    """PING's table."""

    def __init__(self) -> None:
        self.table: dict[Address, tuple[View, bool]] = {}

    def present(self, now: float) -> dict[Address, tuple[View, bool]]:
        return self.table


def member(heard: Heard, seed: int = 1) -> Merge:
    layer = Merge(A, Random(seed), heard.present, MergeOptions())
    layer.on_event(installed(A, B, C), 0.0)
    return layer


def test_it_looks_from_time_to_time_from_the_first_view_on_at_random() -> None:  # I2
    options = MergeOptions()
    delays = set()
    for seed in range(5):
        layer = Merge(A, Random(seed), Heard().present, options)
        delay_s = timers(layer.on_event(installed(A, B), 0.0))["look"]
        assert options.interval_min_s <= delay_s <= options.interval_max_s
        assert "look" in timers(layer.on_timer("look", 1.0))
        assert layer.on_event(installed(A, number=2), 1.0) == []
        delays.add(delay_s)
    assert len(delays) == 5


def test_alone_it_finds_nobody() -> None:
    layer = member(Heard())
    assert events(layer.on_timer("look", 1.0)) == []
    assert layer.counters() == {"found": 0}


def test_when_it_hears_of_another_coordinator_it_tells_of_its_view() -> None:
    heard = Heard()
    heard.table = {D: (OTHER, True), Address("f", 1): (view_of(Address("f", 1)), False)}
    layer = member(heard)
    expected = CoordinatorsFound((OTHER, view_of(Address("f", 1))))
    assert events(layer.on_timer("look", 1.0)) == [expected]
    assert layer.counters() == {"found": 1}


def test_members_that_do_not_coordinate_are_not_told_of() -> None:  # I1
    heard = Heard()
    heard.table = {E: (OTHER, True), B: (view_of(A, B, C), True)}
    assert events(member(heard).on_timer("look", 1.0)) == []


def test_a_coordinator_that_is_a_member_now_is_none_any_more() -> None:  # I3
    heard = Heard()
    heard.table = {D: (OTHER, True)}
    layer = member(heard)
    layer.on_event(ViewInstalled(view_of(A, B, C, D, E, number=3)), 1.0)
    assert events(layer.on_timer("look", 1.0)) == []
