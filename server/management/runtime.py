"""Where the commands of a user find the nodes of the same user on this machine.

Idea. A command is told an address, not a folder. A node that listens there leaves in the user's
runtime folder, which nobody else can look into, a record under that address: which folder it has.
The token itself stays in that folder. A record outlives a node that was killed; so it names the
token by its digest, and is good as long as the folder's token is that one.
"""

from __future__ import annotations

import errno
import json
import os
import socket
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from groupcore.aio.private import FOLDER_MODE, OTHERS, open_file

NAME = "groupcore"
RECORD_MAX = 10_000
"""Bytes of a record that are read."""
LEFT_MAX = 100
"""So many files of nodes that are gone may lie there; then the old ones are cleared away."""
OLD_S = 60.0
"""What is younger may be of a node that begins just now."""
SOCKETS = ".sock"


@dataclass(frozen=True, slots=True)
class Record:
    """The node's folder, and the digest of the token in it."""

    data: str
    digest: str


def folders() -> list[Path]:
    """Where records may be, the best first: XDG_RUNTIME_DIR, /run/user, /tmp."""
    user = os.getuid()
    named = os.environ.get("XDG_RUNTIME_DIR", "")
    parents = [Path(named)] if named.startswith("/") else []
    parents.append(Path(f"/run/user/{user}"))
    found = [parent / NAME for parent in parents if parent.is_dir()]
    return [*dict.fromkeys(found), Path(f"/tmp/{NAME}-{user}")]


def is_private(folder: Path) -> bool:
    """Whether it is a folder, no link, of this user, that nobody else can do anything with."""
    try:
        found = folder.lstat()
    except OSError:
        return False
    is_own = found.st_uid == os.getuid() and not found.st_mode & OTHERS
    return stat.S_ISDIR(found.st_mode) and is_own


def usable_folders() -> Iterator[Path]:
    """Those of them that are private, made where they are missing."""
    for folder in folders():
        with suppress(OSError):
            folder.mkdir(FOLDER_MODE, exist_ok=True)
        if is_private(folder):
            yield folder


def tell(address: str, record: Record) -> Path | None:
    """Leave a record for who is told this `HOST:PORT`; its path, None where there is no place."""
    for folder in usable_folders():
        path = folder / _file_of(address)
        aside = folder / f"{path.name}.{os.getpid()}"
        try:
            with open_file(aside, "w") as file:
                json.dump(asdict(record), file)
            aside.rename(path)
        except OSError:
            continue
        return path
    return None


def told(address: str) -> list[Record]:
    """What nodes have left for this address, the best place first."""
    found = []
    for folder in folders():
        if not is_private(folder):
            continue
        record = _read(folder / _file_of(address))
        if record is not None:
            found.append(record)
    return found


def forget(path: Path, record: Record) -> None:
    """Take a record away, unless another node has replaced it."""
    with suppress(OSError, ValueError):
        if json.loads(path.read_text(encoding="utf-8")) == asdict(record):
            path.unlink()


def clear(folder: Path, is_good: Callable[[Record], bool]) -> None:
    """Take away what nodes have left that were killed, where it is much; `is_good`: of a record.

    Of a socket it is seen by connecting, which none that lives is disturbed by.
    """
    try:
        left = list(folder.iterdir())
    except OSError:
        return
    if len(left) <= LEFT_MAX:
        return
    for path in left:
        with suppress(OSError):
            if time.time() - path.lstat().st_mtime > OLD_S and not _lives(path, is_good):
                path.unlink()


def _lives(path: Path, is_good: Callable[[Record], bool]) -> bool:
    if path.suffix == SOCKETS:
        with socket.socket(socket.AF_UNIX) as asking:
            asking.settimeout(0)
            return asking.connect_ex(str(path)) != errno.ECONNREFUSED
    record = _read(path)
    return record is not None and is_good(record)


def _read(path: Path) -> Record | None:
    with suppress(OSError, ValueError, TypeError, LookupError), path.open("rb") as file:
        said = json.loads(file.read(RECORD_MAX))
        return Record(str(said["data"]), str(said["digest"]))
    return None


def _file_of(address: str) -> str:
    """`127.0.0.1:9000`, `[::1]:9000`: no part of them means anything to the file system."""
    assert "/" not in address, "an address"
    return f"admin-{address}"
