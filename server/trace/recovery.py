"""What a writer that was stopped in the middle has left behind: its open segments are completed.

They are read up to their last whole batch, written anew with `recovered`, and renamed. What came
behind is not known; a row of `log_gap` for each kind says from where on.
"""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
from pyarrow import ipc

from groupcore.aio.private import open_file
from groupcore.trace import CHECKSUM_MARK, OPEN_SUFFIX, TABLES
from server.trace.batches import schema_of
from server.trace.segments import OPTIONS, Form, segments_of, sync_folder

log = logging.getLogger("server.trace")


class Lost(NamedTuple):
    """Rows of a kind and epoch that are missing, from this one on.

    They were noted behind delivery `dno` and behind stamp `lseq` of `life`; None: not known.
    """

    kind: str
    epoch: int
    from_off: int
    life: str | None = None
    dno: int | None = None
    lseq: int | None = None


def recover(folder: Path, node: str, crashed: int | None, *, runs_on: bool = False) -> list[Lost]:
    """Complete a node's open segments. OSError.

    `crashed`: the epoch that was not closed. `runs_on`: the machine has not been down since, so of
    what the writer had handed to the system nothing is missing.
    """
    lost: dict[tuple[str, int], Lost] = {}
    for path, segment, complete in segments_of(folder, node):
        if complete:
            continue
        form = Form(folder, node, segment.epoch)
        rows_until = complete_torn(path, form, segment.kind)
        lost[segment.kind, segment.epoch] = Lost(segment.kind, segment.epoch, rows_until)
    if crashed is not None:
        # What had gathered in memory, of kinds that had no open segment just then.
        for kind in TABLES:
            if (kind, crashed) not in lost:
                lost[kind, crashed] = Lost(kind, crashed, next_off(folder, node, kind, crashed))
    return [_noted_behind(folder, node, one, torn=runs_on) for one in lost.values()]


def _noted_behind(folder: Path, node: str, lost: Lost, *, torn: bool) -> Lost:
    delivery = last_place(folder, node, lost.epoch, "delivery", "dno", torn=torn)
    stamp = last_place(folder, node, lost.epoch, "accept", "lseq", torn=torn)
    if delivery is None:
        return lost if stamp is None else lost._replace(life=stamp[0], lseq=stamp[1])
    lseq = stamp[1] if stamp is not None and stamp[0] == delivery[0] else None
    return lost._replace(life=delivery[0], dno=delivery[1], lseq=lseq)


def last_place(
    folder: Path, node: str, epoch: int, kind: str, column: str, *, torn: bool
) -> tuple[str, int] | None:
    """The last row of a kind and epoch in a complete segment, life and place; None without one.

    Rows are written in the order in which they were handed over, `accept` and `delivery` behind the
    others. So what is missing of these was noted behind the last one that is there; after a power
    cut, which can take more of one file than of another, behind the last one that was completed
    before (not `torn`).
    """
    last = None
    for path, segment, complete in segments_of(folder, node):
        if not complete or (segment.kind, segment.epoch) != (kind, epoch):
            continue
        if torn or _said(path).get("groupcore.recovered") != "true":
            last = path if last is None or path.name > last.name else last
    found = None
    for batch in () if last is None else read_torn(last):
        if batch.num_rows:
            end = batch.num_rows - 1
            found = (batch.column("node")[end].as_py(), batch.column(column)[end].as_py())
    return found


def complete_torn(path: Path, form: Form, kind: str) -> int:
    """Complete one of them; the number of the first row that is not in it."""
    sealed = path.with_name(path.name.removesuffix(OPEN_SUFFIX))
    fresh = path.with_name(sealed.name + ".recovering")
    if sealed.exists():  # it had been completed, but for this
        path.unlink()
        return _end_of(sealed)
    whole = list(read_torn(path))
    said = {"groupcore.recovered": "true", "groupcore.checksum": "sha256"}
    metadata = form.metadata(kind) | _said(path) | said
    with open_file(fresh, "wb") as file:
        schema = schema_of(TABLES[kind], metadata) if not whole else whole[0].schema
        with ipc.new_stream(file, schema.with_metadata(metadata), options=OPTIONS) as writer:
            for batch in whole:
                writer.write_batch(batch)
        file.flush()
    with fresh.open("rb+") as file:
        digest = hashlib.file_digest(file, "sha256").digest()
        file.seek(0, os.SEEK_END)
        file.write(CHECKSUM_MARK + digest)
        file.flush()
        os.fsync(file.fileno())
    fresh.rename(sealed)
    path.unlink()
    sync_folder(path.parent)
    log.warning("%s was not complete: %d batches are kept", sealed, len(whole))
    return _end_of(sealed)


def read_torn(path: Path) -> Iterator[pa.RecordBatch]:
    """The whole batches of a segment, up to where it ends or is torn."""
    with path.open("rb") as file:
        try:
            with ipc.open_stream(file) as reader:
                for batch in reader:
                    batch.validate(full=True)
                    yield batch
        except (pa.ArrowException, OSError, EOFError):
            return


def next_off(folder: Path, node: str, kind: str, epoch: int) -> int:
    """The number behind the last row of a kind and epoch that is in a complete segment."""
    last = None
    for path, segment, complete in segments_of(folder, node):
        if complete and (segment.kind, segment.epoch) == (kind, epoch):
            last = path if last is None or path.name > last.name else last
    return 0 if last is None else _end_of(last)


def _end_of(path: Path) -> int:
    """The number behind the last row of a segment; 0 for an empty one."""
    end = 0
    for batch in read_torn(path):
        if batch.num_rows:
            end = batch.column("off")[batch.num_rows - 1].as_py() + 1
    return end


def _said(path: Path) -> dict[str, str]:
    """What the schema of a torn segment says, if that is there."""
    try:
        with path.open("rb") as file, ipc.open_stream(file) as reader:
            return {k.decode(): v.decode() for k, v in (reader.schema.metadata or {}).items()}
    except (pa.ArrowException, OSError, EOFError):
        return {}
