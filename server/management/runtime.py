"""Where the commands of a user find the nodes of the same user on this machine.

Idea. A command is told an address, not a folder. A node that listens there leaves in the user's
runtime folder, which nobody else can look into, a record under that address: which folder it has.
The token itself stays in that folder. A record outlives a node that was killed; so it names the
token by its digest, and is good as long as the folder's token is that one.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from groupcore.aio.private import FOLDER_MODE, OTHERS, open_file

NAME = "groupcore"
RECORD_MAX = 10_000
"""Bytes of a record that are read."""


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
        with suppress(OSError, ValueError, TypeError, LookupError):
            with (folder / _file_of(address)).open("rb") as file:
                said = json.loads(file.read(RECORD_MAX))
            found.append(Record(str(said["data"]), str(said["digest"])))
    return found


def forget(path: Path, record: Record) -> None:
    """Take a record away, unless another node has replaced it."""
    with suppress(OSError, ValueError):
        if json.loads(path.read_text(encoding="utf-8")) == asdict(record):
            path.unlink()


def _file_of(address: str) -> str:
    """`127.0.0.1:9000`, `[::1]:9000`: no part of them means anything to the file system."""
    assert "/" not in address, "an address"
    return f"admin-{address}"
