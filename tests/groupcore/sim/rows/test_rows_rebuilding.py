"""Nodes that crash while they are being rebuilt: they have no vote until they have the state.

Of a, b and c, c starts again and crashes before it has stored the state; then b does, which had
not stored the last of it before its crash. Their disks count for nothing then, and a's does.
Whatever else stops, a is enough; without a nobody goes on, and both say that they wait for a.
"""

from __future__ import annotations

import pytest

from groupcore.membership.awaiting import Awaiting
from groupcore.sim.clock import SECOND
from groupcore.stacks import read_record
from tests.groupcore.sim.rows.playing import Play, fault, membership, scenario, sends

A, B, C = range(3)
FIRST_S, SECOND_S, END_S = 2.0, 5.0, 16.0
AWAY_S = 0.4


class CrashesWhileRebuilt:
    """c, and then b, start again, and crash once as soon as their record says that they have less.

    `back_s`: when they start again after that; without b it falls only as a test says.
    """

    def __init__(self, back_s: dict[int, float]) -> None:
        falls = [fault(FIRST_S, "crash", C, for_s=AWAY_S)]
        if B in back_s:
            falls.append(fault(SECOND_S - 1.0, "sync-hang", B, for_s=1.0))
            falls.append(fault(SECOND_S, "crash", B, for_s=AWAY_S))
        traffic = sends(1.0, END_S - 4.0, 0.04, A, B, C)
        self.play = Play(scenario(*falls, length_s=END_S, traffic=traffic))
        self.nodes = self.play.cluster.nodes
        self.back_s = back_s
        self.crashed: list[int] = []
        self.play.lose(self.is_lost)

    def is_lost(self, source: int, target: int, data: bytes) -> bool:
        """Nothing vanishes; it is looked who is being rebuilt."""
        clock = self.play.cluster.clock
        for index in (C, B)[: 1 + (B in self.back_s)]:
            node = self.nodes[index]
            if index in self.crashed or node.view is None or not self.is_rebuilding(index):
                continue
            self.crashed.append(index)
            node.disk._unsafe.clear()  # nothing of what is on its way to the disk gets there
            node.disk._records.clear()
            node.crash(keep_all=False)
            clock.at(max(clock.now_ns + 1, round(self.back_s[index] * SECOND)), node.start)
        return False

    def is_rebuilding(self, index: int) -> bool:
        """Whether what is on its disk says so."""
        lineage = self.nodes[index].disk.lineage
        return lineage is not None and read_record(lineage).rebuilding

    def awaited(self, index: int) -> Awaiting | None:
        """What the node says that it waits for."""
        now = self.nodes[index]._local.seconds(self.play.cluster.clock.now_ns)
        return membership(self.nodes[index]).awaiting(now)


@pytest.mark.parametrize(
    "back_s",
    [{C: 3.0, B: 7.0}, {C: 8.0, B: 7.0}, {C: 7.0, B: 8.0}, {C: 8.0, B: 8.0}],
    ids=["in-turn", "c-last", "b-last", "together"],
)
@pytest.mark.parametrize("a_falls", [False, True])
def test_three_nodes_recover_though_two_crash_while_they_are_rebuilt(
    back_s: dict[int, float], a_falls: bool
) -> None:
    run = CrashesWhileRebuilt(back_s)
    if a_falls:
        run.play.at(6.5, lambda: run.nodes[A].crash(keep_all=False))
        run.play.at(9.0, run.nodes[A].start)
    run.play.run()
    assert run.crashed == [C, B]


def test_without_the_one_that_has_the_state_two_wait_and_name_it() -> None:
    run = CrashesWhileRebuilt({C: 7.0, B: 7.0})
    run.play.at(6.5, lambda: run.nodes[A].crash(keep_all=False))
    run.play.at(12.0, run.nodes[A].start)
    seen: list[Awaiting | None] = []
    run.play.at(11.0, lambda: seen.extend(run.awaited(index) for index in (B, C)))
    run.play.run()
    assert run.crashed == [C, B]
    for found in seen:
        assert found is not None
        assert (found.reason, found.missing, found.empty) == ("quorum", ("a",), ("b",))


def test_where_one_is_gone_and_another_crashes_while_it_is_rebuilt_the_third_names_both() -> None:
    """Its disk has no vote before it has the state, and no view takes it in: b is waited for."""
    run = CrashesWhileRebuilt({C: 3.0})
    seen: list[Awaiting | None] = []

    def b_goes() -> None:
        if run.crashed:
            run.nodes[B].crash(keep_all=True)
            run.play.cluster.clock.after(9 * SECOND, run.nodes[B].start)
            return
        run.play.cluster.clock.after(SECOND // 1000, b_goes)

    run.play.at(FIRST_S, b_goes)
    run.play.at(11.0, lambda: seen.extend(run.awaited(index) for index in (A, C)))
    run.play.run()
    for found in seen:
        assert found is not None
        assert found.reason == "quorum"
        assert (found.here, found.empty, found.missing) == (("a",), ("c",), ("b",))
