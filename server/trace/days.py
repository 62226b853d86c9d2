"""What a trace's folder holds, by day, node and kind, and removing what is old.

Segments are looked at by their names alone, so both work while nodes write.
"""

from __future__ import annotations

import fnmatch
import os
from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from groupcore.trace import OPEN_SUFFIX, parse_path

Shown = dict[str, object]


@dataclass(slots=True)
class Day:
    """What a node has written of a kind in a day."""

    segments: int = 0
    open: int = 0
    size_bytes: int = 0


def listed(folder: Path) -> list[Shown]:
    """A row for each day, node and kind; `open`: how many of them are still written."""
    return _rows(segment_paths(folder))


def pruned(folder: Path, first: date, remove: bool, node: str = "") -> list[Shown]:
    """What is of a day before `first`, and is removed if that is asked. Open segments stay, and
    with `node` those of all other nodes.
    """
    old = [
        path
        for path in segment_paths(folder)
        if (segment := parse_path(path.as_posix())) is not None
        and segment.date < first.isoformat()
        and node in ("", segment.node)
        and path.suffix != OPEN_SUFFIX
    ]
    rows = _rows(old)
    for path in old if remove else ():
        path.unlink(missing_ok=True)
        for parent in (path.parent, path.parent.parent):
            with suppress(OSError):  # something else is in it
                parent.rmdir()
    return rows


def segment_paths(folder: Path) -> list[Path]:
    """All segments below a folder, in the order of their paths.

    Nodes may share a folder: what another one removes meanwhile is left out (`Path.glob` raises).
    """
    nodes = [one for day in _inside([folder], "date=*") for one in _inside([day], "node=*")]
    return sorted(_inside(nodes, "*.arrows*"))


def _inside(folders: Iterable[Path], pattern: str) -> list[Path]:
    found: list[Path] = []
    for folder in folders:
        with suppress(FileNotFoundError, NotADirectoryError):
            found += [folder / name for name in fnmatch.filter(os.listdir(folder), pattern)]
    return found


def _rows(paths: list[Path]) -> list[Shown]:
    days: dict[tuple[str, str, str], Day] = defaultdict(Day)
    for path in paths:
        segment = parse_path(path.as_posix())
        if segment is None:
            continue
        try:
            size_bytes = path.stat().st_size
        except FileNotFoundError:  # it has just been completed, or pruned
            continue
        day = days[segment.date, segment.node, segment.kind]
        day.segments += 1
        day.open += path.suffix == OPEN_SUFFIX
        day.size_bytes += size_bytes
    return [
        {
            "date": date_,
            "node": node,
            "kind": kind,
            "segments": day.segments,
            "open": day.open,
            "bytes": day.size_bytes,
        }
        for (date_, node, kind), day in sorted(days.items())
    ]
