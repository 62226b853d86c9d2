"""The Unix socket in a node's folder, which only its user's programs can open.

A path of any length: the kernel takes 107 bytes, so what is longer goes by the open folder.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from groupcore.aio.private import FILE_MODE

NAME = "admin.sock"
PATH_MAX = 107
BACKLOG = 128


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


def listen_local(folder: Path) -> socket.socket:
    """A socket in the folder, in the place of one that a former life has left; OSError.

    It is 0600 from its beginning: the mode of the socket is that of its file.
    """
    path = folder / NAME
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
