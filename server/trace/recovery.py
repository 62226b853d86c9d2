"""What a writer that was stopped in the middle has left behind: its open segments are completed.

They are read up to their last whole batch, written anew with `recovered`, and renamed. What came
behind is not known; a row of `log_gap` for each kind says from where on.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
from pyarrow import ipc

from groupcore.trace import OPEN_SUFFIX, TABLES
from server.trace.batches import schema_of
from server.trace.segments import OPTIONS, Form, segments_of, sync_folder

log = logging.getLogger("server.trace")


class Lost(NamedTuple):
    """Rows of a kind and epoch that are missing, from this one on."""

    kind: str
    epoch: int
    from_off: int


def recover(folder: Path, node: str, crashed: int | None) -> list[Lost]:
    """Complete a node's open segments. `crashed`: the epoch that was not closed. OSError."""
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
    return list(lost.values())


def complete_torn(path: Path, form: Form, kind: str) -> int:
    """Complete one of them; the number of the first row that is not in it."""
    sealed = path.with_name(path.name.removesuffix(OPEN_SUFFIX))
    fresh = path.with_name(sealed.name + ".recovering")
    if sealed.exists():  # it had been completed, but for this
        path.unlink()
        return _end_of(sealed)
    whole = list(read_torn(path))
    metadata = form.metadata(kind) | _said(path) | {"groupcore.recovered": "true"}
    with fresh.open("wb") as file:
        schema = schema_of(TABLES[kind], metadata) if not whole else whole[0].schema
        with ipc.new_stream(file, schema.with_metadata(metadata), options=OPTIONS) as writer:
            for batch in whole:
                writer.write_batch(batch)
        file.flush()
    with fresh.open("rb+") as file:
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
