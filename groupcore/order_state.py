"""What a member that joins must be told about the total order: a plain value."""

from __future__ import annotations

from dataclasses import dataclass, field

from groupcore.view import Address


@dataclass(frozen=True, slots=True)
class OrderState:
    """The place of the last ordered message, and the highest number delivered of each sender."""

    position: int = 0
    received: dict[Address, int] = field(default_factory=dict)
