"""Rows 15 to 21 of the fault matrix: views, partitions, identities, the cut of a view."""

from __future__ import annotations

from functools import cache

import pytest

from groupcore.layers.stability import Stability
from groupcore.sim.clock import SECOND
from groupcore.sim.disk import Disk
from groupcore.sim.fault import Send
from groupcore.sim.network import NetworkOptions
from groupcore.sim.node import Node
from groupcore.sim.randomness import stream
from groupcore.sim.trace import Trace
from tests.groupcore.sim.rows.playing import (
    Play,
    excluded_after_s,
    fault,
    installed_by_all_s,
    lived,
    longest_silence_s,
    names,
    play,
    primaries,
    scenario,
    views_between,
)
from tests.groupcore.thorough import THOROUGH

QUICK_MS, ALL_MS = (0, 31, 34), (1, 2, 5, 10, 20, 29, 30, 32, 33, 35, 36, 38, 40, 45, 60)


def moments(first: int, *who: int) -> list[object]:
    """When somebody dies, in milliseconds after the change was asked for, behind who it is.

    Of those that are not quick every third, from the one of that place, unless all are asked for.
    """
    some_ms = ALL_MS if THOROUGH else ALL_MS[first::3]
    quick = pytest.mark.slow if any(who) else ()
    return [
        *(pytest.param(*who, after_ms, marks=quick) for after_ms in QUICK_MS),
        *(pytest.param(*who, after_ms, marks=pytest.mark.slow) for after_ms in some_ms),
    ]


@pytest.mark.parametrize("after_ms", moments(0))
def test_row_15_a_coordinator_that_dies_in_a_leave_is_followed_in_two_seconds(
    after_ms: int,
) -> None:
    dies_s = 3 + after_ms / 1000
    verdict = play(
        fault(3, "leave", 3, for_s=5), fault(dies_s, "crash", 0, for_s=4), nodes=4, length_s=9
    )
    assert excluded_after_s(verdict.trace, "a", dies_s) <= 2
    assert longest_silence_s(verdict.trace, "b", 3, 6.5) <= 2


@pytest.mark.parametrize("after_ms", moments(1))
def test_row_15_a_coordinator_that_dies_in_a_join_is_followed_in_two_seconds(
    after_ms: int,
) -> None:
    dies_s = 3.35 + 4 * after_ms / 1000  # the joiner listens for a moment before it asks
    verdict = play(fault(dies_s, "crash", 0, for_s=4), nodes=4, length_s=9, starts_s={3: 3.0})
    assert excluded_after_s(verdict.trace, "a", dies_s) <= 2


@cache
def crash_is_noticed_after_s() -> float:
    """How long the crash of one of five takes to be seen, when nothing else happens."""
    first = play(fault(3, "crash", 4, for_s=5), nodes=5)
    return excluded_after_s(first.trace, "e", 3)


@pytest.mark.parametrize("after_ms", moments(2))
def test_row_15_a_coordinator_that_dies_in_an_exclusion_is_followed(after_ms: int) -> None:
    dies_s = 3 + crash_is_noticed_after_s() - 0.04 + after_ms / 1000
    verdict = play(
        fault(3, "crash", 4, for_s=6), fault(dies_s, "crash", 0, for_s=5), nodes=5, length_s=10
    )
    assert excluded_after_s(verdict.trace, "a", dies_s) <= 2
    assert "bcd" in [names(view) for view in views_between(verdict.trace, 3, dies_s + 2)]


def test_row_16_coordinator_and_successor_die_together() -> None:
    verdict = play(
        fault(3, "crash", 0, for_s=4), fault(3, "crash", 1, for_s=4), nodes=5, length_s=8
    )
    assert [names(view) for view in views_between(verdict.trace, 3, 6)] == ["cde"]
    assert excluded_after_s(verdict.trace, "a", 3) <= 2


@pytest.mark.parametrize("nodes", [2, 3, 5])
def test_row_16_all_leave_together_and_nobody_hangs(nodes: int) -> None:
    leaves = [fault(3, "leave", node, for_s=4) for node in range(nodes)]
    verdict = play(*leaves, nodes=nodes, length_s=8)
    left = [record for record in lived(verdict.trace, "left") if record.t < 5 * SECOND]
    assert len(left) == nodes


def test_row_17_a_join_a_leave_and_a_crash_at_once_are_served_in_few_views() -> None:
    verdict = play(
        fault(3.34, "leave", 1, for_s=5),
        fault(2.6, "crash", 2, for_s=6),
        nodes=5,
        length_s=9,
        starts_s={4: 3.0},
    )
    during = views_between(verdict.trace, 2.6, 7)
    assert set(names(during[-1])) == set("ade")
    assert len(during) <= 3


@pytest.mark.parametrize("after_ms", [0, 20, 40, 100])
def test_row_17_of_two_that_begin_a_change_one_gives_way(after_ms: int) -> None:
    """The coordinator falls silent as it starts a change; the next in rank starts one, too."""
    verdict = play(
        fault(3, "leave", 3, for_s=5),
        fault(3 + after_ms / 1000, "pause", 0, for_s=1.5),
        nodes=4,
        length_s=9,
    )
    during = views_between(verdict.trace, 3, 6)
    assert 1 <= len(during) <= 4


