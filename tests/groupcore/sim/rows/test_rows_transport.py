"""Rows 1 to 10 of the fault matrix: what the network does to datagrams."""

from __future__ import annotations

from collections import deque
from functools import partial
from random import Random

import pytest

from groupcore.layers import unicast
from groupcore.seal import Sealer
from groupcore.sim.clock import SECOND
from groupcore.sim.fault import Send
from groupcore.sim.network import NetworkOptions, SocketAddress
from tests.groupcore.sim.rows.playing import (
    Play,
    Seen,
    Tap,
    delays_s,
    delivered_between,
    excluded_after_s,
    fault,
    installed_by_all_s,
    lived,
    lives,
    longest_silence_s,
    names,
    play,
    scenario,
    sends,
    views_between,
)


def test_row_01_loss_of_thirty_percent_is_repaired_without_a_view_change() -> None:
    traffic = sends(1, 9, 0.01, 0, 1, 2)
    lossy = NetworkOptions(loss=0.3)
    running = Play(scenario(nodes=5, length_s=10, traffic=traffic, network=lossy))
    verdict = running.run()
    formed = views_between(verdict.trace, 0, 3)
    assert views_between(verdict.trace, 3, 20) == [], formed
    copies = 4 * running.total("NAKACK.sent") + running.total("UNICAST.sent")
    repairs = running.total("NAKACK.repairs_sent", "UNICAST.repeated")
    assert 0.2 * copies < repairs < 3 * 0.3 * copies


def test_row_02_a_multicast_that_nobody_received_is_repaired_within_two_heartbeats() -> None:
    traffic = [Send(2 * SECOND, 0, (40,)), Send(3 * SECOND, 1, (40,))]
    storm = (
        fault(2.0, "storm", for_s=0.01, factor=100),
        fault(3.0, "storm", for_s=0.01, factor=100),
    )
    verdict = play(*storm, traffic=traffic)
    assert max(list(delays_s(verdict.trace).values())[:2]) <= 0.2


@pytest.mark.parametrize("sender", [0, 1])
def test_row_03_a_lost_end_of_a_burst_is_everywhere_in_half_a_second(sender: int) -> None:
    burst = [Send(2 * SECOND + 1000 * n, sender, (40,)) for n in range(10)]
    storm = fault(2.000003, "storm", for_s=0.02, factor=100)
    verdict = play(storm, traffic=burst)
    assert 0.02 < max(list(delays_s(verdict.trace).values())[:10]) <= 0.5


def test_row_04_every_datagram_that_comes_again_minutes_later_changes_nothing() -> None:
    twice = NetworkOptions(duplicate=0.5)
    running = Play(scenario(length_s=130, traffic=sends(1, 3, 0.02, 0, 1, 2), network=twice))
    tap = Tap(running)
    early: list[Seen] = []
    running.at(3.5, lambda: early.extend(tap.seen))
    running.at(124, lambda: tap.repeat(early))
    verdict = running.run()
    assert running.drops() >= len(early) > 500
    assert views_between(verdict.trace, 2, 140) == []


def test_row_05_reordering_over_ten_thousand_packets_stays_within_the_window() -> None:
    late = NetworkOptions(tail=0.3, tail_mean_ms=500)
    traffic = [Send(SECOND + n * 400_000, n % 3, (40,)) for n in range(2_500)]
    running = Play(scenario(length_s=4, traffic=traffic, network=late))
    verdict = running.run()
    assert running.cluster.network.datagrams * 2 > 10_000
    assert views_between(verdict.trace, 1, 20) == []


@pytest.mark.slow
def test_row_05_what_ten_thousand_packets_overtake_is_dropped_and_repaired() -> None:
    """Every fiftieth datagram from a to c comes when 10,000 later ones of a have come."""
    traffic = [Send(SECOND + n * 333_333, n % 3, (40,)) for n in range(9_000)]
    running = Play(scenario(length_s=5, traffic=traffic))
    clock, (a, _, c) = running.cluster.clock, running.cluster.nodes
    overtaken: deque[tuple[int, bytes]] = deque()
    kept: list[int] = []
    seen = late = 0

    def receive(data: bytes, source: SocketAddress) -> None:
        nonlocal seen, late
        if source == a.socket_address:
            seen += 1
            while overtaken and overtaken[0][0] <= seen:
                late += 1
                c.receive(overtaken.popleft()[1], source)
            if seen % 50 == 0 and SECOND < clock.now_ns < 4 * SECOND:
                overtaken.append((seen + 10_000, data))
                return
        c.receive(data, source)
        if seen % 100 == 0 and c.endpoint is not None:
            kept.append(c.endpoint.counters()["NAKACK.kept"])

    running.cluster.network.attach(c.socket_address, receive)
    trace = running.run().trace
    assert late > 50
    assert running.counters["c"]["transport.drops.too_old"] == late
    assert max(kept) < 1_000  # batches, of the 10,000
    assert longest_silence_s(trace, "c", 1.2, 3.9) <= 0.1
    assert views_between(trace, 1, 20) == []


