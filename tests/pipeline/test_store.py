"""Commits: all or nothing, once, and one at a time."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from pipeline.errors import PipelineError
from pipeline.store import Part, Snapshot, Store

EVENING = datetime(2026, 11, 21, 23, 59, 59, tzinfo=UTC)
MORNING = datetime(2026, 11, 22, tzinfo=UTC)


def test_a_commit_counts_for_all_tables_at_once(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    base = store.snapshot()
    assert base == Snapshot()
    store.commit(base, "one", add={"a": "a/commit=1", "b": "b/commit=1"}, positions={"x": [1, 2]})
    again = Store(str(tmp_path)).snapshot()
    assert (again.number, again.parts_since("a", 0), again.parts_since("b", 0)) == (
        1,
        ["a/commit=1"],
        ["b/commit=1"],
    )
    assert again.positions == {"x": [1, 2]}


def test_parts_are_added_or_replace_others(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    one = store.commit(store.snapshot(), "one", add={"a": "a1", "b": "b1"})
    two = store.commit(one, "two", add={"a": "a2"}, replace={"b": "b2"})
    assert two.parts_since("a", 0) == ["a1", "a2"]
    assert two.parts_since("a", 1) == ["a2"]
    assert two.parts_since("b", 0) == ["b2"]


def test_a_batch_that_is_committed_again_changes_nothing(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    base = store.snapshot()
    made = store.commit(base, "one", add={"a": "a1"})
    assert store.commit(base, "one", add={"a": "a1"}) == made
    assert store.snapshot().number == 1


def test_who_comes_late_is_told(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    base = store.snapshot()
    store.commit(base, "one", add={"a": "a1"})
    with pytest.raises(PipelineError) as error:
        store.commit(base, "two", add={"a": "a2"})
    assert error.value.code == "store_busy"
    assert store.snapshot().parts_since("a", 0) == ["a1"]


def test_what_rests_on_nothing_that_has_changed_goes_behind_it(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    base = store.commit(store.snapshot(), "one", add={"accept": "a1"})
    store.commit(base, "two", add={"accept": "a2"}, positions={"ingest": 2})
    made = store.commit(base, "three", replace={"load_group": "l3"}, positions={"load": 1})
    assert made.number == 3
    assert (made.parts_since("accept", 0), made.parts_since("load_group", 2)) == (
        ["a1", "a2"],
        ["l3"],
    )
    assert made.positions == {"ingest": 2, "load": 1}


@pytest.mark.parametrize(
    "other",
    [
        {"add": {"load_group": "l2"}},
        {"positions": {"load": 7}},
        {"tables": {"accept": [Part("merged", 1)]}},
    ],
)
def test_what_rests_on_something_that_has_changed_is_told(
    tmp_path: Path, other: dict[str, Any]
) -> None:
    store = Store(str(tmp_path))
    base = store.commit(store.snapshot(), "one", add={"accept": ["a1", "a2"]})
    store.commit(base, "two", **other)
    with pytest.raises(PipelineError):
        store.commit(base, "three", replace={"load_group": "l3"}, positions={"load": 1})


def test_who_merges_parts_is_alone(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    base = store.commit(store.snapshot(), "one", add={"accept": "a1"})
    store.commit(base, "two", positions={"load": 1})
    with pytest.raises(PipelineError):
        store.commit(base, "three", tables={"accept": [Part("merged", 1)]})


def test_no_run_writes_where_another_one_has(tmp_path: Path) -> None:
    rows = pa.table({"t": pa.array([EVENING, MORNING], pa.timestamp("us", tz="UTC")), "n": [1, 2]})
    one, two = Store(str(tmp_path)), Store(str(tmp_path))
    base = one.snapshot()
    parts = one.write_days([rows], "accept", base)
    assert [Part(folder, 1).day for folder in parts] == ["2026-11-21", "2026-11-22"]
    two.write_days([rows.set_column(1, "n", pa.array([7, 8]))], "accept", base)
    assert [batch.column(0).to_pylist() for batch in one.scan(parts, ["n"])] == [[1], [2]]


def test_of_two_at_the_same_moment_one_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, other = Store(str(tmp_path)), Store(str(tmp_path))
    base = store.snapshot()
    seen = base
    monkeypatch.setattr(other, "snapshot", lambda: seen)  # it has looked before the first commit
    store.commit(base, "one", add={"a": "a1"})
    with pytest.raises(PipelineError):
        other.commit(base, "two", add={"a": "a2"})
    assert store.snapshot().batch == "one"
    assert [path.name for path in (tmp_path / "manifest").iterdir()] == ["000000000001.json"]


def test_parts_of_days_take_the_place_of_those_days(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    one, two = "a/commit=1/date=2026-11-21", "a/commit=1/date=2026-11-22"
    made = store.commit(store.snapshot(), "one", add={"a": [one, two]})
    anew = "a/commit=2/date=2026-11-22"
    made = store.commit(made, "two", renew={"a": [anew]})
    assert made.parts_since("a", 0) == [one, anew]
    assert made.parts_since("a", 0, lambda day: day < "2026-11-22") == [one]
    assert (made.days_since("a", 0), made.days_since("a", 1)) == (
        {"2026-11-21", "2026-11-22"},
        {"2026-11-22"},
    )


def test_what_no_manifest_names_is_swept_when_it_is_old(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    for name in ("a/commit=1", "a/commit=2", "a/commit=9"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "rows.parquet").touch()
    one = store.commit(store.snapshot(), "one", add={"a": "a/commit=1"})
    store.commit(one, "two", replace={"a": "a/commit=2"})
    now_s = (tmp_path / "a/commit=9/rows.parquet").stat().st_mtime
    assert store.sweep(60.0, now_s + 30) == 0
    assert store.sweep(60.0, now_s + 90) == 2
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["commit=2"]
    assert store.snapshot().parts_since("a", 0) == ["a/commit=2"]


def test_a_day_that_is_needed_stays_when_another_of_its_commit_goes(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    days = [f"a/commit=1/date=2026-11-{day}" for day in (21, 22)]
    anew = "a/commit=2/date=2026-11-22"
    for name in (*days, anew):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "rows.parquet").touch()
    (tmp_path / "a/commit=1/_SUCCESS").touch()
    made = store.commit(store.snapshot(), "one", add={"a": days})
    store.commit(made, "two", renew={"a": [anew]})
    now_s = (tmp_path / days[0]).stat().st_mtime + 90
    assert store.sweep(60.0, now_s) == 1
    left = sorted(str(path.parent.relative_to(tmp_path)) for path in tmp_path.rglob("*.parquet"))
    assert left == [days[0], anew]
