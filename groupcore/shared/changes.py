"""What `changes()` tells: each operation that was done, in the order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from groupcore.sequencing.names import Process


@dataclass(frozen=True, slots=True)
class Changed:
    """`process` did `operation` at `position`, and it did not raise.

    `arguments` are by the parameters' names, `details` what the operation gave to `emit`. The
    operations of a transaction have one position.
    """

    position: int
    process: Process
    operation: str
    arguments: Mapping[str, object]
    details: tuple[object, ...] = ()


@dataclass(frozen=True, slots=True)
class MemberChanged:
    """`process` has come (`joined`) or gone, at `position`; `details` are the object's own."""

    position: int
    process: Process
    joined: bool
    details: tuple[object, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Replaced:
    """The whole state was taken from another replica, as of `position`: read it anew."""

    position: int


Change: TypeAlias = Changed | MemberChanged | Replaced
