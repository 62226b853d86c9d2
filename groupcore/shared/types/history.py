"""The last edits of a value that many edit at once: what a late edit is carried over.

Every edit says which version it was made against. Versions count edits, so the edits since then
are the last ones of a list; of that list only so much is kept.
"""

from __future__ import annotations

from typing import TypeVar

from groupcore.objects.refusal import BadChangeError, BaseTooOldError

Edit = TypeVar("Edit")

HISTORY_MAX = 1_000
"""Edits may be made against any of so many last versions."""


def edits_since(base: int, version: int, recent: list[Edit]) -> list[Edit]:
    """The edits that led from version `base` to `version`; `recent` ends with the last one.

    Raises BadChangeError for a version that is not there yet, BaseTooOldError for one whose edits
    are not kept any more.
    """
    behind = version - base
    if behind < 0:
        raise BadChangeError(f"there is no version {base} yet, but {version}")
    if behind > len(recent):
        raise BaseTooOldError(f"version {base} is older than the {len(recent)} kept edits")
    return recent[len(recent) - behind :]


def remember(edit: Edit, recent: list[Edit]) -> None:
    """Put an edit behind the others; old ones go, many at once."""
    recent.append(edit)
    if len(recent) >= 2 * HISTORY_MAX:
        del recent[:HISTORY_MAX]
