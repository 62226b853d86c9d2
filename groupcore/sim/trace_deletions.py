"""The trace records of groups that are deleted: who has asked for it, and where it was heard."""

from __future__ import annotations

from typing import NamedTuple

from groupcore.sequencing.names import GroupId


class DeletionAsked(NamedTuple):
    """A node asked for a group to be deleted; `request` is its own number of that request."""

    t: int
    n: str
    inc: int
    request: int
    group: GroupId


class GroupDeleted(NamedTuple):
    """A node says that a group is no more: none of its processes is in it, and nothing comes of it.

    `request`: that of its own which has done it, else 0.
    """

    t: int
    n: str
    inc: int
    group: GroupId
    request: int


class GroupLogged(NamedTuple):
    """In the end: the deleted groups of which a node's log on disk still has messages."""

    t: int
    n: str
    inc: int
    groups: tuple[GroupId, ...]


DeletionRecord = DeletionAsked | GroupDeleted | GroupLogged

DELETION_EVENTS: dict[type, str] = {
    DeletionAsked: "g-unwant",
    GroupDeleted: "g-delete",
    GroupLogged: "g-logged",
}
"""What each record is called in the lines of a trace."""