def test_row_06_spoilt_datagrams_are_counted_and_dropped() -> None:
    random = Random(6)

    def spoil(data: bytes) -> bytes:
        kind = random.randrange(12)
        if kind == 0:
            place = random.randrange(len(data))
            return (
                data[:place] + bytes([data[place] ^ 1 << random.randrange(8)]) + data[place + 1 :]
            )
        if kind == 1:
            return data[: random.randrange(len(data))]
        if kind == 2:
            return data + random.randbytes(random.randrange(1, 50))
        return data

    running = Play(scenario())
    Tap(running, spoil)
    verdict = running.run()
    assert running.total("transport.drops.forged") > 100
    assert views_between(verdict.trace, 2, 20) == []


@pytest.mark.parametrize("first", [2**16 - 10, 2**32 - 10, 2**63 - 10])
def test_row_07_counters_go_on_over_every_boundary(
    first: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin = Sealer.__init__

    def late(self: Sealer, *arguments: bytes | int) -> None:
        begin(self, *arguments)  # type: ignore[arg-type]
        self.counter = first

    monkeypatch.setattr(Sealer, "__init__", late)
    monkeypatch.setattr(unicast, "Sending", partial(unicast.Sending, next_seqno=first))
    monkeypatch.setattr(unicast, "Receiving", partial(unicast.Receiving, received=first - 1))
    verdict = play(fault(3, "crash", 2, for_s=1))
    assert lives(verdict.trace) == {"a": 1, "b": 1, "c": 2}


def test_row_07_a_peer_that_restarts_with_its_counters_at_zero_is_listened_to() -> None:
    verdict = play(fault(2, "crash", 1, for_s=0.2), fault(4, "crash-keep", 1, for_s=0.2))
    assert lives(verdict.trace) == {"a": 1, "b": 3, "c": 1}
    newest = max(end.inc for end in verdict.trace.ends if end.n == "b")
    assert [mid for mid in delays_s(verdict.trace) if (mid.origin, mid.inc) == ("b", newest)]


def test_row_10_a_dead_direction_excludes_one_side_in_three_seconds_and_settles() -> None:
    verdict = play(fault(2, "one-way", 1, 2, for_s=8), length_s=10)
    assert excluded_after_s(verdict.trace, "c", 2) <= 3
    during = views_between(verdict.trace, 2, 10)
    assert [names(view) for view in during] == ["ab"]
    assert len(lived(verdict.trace, "excluded")) == 1


@pytest.mark.parametrize("who", [1, 2])
def test_row_08_a_member_behind_a_narrow_link_holds_up_nobody_for_long(who: int) -> None:
    """64 kbit/s for one of three, while the others send ten times as much."""
    traffic = [Send(SECOND + n * 10_000_000, n % 3, (800,)) for n in range(1_400)]
    running = Play(
        scenario(fault(4, "narrow", who, for_s=10, factor=64), length_s=15, traffic=traffic)
    )
    verdict = running.run()
    others = [name for name in "abc" if name != "abc"[who]]
    assert max(longest_silence_s(verdict.trace, name, 4, 14) for name in others) <= 2
    before = delivered_between(verdict.trace, others[0], 2, 4) / 2
    during = delivered_between(verdict.trace, others[0], 8, 14) / 6
    assert during >= 0.8 * before * 2 / 3  # the slow one's own share is not the others' matter


@pytest.mark.parametrize("profile", ["stack", "total"])
@pytest.mark.parametrize("nodes", [3, 5])
def test_row_08_a_coordinator_behind_a_narrow_link_is_left_behind(nodes: int, profile: str) -> None:
    """64 kbit/s for the coordinator, to whom all the others forward."""
    traffic = [Send(SECOND + n * 10_000_000, n % nodes, (800,)) for n in range(1_400)]
    narrow = fault(4, "narrow", 0, for_s=10, factor=64)
    running = Play(scenario(narrow, nodes=nodes, length_s=15, traffic=traffic), profile)
    trace = running.run().trace
    assert excluded_after_s(trace, "a", 4) <= 2
    [view] = views_between(trace, 4, 14)  # one change while the link is narrow
    assert names(view) == "abcde"[1:nodes]
    before = delivered_between(trace, "b", 2, 4) / 2
    for name in names(view):
        assert longest_silence_s(trace, name, 4, 8) <= 2
        assert longest_silence_s(trace, name, 8, 14) <= 0.2
        during = delivered_between(trace, name, 8, 14) / 6
        assert during >= 0.8 * before * (nodes - 1) / nodes


@pytest.mark.parametrize("profile", ["stack", "total"])
def test_row_08_of_two_members_the_coordinator_goes_on_without_the_other(profile: str) -> None:
    """Neither can tell whose link is narrow, and only the coordinator may go on alone."""
    traffic = [Send(SECOND + n * 10_000_000, n % 2, (800,)) for n in range(1_400)]
    narrow = fault(4, "narrow", 0, for_s=10, factor=64)
    running = Play(scenario(narrow, nodes=2, length_s=15, traffic=traffic), profile)
    trace = running.run().trace
    assert excluded_after_s(trace, "b", 4) <= 3
    assert longest_silence_s(trace, "a", 4, 14) <= 0.5
    before = delivered_between(trace, "a", 2, 4) / 2
    assert delivered_between(trace, "a", 8, 14) / 6 >= 0.8 * before / 2


@pytest.mark.parametrize("size_bytes", [400, 800])  # below the least pace in all, and above it
def test_row_08_a_member_with_a_narrow_uplink_does_not_topple_the_coordinator(
    size_bytes: int,
) -> None:
    """What b sends waits before its own link, and b says so; c's comes back in time."""
    traffic = [Send(SECOND + n * 10_000_000, n % 3, (size_bytes,)) for n in range(1_400)]
    running = Play(scenario(length_s=15, traffic=traffic))
    network, addresses = running.cluster.network, [n.socket_address for n in running.cluster.nodes]
    for other in (0, 2):
        ends = (addresses[1], addresses[other])
        running.at(4, partial(network.impede, *ends, "narrow", 8_000))
        running.at(14, partial(network.relieve, *ends, "narrow", 8_000))
    trace = running.run().trace
    assert all(names(view).startswith("a") for view in trace.views)
    assert [life.n for life in lived(trace, "excluded") if life.n != "b"] == []
    assert max(longest_silence_s(trace, name, 4, 14) for name in "ac") <= 2
    before = delivered_between(trace, "c", 2, 4) / 2
    assert delivered_between(trace, "c", 8, 14) / 6 >= 0.8 * before * 2 / 3


FILTERED = [(0,), (2,), (0, 1), (0, 1, 2)]
"""Who gets nobody's multicasts, or which nodes none of each other's."""


@pytest.mark.parametrize("nodes", FILTERED)
def test_row_09_where_multicast_is_filtered_copies_take_its_place(nodes: tuple[int, ...]) -> None:
    running = Play(scenario(fault(3, "filter", *nodes, for_s=12), length_s=14))
    trace = running.run().trace
    assert views_between(trace, 2, 14) == []
    for name in "abc":
        assert longest_silence_s(trace, name, 3, 14) <= 1.5
        assert longest_silence_s(trace, name, 5, 14) <= 0.2
    assert running.total("transport.copied_to") > 0


@pytest.mark.parametrize("nodes", FILTERED)
def test_row_09_nodes_find_each_other_where_multicast_never_worked(
    nodes: tuple[int, ...],
) -> None:
    trace = play(fault(0, "filter", *nodes, for_s=12), length_s=12).trace
    assert installed_by_all_s(trace, trace.views[-1].number, 3) <= 3
    assert {names(view) for view in views_between(trace, 2, 12)} <= {"abc"}


def test_row_09_when_multicast_works_again_the_copies_end() -> None:
    running = Play(scenario(fault(3, "filter", 0, 1, 2, for_s=3), length_s=10.5))
    trace = running.run().trace
    assert views_between(trace, 2, 10) == []
    assert running.total("transport.copied_to", "transport.multicast_missed") == 0


def test_row_09_a_partition_that_heals_is_noticed_without_multicast() -> None:
    faults = (fault(0, "filter", 0, 1, 2, for_s=20), fault(4, "isolate", 2, for_s=6))
    trace = play(*faults, length_s=20).trace
    assert names(trace.views[-1]) == "abc"
    assert trace.views[-1].t <= 15 * SECOND  # 5 s after the healing
