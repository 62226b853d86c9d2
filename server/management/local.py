"""The Unix socket of a node, which only its user's programs can open.

Idea. It is in the user's runtime folder, under a name that follows from the node's folder, and the
node's folder says where. In that folder itself it would stay behind a node that was killed, and
programs that copy folders stop at what is no file. A copy of the folder names the socket of the
original, and is told from it by the name.

A path of any length: the kernel takes 107 bytes, so what is longer goes by the open folder.
"""

from __future__ import annotations

import hashlib
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from groupcore.aio.private import FILE_MODE, open_file
from server.management.runtime import SOCKETS, usable_folders

FILE = "admin.socket"
"""In the node's folder: the path of its socket."""
PATH_MAX = 107
BACKLOG = 128


def name_for(folder: Path) -> str:
    """What the socket of the node with this folder is called."""
    digest = hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()
    return f"{digest[:16]}{SOCKETS}"


@contextmanager
def short(path: Path) -> Iterator[str]:
    """The path, or another one of the same file that the kernel takes, as long as this is open."""
    if len(os.fsencode(path)) <= PATH_MAX:
        yield str(path)
        return
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)


class LocalSocket:
    """Where the node with this folder listens; OSError where there is no place for it.

    It takes the place of what a former life has left, so the folder has to be the node's own.
    """

    def __init__(self, folder: Path) -> None:
        place = next(usable_folders(), None)
        if place is None:
            raise FileNotFoundError("there is no private runtime folder")
        self.path = place / name_for(folder)
        self._note = folder / FILE
        self.listener = _listening(self.path)
        try:
            with open_file(self._note, "w") as file:
                file.write(f"{self.path}\n")
        except OSError:
            self.close()
            raise

    def close(self) -> None:
        """Nobody finds it any more."""
        self.listener.close()
        for path in (self.path, self._note):
            with suppress(OSError):
                path.unlink()


def _listening(path: Path) -> socket.socket:
    """It is 0600 from its beginning: the mode of the socket is that of its file."""
    path.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
    try:
        os.fchmod(listener.fileno(), FILE_MODE)
        with short(path) as name:
            listener.bind(name)
        path.chmod(FILE_MODE)
        listener.listen(BACKLOG)
    except OSError:
        listener.close()
        raise
    listener.setblocking(False)
    return listener


def socket_of(folder: Path) -> Path | None:
    """The socket of the node with this folder; None where none has said one. OSError."""
    try:
        said = Path((folder / FILE).read_text(encoding="utf-8").strip())
    except (FileNotFoundError, NotADirectoryError, UnicodeDecodeError):
        return None
    return said if said.name == name_for(folder) else None
