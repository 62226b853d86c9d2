"""Random walks of groups with a node that hears late: clean, repeatable, and able to find bugs."""

from __future__ import annotations

from random import Random

import pytest

from groupcore.sim.explore import walking
from groupcore.sim.explore.__main__ import go, main
from groupcore.sim.explore.group_scopes import GroupScope, send
from groupcore.sim.explore.group_turning import GroupTurning
from groupcore.sim.explore.walking import walks
from groupcore.sim.plants import PLANTS


@pytest.mark.slow
def test_walks_break_nothing() -> None:
    for number, walk in walks(1, 150):
        assert walk.violations == [], f"walk {number}"


def test_a_walk_is_the_same_when_it_is_taken_again() -> None:
    (_, one), (_, other) = *walks(1, 1, first=7), *walks(1, 1, first=7)
    assert (one.scope, one.steps) == (other.scope, other.steps)
    assert len(one.steps) > 10


@pytest.mark.parametrize(
    ("plant", "number", "invariant"),
    [("g-entered-by-who", 135, 11), ("g-given-before-deletion", 51, 7)],
)
def test_a_planted_bug_of_a_late_control_order_is_found_by_a_walk(
    plant: str, number: int, invariant: int
) -> None:
    with PLANTS[plant].planted():
        ((_, walk),) = walks(1, 1, first=number)
    assert invariant in {violation.number for violation in walk.violations}


def test_what_is_wrong_is_said_with_the_way_to_it(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--walks", "1", "--seed", "1", "--first", "51"]
    assert main([*options, "--plant", "g-given-before-deletion"]) == 1
    said = capsys.readouterr().out
    assert "walk 51 of seed 1" in said
    assert "by these steps: " in said
    assert main(options) == 0


def test_a_walk_that_raises_is_a_breach(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ValueError("planted")

    scope = GroupScope("s", "", (0,), (send(1),), members=((0, 1),), orders=walking.ORDERS[:1])
    monkeypatch.setattr(GroupTurning, "send", fail)
    walk = walking.walk(scope, frozenset(), Random(1))
    assert [str(violation.text) for violation in walk.violations] == ["ValueError: planted"]


def test_how_many_walks_were_taken_is_said() -> None:
    said: list[str] = []
    assert go(1, 2, 0, said.append) == 0
    assert said[-1].startswith('{"walks": 2, "seed": 1, "first": 0')
