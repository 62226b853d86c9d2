"""The rules of lineages: a larger incarnation every life, the newest record, whole or not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupcore.aio.errors import LineageError
from groupcore.aio.lineage import FileLineage, Lineage, MemoryLineage


@pytest.fixture(params=["memory", "file"])
def reopen(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Lineage]:
    memory = MemoryLineage()
    return (lambda: memory) if request.param == "memory" else lambda: FileLineage(tmp_path / "l")


def test_the_first_life_has_no_record(reopen: Callable[[], Lineage]) -> None:
    assert reopen().begin(5) == (5, None)


def test_every_life_has_a_larger_incarnation(reopen: Callable[[], Lineage]) -> None:  # T4
    assert reopen().begin(100)[0] == 100
    assert reopen().begin(7)[0] == 101  # the clock was set back
    assert reopen().begin(500)[0] == 500


def test_the_next_life_gets_the_newest_record(reopen: Callable[[], Lineage]) -> None:
    lineage = reopen()
    lineage.begin(1)
    lineage.store(b"first")
    lineage.store(b"second")
    assert reopen().begin(1) == (2, b"second")
    assert reopen().begin(1) == (3, b"second")


def test_an_empty_record_is_a_record(reopen: Callable[[], Lineage]) -> None:
    lineage = reopen()
    lineage.begin(1)
    lineage.store(b"")
    assert reopen().begin(1) == (2, b"")


def test_only_the_owner_can_read_the_file(tmp_path: Path) -> None:
    FileLineage(tmp_path / "lineage").begin(1)
    assert (tmp_path / "lineage").stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["lineage"]


def test_a_file_that_was_being_written_when_power_failed_counts_for_nothing(
    tmp_path: Path,
) -> None:
    lineage = FileLineage(tmp_path / "lineage")
    lineage.begin(1)
    lineage.store(b"record")
    (tmp_path / "lineage.new").write_bytes(b"half a rec")
    assert FileLineage(tmp_path / "lineage").begin(1) == (2, b"record")


def test_a_failed_write_keeps_the_former_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lineage = FileLineage(tmp_path / "lineage")
    lineage.begin(1)
    lineage.store(b"record")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", full)
        with pytest.raises(OSError, match="No space"):
            lineage.store(b"newer")
    assert FileLineage(tmp_path / "lineage").begin(1) == (2, b"record")


@given(place=st.integers(0, 54), change=st.integers(1, 255))
def test_a_damaged_file_is_refused_with_the_remedy(
    tmp_path_factory: pytest.TempPathFactory, place: int, change: int
) -> None:
    path = tmp_path_factory.mktemp("lineage") / "lineage"
    lineage = FileLineage(path)
    lineage.begin(1)
    lineage.store(b"0123456789")
    data = bytearray(path.read_bytes())
    assert len(data) == 55
    data[place] ^= change
    path.write_bytes(bytes(data))
    with pytest.raises(LineageError, match="move it away"):
        FileLineage(path).begin(1)


@given(data=st.binary(max_size=80))
def test_any_other_file_is_refused(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.mktemp("lineage") / "lineage"
    path.write_bytes(data)
    with pytest.raises(LineageError, match="damaged"):
        FileLineage(path).begin(1)


def test_a_place_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    with pytest.raises(LineageError, match=r"cannot write .*missing"):
        FileLineage(tmp_path / "missing" / "lineage").begin(1)
    with pytest.raises(LineageError, match="cannot read"):
        FileLineage(tmp_path).begin(1)
