"""Whole clusters: what a schedule does, and that it always does the same."""

from __future__ import annotations

from dataclasses import replace

import pytest

from groupcore.membership.ballots import Ballot, Proposal, Record
from groupcore.sim.clock import MILLISECOND, SECOND
from groupcore.sim.cluster import Cluster
from groupcore.sim.fault import COORDINATOR, Fault, Send
from groupcore.sim.network import CALM, NetworkOptions
from groupcore.sim.profiles import PROFILES
from groupcore.sim.quorums import bases, can_vote, next_needs, proposed, suffices, undecided
from groupcore.sim.run import Verdict, run_scenario
from groupcore.sim.scenario import Scenario
from groupcore.sim.trace import Happened, Lived, Took
from groupcore.stacks import encode_record, read_record
from groupcore.view import View

MAKE_STACK = PROFILES["stack"].make_stack


def scenario(*faults: Fault, nodes: int = 3, network: NetworkOptions = CALM) -> Scenario:
    """Three nodes that send one after the other for five seconds."""
    sends = [Send(n * 50 * MILLISECOND, n % nodes, (24, 100)) for n in range(20, 100)]
    return Scenario(
        seed=11,
        nodes=nodes,
        starts_ns=(0,) * nodes,
        safety_ns=5 * SECOND,
        network=network,
        faults=faults,
        sends=tuple(sends),
    )


def run(*faults: Fault, nodes: int = 3, network: NetworkOptions = CALM) -> Verdict:
    """A verdict without violations."""
    verdict = run_scenario(scenario(*faults, nodes=nodes, network=network), MAKE_STACK)
    assert verdict.violations == []
    return verdict


def lived(verdict: Verdict, what: str) -> list[Lived]:
    return [record for record in verdict.trace.lives if record.what == what]


@pytest.mark.parametrize("nodes", [1, 2, 3, 5])
def test_without_faults_everything_is_delivered_everywhere_in_one_view(nodes: int) -> None:
    verdict = run(nodes=nodes)
    assert len(verdict.trace.sent) == 160 + nodes  # a probe of each node at the end
    assert verdict.deliveries == nodes * len(verdict.trace.sent)
    assert {view.number for view in verdict.trace.views} == {1}


def test_a_node_that_was_paused_for_long_comes_back_as_a_new_life() -> None:
    verdict = run(Fault(1 * SECOND, "pause", (2,), 3 * SECOND))
    (excluded,) = lived(verdict, "excluded")
    assert (excluded.n, excluded.inc) == ("c", 100)
    took = [record for record in verdict.trace.of(Took) if record.n == "c"]
    assert took[-1].source in ("a", "b")


def test_no_fault_begins_behind_the_end_of_all() -> None:
    verdict = run(Fault(6 * SECOND, "crash", (1,), SECOND))
    assert lived(verdict, "crash") == []


def test_a_short_pause_changes_nothing() -> None:
    verdict = run(Fault(2 * SECOND, "pause", (1,), 100 * MILLISECOND))
    assert {view.number for view in verdict.trace.views} == {1}


def test_the_group_goes_on_when_its_coordinator_crashes() -> None:
    verdict = run(Fault(2 * SECOND, "crash", (COORDINATOR,), 1 * SECOND))
    (crash,) = lived(verdict, "crash")
    second = [view for view in verdict.trace.views if view.number == 2]
    assert {view.n for view in second} == {"a", "b", "c"} - {crash.n}
    assert all(view.t - crash.t < 2 * SECOND for view in second)


def test_a_cluster_that_crashed_as_a_whole_starts_a_new_epoch_from_its_disks() -> None:
    verdict = run(Fault(3 * SECOND, "crash-all", (), 200 * MILLISECOND))
    assert len(lived(verdict, "crash")) == 3
    newest = verdict.trace.views[-1]
    assert (newest.epoch, newest.fresh) == (2, True)
    assert newest.floor > 0


