"""A node's `--data` folder: whether this program can use it."""

from __future__ import annotations

from pathlib import Path

from server.errors import VersionProblem

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
