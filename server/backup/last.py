"""When this node took its last whole backup: a small file in its folder, read again at a start."""

from __future__ import annotations

import json
import logging
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from groupcore.aio.private import open_file

logger = logging.getLogger("server")

NAME: Final = "backup-last.json"


class LastBackup:
    """`at_s`: when, Unix time; None: none was taken here since the folder was made."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / NAME
        self.at_s: float | None = None
        with suppress(OSError, ValueError, KeyError, TypeError):
            self.at_s = float(json.loads(self._path.read_text(encoding="utf-8"))["at_s"])

    def note(self) -> None:
        """One has just become whole."""
        self.at_s = time.time()
        fresh = self._path.with_name(NAME + ".new")
        try:
            with open_file(fresh, "w") as file:
                file.write(json.dumps({"at_s": round(self.at_s, 3)}) + "\n")
                file.flush()
                os.fsync(file.fileno())
            fresh.rename(self._path)
        except OSError as error:
            logger.error("%s cannot be written: %s", self._path, error.strerror)
