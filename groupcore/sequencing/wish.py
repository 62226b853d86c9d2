"""What a process wants of a group: to be in it, or out of it."""

from __future__ import annotations

from dataclasses import dataclass

from groupcore.sequencing.names import GroupId, Process


@dataclass(slots=True)
class Wish:
    """A process wants to be in a group, or out of it.

    `allowed`: S2 holds with it (strict). `was_in`: of a LEAVE, it had been told that it is in.
    """

    request: int
    process: Process
    group: GroupId
    leaving: bool
    allowed: bool
    asked_at: float = -1.0
    wait_s: float = 0.0
    recorded: int = 0
    was_in: bool = False
