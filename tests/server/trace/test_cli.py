"""`python -m server trace`: what there is, and what is removed."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from groupcore.sim.__main__ import main as simulate
from server.errors import DamagedStoreError, SettingsProblem
from server.main import main
from server.trace.cli import run_trace_command
from server.trace.disk import Disk
from server.trace.options import TraceOptions
from server.trace.segments import segments_of
from tests.server.trace.support import deliveries, read

DAY = timedelta(days=1)


def written(folder: Path, *days_ago: int) -> None:
    """A segment of each of these days, and one of today that is still written."""
    disk = Disk(folder, "a", TraceOptions())
    disk.begin()
    now = datetime.now(UTC)
    for at, days in enumerate(days_ago):
        t_us = int((now - days * DAY).timestamp() * 1e6)
        disk.write(deliveries(1, first=1 + at, t_us=t_us), at)
    disk.close()


def test_what_there_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written(tmp_path, 2, 1, 0)
    run_trace_command(["trace", "list", str(tmp_path), "--json"])
    rows = json.loads(capsys.readouterr().out)["segments"]
    assert [(row["node"], row["kind"], row["segments"]) for row in rows] == [
        ("a", "delivery", 1)
    ] * 3
    assert all(row["bytes"] > 0 and row["open"] == 0 for row in rows)
    assert main(["trace", "list", str(tmp_path)]) == 0
    assert "3 rows" in capsys.readouterr().out


def test_what_is_older_is_removed_and_nothing_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written(tmp_path, 9, 3, 2, 0)
    (tmp_path / "epoch-a.json").stat()
    arguments = ["trace", "prune", str(tmp_path), "--days", "2", "--json"]
    run_trace_command([*arguments, "--dry-run"])
    would = capsys.readouterr().out
    assert len(list(segments_of(tmp_path))) == 4
    run_trace_command(arguments)
    assert capsys.readouterr().out == would
    assert len(list(segments_of(tmp_path))) == 2
    assert len(list(tmp_path.glob("date=*"))) == 2
    again = Disk(tmp_path, "a", TraceOptions())
    again.begin()
    assert again.epoch == 2


def test_what_is_still_written_stays(tmp_path: Path) -> None:
    disk = Disk(tmp_path, "a", TraceOptions())
    disk.begin()
    disk.write(deliveries(1, t_us=1_000_000), 0)
    run_trace_command(["trace", "prune", str(tmp_path), "--days", "0"])
    assert [complete for _, _, complete in segments_of(tmp_path)] == [False]
    disk.close()


def test_a_schedule_s_rows_become_segments(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["--profile", "sequencing", "--only", "0", "--jobs", "1"]
    assert simulate([*asked, "--records", str(tmp_path / "rows")]) == 0
    (rows,) = (tmp_path / "rows").iterdir()
    assert rows.name == "sequencing-1-0.jsonl"
    lines = [json.loads(line) for line in rows.read_text().splitlines()]
    folder = tmp_path / "segments"
    run_trace_command(["trace", "pack", str(folder), str(rows), "--json"])
    assert '"segments"' in capsys.readouterr().out
    for kind in ("accept", "delivery", "frame", "view"):
        written = read(folder, kind)
        assert written
        assert len(written) == sum(line["kind"] == kind for line in lines)


@pytest.mark.parametrize("text", ["nothing", "[]", '{"kind":"x","node":"a#1"}', '{"kind":"view"}'])
def test_what_holds_no_rows_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(text)
    with pytest.raises(DamagedStoreError, match=r"rows\.jsonl"):
        run_trace_command(["trace", "pack", str(tmp_path / "segments"), str(path)])


@pytest.mark.parametrize(
    "arguments",
    [["list", "nowhere"], ["prune", "."], ["prune", ".", "--days", "-1"], ["lose", "."]],
)
def test_wrong_use_is_said(arguments: list[str]) -> None:
    with pytest.raises(SettingsProblem):
        run_trace_command(["trace", *arguments])
