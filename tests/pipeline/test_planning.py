"""From a trace to a plan: loads, components, whole units, both placements replayed."""

from __future__ import annotations

import json
from argparse import Namespace
from contextlib import nullcontext
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pipeline.errors import PipelineError
from pipeline.ingest import ingest
from pipeline.jobs import load as load_job
from pipeline.jobs import overlap as overlap_job
from pipeline.jobs import plan as plan_job
from pipeline.jobs import what_if as what_if_job
from pipeline.loading import Loads, days_to_load
from pipeline.measuring import Replay, collected, measure, over
from pipeline.placement import Bounds, Move, Placement
from pipeline.planning import Planned, make_units, replay, resting_groups, routes, use_of, worth_it
from pipeline.rounds import Wait
from pipeline.store import Store
from pipeline.transforms import load, owners
from pipeline.transforms.resting import REST_MIN, moved_lately
from tests.pipeline.cluster import Cluster
from tests.pipeline.segments import write_segments

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_units_are_components_and_lone_groups() -> None:
    at = {1: "a", 2: "b", 3: "a", 4: "b"}
    peaks = {1: 10.0, 2: 30.0, 3: 5.0}
    one, three, four = make_units(at, peaks, {1: 1, 2: 1}, {1: "a", 2: "b", 3: "c"})
    assert (one.name, one.at, one.load, one.sender) == (1, {1: "a", 2: "b"}, 40.0, "b")
    assert (three.at, three.load, three.sender) == ({3: "a"}, 5.0, "c")
    assert (four.load, four.sender) == (0.0, None)
    rested = make_units(at, peaks, {1: 1, 2: 1}, {}, {2, 4})
    assert [one.resting for one in rested] == [True, False, True]


def test_what_has_moved_within_minutes_of_the_traces_end_rests(spark: SparkSession) -> None:
    end = datetime(2026, 11, 22, 7, tzinfo=UTC)
    told = [
        (1, 4.9, "resumed", "plan"),
        (2, 5.1, "moved", "plan"),
        (3, 1.0, "began", "load"),
        (4, 1.0, "moved", "drain"),
        (5, 9.0, "moved", "load"),
        (5, 2.0, "moved", "locality"),
    ]
    moves = [(gid, end - timedelta(minutes=ago), *rest) for gid, ago, *rest in told]
    rows = spark.createDataFrame(moves, "gid bigint, t timestamp, phase string, cause string")
    work = spark.createDataFrame([(end,)], "t timestamp")

    def lately(minutes: float) -> set[int]:
        return {row["gid"] for row in moved_lately(rows, work, minutes).collect()}

    assert lately(REST_MIN) == {1, 5}
    assert lately(6) == {1, 2, 5}
    assert lately(1) == set()


