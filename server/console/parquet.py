"""The pipeline's tables, read without Spark: what the newest manifest of its store names.

The store is the folder of the setting `results`, or `store` in it (`python -m pipeline JOB --out`).
Files that a manifest names are never written again, so what is read fits together even while a job
works. Nobody waits for the disk on the loop, and a store that is not there, or is none of ours, is
nothing; one that cannot be read says so.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from server.console.colleagues import Shown
from server.errors import BadMessageError

FORMAT = 2
"""The value of `store` in manifests that are understood."""
STORE = "store"
LARGEST = 20
"""So many components of the overlap job are shown."""
VIEW_ROWS_MAX = 20_000
ARTICULATIONS_MAX = 10_000
BATCH = 4_096

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A store after its commit `number`, written at `made_s`; the folders of each table."""

    root: Path
    number: int
    made_s: float
    tables: dict[str, list[str]]
    positions: dict[str, Any]

    def files(self, table: str) -> list[Path]:
        """The files of a table, in order."""
        folders = (self.root / folder for folder in self.tables.get(table, ()))
        return [file for folder in folders for file in sorted(folder.glob("*.parquet"))]


def snapshot_of(results: Path | None) -> Snapshot | None:
    """The newest state of the store that belongs to a folder of results; None without one."""
    for root in () if results is None else (results, results / STORE):
        manifests = sorted((root / "manifest").glob("[0-9]*.json"))
        if manifests:
            return _read_manifest(root, manifests[-1])
    return None


def _read_manifest(root: Path, path: Path) -> Snapshot | None:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
        if value["store"] != FORMAT:
            return None
        tables = {
            name: [str(part["folder"]) for part in parts] for name, parts in value["tables"].items()
        }
        return Snapshot(root, value["number"], path.stat().st_mtime, tables, value["positions"])
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return None


async def beside(results: Path | None, read: Callable[[Snapshot], T]) -> T | None:
    """Read beside the loop; None without a store; BadMessageError `bad_store`."""

    def work() -> T | None:
        found = snapshot_of(results)
        try:
            return None if found is None else read(found)
        except (OSError, ValueError, LookupError) as error:  # Arrow's are of these kinds
            raise BadMessageError(
                "bad_store", f"the pipeline's store cannot be read: {str(error)[:200]}"
            ) from None

    return await asyncio.to_thread(work)


def _batches(files: Sequence[Path], columns: Sequence[str] | None = None) -> Iterator[Any]:
    """The rows of files, some at a time, in their order."""
    # Loaded when it is wanted: most nodes never read a table.
    from pyarrow.parquet import ParquetFile

    for path in files:
        with ParquetFile(path) as file:
            given = None if columns is None else list(columns)
            yield from file.iter_batches(BATCH, columns=given)


# --- views ----------------------------------------------------------------------------------------


async def views_found(results: Path | None) -> list[Shown]:
    """The views that the trace has, as far as it was taken in; nothing without a store."""
    return await beside(results, _views) or []


def _views(snapshot: Snapshot) -> list[Shown]:
    """Of the newest VIEW_ROWS_MAX rows: each node has written its own of a view."""
    found: dict[str, Shown] = {}
    room = VIEW_ROWS_MAX
    for file in reversed(snapshot.files("view")):
        for batch in _batches([file], ["t", "number", "epoch", "primary", "members"]):
            room -= batch.num_rows
            for row in batch.to_pylist():
                name, at_s = f"{row['epoch']}.{row['number']}", row["t"].timestamp()
                if name not in found or at_s < found[name]["at_s"]:
                    members = [member.rpartition("#")[0] for member in row["members"]]
                    primary = row["primary"]
                    view = {"at_s": at_s, "id": name, "members": members, "primary": primary}
                    found[name] = view
        if room <= 0:
            break
    return list(found.values())


# --- overlap --------------------------------------------------------------------------------------


async def overlap_found(results: Path | None, name_of: Callable[[int], str]) -> Shown | None:
    """What the last overlap job has found: the largest components, and who holds them together.

    None where none has run.
    """
    found = await beside(results, _overlap)
    if found is None or found["components"] is None:
        return None
    for one in found["largest"]:
        one["name"] = name_of(one["component"])
    return found


def _overlap(snapshot: Snapshot) -> Shown:
    folders = snapshot.tables.get("overlap_component")
    if folders is None:
        return {"components": None}
    sizes: Counter[int] = Counter()
    for batch in _batches(snapshot.files("overlap_component"), ["component"]):
        sizes.update(batch.column("component").to_pylist())
    held: dict[int, list[Shown]] = {}
    room = ARTICULATIONS_MAX
    for batch in _batches(snapshot.files("overlap_articulation")):
        for row in batch.slice(0, room).to_pylist():
            held.setdefault(row.pop("component"), []).append(row)
        room = max(0, room - batch.num_rows)
    largest = sorted(sizes.items(), key=lambda one: (-one[1], one[0]))[:LARGEST]
    made = [(snapshot.root / folder).stat().st_mtime for folder in folders]
    return {
        "made_s": max(made, default=snapshot.made_s),
        "components": len(sizes),
        "largest": [
            {
                "component": component,
                "groups": groups,
                "held_by": sorted(held.get(component, []), key=lambda one: one["largest"])[:3],
            }
            for component, groups in largest
        ],
    }
