"""A node's log from outside: `verify-log` and `dump-log`. The node must not run meanwhile."""

from __future__ import annotations

import json
import os
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from groupcore.aio.commits import lock_folder
from groupcore.aio.log_store import FILES, VERSION, DamagedError, LogStore
from groupcore.errors import GroupcoreError
from server.dump import LogReader
from server.errors import (
    DamagedStoreError,
    IdInUseProblem,
    ServerError,
    SettingsProblem,
    VersionProblem,
)
from server.folder import check_folder


@contextmanager
def opened(folder: Path) -> Iterator[LogStore]:
    """The log in a folder that has one, for this program alone."""
    path = folder / FILES[0]
    check_folder(folder)
    if not path.is_file():
        raise SettingsProblem(f"{folder} holds no log; name a node's --data folder")
    try:
        lock = lock_folder(folder)
    except BlockingIOError:
        raise IdInUseProblem(f"a node uses {folder}; stop it first") from None
    try:
        store = LogStore(path)
        try:
            yield store
        except (sqlite3.Error, DamagedError) as error:
            raise DamagedStoreError(f"the log {path} is damaged: {error}") from None
        finally:
            store.close()
    finally:
        os.close(lock)


def read_parts(store: LogStore) -> list[bytes]:
    """All parts of the log, every checksum checked."""
    version = store.database.execute("PRAGMA user_version").fetchone()[0]
    if version != VERSION:
        raise VersionProblem(f"{store.path} has format {version}, this program reads {VERSION}")
    store.verify()
    store.get_record()
    return store.read()


def verify_log(folder: Path) -> None:
    """Check every checksum; DamagedStoreError names what is wrong."""
    with opened(folder) as store:
        parts = read_parts(store)
        owner = f"node {store.owner('node')} of {store.owner('cluster')}"
    print(f"good: {owner}, {len(parts)} parts up to {store.position}")


def dump_log(folder: Path) -> None:
    """Every message that the log holds, as JSON lines; what is damaged is named first."""
    with opened(folder) as store:
        parts = read_parts(store)
        try:
            for row in LogReader().rows(parts):
                sys.stdout.write(json.dumps(row, ensure_ascii=False, default=repr) + "\n")
        except (GroupcoreError, ValueError, TypeError, KeyError) as error:
            raise DamagedStoreError(
                f"the log {store.path} does not say what it should: {error!r}"
            ) from None


COMMANDS = {"dump-log": dump_log, "verify-log": verify_log}


def run_command(name: str, arguments: list[str]) -> None:
    """One of the commands, with the folder as its one argument."""
    if len(arguments) != 1:
        raise SettingsProblem(f"{name} needs one folder: python -m server {name} DIR")
    try:
        COMMANDS[name](Path(arguments[0]))
    except BrokenPipeError:
        raise ServerError("the reader of the output has gone") from None