def test_the_jobs_from_a_trace_to_a_plan(
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    cluster = Cluster(11, nodes=3, groups=8, strict=3)
    cluster.run(300)
    # Members that were there before the trace began stand in the groups' order, too.
    for row in [r for r in cluster.rows["membership"] if r["op"] == "in" and not r["dno"]]:
        cluster.rows["membership"].append({**row, "op": "join", "epoch": 0, "lseq": 0, "dno": None})
    write_segments(tmp_path / "trace", cluster.rows)
    store = Store(str(tmp_path / "store"))
    ingest(spark, store, str(tmp_path / "trace"))
    for job in (load_job, overlap_job, plan_job, what_if_job):
        monkeypatch.setattr(job, "spark_session", lambda *given: nullcontext(spark))
    common = {"store": store.root, "master": "", "memory": "", "partitions": 2, "json": True}
    common |= {"trace": None, "since": None, "until": None, "window": 60}

    windows = tmp_path / "load.json"
    assert load_job.run(Namespace(top=3, days=7, output=windows, follow=False, **common)) == 0
    said = json.loads(capsys.readouterr().out)
    assert len(said["busiest"]) == 3
    assert said["windows"] == len(json.loads(windows.read_text())["windows"]) > 0
    # Computed in windows of a minute, it is not in shorter ones now.
    again = common | {"window": 5}
    assert load_job.run(Namespace(top=3, days=7, output=windows, follow=False, **again)) == 0
    assert json.loads(windows.read_text())["window_s"] == 60
    capsys.readouterr()
    assert (said["computed"], days_to_load(store.snapshot())) == (["2026-11-22"], [])
    tables = store.snapshot().tables
    assert {"load_group", "load_sequencer", "load_latency", "load_sender"} <= set(tables)
    assert {"load_round", "load_busy"} <= set(tables)

    assert overlap_job.run(Namespace(observers=64, top=3, **common)) == 0
    (largest,) = json.loads(capsys.readouterr().out)["largest"]
    assert largest["groups"] == 3  # the strict ones share more than two processes

    output = tmp_path / "plan.json"
    options = {"slack": 0.05, "moves": 100, "capacity": 8e5, "days": 7, "rest": 0.0}
    asked = Namespace(output=output, nodes="n0,n1,n2,n3", drain="n0", **options, **common)
    assert plan_job.run(asked) == plan_job.TO_MOVE
    said = json.loads(capsys.readouterr().out)
    assert (said["supposes"], said["absent"]) == (["n0", "n1", "n2", "n3"], ["n3"])
    groups = json.loads(output.read_text())["groups"]
    reasons = json.loads(output.read_text())["reasons"]
    assert reasons.keys() == groups.keys()
    assert "drain" in reasons.values()
    assert json.loads(output.read_text())["expects"]["imbalance"] == said["imbalance_replayed"]
    owners = {gid: group.owner.partition("#")[0] for gid, group in cluster.groups.items()}
    ends = {gid: groups.get(str(gid), node) for gid, node in owners.items()}
    assert "n0" not in ends.values()
    assert len({ends[gid] for gid in (1, 2, 3)}) == 1
    assert said["groups"] == len(groups)
    assert said["imbalance_replayed"][1] <= said["imbalance_replayed"][0]

    # All have moved within the second that the trace took: only what must moves.
    snapshot = store.snapshot()
    moved_groups = {row["gid"] for row in cluster.rows["migration"]}
    assert resting_groups(spark, store, snapshot, 5.0) == moved_groups > set()
    assert resting_groups(spark, store, snapshot, 0.0) == set()

    # What the plan says of itself is what a replay of it says.
    trying = Namespace(placement=output, nodes="n1,n2,n3", days=7, **common)
    assert what_if_job.run(trying) == 0
    tried = json.loads(capsys.readouterr().out)
    assert tried["fullest_us_replayed"] == said["fullest_us_replayed"]
    assert tried["imbalance_replayed"][1] == said["imbalance_replayed"][1]
    moved = sum(node != owners[int(gid)] for gid, node in groups.items())
    assert (tried["groups_elsewhere"], tried["unknown_groups"]) == (moved, 0)


def test_what_was_carried_is_measured_as_a_replay_of_it_would_be(spark: SparkSession) -> None:
    """Group 2 has moved from a to b between the windows; with another life a is the same node."""
    start = datetime(2026, 11, 22, 7, tzinfo=UTC)
    rows = [
        (start, "a#1", 1, 30.0, 60),
        (start, "a#1", 2, 60.0, 60),
        (start + timedelta(minutes=1), "a#2", 1, 30.0, 5),
        (start + timedelta(minutes=1), "b#1", 2, 60.0, 5),
    ]
    loads = spark.createDataFrame(
        rows, "w_start timestamp, sequencer string, gid bigint, load_us double, window_s int"
    )
    rounds = spark.createDataFrame(
        [(start, "a", "a", True, 80, 40, 3), (start, "b", "a", False, 88, None, 1)], load.ROUND
    )
    found = measure(Loads(loads, loads, rounds, loads), 3)
    assert [(one.fullest_us, one.mean_us) for one in found.windows] == [(90.0, 30.0), (60.0, 30.0)]
    assert (found.all.windows, found.all.imbalance, found.all.fullest_us) == (2, 2.5, 88.5)
    assert found.wait is not None
    assert found.wait.near == 0.75
    ((runs, median_us),) = found.waits.values()
    assert (runs, median_us) == (4, found.wait.p50_us)
    assert found.at_nodes.keys() == {"a", "b"}
    assert found.at_nodes["a"] < found.at_nodes["b"]
    shown = json.loads(json.dumps(found.shown()))
    assert (shown["window_s"], [one["window_s"] for one in shown["windows"]]) == (None, [60, 5])
    assert found.all == over(collected(owners.carried(loads, 3)))
    second = loads.where("sequencer in ('a#2', 'b#1')")
    there = over(collected(owners.carried(second, 3)))
    assert there == replay(second, {1: "a", 2: "b"}, 3)


def test_a_plan_changes_how_busy_nodes_are_by_what_moves(spark: SparkSession) -> None:
    start = datetime(2026, 11, 22, 7, tzinfo=UTC)
    rows = [(start, "a", 4.0, 2_000_000), (start, "a", 1.0, 500_000), (start, "b", 5.0, 500_000)]
    moved = Placement([], {"a": 300_000.0, "b": 0.0}, {"a": 100_000.0, "b": 200_000.0})
    use = use_of(spark.createDataFrame(rows, load.BUSY), moved)
    assert use.before == pytest.approx({"a": 0.5, "b": 0.1})
    assert use.after == pytest.approx({"a": 0.3, "b": 0.3})


def test_routes_are_shares_of_each_senders_runs(spark: SparkSession) -> None:
    sent = spark.createDataFrame(
        [(1, "a", 9, 3), (2, "a", 9, 1), (2, "b", 5, None), (3, "b", 5, 5)], load.ORIGIN
    )
    assert routes(sent, {1: "a", 2: "c"}) == {"a": {"a": 0.75, "c": 0.25}, "b": {"c": 1.0}}


def planned(imbalance: float, fullest_us: float, wait_us: float | None, *reasons: str) -> Planned:
    moves = [Move(7, (7,), "a", reason, 1.0) for reason in reasons]
    wait = None if wait_us is None else Wait(wait_us, 9.0, 0.5)
    after = Replay(5, imbalance, fullest_us)
    return Planned(Placement(moves, {}, {}), Replay(5, 2.0, 100.0), after, (wait, wait))


@pytest.mark.parametrize(
    ("imbalance", "fullest_us", "wait_us", "expected"),
    [
        (1.5, 80.0, 50.0, True),  # more even
        (1.5, 100.5, 50.0, True),
        (1.5, 110.0, 50.0, False),  # more even in most windows, and fuller in the fullest
        (2.1, 90.0, 50.0, False),
        (1.995, 99.9, 50.0, False),  # no difference
        (2.05, 103.0, 40.0, True),  # people wait less
        (2.3, 100.0, 40.0, False),
        (2.0, 100.0, 48.0, False),
        (2.0, 100.0, None, False),
    ],
)
def test_what_nothing_demands_is_proposed_where_it_is_better(
    imbalance: float, fullest_us: float, wait_us: float | None, expected: bool
) -> None:
    best = planned(imbalance, fullest_us, wait_us, "strict", "load", "load", "locality")
    demanded = planned(2.0, 100.0, 50.0, "strict")
    found = worth_it(lambda bounds: best if bounds.moves else demanded, Bounds())
    assert found.placement is (best if expected else demanded).placement
    assert found.not_worth == ({} if expected else {"load": 2, "locality": 1})


def test_what_is_demanded_is_proposed_whatever_it_costs() -> None:
    only = planned(9.0, 900.0, 900.0, "strict", "drain")
    assert worth_it(lambda _bounds: only, Bounds()) is only


def test_a_plan_without_moves_takes_the_former_one_s_place(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.write_text('{"plan": 1, "groups": {"7": "b"}}')
    plan_job.write(path, planned(2.0, 100.0, None))
    assert json.loads(path.read_text())["groups"] == {}
    assert [one.name for one in tmp_path.iterdir()] == ["plan.json"]


def test_a_what_if_takes_no_plan_s_place(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    what_if = replace(planned(2.0, 100.0, None, "load"), names=frozenset("ad"))
    other = replace(what_if, names=frozenset("ae"))
    plan_job.write(path, what_if)
    plan_job.write(path, other)
    assert json.loads(path.read_text())["supposes"] == ["a", "e"]
    there = replace(what_if, names=what_if.present)
    plan_job.write(path, there)
    for text in (path.read_text(), "no plan"):
        path.write_text(text)
        with pytest.raises(PipelineError) as error:
            plan_job.write(path, what_if)
        assert error.value.code == "not_replaced"
        assert path.read_text() == text


def test_the_exit_code_says_what_is_to_be_done() -> None:
    move = Move(7, (7,), "a", "load", 1.0)
    assert plan_job.code_of(Placement([], {}, {})) == 0
    assert plan_job.code_of(Placement([], {}, {}, ["Add nodes."])) == 1
    assert plan_job.code_of(Placement([move], {}, {}, ["Add nodes."])) == plan_job.TO_MOVE


def test_what_is_no_plan_is_named(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    for text in ("", "[]", '{"plan": 7, "groups": {}}', '{"plan": 1, "groups": {"x": "a"}}'):
        path.write_text(text)
        with pytest.raises(PipelineError, match="is no plan"):
            what_if_job.read_plan(path)
