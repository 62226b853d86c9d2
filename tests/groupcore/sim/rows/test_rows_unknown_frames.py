"""Who lives holds frames of a group that it has not heard of, and that the others have lost.

Of [b c a], b orders. c creates a group, and its first frames reach a before the command does, as
nothing gets from b to a for some moments. Then b and c crash; b has stored none of it, and c comes
back late. a, which lives, and b with its disk form a view from disk, and the group is in no log of
theirs: its frames are in no cut, and the next group of that number is another one (decision 0187).
"""

from __future__ import annotations

from groupcore.sequencing.commands import CreateGroup
from groupcore.sim.trace import Viewed
from tests.groupcore.sim.rows.playing import fault, names
from tests.groupcore.sim.rows.playing_groups import (
    GroupPlay,
    join,
    members,
    send,
    traffic,
)

A, B, C = range(3)
CREATED_S, KILLED_S, END_S = 4.0, 4.004, 10.0
B_BACK_S, C_BACK_S = 0.6, 3.0


def play() -> GroupPlay:
    """a goes away and comes back first, so that another one orders."""
    slow = [fault(CREATED_S - 0.1, "disk-slow", node, for_s=0.4, factor=800) for node in (B, C)]
    run = GroupPlay(
        members({0: "a0 b0 c0", 1: "a0 b0 c0"}),
        traffic(1.6, 3.5, 0.02, [("c0", 0), ("c0", 1)]),
        join(CREATED_S, "c0", 2),
        send(6.0, "a0", 0, 3),
        groups=3,
        durable=True,
        length_s=END_S,
        faults=[fault(1.9, "crash", A, for_s=0.4), *slow],
    )
    run.at(CREATED_S - 0.001, run.cut("b", "a", for_s=0.3))
    run.at(KILLED_S, run.crash("b", B_BACK_S))
    run.at(KILLED_S, run.crash("c", C_BACK_S))
    return run


def test_a_view_from_disk_has_no_frames_of_a_group_that_only_who_is_gone_has_heard_of() -> None:
    run = play()
    known = run.on_command(CREATED_S - 0.01, "ordered", CreateGroup, "c", lambda: None)
    first = run.on_command(CREATED_S - 0.01, "ordered", CreateGroup, "a", lambda: None)
    unknown: list[int] = []

    def look() -> None:
        life = run.cluster.hosts[A].life
        assert life is not None
        unknown.extend(one.received - one.recorded for one in life.service.plane.streams.values())

    run.at(KILLED_S, look)
    verdict = run.run()
    assert known, "c has created nothing"
    assert known[0] < KILLED_S
    assert any(unknown), "no frame has overtaken its command"
    assert first, "the group was never made again"
    assert first[0] > KILLED_S + C_BACK_S
    formed = [view for view in verdict.trace.of(Viewed) if view.recovered and view.n == "a"]
    assert names(formed[-1]) == "ab"
