"""The writer between loop and disk: nothing waits, and what is missing is said."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from groupcore.sequencing.trace_rows import Gathered
from groupcore.view import Address
from server.trace import writer as writer_module
from server.trace.options import TraceOptions
from server.trace.segments import segments_of
from server.trace.writer import TraceWriter
from tests.server.trace.support import read

HERE = Address("a", 1)


class Blocked:
    """A disk that writes nothing until it is let."""

    def __init__(self, writer: TraceWriter) -> None:
        self.open = threading.Event()
        self._write = writer._disk.write
        writer._disk.write = self.write  # type: ignore[method-assign]

    def write(self, gathered: Gathered, off: int) -> None:
        self.open.wait()
        self._write(gathered, off)


class Refusing:
    """A disk without room, for so many attempts."""

    def __init__(self, writer: TraceWriter, times: int) -> None:
        self.times = times
        self._write = writer._disk.write
        writer._disk.write = self.write  # type: ignore[method-assign]

    def write(self, gathered: Gathered, off: int) -> None:
        if self.times:
            self.times -= 1
            raise OSError(28, "No space left on device")
        self._write(gathered, off)


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for a second attempt."""
    monkeypatch.setattr(writer_module, "RETRY_S", 0.001)


async def started(folder: Path, **options: object) -> TraceWriter:
    writer = TraceWriter(folder, "a", TraceOptions(**options))  # type: ignore[arg-type]
    await writer.start()
    return writer


def say(writer: TraceWriter, kind: str, rows: int) -> None:
    """Hand over so many rows of a kind at once."""
    recorder = writer._recorder or writer.recorder()
    recorder.node = "a#1"
    for _ in range(rows):
        recorder.add(kind)
    writer._hand_over(recorder)


def gaps(folder: Path) -> list[tuple[object, ...]]:
    """What `log_gap` says."""
    columns = ("kind", "from_off", "to_off", "dropped", "reason")
    return [tuple(row[name] for name in columns) for row in read(folder, "log_gap")]


async def test_what_is_handed_over_is_on_disk_when_the_writer_has_stopped(tmp_path: Path) -> None:
    writer = await started(tmp_path)
    say(writer, "session", 3)
    writer.recorder().add("verdict", gid=1, seq=2, code="forbidden")
    await writer.stop()
    assert [row["off"] for row in read(tmp_path, "session")] == [0, 1, 2]
    assert [row["code"] for row in read(tmp_path, "verdict")] == ["forbidden"]
    assert all(complete for _, _, complete in segments_of(tmp_path))
    assert gaps(tmp_path) == []


async def test_under_pressure_telemetry_is_dropped_and_counted_and_nothing_else(
    tmp_path: Path,
) -> None:
    writer = await started(tmp_path, telemetry_rows=10)
    disk = Blocked(writer)
    for _ in range(5):
        say(writer, "session", 4)
        say(writer, "membership", 4)
    disk.open.set()
    while writer._rows:
        with writer._changed:
            writer._changed.wait(0.01)
    say(writer, "session", 1)
    await writer.stop()
    assert len(read(tmp_path, "membership")) == 20
    kept = [row["off"] for row in read(tmp_path, "session")]
    assert kept == [0, 1, 2, 3, 20]
    assert gaps(tmp_path) == [("session", 4, 19, 16, "pressure")]


async def test_what_is_missing_is_said_before_what_stands_behind_it(tmp_path: Path) -> None:
    # A node that is killed right then could not say it any more.
    writer = await started(tmp_path, telemetry_rows=10)
    disk = Blocked(writer)
    for _ in range(3):
        say(writer, "session", 4)  # the last ones are dropped
    say(writer, "session", 2)
    kinds = [gathered.kind for gathered, _ in writer._waiting]
    assert kinds[-2:] == ["log_gap", "session"]
    disk.open.set()
    await writer.stop()
    assert gaps(tmp_path) == [("session", 8, 11, 4, "pressure")]


async def test_when_the_disk_refuses_for_long_everything_is_dropped_and_counted(
    tmp_path: Path,
) -> None:
    writer = await started(tmp_path, rows_max=10)
    disk = Blocked(writer)
    for _ in range(5):
        say(writer, "membership", 4)
    disk.open.set()
    await writer.stop()
    assert [row["off"] for row in read(tmp_path, "membership")] == list(range(8))
    assert gaps(tmp_path) == [("membership", 8, 19, 12, "disk")]


async def test_what_the_disk_refuses_is_tried_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    writer = await started(tmp_path)
    disk = Refusing(writer, 3)
    say(writer, "membership", 2)
    while disk.times or writer._rows:
        with writer._changed:
            writer._changed.wait(0.01)
    await writer.stop()
    assert [row["off"] for row in read(tmp_path, "membership")] == [0, 1]
    assert "No space left on device" in caplog.text


async def test_a_crash_is_said_at_the_next_start(tmp_path: Path) -> None:
    writer = await started(tmp_path)
    say(writer, "membership", 2)
    while writer._rows:
        with writer._changed:
            writer._changed.wait(0.01)
    writer._disk.give_up()  # nothing of it is closed
    writer._disk.close = lambda: None  # type: ignore[method-assign]
    await writer.stop()
    again = await started(tmp_path)
    await again.stop()
    assert ("membership", 2, None, None, "crash") in gaps(tmp_path)
    assert ("accept", 0, None, None, "crash") in gaps(tmp_path)
    (row, *_) = read(tmp_path, "log_gap")
    assert (row["epoch"], row["node"]) == (1, "a")


async def test_a_sampled_trace_says_so(tmp_path: Path) -> None:
    writer = await started(tmp_path, every=8)
    assert writer.recorder().every == 8
    await writer.stop()
    (row,) = read(tmp_path, "log_gap")
    assert (row["kind"], row["every"], row["reason"]) == ("delivery", 8, "sampled")


async def test_a_folder_that_cannot_be_written_is_refused_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    writer = TraceWriter(tmp_path / "file", "a")
    with pytest.raises(OSError, match="file"):
        await writer.start()
    await writer.stop()
