"""The backups that a node keeps: what was deleted for good is erased in them, too."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from pathlib import Path

from groupcore.aio.rest_key import RestKey
from server.backup.keys import erase
from server.backup.sealing import MAGIC, backup_key, magic_of
from server.errors import ServerError

logger = logging.getLogger("server")


class KeptBackups:
    """Those in the folder of `--backups`, None without one.

    Backups that have no keys of their own for documents (taken without a key file, or by a former
    version) stay as they are: they have what they have until they are deleted.
    """

    def __init__(self, folder: Path | None, rest: RestKey | None) -> None:
        self._folder = folder
        self._rest = rest
        self._said: set[str] = set()

    async def erase(self, documents: Sequence[str]) -> bool:
        """Have nobody be able to read these in any backup; whether that is done. OSError."""
        return await asyncio.to_thread(self._erase, documents)

    def _erase(self, documents: Sequence[str]) -> bool:
        is_done = True
        for path in sorted(self._folder.glob("*.tar")) if self._folder is not None else ():
            if magic_of(path) != MAGIC:
                continue
            try:
                count = erase(path, backup_key(path, self._rest), documents)
            except ServerError as error:
                is_done = False
                self._say(f"what was deleted for good cannot be erased in {path}: {error}")
            else:
                if count:
                    logger.info("%d deleted documents are erased in the backup %s", count, path)
        return is_done

    def _say(self, text: str) -> None:
        """Once for each backup: it is tried every second."""
        if text not in self._said:
            self._said.add(text)
            logger.warning("%s", text)
