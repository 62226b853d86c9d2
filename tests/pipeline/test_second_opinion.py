"""The checker in SQL reads segments itself, and excuses only what a lost range could hold."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from pipeline.__main__ import main
from pipeline.errors import PipelineError
from pipeline.second_opinion import judge, read_trace
from tests.pipeline.cluster import Cluster, Row
from tests.pipeline.crashes import crash_of, kill, number_rows
from tests.pipeline.segments import write_segments


def rows_of(seed: int) -> dict[str, list[Row]]:
    cluster = Cluster(seed)
    cluster.run(500, changes=False)
    rows = dict(cluster.rows)
    number_rows(rows)
    return rows


def broken(folder: Path) -> Counter[str]:
    return Counter(one.rule for one in judge(read_trace(folder)).broken)


def test_a_clean_trace_is_kept(tmp_path: Path) -> None:
    write_segments(tmp_path, rows_of(41))
    opinion = judge(read_trace(tmp_path))
    assert (opinion.result, opinion.lost, opinion.excused.total()) == ("kept", 0, 0)


def test_a_row_that_is_taken_out_long_before_a_crash_is_found(tmp_path: Path) -> None:
    rows = rows_of(42)
    gaps = crash_of(rows, "n1#1")
    own = [row for row in rows["delivery"] if row["node"] == "n1#1"]
    rows["delivery"].remove(own[len(own) // 4])
    write_segments(tmp_path, {**rows, "log_gap": gaps})
    assert broken(tmp_path) >= Counter(gap=1, delivery_numbers=1, missing_records=1)


def test_rows_that_change_places_long_before_a_crash_are_found(tmp_path: Path) -> None:
    rows = rows_of(43)
    gaps = crash_of(rows, "n2#1")
    own = [row for row in rows["delivery"] if row["node"] == "n2#1"]
    one, two = next(
        (a, b)
        for a, b in zip(own[len(own) // 4 :], own[len(own) // 4 + 1 :], strict=False)
        if a["gid"] == b["gid"]
    )
    one["dno"], two["dno"] = two["dno"], one["dno"]
    write_segments(tmp_path, {**rows, "log_gap": gaps})
    assert broken(tmp_path)["late"] == 1


def test_what_a_killed_node_took_with_it_breaks_no_rule(tmp_path: Path) -> None:
    excused: Counter[str] = Counter()
    for seed in (44, 47, 48, 49):
        rows = rows_of(seed)
        kill(rows, "n0#1")
        write_segments(tmp_path / str(seed), rows)
        opinion = judge(read_trace(tmp_path / str(seed)))
        assert (opinion.result, opinion.broken) == ("kept_in_part", ())
        excused += opinion.excused
    assert excused["phantom"]


@pytest.mark.parametrize("kind", ["delivery", "accept", "membership"])
def test_a_segment_with_a_flipped_bit_is_named_and_then_a_lost_range(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    written = write_segments(tmp_path, rows_of(45), size=60)
    (damaged, *_) = [one for one in written if one.kind == kind and one.n == 0]
    path = tmp_path / damaged.path
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 4
    path.write_bytes(data)
    with pytest.raises(PipelineError, match=damaged.path):
        read_trace(tmp_path)
    words = ["second-opinion", "--trace", str(tmp_path), "--json"]
    assert main(words) == 2
    assert damaged.path in json.loads(capsys.readouterr().err)["problem"]
    assert main([*words, "--skip-damaged"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["result"], said["lost_ranges"]) == ("kept_in_part", 1)


def test_the_command_says_each_finding_and_exits_with_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = rows_of(46)
    next(row for row in rows["delivery"] if row["what"] == 0)["crc"] ^= 1
    write_segments(tmp_path, rows)
    assert main(["second-opinion", "--trace", str(tmp_path), "--json"]) == 1
    found, result = map(json.loads, capsys.readouterr().out.splitlines())
    assert (found["rule"], result["result"], result["violations"]) == ("content", "broken", 1)
    assert main(["second-opinion", "--trace", str(tmp_path / "nowhere")]) == 2
