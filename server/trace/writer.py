"""The writer: takes rows from the recorder on the loop, and puts them on disk in a thread.

Idea. The loop hands columns over and never waits. The thread encodes and writes; when the disk does
not keep up, rows that no order rests on are left out and counted, and that is a row itself. So an
audit says "not known" where it cannot know, and never finds a violation that was none.

Invariants.
  I1  Rows of a kind have consecutive numbers; those that are missing are named in `log_gap`.
  I2  Rows of a kind that is no telemetry are dropped only when the disk has refused for long.
  I3  Nothing here ends the node: what the disk refuses is said in the log and tried again.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from groupcore.errors import ChannelClosedError
from groupcore.gateway.settings import Traffic
from groupcore.sequencing.trace_rows import Gathered, Rows, Value, life
from groupcore.sequencing.tracing import Recorder
from groupcore.shared.events import OperationDenied, SharedEvent
from groupcore.shared.session import Session
from groupcore.trace import TABLES
from server.trace.disk import Disk
from server.trace.options import TraceOptions

log = logging.getLogger("server.trace")

DEFAULTS = TraceOptions()
HAND_OVER_S = 1.0
"""The longest that rows wait to be 4,000: a batch of a kind costs a kilobyte and half a
millisecond, with one row as with hundreds."""
RETRY_S = 1.0
"""Between two attempts when the disk has refused."""


@dataclass(slots=True)
class Dropped:
    """Rows of a kind that were left out, one behind the other."""

    first: int
    last: int
    reason: str


Batch = tuple[Gathered, int]
"""Rows, and the number of the first one."""


class TraceWriter:
    """One node's trace; `node` is its id. Used on one loop; `start` comes before all else.

    `lost`: rows that were dropped, by `pressure` or `disk`.
    """

    def __init__(self, folder: Path, node: str, options: TraceOptions = DEFAULTS) -> None:
        self.options = options
        self._folder = folder
        self._node = node
        self._recorder: Recorder | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._offs: dict[str, int] = {}
        self.lost: Counter[str] = Counter()
        self._dropped: dict[str, Dropped] = {}
        self._waiting: deque[Batch] = deque()
        self._rows = 0
        self._changed = threading.Condition()
        self._ending = False
        self._disk = Disk(folder, node, options)
        self._thread = threading.Thread(target=self._run, name="trace", daemon=True)

    # --- on the loop ----------------------------------------------------------------------------

    async def start(self) -> None:
        """Begin; what a former life has left open is completed first. OSError."""
        loop = asyncio.get_running_loop()
        for lost in await loop.run_in_executor(None, self._disk.begin):
            said = {"from_off": lost.from_off, "life": lost.life}
            said |= {"dno": lost.dno, "lseq": lost.lseq}
            self._confess(lost.kind, epoch=lost.epoch, reason="crash", **said)
        if self.options.every > 1:
            self._confess("delivery", from_off=0, every=self.options.every, reason="sampled")
        self._thread.start()
        self._look()

    def recorder(self) -> Recorder:
        """What a new life of the node tells; the former one's rows are handed over."""
        if self._recorder is not None:
            self._hand_over(self._recorder)
        self._recorder = Recorder(
            offset_us=_offset_us(),
            every=self.options.every,
            on_full=self._on_full,
            cpu_us=lambda: time.process_time_ns() // 1000,
            # The loop's own time stands still in a turn, and is in whole milliseconds.
            clock_us=_clock_us,
        )
        return self._recorder

    def add(self, kind: str, **values: Value) -> None:
        """A row of the server's own, as of now; nothing before the node's first life."""
        if self._recorder is not None:
            self._recorder.at(asyncio.get_running_loop().time())
            self._recorder.add(kind, **values)

    def note_event(self, event: SharedEvent) -> None:
        """A replica has said something: a refusal is a row of `verdict`."""
        if isinstance(event, OperationDenied):
            said = {"principal": event.principal, "operation": event.operation}
            self.add("verdict", gid=event.group, seq=event.position, code="forbidden", **said)

    def note_session(self, what: str, page: str, session: Session, traffic: Traffic) -> None:
        """A page's session has begun, gone on, or ended: a row of `session`."""
        process = None
        with suppress(ChannelClosedError):  # the node is between two lives
            process = f"{life(session.process.node)}/{session.process.number}"
        user = session.principal or None
        said = {"session": page, "user": user, "process": process}
        self.add("session", op=what, **said, **traffic._asdict())

    async def stop(self) -> None:
        """Hand over what there is, complete all segments, and end."""
        if self._timer is not None:
            self._timer.cancel()
        if self._recorder is not None:
            self._hand_over(self._recorder)
        with self._changed:
            self._confess_all()
            self._ending = True
            self._changed.notify()
        if self._thread.is_alive():
            await asyncio.get_running_loop().run_in_executor(None, self._thread.join)

    def _look(self) -> None:
        if self._recorder is not None:
            self._recorder.offset_us = _offset_us()
            self._hand_over(self._recorder)
        self._timer = asyncio.get_running_loop().call_later(HAND_OVER_S, self._look)

    def _on_full(self) -> None:
        if self._recorder is not None:
            self._hand_over(self._recorder)

    def _hand_over(self, recorder: Recorder) -> None:
        """Give what has gathered to the thread, but for what there is no room."""
        taken = [self._numbered(gathered) for gathered in recorder.take()]
        if not taken and not self._dropped:
            return
        with self._changed:
            for gathered, off in taken:
                reason = self._no_room(gathered)
                if reason:
                    self._drop(gathered, off, reason)
                    continue
                # Before what stands behind them: after a crash nobody else could say it.
                dropped = self._dropped.pop(gathered.kind, None)
                if dropped is not None:
                    self._confess_dropped(gathered.kind, dropped)
                self._put(gathered, off)
            if 2 * self._rows <= min(self.options.telemetry_rows, self.options.rows_max):
                self._confess_all()
            self._changed.notify()

    def _numbered(self, gathered: Gathered) -> Batch:
        off = self._offs.get(gathered.kind, 0)
        self._offs[gathered.kind] = off + gathered.rows
        return gathered, off

    def _put(self, gathered: Gathered, off: int) -> None:
        self._waiting.append((gathered, off))
        self._rows += gathered.rows

    def _no_room(self, gathered: Gathered) -> str:
        """Why there is no room for these rows; empty if there is (I2)."""
        rows = self._rows + gathered.rows
        if rows > self.options.rows_max:
            return "disk"
        if TABLES[gathered.kind].telemetry and rows > self.options.telemetry_rows:
            return "pressure"
        return ""

    def _drop(self, gathered: Gathered, off: int, reason: str) -> None:
        self.lost[reason] += gathered.rows
        last = off + gathered.rows - 1
        dropped = self._dropped.get(gathered.kind)
        if dropped is None:
            self._dropped[gathered.kind] = Dropped(off, last, reason)
            log.warning("the trace's disk does not keep up: rows of %s are lost", gathered.kind)
        elif dropped.last + 1 == off:
            dropped.last = last
        else:  # between them some were written: two gaps
            self._confess_dropped(gathered.kind, dropped)
            self._dropped[gathered.kind] = Dropped(off, last, reason)

    def _confess_all(self) -> None:
        """There is room again, or no other time: say what is missing (I1)."""
        dropped, self._dropped = self._dropped, {}
        for kind, some in dropped.items():
            self._confess_dropped(kind, some)

    def _confess_dropped(self, kind: str, some: Dropped) -> None:
        count = some.last - some.first + 1
        said = {"from_off": some.first, "to_off": some.last, "dropped": count}
        self._confess(kind, reason=some.reason, **said)

    def _confess(self, kind: str, **values: Value) -> None:
        """A row of `log_gap`, whatever room there is."""
        rows = Rows("log_gap")
        rows.add({"t": _now_us(), "kind": kind, "epoch": self._disk.epoch, **values})
        self._put(*self._numbered(Gathered("log_gap", self._node, 1, rows.columns)))

    # --- in the thread --------------------------------------------------------------------------

    def _run(self) -> None:
        """Write what is handed over, until the end, whatever the disk says (I3)."""
        while True:
            with self._changed:
                if not self._waiting and not self._ending:
                    self._changed.wait(self._disk.next_seal_s())
                first = self._waiting[0] if self._waiting else None
                over = self._ending and first is None
            if over:
                self._attempt(self._disk.close)
                return
            if first is not None and self._attempt(partial(self._disk.write, *first)):
                with self._changed:
                    self._waiting.popleft()
                    self._rows -= first[0].rows
                first = None
            if first is not None or not self._attempt(self._disk.seal_due):
                with self._changed:
                    self._changed.wait_for(lambda: self._ending, RETRY_S)
                    if self._ending:
                        return  # the next start says what is missing

    def _attempt(self, work: Callable[[], None]) -> bool:
        """Do it; whether the disk has taken it."""
        try:
            work()
        except OSError as error:
            log.error("the trace in %s cannot be written: %s", self._folder, error.strerror)
            self._disk.give_up()
            return False
        return True


def _now_us() -> int:
    """Microseconds since 1970."""
    return time.time_ns() // 1000


def _clock_us() -> int:
    """Microseconds by a clock that nobody sets."""
    return time.monotonic_ns() // 1000


def _offset_us() -> int:
    """What makes that clock one of the day."""
    return _now_us() - _clock_us()
