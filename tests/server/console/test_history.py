"""Moves as three nodes have seen them, put together."""

from __future__ import annotations

from functools import partial

from groupcore.sequencing.names import GroupId
from groupcore.sequencing.watch import SeenMove, Watch
from groupcore.view import Address
from server.console.colleagues import Shown
from server.console.history import merged, moves_shown

A, B = (Address(name, 1) for name in "ab")


moved = partial(SeenMove, 3, (GroupId(7), GroupId(8)), A, B, "plan")
"""The move of two groups that began at the time, as a node has it in mind."""


def seen(offset_s: float, move: SeenMove) -> list[Shown]:
    """What a node tells of it whose clock has begun `offset_s` ago."""
    watch = Watch()
    watch.moves.append(move)
    return moves_shown(watch, offset_s, str)


def test_each_phase_is_timed_by_the_node_that_knows_it() -> None:
    source = seen(10, moved(990.0, stopped_s=990.0125, ended_s=990.04, last=(5, 6)))
    target = seen(13, moved(987.0, ended_s=987.05, resumed_s=987.0625, last=(5, 6), held=2))
    third = seen(0, moved(1000.0, ended_s=1000.03, last=(5, 6)))
    for told in ((source, target, third), (target, third, source), (third, source, target)):
        (move,) = merged(told)
        assert move["phase"] == "resumed"
        assert (move["after_ms"]["stopped"], move["after_ms"]["resumed"]) == (12.5, 62.5)
        assert move["pause_ms"] == 62.5
        assert move["after_ms"]["ended"] == told[0][0]["after_ms"]["ended"]
        assert [one["last"] for one in move["groups"]] == [5, 6]
    assert source[0]["after_ms"]["resumed"] is None  # what is told is left as it was


def test_a_move_under_way_has_not_reached_its_end() -> None:
    (move,) = merged([seen(0, moved(1000.0)), seen(5, moved(995.0, stopped_s=995.5))])
    assert move["after_ms"] == {"stopped": 500.0, "ended": None, "resumed": None}
    assert (move["phase"], move["pause_ms"]) == ("stopped", None)
    (over,) = merged([seen(0, moved(1000.0, ended_s=1000.25, cancelled=True))])
    assert (over["phase"], over["after_ms"]["ended"]) == ("cancelled", 250.0)
