"""What a node keeps in its folder of its own doings, so that it can say it after a restart.

A line of JSON each time that something has changed; the last one of an id counts. It is this node's
own memory: nothing of the order rests on it, so what is damaged is passed over, and a disk that
takes no more costs the history only.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from groupcore.aio.box import Box
from groupcore.aio.errors import BrokenSealError, RestKeyError
from groupcore.aio.private import make_folder, open_file
from server.rest import Seals
from server.sealed_lines import has_plain, open_line, seal_line, write_lines

logger = logging.getLogger("server")

STALE_MAX = 500
"""With so many lines that do not count any more the file is written anew."""

Record = dict[str, Any]


class Shelf:
    """One file of a node; each record has an `id`. `seals`: of the node's folder, if it has any."""

    def __init__(self, path: Path, seals: Seals | None = None) -> None:
        self._path = path
        self._lines = 0
        self._is_cut = False
        """The node's end has cut the last line short, so the next one begins a line of its own."""
        self._writing = asyncio.Lock()
        self._seals = seals
        if seals is not None:
            seals.later(path.name, self.seal_plain)

    @property
    def _box(self) -> Box | None:
        return None if self._seals is None else self._seals.box(self._path.name)

    def load(self) -> dict[str, Record]:
        """The newest record of each by its id, in the order in which they were begun."""
        found: dict[str, Record] = {}
        try:
            data = self._path.read_bytes()
        except OSError:
            return found
        lines = data.split(b"\n")
        self._is_cut = bool(lines[-1])
        self._lines = len(lines) - (not lines[-1])
        for number, line in enumerate(lines[: self._lines]):
            try:
                text = open_line(self._box, number, line).decode("utf-8", "replace")
                record = json.loads(text)
            except (ValueError, BrokenSealError, RestKeyError):
                continue  # damaged, or cut short by the node's end
            if isinstance(record, dict) and isinstance(record.get("id"), str):
                found[record["id"]] = record
        return found

    async def put(self, record: Record, kept: Mapping[str, Record]) -> None:
        """Add a record; `kept` are the newest of all that are remembered, this one's too."""
        async with self._writing:
            try:
                if self._lines >= len(kept) + STALE_MAX:
                    await asyncio.to_thread(self._write_anew, list(kept.values()))
                    self._lines = len(kept)
                else:
                    await asyncio.to_thread(self._append, record)
                    self._lines += 1
            except OSError as error:
                logger.warning("%s: what was done here is not kept: %s", self._path, error)

    async def seal_plain(self) -> int:
        """Seal lines that were written before there was a key; OSError, BrokenSealError."""
        async with self._writing:
            box = self._box
            if box is not None and self._path.exists() and has_plain(self._path):
                await asyncio.to_thread(self._seal, box)
        return 0

    def _seal(self, box: Box) -> None:
        lines = []
        for number, line in enumerate(self._path.read_bytes().splitlines()):
            try:
                lines.append(open_line(box, number, line))
            except BrokenSealError:
                lines.append(b"")  # passed over when it is read, as it would be as it stands
        write_lines(self._path, lines, box)
        self._lines, self._is_cut = len(lines), False

    def _append(self, record: Record) -> None:
        make_folder(self._path.parent)
        line = seal_line(self._box, self._lines, json.dumps(record).encode("ascii"))
        with open_file(self._path, "ab") as file:
            file.write((b"\n" if self._is_cut else b"") + line + b"\n")
            file.flush()
            os.fsync(file.fileno())
        self._is_cut = False

    def _write_anew(self, records: Iterable[Record]) -> None:
        lines = (json.dumps(record).encode("ascii") for record in records)
        write_lines(self._path, lines, self._box)
        self._is_cut = False
