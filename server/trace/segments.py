"""Segments: files that grow by record batches, and are complete from one moment to the next.

Invariants.
  I1  A file without `.open` is whole, and never changes.
  I2  What has been written is readable up to the last whole batch, wherever the node was stopped.
  I3  Names sort in the order of the rows of a kind: epochs grow, and numbers within them.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from io import BytesIO, FileIO
from pathlib import Path

import pyarrow as pa
from pyarrow import ipc

from groupcore.aio.private import make_folder, open_file, opener
from groupcore.trace import CHECKSUM_MARK, OPEN_SUFFIX, TABLES, VERSION, Segment, parse_path
from server.trace.batches import schema_of
from server.trace.days import segment_paths

OPTIONS = ipc.IpcWriteOptions(compression="zstd", use_threads=False)


@dataclass(frozen=True, slots=True)
class Form:
    """What all segments of a writer have in common; `node` is the node's id."""

    folder: Path
    node: str
    epoch: int
    every: int = 1
    pseudonyms: bool = False

    def metadata(self, kind: str) -> dict[str, str]:
        """What a segment's schema says of it."""
        return {
            "groupcore.kind": kind,
            "groupcore.version": str(VERSION),
            "groupcore.node": self.node,
            "groupcore.epoch": str(self.epoch),
            "groupcore.every": str(self.every if kind == "delivery" else 1),
            "groupcore.pseudonyms": str(self.pseudonyms).lower(),
            "groupcore.checksum": "sha256",
            "groupcore.recovered": "false",
        }


class OpenSegment:
    """A segment that is being written. OSError when the disk does not take it."""

    def __init__(self, form: Form, kind: str, n: int, t_us: int, now: float) -> None:
        self.segment = Segment(day_of(t_us), form.node, kind, form.epoch, n)
        self.began = now
        self.path = form.folder / self.segment.path
        self.open_path = self.path.with_name(self.path.name + OPEN_SUFFIX)
        make_folder(self.path.parent)
        self._file = FileIO(self.open_path, "xb", opener=opener)
        # Arrow writes each column by itself; the file gets a batch at once, or nothing of it.
        self._batch = BytesIO()
        schema = schema_of(TABLES[kind], form.metadata(kind))
        self._writer = ipc.new_stream(self._batch, schema, options=OPTIONS)
        self.size_bytes = 0
        self._sum = hashlib.sha256()

    def write(self, batch: pa.RecordBatch, syncs: bool) -> None:
        """Put a batch behind the others."""
        self._writer.write_batch(batch)
        self._pass_on()
        if syncs:
            os.fsync(self._file.fileno())
        self.size_bytes = self._file.tell()

    def _pass_on(self) -> None:
        data = self._batch.getbuffer().tobytes()
        self._batch.seek(0)
        self._batch.truncate()
        self._sum.update(data)
        self._put(data)

    def _put(self, data: bytes) -> None:
        while data:
            data = data[self._file.write(data) :]

    def seal(self) -> None:
        """It is complete (I1)."""
        self._writer.close()
        self._pass_on()
        self._put(CHECKSUM_MARK + self._sum.digest())
        os.fsync(self._file.fileno())
        self._file.close()
        self.open_path.rename(self.path)
        sync_folder(self.path.parent)

    def abandon(self) -> None:
        """The disk has refused: what it has not taken whole is cut off, if that can be done."""
        with suppress(OSError, ValueError):
            self._file.truncate(self.size_bytes)
        with suppress(OSError):
            self._file.close()


def day_of(t_us: int) -> str:
    """The UTC day of a time, in microseconds since 1970."""
    return datetime.fromtimestamp(t_us / 1e6, UTC).strftime("%Y-%m-%d")


def sync_folder(folder: Path) -> None:
    """Have the names in a folder on disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def segments_of(folder: Path, node: str | None = None) -> Iterator[tuple[Path, Segment, bool]]:
    """All segments below a folder, in the order of their paths, and whether they are complete."""
    for path in segment_paths(folder):
        segment = parse_path(path.as_posix())
        if segment is not None and node in (None, segment.node):
            yield path, segment, path.suffix != OPEN_SUFFIX


def boot_id() -> str:
    """Which start of the machine this is; empty where the system does not say."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return ""


class Epochs:
    """Which epoch a node's writer is in, and whether the one before was closed."""

    def __init__(self, folder: Path, node: str) -> None:
        quoted = Segment("", node, "view", 0, 0).folder.rpartition("node=")[2]
        self._path = folder / f"epoch-{quoted}.json"
        self._folder = folder
        self._node = node

    def begin(self) -> tuple[int, int | None, bool]:
        """The next epoch; the one before if it was not closed; and whether the machine has run on
        since that began, so that what the writer had written is on disk or on its way. OSError.
        """
        make_folder(self._folder)
        last, closed, boot = self._read()
        seen = [one.epoch for _, one, _ in segments_of(self._folder, self._node)]
        if max(seen, default=0) > last:
            last, closed = max(seen), True
        self._write(last + 1, False)
        return last + 1, None if closed else last, boot != "" and boot == boot_id()

    def close(self, epoch: int) -> None:
        """The epoch is over, and all its segments are complete. OSError."""
        self._write(epoch, True)

    def _read(self) -> tuple[int, bool, str]:
        try:
            said = json.loads(self._path.read_text(encoding="utf-8"))
            return int(said["epoch"]), bool(said["closed"]), str(said.get("boot", ""))
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return 0, True, ""

    def _write(self, epoch: int, closed: bool) -> None:
        fresh = self._path.with_name(self._path.name + ".new")
        with open_file(fresh, "w") as file:
            said = {"epoch": epoch, "closed": closed, "boot": boot_id()}
            file.write(json.dumps(said) + "\n")
            file.flush()
            os.fsync(file.fileno())
        fresh.rename(self._path)
        sync_folder(self._folder)