def test_a_node_that_leaves_and_comes_back_is_another_process() -> None:
    verdict = run(Fault(2 * SECOND, "leave", (1,), 1 * SECOND))
    assert [(record.n, record.inc) for record in lived(verdict, "left")] == [("b", 100)]
    assert ("b", 200) in {(end.n, end.inc) for end in verdict.trace.ends}


def test_a_minority_stays_without_a_view_until_the_cut_is_mended() -> None:
    verdict = run(Fault(1500 * MILLISECOND, "isolate", (0,), 2 * SECOND))
    during = [view for view in verdict.trace.views if 1.5 < view.t / SECOND < 3.5]
    assert {view.n for view in during} == {"b", "c"}


@pytest.mark.slow
def test_a_schedule_does_the_same_when_it_is_run_again() -> None:
    network = NetworkOptions(loss=0.2, duplicate=0.2, tail=0.05, tail_mean_ms=50)
    fault = Fault(2 * SECOND, "crash", (0,), SECOND)
    first, second = run(fault, network=network), run(fault, network=network)
    assert first.trace.hash() == second.trace.hash()
    other = run_scenario(replace(scenario(fault, network=network), seed=12), MAKE_STACK)
    assert other.trace.hash() != first.trace.hash()


def test_an_exception_out_of_the_code_is_a_violation() -> None:
    def broken(*arguments: object) -> None:
        raise AssertionError("no stack today")

    verdict = run_scenario(scenario(), broken)  # type: ignore[arg-type]
    assert [violation.invariant for violation in verdict.violations] == ["exception"]
    assert "no stack today" in verdict.violations[0].text


def test_a_node_whose_disk_was_lost_is_rebuilt_and_takes_the_state_from_others() -> None:
    verdict = run(Fault(2 * SECOND, "wipe", (1,), 300 * MILLISECOND))
    took = [record for record in verdict.trace.of(Took) if record.n == "b"]
    assert took[-1].had_position == 0
    assert took[-1].source in ("a", "c")


def test_a_disk_without_which_nobody_could_go_on_is_spared() -> None:
    verdict = run(
        Fault(2 * SECOND, "pause", (2,), 2 * SECOND),
        Fault(3 * SECOND, "wipe", (1,), SECOND),
        Fault(3500 * MILLISECOND, "wipe", (0,), 100 * MILLISECOND),
    )
    assert [record.detail for record in verdict.trace.of(Happened) if record.what == "spared"] == [
        "the disk of a"
    ]


def test_a_disk_is_spared_while_new_nodes_and_its_own_could_take_themselves_for_the_cluster() -> (
    None
):
    verdict = run(
        Fault(MILLISECOND, "isolate", (1,), 4 * SECOND),
        Fault(3 * SECOND, "wipe", (2,), 100 * MILLISECOND),
    )
    assert [record.detail for record in verdict.trace.of(Happened) if record.what == "spared"] == [
        "the disk of c"
    ]


def test_a_node_refuses_to_start_from_a_damaged_record_until_it_is_moved_away() -> None:
    verdict = run(Fault(2 * SECOND, "damage", (1,), 600 * MILLISECOND))
    told = [record.what for record in verdict.trace.lives if record.n == "b"]
    assert told == ["start", "crash", "unreadable", "disk-lost", "start"]


def test_a_node_ends_its_life_when_an_fsync_of_its_journal_fails() -> None:
    verdict = run(Fault(2 * SECOND, "disk-error", (1,), 1))
    assert [record.n for record in lived(verdict, "disk-error")] in ([], ["b"])
    assert len(verdict.trace.ends) == 3


@pytest.mark.parametrize("lives", [-3, 1_000])
def test_a_node_whose_wall_clock_was_set_comes_back_as_a_newer_life(lives: int) -> None:
    verdict = run(Fault(2 * SECOND, "clock-step", (1,), 100 * MILLISECOND, lives))
    first, second = [record.inc for record in lived(verdict, "start") if record.n == "b"]
    assert second > first


