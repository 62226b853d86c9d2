"""What an operation knows beside its arguments and the object: who, when in the order, chance.

All of it comes from the order, so it is the same at every replica.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable

from groupcore.sequencing.names import GroupId, Process


def has_node_of(process: Process, members: Iterable[Process]) -> bool:
    """Whether one of the members is of this process's node, be it another one."""
    return any(one.node == process.node for one in members)


class OperationContext:
    """The place of the operation that runs.

    `process` called it, on behalf of `principal` (empty: nobody in particular). `position` is its
    message's number in the group, `time_s` is the order's time: seconds since 1970 by the fastest
    clock among the senders, and never less than before. `members` are the processes in the group
    at this place, in the order in which they joined: of a node whose sessions attend
    (decision 184), the node's own one.
    """

    __slots__ = (
        "_group",
        "_ids",
        "_random",
        "members",
        "position",
        "principal",
        "process",
        "time_s",
    )

    def __init__(
        self,
        group: GroupId,
        position: int,
        process: Process,
        time_ms: int,
        members: tuple[Process, ...],
        principal: str = "",
    ) -> None:
        self._group = group
        self.position = position
        self.process = process
        self.principal = principal
        self.time_s = time_ms / 1000
        self.members = members
        self._ids = 0
        self._random: random.Random | None = None

    @property
    def is_inside(self) -> bool:
        """Whether who called has the object open: it is a member, or attends at a node of one.

        Who is not does not depart: what it was given to hold, it would hold for ever.
        """
        return has_node_of(self.process, self.members)

    @property
    def random(self) -> random.Random:
        """A generator that draws the same numbers at every replica."""
        if self._random is None:
            name = f"{self._group}:{self.position}".encode()
            seed = hashlib.blake2b(name, digest_size=16).digest()
            self._random = random.Random(int.from_bytes(seed))
        return self._random

    def new_id(self) -> str:
        """An id that the object has not given before: the position, and a number behind it."""
        self._ids += 1
        return f"{self.position:x}" if self._ids == 1 else f"{self.position:x}-{self._ids}"
