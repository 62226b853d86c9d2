"""What seals a node's folder, and how programs beside the node find its key.

A node has one `Seals`; without `--data-key-file` its boxes are all None, and nothing is sealed.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from groupcore.aio.box import Box
from groupcore.aio.data_key import NAMES, DataKey, has_data_key, refuse_without_key
from groupcore.aio.errors import BrokenSealError, StorageError
from groupcore.aio.log_records import SEALED_VERSION, version_of
from groupcore.aio.log_store import FILES, LogStorage
from groupcore.aio.rest_key import RestKey
from groupcore.errors import KeyFileError
from server.errors import DamagedStoreError, KeyProblem, SettingsProblem

logger = logging.getLogger("server")

FLAG, VARIABLE = "--data-key-file", "GROUPCORE_DATA_KEY_FILE"
Sealer = Callable[[], Awaitable[int]]
"""Seals what is plain of one kind of file; how many records still are not sealed."""


class Seals:
    """One folder's. KeyProblem, DamagedStoreError from the constructor, which writes nothing.

    `plain`: of each kind how many records are not sealed, where there are any.
    """

    def __init__(self, folder: Path, rest: RestKey | None = None) -> None:
        self.rest = rest
        self.plain: dict[str, int] = {}
        self._folder = folder
        self._key: DataKey | None = None
        self._storage: LogStorage | None = None
        self._boxes: dict[str, Box] = {}
        self._sealers: dict[str, Sealer] = {}
        with told():
            if rest is None:
                refuse_without_key(folder)
            elif has_data_key(folder):
                self._key = DataKey(folder, rest)
            elif version_of(folder / FILES[0]) == SEALED_VERSION:
                raise BrokenSealError(f"{folder / NAMES[0]} and its copy are missing")

    def follow(self, storage: LogStorage | None) -> None:
        """Use the data key that the log's storage has, or makes, once it is open."""
        self._storage = storage

    @property
    def data_key(self) -> DataKey | None:
        """What seals the folder; None without a key, and before there is one in the folder."""
        key = None if self._storage is None else self._storage.data_key
        return key or self._key

    def box(self, kind: str) -> Box | None:
        """What seals files of this kind; None where nothing does."""
        key = self.data_key
        if key is None:
            return None
        if kind not in self._boxes:
            self._boxes[kind] = key.box(kind)
        return self._boxes[kind]

    def later(self, kind: str, sealer: Sealer) -> None:
        """Have `seal_plain` do this, too."""
        self._sealers[kind] = sealer

    async def seal_plain(self) -> None:
        """Seal what was written before there was a key; what cannot be is said, and done later."""
        key = self.data_key
        if key is None:
            return
        for kind, sealer in self._sealers.items():
            if kind in key.whole:
                continue
            try:
                self.plain[kind] = await sealer()
            except (OSError, StorageError) as error:
                logger.warning("%s: what was written before it was sealed stays: %s", kind, error)
        whole = [kind for kind, left in self.plain.items() if not left]
        try:
            await asyncio.to_thread(key.note_whole, *whole)
        except StorageError as error:
            logger.warning("%s", error)

    def shown(self) -> dict[str, object] | None:
        """For who operates the node; None: nothing is sealed."""
        if self.rest is None:
            return None
        parts = 0 if self._storage is None else self._storage.plain_parts
        plain = {"log": parts, **self.plain}
        return {"key": self.rest.newest, "plain": {kind: n for kind, n in plain.items() if n}}


@contextmanager
def told() -> Iterator[None]:
    """Errors of keys and seals as those that end a program: KeyProblem, DamagedStoreError."""
    try:
        yield
    except KeyFileError as error:  # RestKeyError is one
        raise KeyProblem(f"{FLAG}: {error}") from None
    except BrokenSealError as error:
        raise DamagedStoreError(f"{error}; put it back from a copy, or move the folder away") from (
            None
        )


def read_rest(path: Path | str | None) -> RestKey | None:
    """The key file of this name; None where none is given. KeyProblem."""
    if not path:
        return None
    with told():
        return RestKey(path)


def given_rest() -> RestKey | None:
    """The key file that the environment names, for programs beside a node; KeyProblem."""
    return read_rest(os.environ.get(VARIABLE))


def sealed_by(folder: Path) -> Seals:
    """A folder's seals, for programs beside a node; KeyProblem, DamagedStoreError."""
    return Seals(folder, given_rest())


def key_flag(path: Path | None) -> list[str]:
    """The flag of the key file, for a program that a node starts."""
    return [] if path is None else [FLAG, str(path)]


@contextmanager
def key_flag_taken(arguments: list[str]) -> Iterator[list[str]]:
    """The arguments without the key file's flag, which then stands in the environment.

    So each program beside a node takes the setting as the node does. SettingsProblem.
    """
    rest, before = list(arguments), os.environ.get(VARIABLE)
    for at, word in enumerate(rest):
        flag, equals, value = word.partition("=")
        if flag == FLAG:
            if not equals and at + 1 == len(rest):
                raise SettingsProblem(f"{FLAG} needs a value")
            os.environ[VARIABLE] = value if equals else rest[at + 1]
            del rest[at : at + (1 if equals else 2)]
            break
    try:
        yield rest
    finally:
        if before is None:
            os.environ.pop(VARIABLE, None)
        else:
            os.environ[VARIABLE] = before
