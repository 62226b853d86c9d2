"""What goes wrong in a stack on purpose: the settings of the fault layers, and their switch.

Plain values. A test of an application composes a stack with fault layers where it wants them
(`UDP:DISCARD(up=0.2):PING:…`), keeps the `Faults` object that it gave in `StackOptions`, and turns
them up, off and on again while the stack runs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from groupcore.batch import Batch
from groupcore.view import Address


@dataclass(frozen=True, slots=True)
class Victims:
    """Which batches a fault concerns: all, or those that `matches` says.

    `members`: those from them on the way up, and to them alone on the way down; empty for all.
    """

    members: frozenset[Address] = frozenset()
    matches: Callable[[Batch], bool] | None = None

    def concerns(self, batch: Batch, peer: Address | None) -> bool:
        """Whether the batch, that is from or to `peer` (None: the group), is among them."""
        if self.members and peer not in self.members:
            return False
        return self.matches is None or self.matches(batch)


@dataclass(frozen=True, slots=True)
class DiscardOptions:
    """Shares, 0 to 1, of what goes down and up that is thrown away."""

    down: float = 0.0
    up: float = 0.0
    victims: Victims = Victims()


@dataclass(frozen=True, slots=True)
class DelayOptions:
    """Seconds for which batches are held: `down_s` or `up_s`, and up to `jitter_s` more by chance.

    Without jitter their order stays.
    """

    down_s: float = 0.0
    up_s: float = 0.0
    jitter_s: float = 0.0
    victims: Victims = Victims()


@dataclass(frozen=True, slots=True)
class ShuffleOptions:
    """`window` batches of one direction are gathered and go on in another order.

    Fewer go on when `wait_s` seconds have passed. 0 or 1: none are gathered.
    """

    window: int = 0
    wait_s: float = 0.02
    victims: Victims = Victims()


@dataclass(frozen=True, slots=True)
class DuplicateOptions:
    """Shares, 0 to 1, of what goes down and up that goes on twice."""

    down: float = 0.0
    up: float = 0.0
    victims: Victims = Victims()


@dataclass(slots=True)
class Faults:
    """The switch of all fault layers of a stack, held by a test while the stack runs.

    With `on` False everything passes. What is set here counts instead of what the stack was
    composed with; None leaves that. `random`: where chance comes from, so that a run can be
    repeated; None takes the stack's.
    """

    on: bool = True
    random: Random | None = None
    discard: DiscardOptions | None = None
    delay: DelayOptions | None = None
    shuffle: ShuffleOptions | None = None
    duplicate: DuplicateOptions | None = None