def test_members_that_watch_a_node_hear_that_its_connection_has_closed() -> None:
    fault = Fault(2 * SECOND, "crash", (2,), 1 * SECOND)
    slow = run_scenario(scenario(fault), MAKE_STACK)
    quick = run_scenario(replace(scenario(fault), connections=True), MAKE_STACK)
    second = [
        next(view.t for view in verdict.trace.views if view.number == 2)
        for verdict in (slow, quick)
    ]
    assert second[1] < second[0] - SECOND // 2


def test_all_may_leave_at_once_and_begin_again() -> None:
    verdict = run(Fault(2 * SECOND, "leave-all", (), 500 * MILLISECOND))
    assert len(lived(verdict, "left")) == 3


def test_a_core_goes_on_while_the_others_are_cut_off_and_takes_them_back_in_the_end() -> None:
    isolated = Fault(4 * SECOND, "isolate", (4,), 3 * SECOND)
    verdict = run_scenario(replace(scenario(isolated, nodes=5), core=True), MAKE_STACK)
    assert verdict.violations == []
    (core,) = [record for record in verdict.trace.of(Happened) if record.what == "core"]
    healed = verdict.trace.healed_at
    assert healed is not None
    names = set(core.detail.split())
    assert 3 <= len(names) < 5
    alone = [
        view for view in verdict.trace.views if {member.name for member in view.members} == names
    ]
    assert any(core.t < view.t < healed for view in alone)
    assert len(verdict.trace.ends) == 5


def test_a_core_does_not_count_on_a_leaver_that_hands_its_vote_over() -> None:
    cluster = Cluster(scenario(nodes=2), MAKE_STACK)
    cluster.clock.run_until(2 * SECOND)
    seeds = range(20)

    def cores() -> set[str]:
        found = set()
        for seed in seeds:
            cluster.scenario = replace(cluster.scenario, seed=seed)
            found.add("".join(node.name for node in cluster.choose_core()))
        return found

    assert cores() == {"a", "ab"}
    cluster.nodes[0].leave()
    assert cores() == {"ab"}


