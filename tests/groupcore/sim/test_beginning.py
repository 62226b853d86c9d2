"""What simulated applications go on with when everybody who had the state is gone."""

from __future__ import annotations

from groupcore.sim.beginning import SEEKING, Beginning, nothing
from groupcore.sim.clock import MILLISECOND, SECOND
from groupcore.sim.cluster import Cluster
from groupcore.sim.fault import Send
from groupcore.sim.messages import compose_message, identify, read_word
from groupcore.sim.profiles import PROFILES
from groupcore.sim.scenario import Scenario
from groupcore.sim.trace import Lived, Mid, Took
from groupcore.view import Address

A, B, C = (Address(name, 1) for name in "abc")


def test_a_word_comes_back_from_its_message_and_other_messages_say_nothing() -> None:
    mid = Mid("a", 3, 4)
    payload = compose_message(mid, 24, nothing((5, 6)))
    assert (identify(payload), read_word(payload)) == (mid, nothing((5, 6)))
    assert read_word(compose_message(mid, 200)) == b""


def test_the_state_begins_anew_from_the_furthest_journal_when_all_have_none() -> None:
    beginning = Beginning()
    beginning.on_view((A, B, C))
    assert beginning.on_word(A, nothing((1, 9))) is None
    assert beginning.on_word(C, nothing((2, 3))) is None
    assert beginning.on_word(B, nothing((2, 3))) == B


def test_a_word_that_was_taken_back_or_said_in_another_view_does_not_count() -> None:
    beginning = Beginning()
    beginning.on_view((A, B))
    beginning.on_word(A, nothing((1, 1)))
    beginning.on_word(A, SEEKING)
    assert beginning.on_word(B, nothing((1, 1))) is None
    beginning.on_view((B, C))
    assert beginning.on_word(C, nothing((1, 1))) is None


def test_who_has_resigned_may_take_a_state_only_when_its_last_word_is_taken_back() -> None:
    beginning = Beginning()
    assert not beginning.on_own_seeking()
    beginning.resign()
    beginning.take_back()
    beginning.resign()  # said again, while the former SEEKING was still on its way
    assert not beginning.on_own_seeking()
    assert beginning.resigned
    beginning.take_back()
    assert beginning.on_own_seeking()
    assert not beginning.resigned


def _cluster(profile: str) -> Cluster:
    """Three nodes that have sent twenty messages each, without a transfer in the group."""
    sends = tuple(Send(SECOND + i * 7 * MILLISECOND, i % 3, (40,)) for i in range(60))
    cluster = Cluster(
        Scenario(11, 3, (0, 0, 0), 9 * SECOND, sends=sends), PROFILES[profile].make_stack
    )
    cluster.clock.run_until(2 * SECOND)
    return cluster


def _without_state() -> Cluster:
    """Three nodes that restart one after the other and find the state nowhere."""
    cluster = _cluster("partitionable")
    for node in cluster.nodes:
        node.states._find_state = lambda *_: False
    for node in reversed(cluster.nodes):
        node.crash(keep_all=True)
        for other in cluster.nodes:
            other.send([40], None)  # so the journal is not that of the place where it joins
        node.start()
        until_ns = cluster.clock.now_ns + 5 * SECOND
        while node.view is None and cluster.clock.now_ns < until_ns:
            cluster.clock.run_until(cluster.clock.now_ns + 10 * MILLISECOND)
    return cluster


def test_members_of_which_none_has_the_state_go_on_with_a_journal_and_share_it() -> None:
    cluster = _without_state()
    for node in cluster.nodes:
        node.states._find_state = cluster._find_state
    cluster.clock.run_until(cluster.clock.now_ns + 5 * SECOND)
    assert cluster.is_well(cluster.nodes)
    applications = [node.application for node in cluster.nodes if node.application is not None]
    assert len({application.fingerprint() for application in applications}) == 1
    have = {(mid.origin, mid.lseq) for mid, _ in applications[0].journal.entries}
    assert {(name, number) for name in "abc" for number in range(1, 21)} <= have
    own = [took for took in cluster.trace.of(Took) if took.source == took.n and took.position]
    assert [(took.n, took.had_position) for took in own] == [("b", 62)]  # c had 60
    assert not [lived for lived in cluster.trace.of(Lived) if lived.what == "stranded"]


def test_under_the_primary_policy_nobody_begins_anew_without_the_state() -> None:
    cluster = _cluster("stack")
    joiner = cluster.nodes[2]
    joiner.states._find_state = lambda *_: False
    joiner.crash(keep_all=False)
    joiner.lose_disk()
    joiner.start()
    cluster.clock.run_until(8 * SECOND)
    assert "stranded" in [lived.what for lived in cluster.trace.of(Lived) if lived.n == "c"]
    assert not joiner.states._beginning.resigned
