"""Files and folders that only their owner can read, whatever the umask of the process is.

A log, a picture or a trace holds what people wrote, and verifiers of passwords. New files are 0600
in folders that are 0700; what an earlier version left wider is narrowed once, at the start.
"""

from __future__ import annotations

import logging
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

log = logging.getLogger(__name__)

FILE_MODE = 0o600
FOLDER_MODE = 0o700
OTHERS = 0o077
"""What nobody but the owner may do with a file."""


def make_folder(path: Path) -> None:
    """Make a folder and those above it that are missing, each 0700; OSError.

    One that is there stays as it is: `narrow` is for that.
    """
    try:
        path.mkdir(FOLDER_MODE)
    except FileNotFoundError:
        make_folder(path.parent)
        path.mkdir(FOLDER_MODE, exist_ok=True)
    except FileExistsError:
        if not path.is_dir():
            raise


def opener(path: str, flags: int) -> int:
    """For `open`: a file that is made by it is 0600."""
    return os.open(path, flags, FILE_MODE)


def open_file(path: Path, mode: str) -> IO[Any]:
    """Open a file, which is 0600 where it is new; text is UTF-8. OSError."""
    encoding = None if "b" in mode else "utf-8"
    return open(path, mode, encoding=encoding, opener=opener)  # Path.open has no opener


def make_file(path: Path) -> None:
    """Have a file, empty and 0600 where it is new: SQLite gives its other files the same mode."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, FILE_MODE))


@dataclass(slots=True)
class Narrowed:
    """What came of `narrow`: how many were closed, and the first that could not be."""

    count: int = 0
    refused: str = ""

    def take(self, path: Path | str, status: os.stat_result) -> None:
        """Take everything from others that they may do with a file or folder."""
        if not status.st_mode & OTHERS:
            return
        try:
            os.chmod(path, stat.S_IMODE(status.st_mode) & ~OTHERS)
            self.count += 1
        except FileNotFoundError:  # who writes there has just renamed it
            pass
        except OSError as error:
            self.refused = self.refused or f"{path}: {error.strerror}"

    def tell(self, folder: Path) -> None:
        """Say it in the log: an operator may have given others these rights on purpose."""
        if self.count:
            log.warning(
                "others could get at %d files and folders of %s; only their owner can now",
                self.count,
                folder,
            )
        if self.refused:
            log.warning("others can still get at files of %s: %s", folder, self.refused)


def narrow(folder: Path) -> Narrowed:
    """Close a folder and all in it to everybody but the owner, and say so in the log.

    The folder itself comes first: from then on nobody gets at what is below. Links are not
    followed, as they may lead out of it. Waits for the disk.
    """
    found = Narrowed()
    try:
        found.take(folder, folder.stat())
        for entry in _entries(folder):
            found.take(entry.path, entry.stat(follow_symlinks=False))
    except OSError as error:
        found.refused = found.refused or f"{folder}: {error.strerror}"
    found.tell(folder)
    return found


def _entries(folder: Path | str) -> Iterator[os.DirEntry[str]]:
    """All files and folders below a folder; others may rename them meanwhile."""
    try:
        entries = os.scandir(folder)
    except FileNotFoundError:
        return
    with entries:
        for entry in entries:
            if entry.is_symlink():
                continue
            yield entry
            if entry.is_dir(follow_symlinks=False):
                yield from _entries(entry.path)
