"""The data key of a folder: random, drawn once, kept in the folder under the key file's key.

It stands twice, in `data.key` and `data.key.copy`, each written whole or not at all: whoever loses
both has lost all that is sealed. Beside the key the wrapped line says of which kinds of files all
is sealed, so that nobody who can write to the disk puts a plain record back there.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path

from groupcore.aio.box import KEY_BYTES, Box
from groupcore.aio.errors import BrokenSealError, RestKeyError, StorageError
from groupcore.aio.private import make_folder
from groupcore.aio.rest_key import RestKey

NAMES = ("data.key", "data.key.copy")


def has_data_key(folder: Path) -> bool:
    """Whether something in the folder is sealed."""
    return any((folder / name).exists() for name in NAMES)


def refuse_without_key(folder: Path) -> None:
    """RestKeyError where the folder is sealed; for who has no key file."""
    if has_data_key(folder):
        raise RestKeyError(f"what is in {folder} is sealed; give the file of its key")


class DataKey:
    """One folder's; for one process that writes. `whole`: the kinds of which all is sealed.

    RestKeyError, BrokenSealError, StorageError from the constructor, which writes nothing where
    there is a data key; without one it makes one.
    """

    def __init__(self, folder: Path, rest: RestKey) -> None:
        self.folder = folder
        self._rest = rest
        self._is_new = True
        """Both files are there, wrapped by the newest key."""
        self.whole: frozenset[str] = frozenset()
        if has_data_key(folder):
            self._load()
        else:
            self._key = os.urandom(KEY_BYTES)
            self._write()

    def box(self, kind: str) -> Box:
        """What seals records of this kind in the folder."""
        return Box(self._key, kind, lambda: kind not in self.whole)

    def note_whole(self, *kinds: str) -> None:
        """All of these is sealed: from here on plain records of them are damage. StorageError."""
        if not self.whole.issuperset(kinds):
            self.whole |= set(kinds)
            self._write()

    def renew(self) -> bool:
        """Have the newest key of the key file wrap it; whether another one had. StorageError.

        A power cut leaves each of the two files as it was or as it shall be, and the key file has
        both keys until somebody takes the former one out.
        """
        was_new = self._is_new
        if not was_new:
            self._write()
        return not was_new

    def _load(self) -> None:
        """The first of the two files that can be read; the reason of the first, where none can."""
        errors: list[Exception] = []
        found = None
        for name in NAMES:
            try:
                line = (self.folder / name).read_bytes()
                secret, is_newest = self._rest.unwrap(line, self.folder / name)
                found = found or secret
                self._is_new = self._is_new and is_newest
            except (OSError, BrokenSealError, RestKeyError) as error:
                errors.append(error)
                self._is_new = False
        if found is None:
            wrong = [error for error in errors if isinstance(error, RestKeyError)]
            if wrong:  # the other copy may be damaged; this one says what is needed
                raise wrong[0]
            raise BrokenSealError(f"{self.folder / NAMES[0]} and its copy cannot be read")
        read = json.loads(found)
        self._key, self.whole = bytes.fromhex(read["key"]), frozenset(read["whole"])

    def _write(self) -> None:
        secret = json.dumps({"key": self._key.hex(), "whole": sorted(self.whole)}).encode()
        try:
            make_folder(self.folder)
            for name in NAMES:
                write_whole(self.folder / name, self._rest.wrap(secret) + b"\n")
        except OSError as error:
            raise StorageError(f"{self.folder / NAMES[0]} cannot be written: {error}") from None
        self._is_new = True


def write_whole(path: Path, data: bytes) -> None:
    """Have the file hold this, on the disk, or what it held before; OSError."""
    fresh = path.with_name(f".{path.name}.new")
    with suppress(FileNotFoundError):
        fresh.unlink()
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