@pytest.mark.parametrize("minority", [(0, 1), (3, 4)])
@pytest.mark.parametrize("for_s", [0.2, 3.0, pytest.param(30.0, marks=pytest.mark.slow)])
def test_row_18_a_minority_stops_and_comes_back(minority: tuple[int, ...], for_s: float) -> None:
    end_s = 3 + for_s
    running = Play(scenario(fault(3, "split", *minority, for_s=for_s), nodes=5, length_s=end_s + 6))
    moments = primaries(running)
    running.run()
    cut_off = {"abcde"[node] for node in minority}
    if for_s > 2:
        during = [set(found) for t, found in moments if 5 <= t < end_s]
        assert all(found == set("abcde") - cut_off for found in during)
    back = [t for t, found in moments if t > end_s and set(found) == set("abcde")]
    assert back[0] - end_s <= 5


def test_row_18_of_two_two_and_one_nobody_is_primary() -> None:
    running = Play(
        scenario(
            fault(3, "split", 0, 1, for_s=4), fault(3, "isolate", 4, for_s=4), nodes=5, length_s=13
        )
    )
    moments = primaries(running)
    running.run()
    assert all(not found for t, found in moments if 5 <= t < 7)
    assert next(t for t, found in moments if t > 7 and len(found) == 5) - 7 <= 5


@pytest.mark.parametrize(("shape", "nodes"), [("ring", (0, 1, 2, 3, 4)), ("bridge", (2, 0, 1))])
def test_row_18_in_a_ring_and_with_a_bridge_there_is_one_primary_at_most(
    shape: str, nodes: tuple[int, ...]
) -> None:
    running = Play(scenario(fault(3, shape, *nodes, for_s=5), nodes=5, length_s=13))
    verdict = running.run()  # that there is one chain of primary views is invariant 12
    assert len(views_between(verdict.trace, 3, 8)) <= 5
    assert len(views_between(verdict.trace, 8, 13)[-1].members) == 5


def twin(play: Play, name: str, trace: Trace, disk: Disk | None = None) -> Node:
    """Another machine with the id of a node, and with an address and a trace of its own."""
    cluster = play.cluster
    first = next(node for node in cluster.nodes if node.name == name)
    disk = disk or Disk(cluster.clock, stream(1, "twin"), cluster.scenario.disk)
    disk.incarnation = max(disk.incarnation, 50)
    return Node(
        name,
        ("10.0.0.77", 7600),
        cluster.clock,
        cluster.network,
        trace,
        disk,
        stream(2, "twin"),
        first._make_endpoint,
        first.states._find_state,
        {},
        cluster.scenario,
    )


def test_row_19_a_second_node_with_a_living_nodes_id_is_refused_and_says_so() -> None:
    running, trace = Play(scenario()), Trace()
    second = twin(running, "c", trace)
    running.at(3, second.start)
    verdict = running.run()
    (refused,) = lived(trace, "refused")
    assert (refused.n, refused.detail) == ("c", "id_in_use")
    assert views_between(verdict.trace, 2, 20) == []


def test_row_19_a_clone_of_a_living_nodes_disk_is_refused() -> None:
    running, trace = Play(scenario()), Trace()
    clone = Disk(running.cluster.clock, stream(1, "clone"), running.cluster.scenario.disk)
    second = twin(running, "c", trace, clone)

    def start() -> None:
        clone.lineage = running.cluster.nodes[2].disk.lineage
        second.start()

    running.at(3, start)
    verdict = running.run()
    assert [record.detail for record in lived(trace, "refused")] == ["id_in_use"]
    assert views_between(verdict.trace, 2, 20) == []


@pytest.mark.parametrize(("who", "after_ms"), [*moments(0, 0), *moments(1, 1)])
def test_row_20_what_is_in_flight_in_a_view_change_is_delivered_by_all_or_none(
    who: int, after_ms: int
) -> None:
    """Bursts around a leave, while a sender that some have heard dies; 13 and 14 judge."""
    traffic = [
        Send(3 * SECOND + after_ms * 1_000_000 - 200_000 + 10_000 * n, n % 4, (40,))
        for n in range(60)
    ]
    verdict = play(
        fault(3, "leave", 3, for_s=5),
        fault(3 + after_ms / 1000, "crash", who, for_s=5),
        fault(3 + (after_ms - 0.1) / 1000, "deaf", 2, for_s=0.0005),
        nodes=4,
        length_s=9,
        traffic=traffic,
    )
    assert excluded_after_s(verdict.trace, "ab"[who], 3) <= 3


def test_row_21_without_any_word_of_stability_buffers_stay_bounded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Stability, "on_up", lambda self, batch, now: [])
    burst = (60_000,) * 4
    traffic = [Send(SECOND + n * 20_000_000, n % 3, burst) for n in range(300)]
    running = Play(scenario(traffic=traffic, length_s=8))
    verdict = running.run()  # 24 judges the samples
    assert verdict.deliveries > 3 * 1_000


def test_row_21_lost_words_of_stability_and_an_excluded_member_discard_nothing() -> None:
    verdict = play(
        fault(3, "isolate", 2, for_s=3),
        fault(5, "deaf", 1, for_s=0.3),
        length_s=9,
        network=NetworkOptions(loss=0.2),
    )
    assert excluded_after_s(verdict.trace, "c", 3) <= 3
    assert installed_by_all_s(verdict.trace, 1, 3) < 3
