"""What a node writes down of views, of who sequences what, of moves and of its load."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from groupcore.events import ViewInstalled
from groupcore.sequencing.directory_changes import (
    Inherited,
    MoveBegan,
    MoveCancelled,
    OwnerMoved,
    StreamEnded,
)
from groupcore.sequencing.names import GroupId, Order, Process
from groupcore.sequencing.trace_keeping import Keeping
from groupcore.sequencing.trace_rows import reaches
from groupcore.view import Address

if TYPE_CHECKING:
    from groupcore.sequencing.plane import Plane

PROMISES = {
    Order.CAUSALLY_TOTAL: "causal",
    Order.STRICT: "strict",
    Order.FIFO: "fifo",
    Order.VOLATILE: "volatile",
}
"""How the trace names what a group promises."""


class Load:
    """What was numbered since the last sample."""

    __slots__ = ("deliveries", "frames", "messages", "queue_us", "runs", "size_bytes")

    def __init__(self, deliveries: int) -> None:
        self.deliveries = deliveries
        self.frames = self.runs = self.messages = self.size_bytes = self.queue_us = 0


class Steps(Keeping):
    """The part of the recorder that is told of what is rare."""

    _load = Load(0)
    _cpu_before = 0
    _moving: dict[GroupId, tuple[int, str, Address]]
    _owned: set[GroupId]
    _under_way: dict[tuple[Process, GroupId, int], int]
    _known: dict[int, tuple[Process, str, bool]]

    def begin(self, plane: Plane) -> None:
        """See `Keeping`."""
        super().begin(plane)
        self._plane = plane
        self._me = plane.me
        self._load = Load(0)
        self._moving = {}
        self._owned = set()
        self._under_way = {}
        self._known = {}

    # --- views ----------------------------------------------------------------------------------

    def viewed(self, event: ViewInstalled) -> None:
        """A view begins here."""
        view = event.view
        self.add(
            "view",
            number=view.number,
            epoch=view.epoch,
            lineage=view.lineage,
            primary=view.primary,
            members=[self._life(member) for member in view.members],
            previous=None if event.previous is None else event.previous.number,
            recovered=event.recovered,
            cut=reaches(event.streams),
            dno=self.dno,
        )

    # --- who sequences a group ------------------------------------------------------------------

    def owns(self, groups: Mapping[GroupId, int], cause: str) -> None:
        """These groups are this node's from here on, behind the numbers that it knows of."""
        self._owned.update(groups)
        for group, last in groups.items():
            self._of_group("owned", group, last, cause)

    def owns_no_more(self, groups: Iterable[GroupId], op: str, cause: str) -> None:
        """These groups were this node's up to here, or are no more."""
        for group in groups:
            self._owned.discard(group)
            record = self._plane.records.get(group)
            self._of_group(op, group, 0 if record is None else record.seqno, cause)

    def _of_group(
        self, op: str, group: GroupId, last: int, cause: str, epoch: int | None = None
    ) -> None:
        entry = self._entries.get(group)
        record = self._plane.records.get(group)
        self.add(
            "group",
            op=op,
            gid=group,
            name=None if entry is None else entry.name or None,
            promise=None if record is None else PROMISES[record.order],
            epoch=self._epoch(group) if epoch is None else epoch,
            seq=last,
            cause=cause,
        )

    # --- moves ----------------------------------------------------------------------------------

    def began(self, change: MoveBegan) -> None:
        """A move has begun; its source writes it down, its target keeps in mind why."""
        for group in change.groups:
            self._moving[group] = (change.move, change.reason, change.source)
            if change.source == self._me:
                self._step("began", group, change.target)

    def stopped(self, groups: tuple[GroupId, ...], last: tuple[int, ...], target: Address) -> None:
        """The source has said where the groups ended."""
        for group, seq in zip(groups, last, strict=True):
            self._step("stopped", group, target, seq)

    def moved(self, change: OwnerMoved) -> None:
        """The order says that the target sequences from here on."""
        for group, epoch, seq in zip(change.groups, change.epochs, change.last, strict=True):
            if change.target == self._me:
                self._moving.setdefault(group, (change.move, "", change.source))
                self._step("moved", group, change.target, seq, epoch)
                continue
            if change.source == self._me:
                self._owned.discard(group)
                self._of_group("disowned", group, seq, "moved", epoch - 1)
            self._moving.pop(group, None)

    def cancelled(self, change: MoveCancelled) -> None:
        """The groups stay with the source."""
        for group in change.groups:
            if change.source == self._me:
                self._step("cancelled", group, None)
            self._moving.pop(group, None)

    def inherited(self, change: StreamEnded | Inherited, groups: Iterable[GroupId]) -> None:
        """This node sequences these groups from here on, as the former one is gone."""
        for group in groups:
            self._moving[group] = (0, "failover", change.stream)
            self._step("inherited", group, self._me)

    def resumed(self, group: GroupId, last: int) -> None:
        """This node gives numbers in a group that it has begun with."""
        if group in self._moving:
            self._step("resumed", group, self._me, last)
            del self._moving[group]

    def _step(
        self,
        phase: str,
        group: GroupId,
        target: Address | None,
        last: int | None = None,
        epoch: int | None = None,
    ) -> None:
        move, cause, source = self._moving.get(group, (0, "", None))
        self.add(
            "migration",
            move=move,
            gid=group,
            phase=phase,
            cause=cause or None,
            source=None if source is None else self._life(source),
            target=None if target is None else self._life(target),
            epoch=self._epoch(group) if epoch is None else epoch,
            seq=last,
        )

    # --- load -----------------------------------------------------------------------------------

    def sample(self, seconds: float) -> None:
        """What was done since the last sample; nothing is said of nothing."""
        load, self._load = self._load, Load(self.dno)
        deliveries = self.dno - load.deliveries
        if not (load.frames or deliveries):
            return
        cpu_us = None
        if self._cpu_us is not None:
            now_us = self._cpu_us()
            cpu_us, self._cpu_before = now_us - self._cpu_before, now_us
        self.add(
            "seq_load",
            seconds=seconds,
            frames=load.frames,
            runs=load.runs,
            messages=load.messages,
            bytes=load.size_bytes,
            deliveries=deliveries,
            queue_us_max=load.queue_us,
            window_bytes=self._plane.own.kept_bytes,
            groups=len(self._owned),
            cpu_us=cpu_us,
        )
