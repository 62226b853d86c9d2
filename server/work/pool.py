"""A few workers, and who gets them: bounded, and fair to the people who ask.

Idea. Each person waits in a line of their own; a worker that is free takes the first of the line
that has waited longest since its last turn. One person never has all workers, and large pieces
leave one to the small. What is too much is refused at once, by a typed error.

Invariants.
  W1  At most `at_once` pieces are worked on.
  W2  With two workers or more, one person's pieces never have all of them, nor have large pieces.
  W3  What waits is bounded: in number, for each person, and in bytes.
  W4  A worker that was ended, or has taken too much, does nothing any more.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter, OrderedDict, deque
from dataclasses import dataclass, field
from typing import Protocol

from groupcore.histogram import Histogram
from server.errors import BadMessageError, TooFastError
from server.work.frames import FAILED, REFUSED, unpacked
from server.work.kinds import Kind
from server.work.worker import Worker, WorkerGoneError

logger = logging.getLogger("server")

WAITING_MAX = 64
WAITING_EACH = 8
WAITING_BYTES = 64 << 20
"""What may wait: pieces of all, pieces of one person, and bytes of all."""
LARGE_BYTES = 64 << 10
"""From this size on a piece is large."""
IDLE_S = 120.0
"""A worker that nobody has wanted for so long ends: it takes some 50 MB."""
RETRY_S = 2
TOO_COMPLEX = "too_complex"
TOO_COMPLEX_TEXT = "this takes too long, or too much memory, to work on; make it simpler"
SECONDS = (0.005, 0.02, 0.1, 0.5, 2.0, 10.0, 60.0)


class Does(Protocol):
    """What the pool is to those who have work for it."""

    async def run(self, kind: Kind, by: str, size_bytes: int, *arguments: object) -> object:
        """Have a piece of work done for somebody; what comes of it.

        BadMessageError: what the work is refused with, `too_complex`, `busy`; TooFastError.
        """


@dataclass(eq=False, slots=True)
class Piece:
    """A piece of work that waits, or is worked on."""

    kind: Kind
    by: str
    size_bytes: int
    turn: asyncio.Future[None]

    @property
    def is_large(self) -> bool:
        """Whether it may keep small ones waiting."""
        return self.size_bytes >= LARGE_BYTES


@dataclass(slots=True)
class Figures:
    """What metrics say: outcomes by kind and outcome, reasons of refusals and ends by reason."""

    done: Counter[tuple[str, str]] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    killed: Counter[str] = field(default_factory=Counter)
    took_s: Histogram = field(default_factory=lambda: Histogram(SECONDS))


class Pool:
    """At most `at_once` workers; they are begun when they are wanted. `close` ends them."""

    def __init__(self, at_once: int) -> None:
        self.figures = Figures()
        self._at_once = at_once
        self._most_each = max(1, at_once - 1)
        self._lines: OrderedDict[str, deque[Piece]] = OrderedDict()
        self._running: set[Piece] = set()
        self._busy: set[Worker] = set()
        self._idle: list[tuple[Worker, asyncio.TimerHandle]] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._closed = False

    @property
    def running(self) -> int:
        """Pieces that are worked on."""
        return len(self._running)

    @property
    def queued(self) -> int:
        """Pieces that wait."""
        return sum(map(len, self._lines.values()))

    async def run(self, kind: Kind, by: str, size_bytes: int, *arguments: object) -> object:
        """See `Does.run`."""
        piece = self._admitted(kind, by, size_bytes)
        loop = asyncio.get_running_loop()
        begun_s = loop.time()
        try:
            await piece.turn
            return await self._work(piece, arguments)
        finally:
            self.figures.took_s.observe(loop.time() - begun_s)
            self._leave(piece)

    # --- who is next ----------------------------------------------------------------------------

    def _admitted(self, kind: Kind, by: str, size_bytes: int) -> Piece:
        """A piece that waits for its turn, or has it; refused where too much waits (W3)."""
        line = self._lines.get(by, ())
        waiting_bytes = sum(one.size_bytes for each in self._lines.values() for one in each)
        if len(line) >= WAITING_EACH:
            self.figures.refused["too_fast"] += 1
            raise TooFastError(f"too much of yours waits; try again in {RETRY_S} s", RETRY_S)
        is_full = self.queued >= WAITING_MAX or waiting_bytes + size_bytes > WAITING_BYTES
        if self._closed or is_full:
            raise self._too_busy()
        piece = Piece(kind, by, size_bytes, asyncio.get_running_loop().create_future())
        self._lines.setdefault(by, deque()).append(piece)
        self._next()
        return piece

    def _next(self) -> None:
        """Give free workers to those whose turn it is (W1)."""
        while len(self._running) < self._at_once:
            by = next((by for by, line in self._lines.items() if self._may(line[0])), None)
            if by is None:
                return
            piece = self._lines[by].popleft()
            self._lines.move_to_end(by)
            if not self._lines[by]:
                del self._lines[by]
            self._running.add(piece)
            if not piece.turn.done():  # else its request has just been broken off
                piece.turn.set_result(None)

    def _may(self, piece: Piece) -> bool:
        """Whether it leaves a worker to others (W2)."""
        own = sum(one.by == piece.by for one in self._running)
        large = sum(one.is_large for one in self._running)
        return own < self._most_each and not (piece.is_large and large >= self._most_each)

    def _leave(self, piece: Piece) -> None:
        """It is over, or nobody waits for it any more."""
        line = self._lines.get(piece.by)
        if piece in self._running:
            self._running.discard(piece)
        elif line is not None and piece in line:
            line.remove(piece)
            if not line:
                del self._lines[piece.by]
        self._next()

    # --- work -----------------------------------------------------------------------------------

    async def _work(self, piece: Piece, arguments: tuple[object, ...]) -> object:
        kind = piece.kind
        try:
            worker = await self._worker(kind)
        except OSError as error:
            logger.error("no worker can be begun: %s", error.strerror)
            raise self._too_busy() from None
        self._busy.add(worker)
        try:
            said = _answer_of(await worker.ask(kind, arguments))
        except TimeoutError:
            raise self._ended(kind, "time") from None
        except WorkerGoneError:
            worker.is_fit = False
            raise self._ended(kind, "gone") from None
        finally:
            self._busy.discard(worker)
            await self._put_back(worker)
        return self._result(kind, said)

    def _too_busy(self) -> BadMessageError:
        self.figures.refused["busy"] += 1
        return BadMessageError("busy", "this node has too much to work on; try again")

    def _ended(self, kind: Kind, reason: str) -> BadMessageError:
        if self._closed:
            return self._too_busy()
        self.figures.killed[reason] += 1
        self.figures.done[kind.name, "killed"] += 1
        logger.warning("a worker was ended at %s: %s", kind.name, reason)
        return BadMessageError(TOO_COMPLEX, TOO_COMPLEX_TEXT)

    def _result(self, kind: Kind, said: tuple[object, ...]) -> object:
        if said[0] == REFUSED:
            self.figures.done[kind.name, "refused"] += 1
            raise BadMessageError(str(said[1])[:40], str(said[-1])[:500])
        if said[0] == FAILED:
            self.figures.done[kind.name, "failed"] += 1
            logger.error("%s failed in a worker: %s", kind.name, said[1])
            raise BadMessageError("internal", "the server has failed on this request; see its log")
        self.figures.done[kind.name, "done"] += 1
        return said[1]

    # --- processes ------------------------------------------------------------------------------

    async def _worker(self, kind: Kind) -> Worker:
        """One that is free and suits, or a new one; OSError."""
        for place, (worker, timer) in enumerate(self._idle):
            suits = not kind.is_alone and worker.kind.memory_bytes == kind.memory_bytes
            if suits and worker.lives:
                timer.cancel()
                del self._idle[place]
                return worker
        return await Worker.start(kind)

    async def _put_back(self, worker: Worker) -> None:
        """Keep it for the next piece, or end it (W4)."""
        if not worker.is_fit or self._closed:
            await worker.end()
            return
        loop = asyncio.get_running_loop()
        self._idle.append((worker, loop.call_later(IDLE_S, self._let_go, worker)))

    def _let_go(self, worker: Worker) -> None:
        self._idle = [one for one in self._idle if one[0] is not worker]
        task = asyncio.get_running_loop().create_task(worker.end())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Take no more work, refuse what waits, and end all workers."""
        self._closed = True
        for line in self._lines.values():
            for piece in line:
                if not piece.turn.done():
                    piece.turn.set_exception(self._too_busy())
        for worker in list(self._busy):
            await worker.end()
        idle, self._idle = self._idle, []
        for worker, timer in idle:
            timer.cancel()
            await worker.end()
        if self._tasks:
            await asyncio.wait(self._tasks)


def _answer_of(body: bytes) -> tuple[object, ...]:
    """What a worker has said. WorkerGoneError for what is no answer: a decoder that has fallen to
    what it read says anything.
    """
    try:
        said = unpacked(body)
    except ValueError:
        raise WorkerGoneError from None
    if not isinstance(said, tuple) or len(said) < 2:
        raise WorkerGoneError
    return said
