"""What a cluster of the tests is made of: runs, frames, groups and nodes."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field


@dataclass
class Run:
    """One entry of a frame: messages, or a change (`what`)."""

    gid: int
    seq: int
    count: int
    sender: str
    first: int | None
    crc: int | None
    what: int
    lseq: int


@dataclass
class Frame:
    """A frame of a stream."""

    number: int
    runs: list[Run]
    context: dict[str, int]


@dataclass
class Group:
    """A group as its sequencer knows it."""

    gid: int
    promise: str
    owner: str
    epoch: int = 1
    last: int = 0
    said: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    behind: dict[str, int] = field(default_factory=dict)


@dataclass
class Node:
    """A node: the frames that it has recorded, and the runs that it has yet to deliver."""

    name: str
    recorded: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    given: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    pending: list[tuple[str, Frame, Run]] = field(default_factory=list)
    place: dict[int, int] = field(default_factory=dict)
    hosts: dict[int, set[str]] = field(default_factory=lambda: defaultdict(set))
    coming: list[tuple[int, str, int]] = field(default_factory=list)
    dno: int = 0

    def share(self, one: int, other: int) -> bool:
        """Whether a process here is in both groups."""
        return one == other or bool(self.hosts[one] & self.hosts[other])
