"""A view begins with what may be saved on the disks of a quorum of those who decide what follows.

Of a to e, the disks of a's and b's applications hang; what c, d and e have stored is saved. d and e
die. If the others went on as [a b c] at once, those would be the voters from then on; and if these
stop as well, and a and b, two of three voters, start again, they would go on from journals of
before. So a and b accept no view until they have stored what may be saved (decision 0136).
"""

from __future__ import annotations

import pytest

from groupcore.sim.fault import Fault
from tests.groupcore.sim.rows.playing import FORMED_S, Play, fault, scenario, sends

A, B, C, D, E = range(5)
HANGS_S, DIE_S, STOP_S, ALONE_S, BACK_S, END_S = 2.0, 2.5, 4.9, 0.5, 9.0, 15.0
NOTICED_S = 1.5
"""By then a view without the dead would be there, if it waited for nothing."""
STAYING = ("a", "b", "c")


def hang(node: int, until_s: float) -> Fault:
    return fault(HANGS_S, "sync-hang", node, for_s=until_s - HANGS_S)


def crash(node: int, at_s: float, back_s: float) -> Fault:
    return fault(at_s, "crash", node, for_s=back_s - at_s)


def play(*more: Fault) -> Play:
    die = [crash(node, DIE_S, BACK_S) for node in (D, E)]
    traffic = sends(FORMED_S, END_S - 3.0, 0.04, A, B)
    return Play(scenario(*die, *more, nodes=5, length_s=END_S, traffic=traffic))


def views_at(run: Play, *at_s: float) -> list[bool]:
    """Whether those who stay are in a view of their own at these times, once it has run."""
    nodes, seen = run.cluster.nodes[A : C + 1], list[bool]()

    def look() -> None:
        names = [node.view.names for node in nodes if node.view is not None]
        seen.append(names == [STAYING] * 3)

    for moment in at_s:
        run.at(moment, look)
    run.run()
    return seen


@pytest.mark.parametrize("hanging", [(), (A, B), (A,), (B, C)])
def test_what_was_saved_is_there_when_voters_have_not_stored_it(hanging: tuple[int, ...]) -> None:
    again = [crash(node, STOP_S, STOP_S + ALONE_S) for node in (A, B)]
    hangs = [hang(node, STOP_S + 0.1) for node in hanging]
    play(*hangs, *again, crash(C, STOP_S, BACK_S)).run()


def test_a_view_waits_for_the_disks_that_it_needs_and_for_no_longer() -> None:
    seen = views_at(play(hang(A, 6.0), hang(B, 6.0)), DIE_S + NOTICED_S, 5.9, 6.5)
    assert seen == [False, False, True]


def test_a_view_waits_for_no_disk_when_the_others_have_stored_enough() -> None:
    """All five are voters, four have stored everything, and one of these dies: three suffice."""
    run = Play(scenario(hang(A, 6.0), crash(E, DIE_S, BACK_S), nodes=5, length_s=END_S))
    nodes, seen = run.cluster.nodes[:E], list[int]()

    def look() -> None:
        seen.extend(len(node.view.members) for node in nodes if node.view is not None)

    run.at(DIE_S + NOTICED_S, look)
    run.run()
    assert seen == [4] * 4
