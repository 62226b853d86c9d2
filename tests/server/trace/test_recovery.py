"""What a writer that was stopped in the middle has left: kept as far as it is whole."""

from __future__ import annotations

import shutil
from hashlib import sha256
from pathlib import Path

import pytest

from groupcore.trace import CHECKSUM_BYTES, CHECKSUM_MARK, TABLES
from server.trace import segments
from server.trace.disk import Disk
from server.trace.options import TraceOptions
from server.trace.recovery import Lost
from server.trace.segments import segments_of
from tests.server.trace.support import deliveries, metadata, one, read

BATCHES = 20
ROWS = 50


def crashed(folder: Path) -> Path:
    """A folder with an open segment of some batches, and its path."""
    disk = Disk(folder, "a", TraceOptions())
    disk.begin()
    for at in range(BATCHES):
        disk.write(deliveries(ROWS, first=1 + at * ROWS), at * ROWS)
    disk.give_up()
    (path,) = [path for path, _, complete in segments_of(folder) if not complete]
    return path


def whole(folder: Path) -> bool:
    """Whether all complete segments end with the checksum of what stands before it."""
    files = [path.read_bytes() for path, _, complete in segments_of(folder) if complete]
    bodies = [data[:-CHECKSUM_BYTES].removesuffix(CHECKSUM_MARK) for data in files]
    sums = [data[-CHECKSUM_BYTES:] for data in files]
    return bool(files) and [sha256(body).digest() for body in bodies] == sums


def begin(folder: Path) -> list[Lost]:
    return Disk(folder, "a", TraceOptions()).begin()


@pytest.mark.parametrize("share", [0.0, 0.001, 0.3, 0.73, 0.99, 1.0])
def test_a_torn_segment_is_kept_up_to_its_last_whole_batch(tmp_path: Path, share: float) -> None:
    path = crashed(tmp_path)
    data = path.read_bytes()
    path.write_bytes(data[: int(share * len(data))])
    lost = {one.kind: one for one in begin(tmp_path)}
    rows = read(tmp_path, "delivery")
    assert [row["dno"] for row in rows] == list(range(1, 1 + len(rows)))
    assert len(rows) % ROWS == 0
    assert abs(len(rows) - share * BATCHES * ROWS) <= 2 * ROWS
    behind = ("a#1", len(rows)) if rows else (None, None)
    assert lost["delivery"] == Lost("delivery", 1, len(rows), *behind)
    assert whole(tmp_path)
    ((path, _, complete),) = list(segments_of(tmp_path))
    assert complete
    assert metadata(path)["groupcore.recovered"] == "true"


def test_bytes_that_have_changed_end_a_segment_as_if_it_were_torn(tmp_path: Path) -> None:
    path = crashed(tmp_path)
    data = bytearray(path.read_bytes())
    data[len(data) // 2 : len(data) // 2 + 64] = bytes(64)
    path.write_bytes(data)
    begin(tmp_path)
    rows = read(tmp_path, "delivery")
    assert 0 < len(rows) < BATCHES * ROWS


def test_what_had_only_gathered_in_memory_is_said_to_be_missing(tmp_path: Path) -> None:
    disk = Disk(tmp_path, "a", TraceOptions(segment_s=0.0))
    disk.begin()
    disk.write(deliveries(3), 0)
    disk.write(one("view", number=1), 0)
    disk.seal_due()
    disk.give_up()
    lost = {one.kind: one.from_off for one in begin(tmp_path)}
    assert set(lost) == set(TABLES)
    assert (lost["delivery"], lost["view"], lost["accept"]) == (3, 1, 0)


def test_a_crash_says_behind_which_delivery_and_stamp_rows_are_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = Disk(tmp_path, "a", TraceOptions(segment_s=0.0))
    disk.begin()
    disk.write(one("accept", lseq=4096), 0)
    disk.write(deliveries(3), 0)
    disk.seal_due()  # complete
    disk.write(one("accept", lseq=8192), 1)
    disk.write(deliveries(3, first=4), 3)
    disk.give_up()
    copy = tmp_path.with_name("copy")
    shutil.copytree(tmp_path, copy)
    lost = {one.kind: one for one in begin(tmp_path)}
    assert lost["membership"] == Lost("membership", 1, 0, "a#1", 6, 8192)
    # Behind a power cut one file may have lost more than another that was written later.
    monkeypatch.setattr(segments, "boot_id", lambda: "another start of the machine")
    lost = {one.kind: one for one in begin(copy)}
    assert lost["membership"] == Lost("membership", 1, 0, "a#1", 3, 4096)
    assert lost["delivery"].from_off == 6


def test_nothing_is_missing_of_an_epoch_that_was_closed(tmp_path: Path) -> None:
    disk = Disk(tmp_path, "a", TraceOptions())
    disk.begin()
    disk.write(deliveries(3), 0)
    disk.close()
    assert begin(tmp_path) == []


def test_a_recovery_that_was_stopped_itself_is_done_again(tmp_path: Path) -> None:
    path = crashed(tmp_path)
    path.with_name(path.name.removesuffix(".open") + ".recovering").write_bytes(b"half")
    begin(tmp_path)
    assert len(read(tmp_path, "delivery")) == BATCHES * ROWS
    left = path.with_name(path.name)
    sealed = path.with_name(path.name.removesuffix(".open"))
    left.write_bytes(sealed.read_bytes())  # complete, and the open one not yet removed
    begin(tmp_path)
    assert len(read(tmp_path, "delivery")) == BATCHES * ROWS
    assert not left.exists()


def test_other_nodes_segments_are_left_alone(tmp_path: Path) -> None:
    other = Disk(tmp_path, "b", TraceOptions())
    other.begin()
    other.write(deliveries(3), 0)
    begin(tmp_path)
    assert [complete for _, _, complete in segments_of(tmp_path)] == [False]
    other.close()
