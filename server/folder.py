"""A node's `--data` folder: whether this program can use it."""

from __future__ import annotations

from pathlib import Path

from groupcore.aio.private import narrow
from server.errors import VersionProblem
from server.settings import Settings

FORMER = "journal.sqlite3"
"""What the versions before 0.2 kept their documents in."""


def check_folder(folder: Path) -> None:
    """VersionProblem when a former version has used the folder: nothing of it may be hidden."""
    if (folder / FORMER).exists():
        raise VersionProblem(
            f"--data {folder} holds the documents of a former version ({FORMER}), which this one "
            "does not read; give the node an empty folder, or export the documents with the "
            "former version and import them here"
        )


def narrow_folders(settings: Settings) -> None:
    """Close what a node writes to everybody but its owner: files of earlier versions, and
    folders that an operator has made. Waits for the disk."""
    for folder in (settings.data, settings.trace, settings.backups):
        if folder is not None and folder.is_dir():
            narrow(folder)
