"""The audit finds each planted bug, by its rule, and nothing where nothing is."""

from __future__ import annotations

import copy
import json
import random
from argparse import Namespace
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyspark.sql import Row as Found

from groupcore.trace import FRAME_STAMPS, TABLES
from pipeline import second_opinion
from pipeline.audit import RULES, Audited, audit
from pipeline.certificate import describe
from pipeline.jobs import audit as audit_job
from pipeline.jobs import ingest as ingest_job
from pipeline.signing import verify
from tests.pipeline.cluster import Cluster
from tests.pipeline.crashes import crash_all, kill
from tests.pipeline.faults import FAULTS, shorter_cut
from tests.pipeline.logs import Rows, apart, make_logs
from tests.pipeline.schedules import simulated
from tests.pipeline.segments import write_segments

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CLEAN = "clean"
CRASHED = "crashed"
ORDER = ("gap", "duplicate", "late", "causal", "strict", "in_frame", "content", "phantom", "floor")
KILLED = (31, 32, 33)
"""Clusters in which a node is killed, so that the end of its log is lost."""
SCHEDULES = (("sequencing", 101), ("durable", 25), ("access", 55))
"""Of seed 1000: with migrations, failovers and views, causal groups and strict ones."""
PLANTS = {
    "g-held-at-once": (18, "view_synchrony"),
    "g-not-fenced": (0, "floor"),
    "g-own-maximum": (10, "floor"),
    "g-serves-on": (4, "two_sequencers"),
    "g-slot-skipped": (5, "gap"),
    "g-not-waited": (5, "causal"),
    "g-t2-unheeded": (1, "strict"),
}
"""Bugs of the order that the simulator knows: a schedule of seed 1 in which each shows, and the
rule that finds it. The others do not show in what nodes delivered of what sequencers stamped."""


def schedules() -> Iterator[tuple[str, Rows]]:
    """What simulated nodes have written, by case: in order, and with bugs of the order."""
    for profile, index in SCHEDULES:
        yield f"{CLEAN}{profile}", simulated(profile, 1000, index)
    for plant, (index, _) in PLANTS.items():
        yield case_of(plant), simulated("sequencing", 1, index, plant)


def case_of(plant: str) -> str:
    return plant.replace("-", "")


def planted() -> tuple[dict[str, list[dict[str, object]]], dict[str, Counter[str]]]:
    """One trace of many clusters, each with one fault or none; and what must be found in each."""
    rows: dict[str, list[dict[str, object]]] = {}
    expected: dict[str, Counter[str]] = {}
    for number, fault in enumerate((None, None, *FAULTS)):
        name = fault.__name__.replace("_", "") if fault else f"{CLEAN}{number}"
        cluster = Cluster(number)
        cluster.run(500, changes=fault is None or fault.__name__ == "stay")
        if number % 2 or fault is shorter_cut:
            cluster.fail(max(cluster.streams, key=lambda node: len(cluster.streams[node])))
            cluster.run(200, changes=False)
        own = copy.deepcopy(dict(cluster.rows))
        expected[name] = fault(own, random.Random(number)) if fault else Counter()
        add(rows, apart(own, name, number))
        # The same behind a crash of each node, and before another one.
        crash_all(own)
        expected[name + CRASHED] = expected[name]
        add(rows, apart(own, name + CRASHED, 100 + number))
    for number, (name, simulated_rows) in enumerate(schedules(), 2 + len(list(FAULTS))):
        if name.startswith(CLEAN):
            expected[name] = Counter()
        add(rows, apart(simulated_rows, name, number))
    for number, seed in enumerate(KILLED, 200):
        cluster = Cluster(seed)
        cluster.run(500)
        own = copy.deepcopy(dict(cluster.rows))
        kill(own, f"n{number % 3}#1")
        expected[f"killed{seed}"] = Counter()
        add(rows, apart(own, f"killed{seed}", number))
    return rows, expected


def add(rows: dict[str, list[dict[str, object]]], more: Rows) -> None:
    for kind, of_kind in more.items():
        rows.setdefault(kind, []).extend(of_kind)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("logs")


@pytest.fixture(scope="module")
def judged(
    spark: SparkSession, folder: Path
) -> tuple[Audited, list[Found], Rows, dict[str, Counter[str]]]:
    rows, expected = planted()
    result = audit(make_logs(spark, folder, rows))
    return result, result.violations.collect(), rows, expected


Judged = tuple[Audited, list[Found], Rows, dict[str, Counter[str]]]


def test_a_second_opinion_in_sql_is_the_same(judged: Judged, folder: Path) -> None:
    audited, found, _, expected = judged
    opinion = second_opinion.judge(
        {name: folder / f"{name}.parquet" for name in (*second_opinion.KINDS, "segment")}
    )
    of_deliveries = {"delivery_numbers", *ORDER}
    ours = {
        (row["rule"], row["node"], *of_row(row.asDict(), row["rule"] in of_deliveries))
        for row in found
    }
    theirs = {
        (one.rule, one.node, *of_row(one._asdict(), one.rule in of_deliveries))
        for one in opinion.broken
    }
    assert ours == theirs
    assert {rule for rule, *_ in ours} == set(RULES) - {"not_hosted", "view_order", "in_frame"}
    assert opinion.result == "broken"
    assert +opinion.excused == +Counter(audited.excused)
    for case, want in expected.items():  # its verdict of each case by itself
        assert bool(want) == any(one.node.startswith(f"{case}-") for one in opinion.broken)


