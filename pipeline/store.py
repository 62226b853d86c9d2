"""The store: tables as folders of Parquet files, and manifests that say which folders count.

`manifest/<n, 12 digits>.json` is the store after its n-th commit: of each table its parts, and the
positions up to which traces have been read. A commit is one file that is put where none is, so it
holds for all tables at once. What no manifest names is no part of the store: it was left by a job
that was stopped, and `sweep` removes it later. Readers take the highest number and see nothing half
done.

Jobs may write at the same time. Each run has folders of its own, so none writes over another's; and
what was made from one state is right behind a later one, if nobody has changed the same tables and
positions meanwhile, and the rows of the trace are where they were. Else it is told to begin again.

A table may be divided by days: then a part holds rows of one (UTC), and its folder says of which.

Put-if-absent is a hard link on a local or network file system. On object storage it is a look and a
write, which one writer at a time may rely on: run one job that writes to a store at a time there.
"""

from __future__ import annotations

import json
import math
import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import fs, parquet

from groupcore.trace import TABLES
from pipeline.errors import PipelineError
from pipeline.session import adapts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, DataFrameWriter, SparkSession

FORMAT: Final = 2
"""The value of `store` in each manifest."""
TRACED: Final = frozenset((*TABLES, "segment"))
"""Tables with rows of the trace, which all jobs read."""
GROUP_BYTES: Final = 4 << 20
"""Rows stand in groups of so many bytes, some 100,000: who looks for a few reads few of them."""
PUTS_MAX: Final = 16
"""So many other commits may come in between while one is put."""


@dataclass(frozen=True, slots=True)
class Part:
    """A folder of a table: written once, by the commit that has this number."""

    folder: str
    commit: int

    @property
    def day(self) -> str:
        """Of which day its rows are, as 2026-11-22; empty: the table is not divided."""
        return self.folder.partition("/date=")[2]


@dataclass(frozen=True)
class Snapshot:
    """The store after a commit. Number 0 is the empty store.

    `positions`: free for jobs, by name: how far each has come. `batch`: the id that the last
    commit was given.
    """

    number: int = 0
    tables: Mapping[str, Sequence[Part]] = field(default_factory=dict)
    positions: Mapping[str, Any] = field(default_factory=dict)
    batch: str = ""

    def parts_since(
        self, table: str, commit: int, days: Callable[[str], bool] = lambda day: True
    ) -> list[str]:
        """The folders of a table that came with later commits, and whose days are asked for."""
        return [
            part.folder
            for part in self.tables.get(table, ())
            if part.commit > commit and days(part.day)
        ]

    def days_since(self, table: str, commit: int) -> set[str]:
        """The days of which a table has got rows with later commits."""
        return {part.day for part in self.tables.get(table, ()) if part.commit > commit}

    def goes_on(self, base: Snapshot, tables: Iterable[str], positions: Iterable[str]) -> bool:
        """Whether what was made from `base`, and changes these, is as right behind this state.

        Nobody has changed the same, and all rows of the trace are in the parts that they were in.
        """
        same = all(self.tables.get(name) == base.tables.get(name) for name in tables)
        stood = all(self.positions.get(name) == base.positions.get(name) for name in positions)
        return (
            same
            and stood
            and all(
                list(parts) == list(self.tables[name])[: len(parts)]
                for name, parts in base.tables.items()
                if name in TRACED
            )
        )


