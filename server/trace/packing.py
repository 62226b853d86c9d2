"""Segments of rows that have been written as JSON lines: what the simulator's nodes trace."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from groupcore.sequencing.trace_lines import Row, gather
from server.errors import DamagedStoreError, ServerError
from server.trace.disk import Disk
from server.trace.options import TraceOptions


def pack(path: Path, folder: Path) -> None:
    """Write the rows of a file into a folder; ServerError, DamagedStoreError.

    All lives of a node are in one epoch, with nothing missing: a schedule loses no rows.
    """
    disks: dict[str, Disk] = {}
    offs: dict[tuple[str, str], int] = {}
    try:
        for gathered in gather(_read(path)):
            node, _, life = gathered.node.rpartition("#")
            if not (node and life):
                raise DamagedStoreError(f"{path}: {gathered.node!r} is no node of a schedule")
            disk = disks.get(node)
            if disk is None:
                disk = disks[node] = Disk(folder, node, TraceOptions())
                disk.begin()
            off = offs.get((node, gathered.kind), 0)
            offs[node, gathered.kind] = off + gathered.rows
            disk.write(gathered, off)
        for disk in disks.values():
            disk.close()
    except OSError as error:
        raise ServerError(f"{error.filename}: {error.strerror}") from None
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise DamagedStoreError(f"{path} does not hold rows of a trace: {error}") from None
    finally:
        for disk in disks.values():
            disk.give_up()


def _read(path: Path) -> Iterator[Row]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            if not isinstance(row, dict):
                raise TypeError("a line is no object")
            yield row
