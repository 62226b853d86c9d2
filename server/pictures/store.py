"""Pictures on this node's disk: each a file, named by the hash of what it holds.

Written aside, made sure of on the disk, then renamed: a file that is there under its name is whole.
What is read is compared with its name; a file that the disk has damaged is set aside, and the node
takes the picture from another one. Where the node's folder is sealed each file is, for its name,
which is the hash of the picture as it is without: who has a picture can tell whether it is there.
"""

from __future__ import annotations

import logging
import os
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from groupcore.aio.box import MAGIC, Box, is_sealed
from groupcore.aio.errors import BrokenSealError, RestKeyError
from groupcore.aio.private import make_folder, open_file
from server.pictures.naming import hash_of, is_hash
from server.rest import Seals

logger = logging.getLogger("server")

FOLDER = "blobs"
"""In the node's data folder."""


class Store:
    """The files of one node. Everything here waits for the disk: call it in a thread."""

    def __init__(self, data: Path, seals: Seals | None = None) -> None:
        self.folder = data / FOLDER
        self._seals = seals

    @property
    def _box(self) -> Box | None:
        return None if self._seals is None else self._seals.box(FOLDER)

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
        self._put(path, data, name)
        _sync(path.parent)
        _sync(self.folder)
        return name

    def _put(self, path: Path, data: bytes, name: str) -> None:
        """Have a whole file there; OSError."""
        box = self._box
        aside = path.with_name(f"{secrets.token_hex(8)}.part")
        try:
            with open_file(aside, "wb") as file:
                file.write(data if box is None else box.seal(data, name.encode("ascii")))
                file.flush()
                os.fsync(file.fileno())
            aside.replace(path)
        finally:
            aside.unlink(missing_ok=True)

    def read(self, name: str) -> bytes | None:
        """The picture; None when it is not there, or not what its name says."""
        path = self.path(name)
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            return None
        opened = self._opened(data, name)
        if opened is not None and hash_of(opened) == name:
            return opened
        logger.error("%s is damaged; it is taken from another node", path)
        path.replace(path.with_suffix(".damaged"))
        return None

    def _opened(self, data: bytes, name: str) -> bytes | None:
        """What was written; None for what is damaged. RestKeyError."""
        box = self._box
        if box is None:
            if is_sealed(data):
                raise RestKeyError(f"the pictures in {self.folder} are sealed; give their key")
            return data
        try:
            return box.open(data, name.encode("ascii"))
        except BrokenSealError:
            return None

    def seal_plain(self, goes_on: Callable[[], bool] = lambda: True) -> int:
        """Seal files of before there was a key, as long as it goes on; how many are plain yet.

        Of what was damaged or cut short, too, which nobody reads. OSError.
        """
        plain = [path for path in self.folder.glob("??/*") if not _begins_sealed(path)]
        left = len(plain)
        for path in plain:
            if not goes_on():
                break
            with suppress(FileNotFoundError):  # swept out meanwhile
                status, name = path.stat(), path.parent.name + path.name
                self._put(path, path.read_bytes(), name)
                os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
            left -= 1
        return left

    def names(self) -> Iterator[str]:
        """All that are there."""
        for path in self.folder.glob("??/*"):
            name = path.parent.name + path.name
            if is_hash(name):
                yield name

    def sweep_all(self, wanted: frozenset[str], older_s: float) -> bool:
        """As `sweep`; whether nothing is left that nobody wants. OSError."""
        self.sweep(wanted, older_s)
        left = {path.parent.name + path.name for path in self.folder.glob("??/*")} - wanted
        if not left and self.folder.is_dir():
            _sync(self.folder)
        return not left

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


def _begins_sealed(path: Path) -> bool:
    """Whether the file is sealed, or is no more."""
    try:
        with path.open("rb") as file:
            return is_sealed(file.read(len(MAGIC)))
    except FileNotFoundError:
        return True


def _sync(folder: Path) -> None:
    """Have the names in a folder on the disk."""
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