class Store:
    """A folder, or a URI that Spark and Arrow both know, with tables and manifests."""

    def __init__(self, root: str) -> None:
        self.root = root.rstrip("/") if "://" in root else str(Path(root).resolve())
        self._run = secrets.token_hex(4)
        arrow_root = self.root.replace("s3a://", "s3://", 1)
        self._local = "://" not in self.root
        if self._local:
            Path(self.root, "manifest").mkdir(parents=True, exist_ok=True)
            self._fs, self._folder = fs.LocalFileSystem(), self.root
        else:
            self._fs, self._folder = fs.FileSystem.from_uri(arrow_root)
            self._fs.create_dir(f"{self._folder}/manifest", recursive=True)

    def snapshot(self) -> Snapshot:
        """The store as it is now. Raises PipelineError `store_format` if it is not one of ours."""
        numbers = [
            int(info.base_name[:12])
            for info in self._fs.get_file_info(fs.FileSelector(f"{self._folder}/manifest"))
            if info.base_name.endswith(".json")
        ]
        if not numbers:
            return Snapshot()
        tables, value = self._load(self._manifest(max(numbers)))
        return Snapshot(value["number"], tables, value["positions"], value["batch"])

    def _load(self, path: str) -> tuple[dict[str, list[Part]], dict[str, Any]]:
        """A manifest's tables, and all that it says."""
        with self._fs.open_input_file(path) as file:
            value = json.loads(file.read())
        if value.get("store") != FORMAT:
            raise PipelineError(
                "store_format", f"{self.root} has another format.", "Name another folder."
            )
        tables = {
            name: [Part(part["folder"], part["commit"]) for part in parts]
            for name, parts in value["tables"].items()
        }
        return tables, value

    def folder(self, table: str, base: Snapshot, day: str = "") -> str:
        """Where this run writes its part of a table for a commit behind `base`; below the store."""
        whole = f"{table}/commit={base.number + 1:012d}-{self._run}"
        return f"{whole}/date={day}" if day else whole

    def write(
        self,
        frame: DataFrame,
        table: str,
        base: Snapshot,
        files: int | None = None,
        day: str = "",
    ) -> str:
        """Write a part of a table for the commit behind `base`; returns its folder."""
        folder = self.folder(table, base, day)
        chosen = frame.coalesce(files) if files else frame
        _writer_of(chosen).parquet(f"{self.root}/{folder}")
        return folder

    def write_here(self, rows: pa.Table, table: str, base: Snapshot) -> str:
        """Write a part of a few rows by this process, without Spark; returns its folder."""
        folder = self.folder(table, base)
        self._fs.create_dir(f"{self._folder}/{folder}", recursive=True)
        with self._writer(folder, rows.schema) as writer:
            writer.write_table(rows)
        return folder

    def write_days(
        self, rows: Iterable[pa.Table], table: str, base: Snapshot, name: str = "rows"
    ) -> list[str]:
        """Write rows that have a time `t` by this process, a part for each of their days, a row
        group for each table; returns the folders. Several may write to one part, under names of
        their own. A name that is written again, even by two at a time, is there once.
        """
        folder = self.folder(table, base)
        writers: dict[str, parquet.ParquetWriter] = {}
        with ExitStack() as stack:
            for some in rows:
                for day, own in _by_day(some):
                    if day not in writers:
                        self._fs.create_dir(f"{self._folder}/{folder}/{day}", recursive=True)
                        made = self._writer(f"{folder}/{day}", own.schema, name)
                        writers[day] = stack.enter_context(made)
                    writers[day].write_table(own)
        return [f"{folder}/{day}" for day in sorted(writers)]

    @contextmanager
    def _writer(
        self, folder: str, schema: pa.Schema, name: str = "rows"
    ) -> Iterator[parquet.ParquetWriter]:
        """A file that is there when it is whole."""
        path = f"{self._folder}/{folder}/{name}.parquet"
        # Object storage has a file when it is closed, and would have to copy it to another name.
        made = f"{self._folder}/{folder}/_{name}-{secrets.token_hex(4)}" if self._local else path
        with parquet.ParquetWriter(made, schema, filesystem=self._fs, compression="zstd") as writer:
            yield writer
        if self._local:
            self._fs.move(made, path)

    def scan(self, folders: Iterable[str], columns: list[str]) -> Iterator[pa.RecordBatch]:
        """Some columns of parts, by this process."""
        for info in self._files(folders):
            with parquet.ParquetFile(info.path, filesystem=self._fs) as file:
                yield from file.iter_batches(columns=columns)

    def is_small(self, snapshot: Snapshot, bytes_max: int) -> bool:
        """Whether the trace's rows take no more than so many bytes."""
        left = bytes_max
        folders = (part.folder for name in TRACED for part in snapshot.tables.get(name, ()))
        for info in self._files(folders):
            left -= info.size or 0
            if left < 0:
                return False
        return True

    def _files(self, folders: Iterable[str]) -> Iterator[fs.FileInfo]:
        """The files in parts."""
        for folder in folders:
            selector = fs.FileSelector(f"{self._folder}/{folder}", recursive=True)
            for info in self._fs.get_file_info(selector):
                if info.type == fs.FileType.File and info.path.endswith(".parquet"):
                    yield info

    def read(
        self, spark: SparkSession, table: str, schema: str, folders: Sequence[str]
    ) -> DataFrame:
        """Parts of a table; no part: an empty frame, of which Spark knows that it is empty."""
        if not folders:
            columns = (part.split(" ", 1) for part in schema.split(", "))
            nothing = ", ".join(f"cast(null as {kind}) as `{name}`" for name, kind in columns)
            return spark.sql(f"select {nothing} where false")
        from pipeline.few import FEW_HERE_BYTES, read_here

        here = [] if adapts(spark) else list(self._files(folders))
        if here and sum(info.size or 0 for info in here) <= FEW_HERE_BYTES:
            return read_here(spark, self._fs, [info.path for info in here], schema)
        paths = [f"{self.root}/{folder}" for folder in folders]
        return spark.read.schema(schema).parquet(*paths)

    def commit(
        self,
        base: Snapshot,
        batch: str,
        *,
        add: Mapping[str, str | Sequence[str]] | None = None,
        replace: Mapping[str, str | Sequence[str]] | None = None,
        renew: Mapping[str, Sequence[str]] | None = None,
        tables: Mapping[str, Sequence[Part]] | None = None,
        positions: Mapping[str, Any] | None = None,
    ) -> Snapshot:
        """Make parts count: `add` behind those of a table, `replace` instead of them, `renew`
        instead of those of the same days; `tables`: exactly these.

        A second commit of the batch that the store ended with changes nothing. Raises PipelineError
        `store_busy` if another job has committed behind `base` what this one rests on (`goes_on`);
        with `tables`, anything.
        """
        changed = {*(add or {}), *(replace or {}), *(renew or {})}
        for _ in range(PUTS_MAX):
            newest = self.snapshot()
            if newest.batch == batch:
                return newest
            if newest.number != base.number and (
                tables is not None or not newest.goes_on(base, changed, positions or {})
            ):
                break
            number = newest.number + 1
            now = {name: list(parts) for name, parts in {**newest.tables, **(tables or {})}.items()}
            for name, given in (replace or {}).items():
                now[name] = _parts(given, number)
            for name, given in (renew or {}).items():
                fresh = _parts(given, number)
                days = {part.day for part in fresh}
                kept = [part for part in now.get(name, []) if part.day not in days]
                now[name] = kept + fresh
            for name, given in (add or {}).items():
                now.setdefault(name, []).extend(_parts(given, number))
            after = Snapshot(number, now, {**newest.positions, **(positions or {})}, batch)
            if self._put(after):
                return after
        raise PipelineError(
            "store_busy",
            f"Another job has written to {self.root} meanwhile.",
            "Start this one again: it goes on from there.",
        )

    def sweep(self, keep_s: float, now_s: float) -> int:
        """Remove what no manifest of the last `keep_s` seconds names; how many folders that were.

        Whoever reads an older state of the store loses it. `now_s`: seconds since 1970.
        """
        newest = self.snapshot()
        infos = self._fs.get_file_info(fs.FileSelector(f"{self._folder}/manifest"))
        needed: set[str] = set()
        for info in infos:
            if not info.base_name.endswith(".json"):
                continue
            if _age_s(info, now_s) > keep_s and int(info.base_name[:12]) != newest.number:
                self._fs.delete_file(info.path)
                continue
            needed |= {part.folder for parts in self._load(info.path)[0].values() for part in parts}
        gone = sorted(self._unnamed(needed, keep_s, now_s), reverse=True)
        for path in gone:  # what lies in another one goes before that
            self._fs.delete_dir(path)
        return len(gone)

    def _unnamed(self, needed: set[str], keep_s: float, now_s: float) -> Iterator[str]:
        """Folders of parts that are old and not needed, nor is anything in them."""
        found = self._fs.get_file_info(fs.FileSelector(self._folder, recursive=True))
        files = [info for info in found if info.type == fs.FileType.File]
        newest: dict[str, float] = {}
        for info in files:
            folder = info.path.rpartition("/")[0]
            newest[folder] = min(newest.get(folder, math.inf), _age_s(info, now_s))
        for folder, age_s in newest.items():
            name = folder.removeprefix(f"{self._folder}/")
            is_needed = any(one == name or one.startswith(f"{name}/") for one in needed)
            if "/commit=" in name and not is_needed and age_s > keep_s:
                yield folder

    def _put(self, snapshot: Snapshot) -> bool:
        """Put a manifest where none is; False if there is one."""
        text = json.dumps(
            {
                "store": FORMAT,
                "number": snapshot.number,
                "batch": snapshot.batch,
                "tables": {
                    name: [{"folder": part.folder, "commit": part.commit} for part in parts]
                    for name, parts in snapshot.tables.items()
                },
                "positions": snapshot.positions,
            },
            indent=1,
        ).encode()
        path = self._manifest(snapshot.number)
        if self._local:
            return _link(Path(path), text)
        if self._fs.get_file_info(path).type != fs.FileType.NotFound:
            return False
        with self._fs.open_output_stream(path) as file:
            file.write(text)
        return True

    def _manifest(self, number: int) -> str:
        return f"{self._folder}/manifest/{number:012d}.json"


def _writer_of(frame: DataFrame) -> DataFrameWriter:
    return frame.write.mode("overwrite").option("parquet.block.size", str(GROUP_BYTES))


def _by_day(rows: pa.Table) -> Iterator[tuple[str, pa.Table]]:
    """The rows of each day, with the name of the day's folder."""
    dates = pc.cast(rows.column("t"), pa.date32())
    for date in sorted(pc.unique(dates).to_pylist()):
        yield f"date={date.isoformat()}", rows.filter(pc.equal(dates, pa.scalar(date)))


def _age_s(info: fs.FileInfo, now_s: float) -> float:
    """How long ago a file was written."""
    return now_s - (info.mtime_ns or 0) / 1e9


def _parts(folders: str | Sequence[str], commit: int) -> list[Part]:
    """Parts of one or several folders."""
    names = [folders] if isinstance(folders, str) else folders
    return [Part(name, commit) for name in names]


def _link(path: Path, text: bytes) -> bool:
    """Write a file, synced, under a name that nobody has; False if somebody has it."""
    made = path.with_name(f".{path.name}.{os.getpid()}")
    with made.open("wb") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    try:
        path.hardlink_to(made)
    except FileExistsError:
        return False
    finally:
        made.unlink()
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
    return True
