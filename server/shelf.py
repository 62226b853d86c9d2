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
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from groupcore.aio.private import make_folder, open_file

logger = logging.getLogger("server")

STALE_MAX = 500
"""With so many lines that do not count any more the file is written anew."""

Record = dict[str, Any]


class Shelf:
    """One file of a node; each record has an `id`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lines = 0
        self._writing = asyncio.Lock()

    def load(self) -> dict[str, Record]:
        """The newest record of each by its id, in the order in which they were begun."""
        found: dict[str, Record] = {}
        try:
            text = self._path.read_text(encoding="utf-8", errors="replace")
        except OSError:
            return found
        for line in text.splitlines():
            self._lines += 1
            try:
                record = json.loads(line)
            except ValueError:
                continue  # the node's end cut it short
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

    def _append(self, record: Record) -> None:
        make_folder(self._path.parent)
        with open_file(self._path, "a") as file:
            file.write(f"{json.dumps(record)}\n")
            file.flush()
            os.fsync(file.fileno())

    def _write_anew(self, records: list[Record]) -> None:
        fresh = self._path.with_suffix(".new")
        with open_file(fresh, "w") as file:
            file.writelines(f"{json.dumps(record)}\n" for record in records)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(self._path)
