"""Commits: all or nothing, once, and one at a time."""

from pathlib import Path

import pytest

from pipeline.errors import PipelineError
from pipeline.store import Snapshot, Store


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