def of_row(row: Mapping[str, object], counts: bool) -> tuple[object, object]:
    """Its delivery and process, of the rules that are about one."""
    return (row["dno"], row["process"]) if counts else (None, None)


def test_exactly_what_was_planted_is_found(judged: Judged) -> None:
    _, found, _, expected = judged
    assert {case: by_case(found)[case] for case in expected} == expected


def test_the_simulated_schedules_have_what_they_are_here_for(judged: Judged) -> None:
    _, _, rows, _ = judged
    for profile, _ in SCHEDULES:
        of_case = f"{CLEAN}{profile}-"
        phases = {r["phase"] for r in rows["migration"] if r["node"].startswith(of_case)}
        views = {r["number"] for r in rows["view"] if r["node"].startswith(of_case)}
        assert {"moved", "inherited", "resumed"} <= phases
        assert len(views) > 1


@pytest.mark.parametrize("plant", PLANTS)
def test_bugs_of_the_order_are_found_in_simulated_schedules(judged: Judged, plant: str) -> None:
    _, found, _, _ = judged
    assert by_case(found)[case_of(plant)][PLANTS[plant][1]]


def by_case(found: list[Found]) -> dict[str, Counter[str]]:
    """How often each rule was broken in each case."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for row in found:
        counts[row["node"].partition("-")[0]][row["rule"]] += 1
    return counts


def test_what_a_killed_node_has_lost_is_excused_and_said(judged: Judged) -> None:
    result, _, _, _ = judged
    said = describe(result, "store", 1, datetime(2026, 11, 22, tzinfo=UTC))
    assert (said["result"], said["whole"]) == ("broken", False)
    assert sum(result.excused.values())
    killed = [one for node, one in said["nodes"].items() if node.startswith("killed")]
    assert sum(one["unproved"] for one in killed) >= sum(result.excused.values())
    for seed in KILLED:
        own = {n: one for n, one in said["nodes"].items() if n.startswith(f"killed{seed}-")}
        assert all(one["proved"] + one["unproved"] == one["deliveries"] for one in own.values())
        lost = [one for one in said["lost"] if one["node"].startswith(f"killed{seed}-")]
        assert {one["kind"] for one in lost} == set(TABLES)
        assert {at["node"] for one in lost for at in one["where"]} <= {
            f"killed{seed}-n{n}#1" for n in range(3)
        }


def test_a_crash_excuses_nothing_that_its_rows_could_not_explain(judged: Judged) -> None:
    _, found, _, expected = judged
    crashed = {case: want for case, want in expected.items() if case.endswith(CRASHED)}
    assert len(crashed) == 2 + len(list(FAULTS))
    assert {case: by_case(found)[case] for case in crashed} == crashed


def test_every_rule_is_counted(judged: Judged) -> None:
    result, found, _, _ = judged
    assert set(result.counts) == set(RULES)
    assert {rule: n for rule, n in result.counts.items() if n} == Counter(r["rule"] for r in found)
    assert not result.clean


def test_violations_name_messages_places_and_segments(judged: Judged) -> None:
    _, found, _, _ = judged
    late = next(row for row in found if row["rule"] == "late")
    assert late["message"].startswith("swapingroup-")
    assert late["segment"].startswith(f"date=2026-11-22/node={late['node'].partition('#')[0]}/")
    causal = next(row for row in found if row["rule"] == "causal")
    assert causal["process"].startswith(causal["node"])
    assert {causal["message"], causal["message2"]} != {None}
    assert causal["gid"] != causal["gid2"]
    assert causal["dno2"] < causal["dno"]


def test_the_job_says_each_violation_signs_and_exits_with_1(
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    cluster = Cluster(5, nodes=2, groups=3, strict=1)
    cluster.run(150, changes=False)
    early = next(row for row in cluster.rows["delivery"] if row["what"] == 0)
    early["crc"] ^= 1
    last = max(row["frame"] for row in cluster.rows["frame"] if row["node"] == "n0#1")
    for kind, column, unit in (("frame", "frame", 1), ("accept", "lseq", FRAME_STAMPS)):
        # The other node's log is ahead: the last frame is not in the trace yet.
        cluster.rows[kind] = [
            row for row in cluster.rows[kind] if row["node"] != "n0#1" or row[column] < last * unit
        ]
    write_segments(tmp_path / "trace", cluster.rows)
    for job in (ingest_job, audit_job):
        monkeypatch.setattr(job, "spark_session", lambda *given: nullcontext(spark))
    store = str(tmp_path / "store")
    common = {"store": store, "master": "", "memory": "", "partitions": 2, "json": True}
    taking = Namespace(trace=str(tmp_path / "trace"), skip_damaged=False, **common)
    assert ingest_job.run(taking) == 0
    capsys.readouterr()
    path = tmp_path / "order.json"
    judging = Namespace(
        trace=None, certificate=path, key=None, limit=10, full=False, follow=False, **common
    )
    assert audit_job.run(judging) == 1
    violation, result = map(json.loads, capsys.readouterr().out.splitlines())
    assert (violation["rule"], result["result"]) == ("content", "broken")
    assert 0 < result["held"] < len(cluster.rows["delivery"])
    certificate = verify(json.loads(path.read_text()))
    assert certificate["rules"]["content"]["violations"] == 1
    assert "The order was broken." in path.with_suffix(".html").read_text()
