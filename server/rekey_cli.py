"""`python -m server rekey DIR|FILE ...`: have the newest key of the key file wrap what is sealed.

DIR is a stopped node's folder, or one of backups; FILE a backup. The key file has the former key
and, on a line behind it, the new one; nothing else is written anew. What is plain there is sealed.
When it is done everywhere, the former key can be taken out of the file.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sqlite3
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from groupcore.aio.commits import lock_folder
from groupcore.aio.data_key import DataKey, has_data_key
from groupcore.aio.errors import StorageError
from groupcore.aio.log_database import LogStore
from groupcore.aio.log_records import LOG, DamagedError
from groupcore.aio.log_store import FILES
from groupcore.aio.private import open_file
from groupcore.aio.rest_key import RestKey
from server.backup.archive import ABOUT
from server.backup.sealing import Sealing, is_sealed_backup, renew_backup
from server.command_line import OneLineParser
from server.errors import DamagedStoreError, IdInUseProblem, ServerError, SettingsProblem
from server.rest import FLAG, Seals, given_rest, told


def make_parser() -> argparse.ArgumentParser:
    """What the command line takes."""
    parser = OneLineParser(prog="python -m server rekey", description=__doc__)
    parser.add_argument("paths", type=Path, nargs="+", metavar="DIR|FILE")
    return parser


def run_rekey_command(arguments: Sequence[str]) -> None:
    """Do it and print a line for each; ServerError says what is wrong."""
    given = make_parser().parse_args(list(arguments[1:]))
    rest = given_rest()
    if rest is None:
        raise SettingsProblem(f"rekey needs {FLAG}, the file with the former and the new key")
    for path in given.paths:
        if not path.exists():
            raise SettingsProblem(f"there is no {path}")
    for path in given.paths:
        for one in parts_of(path):
            try:
                said = _rekeyed(one, rest)
            except OSError as error:
                raise ServerError(f"{one} cannot be written: {error}") from None
            print(f"{said}: {one}")
    sys.stdout.flush()


def parts_of(path: Path) -> Iterator[Path]:
    """What has a key of its own there: folders with a data key, moved-away ones too, backups."""
    if path.is_file():
        yield path
        return
    if is_node_folder(path):
        yield path
    for below in sorted(path.iterdir()):
        if below.is_dir() and is_node_folder(below):
            yield below
    yield from sorted(path.glob("*.tar"))


def is_node_folder(path: Path) -> bool:
    """Whether a node keeps, or has kept, its log there."""
    return has_data_key(path) or (path / FILES[0]).is_file()


def _rekeyed(path: Path, rest: RestKey) -> str:
    if path.is_dir():
        return _folder(path, rest)
    if is_sealed_backup(path):
        return "wrapped anew" if renew_backup(path, rest) else "as it should be"
    with path.open("rb") as file:
        if file.read(len(ABOUT) + 1) != f"{ABOUT}\0".encode():
            return "no backup, left as it is"
    aside = path.with_name(f"{path.name}.part")
    try:
        with path.open("rb") as plain, open_file(aside, "wb") as file:
            sealing = Sealing(file, rest)
            while piece := plain.read(1 << 20):
                sealing.write(piece)
            sealing.end()
            file.flush()
            os.fsync(file.fileno())
        sealing.write_keys(path)
        shutil.copystat(path, aside)
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)
    return "sealed"


def _folder(folder: Path, rest: RestKey) -> str:
    """Wrap the data key anew, and seal the log; the node seals the rest when it starts."""
    try:
        lock = lock_folder(folder)
    except BlockingIOError:
        raise IdInUseProblem(f"a node uses {folder}; stop it first") from None
    try:
        with told():
            try:
                key = Seals(folder, rest).data_key or DataKey(folder, rest)
                was_other = key.renew()
                sealed = LOG not in key.whole and (folder / FILES[0]).is_file()
                if sealed:
                    _seal_log(folder, key)
            except StorageError as error:
                raise DamagedStoreError(str(error)) from None
    finally:
        os.close(lock)
    return "sealed" if sealed else "wrapped anew" if was_other else "as it should be"


def _seal_log(folder: Path, key: DataKey) -> None:
    path = folder / FILES[0]
    store = LogStore(path, key.box(LOG))
    try:
        store.verify()
        store.seal_plain()
        key.note_whole(LOG)
    except (sqlite3.Error, DamagedError) as error:
        raise DamagedStoreError(f"the log {path} cannot be sealed: {error}") from None
    finally:
        store.close_untouched()
