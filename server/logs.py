"""A node's log from outside: `verify-log` and `dump-log`.

A running node's log is read beside it, as of one commit: nobody waits for who reads.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sqlite3
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path

from groupcore.aio.commits import lock_folder
from groupcore.aio.log_database import LogStore
from groupcore.aio.log_records import LOG, VERSIONS, DamagedError
from groupcore.aio.log_store import FILES
from groupcore.aio.read_log import ReadLog
from groupcore.errors import GroupcoreError
from groupcore.view import Address
from server.command_line import OneLineParser, add_credentials
from server.dump import LogReader, Reaches
from server.errors import (
    DamagedStoreError,
    IdInUseProblem,
    ServerError,
    SettingsProblem,
    VersionProblem,
)
from server.folder import check_folder
from server.log_applied import told_of
from server.outcomes import Outcomes
from server.rebuilding import kind_of
from server.rest import sealed_by, told

HISTORY = "/admin/log"
PIECE_BYTES = 1 << 16


def path_of(folder: Path) -> Path:
    """The log in a folder; SettingsProblem where there is none."""
    path = folder / FILES[0]
    check_folder(folder)
    if not path.is_file():
        raise SettingsProblem(f"{folder} holds no log; name a node's --data folder")
    return path


@contextmanager
def opened(folder: Path) -> Iterator[LogStore]:
    """The log in a folder that has one, for this program alone."""
    path = path_of(folder)
    try:
        lock = lock_folder(folder)
    except BlockingIOError:
        raise IdInUseProblem(f"a node uses {folder}; stop it first") from None
    try:
        store = LogStore(path, sealed_by(folder).box(LOG))
        try:
            with told():
                yield store
        except (sqlite3.Error, DamagedError) as error:
            raise DamagedStoreError(f"the log {path} is damaged: {error}") from None
        finally:
            store.close_untouched()
    finally:
        os.close(lock)


def check_version(path: Path, version: int) -> None:
    """VersionProblem where another version has written the log."""
    if version not in VERSIONS:
        known = " and ".join(map(str, VERSIONS))
        raise VersionProblem(f"{path} has format {version}, this program reads {known}")


def read_parts(store: LogStore) -> list[bytes]:
    """All parts of the log, every checksum checked."""
    version = store.database.execute("PRAGMA user_version").fetchone()[0]
    check_version(store.path, version)
    store.verify()
    store.get_record()
    store.get_incarnation()
    return store.read()


def verify_log(folder: Path) -> None:
    """Check every checksum, and do what the log says as a restart does.

    Says what is set aside; DamagedStoreError names what is wrong.
    """
    with opened(folder) as store:
        parts = read_parts(store)
        owner = f"node {store.owner('node')} of {store.owner('cluster')}"
    try:
        told = told_of(parts)
    except (GroupcoreError, ValueError, TypeError, LookupError) as error:
        raise DamagedStoreError(f"the log {store.path} cannot be done again: {error!r}") from None
    print(f"good: {owner}, {len(parts)} parts up to {store.position}")
    for line in told:
        print(line)


def dump_log(folder: Path, groups: Sequence[str] = (), recorded: Reaches | None = None) -> None:
    """The history of the groups of these names as JSON lines; what is damaged is named first.

    `recorded`: how far the node is that has the folder, if one does.
    """
    path = path_of(folder)
    try:
        with told(), ReadLog(path, sealed_by(folder).box(LOG)) as log:
            check_version(path, log.version)
            log.check()
            write_rows(log, groups, recorded)
    except (sqlite3.Error, DamagedError) as error:
        raise DamagedStoreError(f"the log {path} is damaged: {error}") from None
    except (GroupcoreError, ValueError, TypeError, KeyError) as error:
        raise DamagedStoreError(f"the log {path} does not say what it should: {error!r}") from None


def write_rows(log: ReadLog, groups: Sequence[str], recorded: Reaches | None) -> None:
    """To the standard output."""

    def wanted(name: str) -> bool:
        return not groups or any(fnmatchcase(name, one) for one in groups)

    for row in Outcomes(kind_of, wanted).rows(LogReader(recorded).entries(log)):
        sys.stdout.write(json.dumps(row, ensure_ascii=False, default=repr) + "\n")
    sys.stdout.flush()


def make_parser() -> argparse.ArgumentParser:
    """What `dump-log` takes."""
    parser = OneLineParser(
        prog="python -m server dump-log",
        description="Print the history of groups as JSON lines; docs/operations.md has the fields.",
    )
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("folder", type=Path, nargs="?", help="a node's --data folder")
    source.add_argument("--admin", help="or a running node's management address")
    parser.add_argument(
        "--group", action="append", default=[], help="e.g. 'doc/3f0c…/*'; several times; else all"
    )
    add_credentials(parser)
    parser.add_argument("--recorded", action="store_true", help=argparse.SUPPRESS)
    return parser


def run_dump(arguments: Sequence[str]) -> None:
    """Print the history, of a folder or of a running node."""
    given = make_parser().parse_args(list(arguments))
    if given.admin is not None:
        from server.history_client import copy_history  # aiohttp, which a node begins without
        from server.management_client import way_of

        asyncio.run(copy_history(way_of(given), given.group))
        return
    recorded = reaches_of(sys.stdin.read()) if given.recorded else None
    dump_log(given.folder, given.group, recorded)


def reaches_of(text: str) -> Reaches:
    """How far a node is with each stream, as it says it to its child (`server.routes.history`)."""
    return {Address(name, life): frame for name, life, frame in json.loads(text)}


COMMANDS = ("dump-log", "verify-log")


def run_command(name: str, arguments: list[str]) -> None:
    """One of the commands."""
    try:
        if name == "dump-log":
            run_dump(arguments)
            return
        if len(arguments) != 1:
            raise SettingsProblem(f"{name} needs one folder: python -m server {name} DIR")
        verify_log(Path(arguments[0]))
    except BrokenPipeError:
        raise ServerError("the reader of the output has gone") from None