def test_a_core_suffices_for_the_view_that_somebody_proposes() -> None:
    cluster = Cluster(scenario(Fault(2 * SECOND, "leave", (0,), 9 * SECOND), nodes=3), MAKE_STACK)
    cluster.clock.run_until(2 * SECOND)
    while not any(proposed(node) for node in cluster.nodes):
        cluster.clock.run_until(cluster.clock.now_ns + MILLISECOND // 10)
    assert {names(view) for view in bases(cluster.nodes)} == {"abc", "bc"}
    assert not suffices(cluster.nodes, cluster.nodes[::2])  # A and C may not know of its decision


def test_who_has_accepted_a_view_and_cannot_know_its_decision_does_not_suffice_for_it() -> None:
    cluster = Cluster(scenario(nodes=3), MAKE_STACK)
    cluster.clock.run_until(2 * SECOND)
    first = cluster.nodes[0]
    record = read_record(first.disk.lineage)
    assert record.view is not None
    a, b, _ = record.view.members
    later = replace(record.view, number=2, members=(a, b))
    proposal = Proposal(1, later, False, 0, {}, {}, later.members, ())
    first.disk.lineage = encode_record(record.with_acceptance(Ballot(1, a), proposal))
    first.crash(keep_all=True)
    cluster.nodes[1].disk.lineage = encode_record(Record(later))
    assert can_vote(first, later)
    assert not suffices(cluster.nodes, [first])  # a half, and the first of it
    assert suffices(cluster.nodes, cluster.nodes[:2])  # the second has begun the view


def test_a_node_that_is_rebuilt_does_not_count_though_it_has_accepted_a_view() -> None:
    cluster = Cluster(scenario(nodes=3), MAKE_STACK)
    cluster.clock.run_until(2 * SECOND)
    node = cluster.nodes[0]
    record = read_record(node.disk.lineage)
    assert record.view is not None
    later = replace(record.view, number=2)
    accepted = Proposal(1, later, False, 0, {}, {}, later.members, ())
    whole = replace(record, accepted_ballot=Ballot(1, node.address), accepted=accepted)
    node.disk.lineage = encode_record(whole)
    assert can_vote(node, later)
    node.disk.lineage = encode_record(replace(whole, rebuilding=True))
    assert not can_vote(node, later)


def paused_while_taken_in(profile: str = "stack") -> Cluster:
    """C comes back, is paused, is taken in, which it has not read, and left out again."""
    cluster = Cluster(
        scenario(Fault(2 * SECOND, "crash", (2,), 1_500 * MILLISECOND), nodes=3),
        PROFILES[profile].make_stack,
    )
    first, _, node = cluster.nodes
    cluster.clock.run_until(3_500 * MILLISECOND)
    while not any(node.address in view.members for view in proposed(first)):
        cluster.clock.run_until(cluster.clock.now_ns + MILLISECOND // 10)
    node.pause()
    while names(first.view) != "abc":
        cluster.clock.run_until(cluster.clock.now_ns + MILLISECOND // 10)
    while names(first.view) != "ab":
        cluster.clock.run_until(cluster.clock.now_ns + MILLISECOND)
    return cluster


def test_who_has_yet_to_read_that_it_was_taken_in_without_the_state_does_not_suffice() -> None:
    cluster = paused_while_taken_in()
    first, second, node = cluster.nodes
    assert first.view is not None
    assert first.view.absent == ("c",)
    assert can_vote(node, first.view)  # by its disk
    assert not suffices(cluster.nodes, [first, node])
    assert suffices(cluster.nodes, [first, second])
    node.resume()
    cluster.clock.run_until(cluster.clock.now_ns + 10 * MILLISECOND)
    assert not can_vote(node, first.view)  # it has read it, and stored what it means
    assert not suffices(cluster.nodes, [first, node])


def test_who_was_left_out_again_suffices_where_no_view_took_its_life_in_without_a_state() -> None:
    cluster = paused_while_taken_in()
    first, _, node = cluster.nodes
    node.crash(keep_all=True)  # nobody tells its next life of the view that has passed
    node.paused = False
    node.start()
    assert suffices(cluster.nodes, [first, node])
    stateless = paused_while_taken_in("gossip")
    first, _, node = stateless.nodes
    assert suffices(stateless.nodes, [first, node])


def test_a_disk_is_needed_by_the_view_that_somebody_is_about_to_propose() -> None:
    """C, a voter that is away, has no vote in the view that takes it in until it has the state."""
    crash = Fault(2 * SECOND, "crash", (2,), 1_500 * MILLISECOND)
    cluster = Cluster(scenario(crash, nodes=3), MAKE_STACK)
    first, second, node = cluster.nodes
    cluster.clock.run_until(3_450 * MILLISECOND)
    assert suffices(cluster.nodes, [first, node])
    assert not any(next_needs(cluster.nodes, one) for one in cluster.nodes)
    while not any(undecided(one) for one in cluster.nodes):
        cluster.clock.run_until(cluster.clock.now_ns + MILLISECOND // 10)
    assert suffices(cluster.nodes, [first, node])
    assert next_needs(cluster.nodes, second)
    assert not next_needs(cluster.nodes, node)
    cluster.clock.run_until(5 * SECOND)
    assert names(first.view) == "abc"
    assert not any(next_needs(cluster.nodes, one) for one in cluster.nodes)


def names(view: View | None) -> str:
    """The members' names in one word."""
    return "" if view is None else "".join(member.name for member in view.members)


def test_a_core_that_does_not_become_well_breaks_the_invariant_of_liveness(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Cluster, "choose_core", lambda self: self.nodes[:1])
    stuck = run_scenario(replace(scenario(), core=True), MAKE_STACK)
    (violation,) = stuck.violations
    assert (violation.number, violation.t) == (25, 15 * SECOND)
    assert "the core has not become well: a#64" in violation.text
