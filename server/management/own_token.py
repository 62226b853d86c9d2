"""The token in a node's folder, by which commands at its machine act: new in each life of the node.

Idea. Who can read the folder has all of the node anyway, so who can read this file may do all. A
token of a former life is good for nothing: a program that has taken the address of a dead node is
told nothing that is of use at the next one.
"""

from __future__ import annotations

import fcntl
import logging
import os
from contextlib import suppress
from pathlib import Path

from groupcore.aio.private import make_folder, open_file
from server.accounts.secrets import SECRET_MAX, digest_of, equal, new_secret
from server.management.runtime import Record, clear, forget, tell
from server.management.tokens import KIND

FILE = "admin.token"
LOCK = "admin.lock"

logger = logging.getLogger("server")


class OwnToken:
    """Of one life of the node with this folder. `address`: where it listens, empty: nowhere."""

    def __init__(self, folder: Path, address: str) -> None:
        self._folder = folder
        self._address = address
        self._lock: int | None = None
        self._record: Record | None = None
        self._told: Path | None = None

    @property
    def is_held(self) -> bool:
        """Whether the folder is this node's, as far as the management address is concerned."""
        return self._lock is not None

    def begin(self) -> str:
        """Write it; its digest, empty where it cannot be written.

        A node whose folder another one has, or that is full, goes on: it says so, and who has
        other credentials may use them.
        """
        try:
            make_folder(self._folder)
            lock = os.open(self._folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                os.close(lock)
                raise
            self._lock = lock
            return self._written()
        except OSError as error:
            logger.warning("commands find no credentials in %s: %s", self._folder, error)
            return ""

    def _written(self) -> str:
        secret = new_secret(KIND)
        path = self._folder / FILE
        aside = path.with_suffix(".new")
        aside.unlink(missing_ok=True)
        with open_file(aside, "w") as file:
            file.write(secret + "\n")
        aside.rename(path)
        self._record = Record(str(self._folder.resolve()), digest_of(secret))
        if self._address:
            self._told = tell(self._address, self._record)
            if self._told is not None:
                clear(self._told.parent, lambda record: bool(token_of(record)))
            if self._told is None:
                logger.warning("commands need --token-file: there is no private runtime folder")
        return self._record.digest

    def end(self) -> None:
        """The node leaves: nobody finds it any more."""
        if self._record is not None:
            if self._told is not None:
                forget(self._told, self._record)
            with suppress(OSError):
                (self._folder / FILE).unlink()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def token_of(record: Record) -> str:
    """The token of the folder, if it is the one that the record was made for; else empty."""
    try:
        token = read_token(Path(record.data, FILE))
    except (OSError, ValueError):
        return ""
    return token if equal(digest_of(token), record.digest) else ""


def read_token(path: Path) -> str:
    """The token of a file; OSError, and ValueError for what is none."""
    with path.open("rb") as file:
        secret = file.read(SECRET_MAX + 2).decode("ascii").strip()
    if not 0 < len(secret) <= SECRET_MAX or not secret.isprintable() or " " in secret:
        raise ValueError("it holds no token")
    return secret
