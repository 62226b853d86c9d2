"""Rows 32 to 34 of the fault matrix: a state that is taken while the group goes on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from groupcore.sim.fault import Fault
from groupcore.sim.network import CALM, NetworkOptions
from groupcore.sim.scenario import Scenario
from tests.groupcore.sim.rows.playing import (
    Play,
    fault,
    longest_silence_s,
    scenario,
    sends,
    taken_by,
)

JOINS_S = 3.0
MOMENTS_MS = (
    360,
    400,
    *(pytest.param(after_ms, marks=pytest.mark.slow) for after_ms in (380, 440, 500)),
)
"""When something happens in the transfer, in milliseconds after the joiner has started."""


def joining(
    *faults: Fault, chunk_bytes: int = 256, network: NetworkOptions = CALM, trouble: float = 0.0
) -> Scenario:
    """Three members that send all the time, and a fourth node that starts after them."""
    given = scenario(
        *faults,
        nodes=4,
        length_s=8,
        traffic=sends(1, 8, 0.005, 0, 1, 2),
        network=network,
        starts_s={3: JOINS_S},
    )
    return replace(given, state_chunk_bytes=chunk_bytes, state_trouble=trouble)


def test_row_32_nobody_stops_sending_while_a_state_is_taken() -> None:
    verdict = Play(joining()).run()  # 17 judges the state, 5 that nothing is lost or doubled
    assert taken_by(verdict.trace, "d", JOINS_S)
    for name in "abc":
        assert longest_silence_s(verdict.trace, name, JOINS_S, 7) <= 0.1


@pytest.mark.parametrize("after_ms", MOMENTS_MS)
@pytest.mark.parametrize(
    ("kind", "who"),
    [("crash", 0), ("pause", 1), ("leave", 1), ("crash", 3)],
    ids=["coordinator dies", "member pauses", "member leaves", "joiner dies"],
)
def test_row_32_a_transfer_in_which_somebody_goes_ends_with_the_right_state(
    kind: str, who: int, after_ms: int
) -> None:
    verdict = Play(joining(fault(JOINS_S + after_ms / 1000, kind, who, for_s=1.5))).run()
    assert taken_by(verdict.trace, "d", JOINS_S)


def test_row_33_a_state_over_a_narrow_link_arrives_in_spite_of_a_growing_log() -> None:
    narrow = fault(JOINS_S, "narrow", 3, for_s=4, factor=1_000)
    verdict = Play(joining(narrow, chunk_bytes=1_024)).run()
    assert taken_by(verdict.trace, "d", JOINS_S)


def test_row_34_a_damaged_copy_is_noticed_and_another_member_asked() -> None:
    verdict = Play(joining(trouble=1.0)).run()  # 17: never a wrong state
    assert taken_by(verdict.trace, "d", JOINS_S)
