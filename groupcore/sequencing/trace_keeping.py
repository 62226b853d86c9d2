"""The rows of one life of a node, as they gather, and how its driver takes them away."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from groupcore.sequencing.names import GroupId, Process
from groupcore.sequencing.trace_rows import (
    Accepts,
    Deliveries,
    Frames,
    Gathered,
    Kept,
    Rows,
    Value,
    columns_of,
    life,
)
from groupcore.view import Address

if TYPE_CHECKING:
    from groupcore.sequencing.directory import Directory
    from groupcore.sequencing.directory_state import Entry
    from groupcore.sequencing.plane import Plane

ROWS_AT_ONCE = 4_000
"""With so many its driver is told not to wait for its next look."""
_NONE: Mapping[GroupId, Entry] = {}


class Keeping:
    """The part of the recorder that knows no protocol.

    `clock_us`: a clock that is finer than the service's, which its driver's loop may keep to
    milliseconds; none: the service's. `offset_us`: what makes it one of the day, in microseconds;
    its driver may correct it. `every`: deliveries are kept only of groups whose number it divides.
    `on_full` is called at the end of a turn when much has gathered. `cpu_us`: what processor time
    the node's process has taken so far. `dno`: the last delivery number.
    """

    def __init__(
        self,
        *,
        offset_us: int = 0,
        every: int = 1,
        on_full: Callable[[], None] | None = None,
        cpu_us: Callable[[], int] | None = None,
        clock_us: Callable[[], int] | None = None,
    ) -> None:
        self.offset_us = offset_us
        self.every = every
        self.dno = 0
        self.node = ""
        self._on_full = on_full
        self._cpu_us = cpu_us
        self._clock_us = clock_us
        self._t = 0
        self._now_us = 0
        self._directory: Directory | None = None
        self._names: dict[Process, str] = {}
        self._lives: dict[Address, str] = {}
        self._begin()

    def _begin(self) -> None:
        self._frames = Frames()
        self._accepts = Accepts()
        self._deliveries = Deliveries()
        self._others: dict[str, Rows] = {}

    def begin(self, plane: Plane) -> None:
        """A life begins, of this plane."""
        self.node = life(plane.me)
        self._directory = plane.directory

    @property
    def _entries(self) -> Mapping[GroupId, Entry]:
        """The directory as it is now: a node that takes over a state has another one from then."""
        return _NONE if self._directory is None else self._directory.entries

    def at(self, now: float) -> None:
        """It is this time now, by the service's clock, in seconds."""
        self._now_us = int(now * 1e6)
        self._t = self.offset_us + (self._clock_us() if self._clock_us else self._now_us)

    def take(self) -> list[Gathered]:
        """What has gathered since it was last taken; nothing rests on what stands behind it."""
        kept: dict[str, Kept] = dict(self._others)
        if self._accepts.t:
            kept["accept"] = self._accepts
        if self._frames.t:
            kept["frame"] = self._frames
        if self._deliveries.texts:
            kept["delivery"] = self._deliveries
        if not kept:
            return []
        self._begin()
        taken = []
        for kind, rows in kept.items():
            columns = columns_of(rows)
            taken.append(Gathered(kind, self.node, len(columns["t"]), columns))
        return taken

    @property
    def gathered(self) -> int:
        """So many rows wait to be taken, but for those that are rare."""
        return len(self._deliveries) + len(self._accepts.t)

    def end_turn(self) -> None:
        """A turn of the service is over."""
        if self._on_full is not None and self.gathered >= ROWS_AT_ONCE:
            self._on_full()

    def add(self, kind: str, **values: Value) -> None:
        """A row of a kind that is rare."""
        rows = self._others.get(kind)
        if rows is None:
            rows = self._others[kind] = Rows(kind)
        values["t"] = self._t
        rows.add(values)

    def _epoch(self, group: GroupId) -> int | None:
        """The group's epoch, as the directory has it here."""
        entry = self._entries.get(group)
        return None if entry is None else entry.epoch

    def _name(self, process: Process) -> str:
        """A process, as the trace names it."""
        name = self._names.get(process)
        if name is None:
            name = self._names[process] = f"{self._life(process.node)}/{process.number}"
        return name

    def _life(self, node: Address) -> str:
        """A node, as the trace names it."""
        name = self._lives.get(node)
        if name is None:
            name = self._lives[node] = life(node)
        return name
