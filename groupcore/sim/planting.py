"""How a bug is planted: functions of the real code are replaced for as long as a context lasts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from groupcore.sim.scenario import Scenario

Patch = tuple[object, str, object]
"""Whose attribute, which, and what stands there instead."""


@dataclass(frozen=True, slots=True)
class Plant:
    """One planted bug. `caught_by`: the invariants that break by it, no others, the first surely.

    `profile`: in which kind of schedules it is looked for; `schedule`: the one that shows it, where
    chance seldom does what it takes.
    """

    name: str
    summary: str
    caught_by: tuple[int, ...]
    patches: Callable[[], list[Patch]]
    profile: str = "stack"
    schedule: Scenario | None = None

    @contextmanager
    def planted(self) -> Iterator[None]:
        """Within this context the bug is in the code."""
        with ExitStack() as undo:
            for owner, name, value in self.patches():
                undo.callback(setattr, owner, name, getattr(owner, name))
                setattr(owner, name, value)
            yield
