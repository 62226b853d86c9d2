"""Pictures on this node's disk: each a file, named by the hash of what it holds.

Written aside, made sure of on the disk, then renamed: a file that is there under its name is whole.
What is read is compared with its name; a file that the disk has damaged is set aside, and the node
takes the picture from another one.
"""

from __future__ import annotations

import logging
import os
import secrets
import time
from collections.abc import Iterator
from pathlib import Path

from groupcore.aio.private import make_folder, open_file
from server.pictures.naming import hash_of, is_hash

logger = logging.getLogger("server")

FOLDER = "blobs"
"""In the node's data folder."""


class Store:
    """The files of one node. Everything here waits for the disk: call it in a thread."""

    def __init__(self, data: Path) -> None:
        self.folder = data / FOLDER

    def path(self, name: str) -> Path:
        """Where the picture of this hash is, or would be."""
        assert is_hash(name), "names come from outside: check them there"
        return self.folder / name[:2] / name[2:]

    def has(self, name: str) -> bool:
        """Whether it is there."""
        return self.path(name).is_file()

    def write(self, data: bytes) -> str:
        """Keep a picture; its name, once it is on the disk. OSError."""
        name = hash_of(data)
        path = self.path(name)
        if self.read(name) is not None:
            os.utime(path)  # it is wanted anew: `stray` leaves it alone
            return name
        make_folder(path.parent)
        aside = path.with_name(f"{secrets.token_hex(8)}.part")
        try:
            with open_file(aside, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            aside.replace(path)
        finally:
            aside.unlink(missing_ok=True)
        _sync(path.parent)
        _sync(self.folder)
        return name

    def read(self, name: str) -> bytes | None:
        """The picture; None when it is not there, or not what its name says."""
        path = self.path(name)
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            return None
        if hash_of(data) == name:
            return data
        logger.error("%s is damaged; it is taken from another node", path)
        path.replace(path.with_suffix(".damaged"))
        return None

    def names(self) -> Iterator[str]:
        """All that are there."""
        for path in self.folder.glob("??/*"):
            name = path.parent.name + path.name
            if is_hash(name):
                yield name

    def sweep(self, wanted: frozenset[str], older_s: float) -> int:
        """Take out what nobody wants and nobody has written for so long; how many that were."""
        before = time.time() - older_s
        count = 0
        for path in list(self.folder.glob("??/*")):
            name = path.parent.name + path.name
            if name not in wanted and path.stat().st_mtime < before:
                path.unlink(missing_ok=True)
                count += 1
        return count


def _sync(folder: Path) -> None:
    """Have the names in a folder on the disk."""
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
