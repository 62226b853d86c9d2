"""A sequencer that nobody hears numbers a message that its sender then saves without it."""

from __future__ import annotations

from dataclasses import replace

from groupcore.sim.clock import SECOND
from groupcore.sim.plant_schedules_groups import CAUSAL, join, scenario, sends
from groupcore.sim.profiles import PROFILES
from groupcore.sim.trace import Viewed
from groupcore.sim.trace_groups import GroupAccepted, GroupSaved, GroupStamped
from tests.groupcore.sim.rows.playing import fault

A, B, C = range(3)
MUTE_S, LENGTH_S = 3.0, 7
SCENARIO = replace(
    scenario(
        [join(1_000, B, 0, 0), *sends([(A, 0, 0)], 3_020, 3_030, 20)],
        (CAUSAL,),
        faults=(
            fault(MUTE_S, "one-way", B, A, for_s=3.0),
            fault(MUTE_S, "one-way", B, C, for_s=3.0),
            fault(MUTE_S, "crash-keep", C, for_s=0.36),
        ),
        length_s=LENGTH_S,
    ),
    durable=True,
)
"""With logs: a's message reaches b, whose process alone is in the group; what b says reaches
nobody, and c has crashed. a and c form a view from disk without b."""


def test_row_6_what_an_owner_numbers_that_nobody_hears_is_not_what_its_successor_saves() -> None:
    verdict = PROFILES["durable"].play(SCENARIO)
    assert not verdict.violations, [str(violation) for violation in verdict.violations]
    trace = verdict.trace
    sent = next(iter(trace.of(GroupAccepted)))
    stamps = [s for s in trace.of(GroupStamped) if (s.process, s.number) == (sent.process, 1)]
    assert [(stamp.n, stamp.seqno) for stamp in stamps] == [("b", 2), ("a", sent.seqno)]
    assert sent.seqno != stamps[0].seqno
    (told, *_) = [one for one in trace.of(GroupSaved) if one.process == sent.process]
    second = min(view.t for view in trace.of(Viewed) if view.epoch == 2)
    assert stamps[0].t < second < stamps[1].t < told.t < LENGTH_S * SECOND
