"""The giving side of a prefetch: backups on connections of their own, and the log of what follows.

A joiner is no member yet, so it asks over TCP (`aio.transfer`, sealed with the cluster's key), each
time by a name of a few bytes:

    prepare SESSION    begin to log, begin a backup; again: how far it is, and "I am still here"
    backup SESSION     the backup as a file
    done SESSION       the log was applied: forget this joiner

A session that is not heard of for `session_s` is forgotten, too; with the last one the log goes.

Source. State transfer paper, 3.4.4: GET_BACKUP on a socket of its own, and its two files.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from groupcore.aio.states import FileSource
from groupcore.aio.transfer import TransferServer
from groupcore.aio.transfer_keys import Secret
from groupcore.blocks.prefetch_database import PrefetchDatabase
from groupcore.blocks.update_log import UpdateLog
from groupcore.blocks.values import pack_value
from groupcore.transfer.sources import BytesSource, StateSource

log = logging.getLogger(__name__)

SESSIONS_MAX = 4
"""Joiners that are served at the same time; each costs a copy of the database on disk."""
SESSION_BYTES_MAX = 32


@dataclass(slots=True)
class Session:
    """One joiner: its backup, once that is made, and when it is forgotten."""

    path: Path
    expires: asyncio.TimerHandle
    making: asyncio.Task[None] | None = None
    backup: FileSource | None = None


class BackupService:
    """Serves joiners while there is a `database` that is complete (None: it is not)."""

    def __init__(
        self, node_id: str, secret: Secret, path: Path, log_bytes_max: int, session_s: float
    ) -> None:
        self.server = TransferServer(secret, self.find)
        self.numbers: Counter[str] = Counter()
        self.log: UpdateLog | None = None
        self.sessions: dict[bytes, Session] = {}
        self.database: PrefetchDatabase | None = None
        self._node_id = node_id
        self._path = path
        self._log_bytes_max = log_bytes_max
        self._session_s = session_s

    def find(self, name: bytes) -> StateSource | None:
        """Answer a caller; None refuses."""
        verb, _, session = name.partition(b" ")
        if not 0 < len(session) <= SESSION_BYTES_MAX:
            return None
        if verb == b"prepare":
            return self._prepare(session)
        if verb == b"backup" and session in self.sessions:
            return self.sessions[session].backup
        if verb == b"done" and session in self.sessions:
            self._end(session)
            return BytesSource(b"")
        return None

    def on_request(self, position: int, request: bytes) -> None:
        """Log a request that was applied, if somebody will ask for it."""
        if self.log is not None and not self.log.append(position, request):
            log.warning("the update log is too large; %d joiners begin again", len(self.sessions))
            self.numbers["log_overflows"] += 1
            self.stop()

    def stop(self) -> None:
        """Forget all joiners; nobody can go on from a backup of before."""
        for session in list(self.sessions):
            self._end(session)

    def close(self) -> None:
        """Listen no more."""
        self.stop()
        self.server.close()

    def _prepare(self, name: bytes) -> StateSource | None:
        session = self.sessions.get(name)
        if session is None:
            if self.database is None or len(self.sessions) >= SESSIONS_MAX:
                self.numbers["refused"] += 1
                return None
            session = self._begin(name, self.database)
        session.expires.cancel()
        session.expires = self._expiry(name)
        return BytesSource(pack_value([session.backup is not None, self._node_id]))

    def _begin(self, name: bytes, database: PrefetchDatabase) -> Session:
        """Begin to log, then copy the database: what the copy lacks is in the log."""
        if self.log is None:
            path = self._path.with_name(f"{self._path.name}.updates")
            self.log = UpdateLog(path, database.epoch, database.position, self._log_bytes_max)
        database.commit()
        self.numbers["backups"] += 1
        path = self._path.with_name(f"{self._path.name}.backup-{self.numbers['backups']}")
        session = self.sessions[name] = Session(path, self._expiry(name))
        session.making = asyncio.get_running_loop().create_task(self._make(name, session, database))
        return session

    async def _make(self, name: bytes, session: Session, database: PrefetchDatabase) -> None:
        loop = asyncio.get_running_loop()
        try:
            session.path.unlink(missing_ok=True)
            await loop.run_in_executor(None, database.back_up, session.path)
            session.backup = FileSource(session.path)
        except Exception:
            log.exception("no backup was made at %s", session.path)
            self._end(name)
        if self.sessions.get(name) is not session:
            self._delete(session)  # it was forgotten meanwhile

    def _expiry(self, name: bytes) -> asyncio.TimerHandle:
        return asyncio.get_running_loop().call_later(self._session_s, self._expire, name)

    def _expire(self, name: bytes) -> None:
        log.warning("a joiner that took a backup is silent; its backup and log are deleted")
        self.numbers["joiners_lost"] += 1
        self._end(name)

    def _end(self, name: bytes) -> None:
        """Forget a joiner; with the last one the log is deleted."""
        session = self.sessions.pop(name, None)
        if session is not None:
            session.expires.cancel()
            self._delete(session)
        if not self.sessions and self.log is not None:
            self.log.close()
            self.log = None

    @staticmethod
    def _delete(session: Session) -> None:
        if session.backup is not None:
            session.backup.close()
        session.path.unlink(missing_ok=True)
