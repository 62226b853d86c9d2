"""Long work of a node for who runs the cluster: begun at once, watched, called off.

An operation is done by one life of a node, which its id names, so that any node can say where it is
to be asked for. What it makes gets its name only when it is whole: an operation that fails, is
called off, or ends with its node has made nothing. What became of it the node keeps in its folder,
and says it after a restart (decision 0067).
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from server.console.colleagues import Shown
from server.errors import BadMessageError, ServerError
from server.shelf import Record, Shelf

logger = logging.getLogger("server")

RUNNING_MAX = 2
"""So many at a time: they are for the disk."""
KEPT_MAX = 50
"""So many that are over can still be asked for."""
NAME = "operations.jsonl"
"""Where they are kept, in the node's folder."""
LOST = "the node's life ended before this did; what it was making ends in .part, and can be removed"


class CancelledWorkError(Exception):
    """The operation was called off."""


@dataclass(slots=True)
class Operation:
    """What is done: `done` of `total` units (`bytes`, `documents` or `segments`); `total` 0: not
    known. `state` is running, done, failed, cancelled or lost; `problem` says why it failed.
    """

    id: str
    what: str
    about: str
    by: str
    unit: str
    began_s: float = field(default_factory=time.time)
    ended_s: float | None = None
    state: str = "running"
    done: int = 0
    total: int = 0
    result: Shown = field(default_factory=dict)
    problem: str = ""
    is_cancelled: bool = False

    def step(self, done: int) -> None:
        """So much more is done; from any thread. Raises CancelledWorkError."""
        self.done += done
        self.check()

    def check(self) -> None:
        """Raises CancelledWorkError where it was called off."""
        if self.is_cancelled:
            raise CancelledWorkError

    def shown(self, node: str) -> Shown:
        """As it stands."""
        return {
            "id": self.id,
            "node": node,
            "what": self.what,
            "about": self.about,
            "by": self.by,
            "state": self.state,
            "began_s": round(self.began_s, 3),
            "ended_s": None if self.ended_s is None else round(self.ended_s, 3),
            "done": self.done,
            "total": self.total,
            "unit": self.unit,
            "result": self.result,
            "problem": self.problem,
        }


Work = Callable[[Operation], Awaitable[Shown]]


class Operations:
    """Those of one life of a node, and as its folder has them those of its former lives."""

    def __init__(self, node: str, life: Callable[[], int], shelf: Shelf) -> None:
        self._node = node
        self._life = life
        self._shelf = shelf
        self._given = 0
        self._past: dict[str, Record] = {}
        self._kept: dict[str, Operation] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self) -> None:
        """Take up what former lives have left. What they were in the middle of is lost."""
        self._past = self._shelf.load()
        for record in self._past.values():
            if record.get("ended_s") is None:
                record |= {"state": "lost", "problem": LOST, "ended_s": time.time()}
        self._forget_old()

    def _forget_old(self) -> None:
        over = [*self._past]
        over += [one.id for one in self._kept.values() if one.ended_s is not None]
        for old in over[: max(0, len(over) - KEPT_MAX)]:
            self._past.pop(old, None)
            self._kept.pop(old, None)

    def begin(self, what: str, about: str, by: str, unit: str, work: Work) -> Operation:
        """Begin it; BadMessageError `too_many_operations` where enough is under way."""
        if len(self._tasks) >= RUNNING_MAX:
            raise BadMessageError(
                "too_many_operations", "two operations are under way here; wait for one"
            )
        self._given += 1
        made = Operation(f"{self._node}-{self._life()}-{self._given}", what, about, by, unit)
        self._kept[made.id] = made
        self._forget_old()
        task = asyncio.get_running_loop().create_task(self._run(made, work))
        self._tasks.add(task)
        task.add_done_callback(lambda task: self._over(made, task))
        return made

    def _over(self, one: Operation, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if one.state == "running":  # it was called off before its first step
            one.state = "cancelled"
        one.ended_s = time.time()

    async def _run(self, one: Operation, work: Work) -> None:
        try:
            await self._keep(one)
            one.result = await work(one)
            one.state = "done"
        except (CancelledWorkError, asyncio.CancelledError):
            one.state = "cancelled"
        except (ServerError, BadMessageError) as error:
            one.state, one.problem = "failed", str(error)
        except OSError as error:
            one.state, one.problem = "failed", f"{error.filename}: {error.strerror}"
        except Exception:
            logger.exception("operation %s (%s) has failed", one.id, one.what)
            one.state, one.problem = "failed", "the node has failed on this; see its log"
        await self._keep(one, time.time())

    async def _keep(self, one: Operation, ended_s: float | None = None) -> None:
        """In the node's folder; `ended_s`: it is over since then."""
        record = {**one.shown(self._node), "ended_s": ended_s}
        await self._shelf.put(record, {**self._records(), one.id: record})

    def _records(self) -> dict[str, Record]:
        return {**self._past, **{id: one.shown(self._node) for id, one in self._kept.items()}}

    def shown(self) -> list[Shown]:
        """All, the newest first."""
        return list(reversed(self._records().values()))

    def told(self, wanted: str) -> Shown:
        """How one stands, or has ended; BadMessageError `unknown_operation`."""
        found = self._records().get(wanted)
        if found is None:
            raise BadMessageError("unknown_operation", "this node knows of no such operation")
        return found

    def cancel(self, wanted: str) -> Shown:
        """Call it off; what is over stays as it is."""
        found = self._kept.get(wanted)
        if found is not None:
            found.is_cancelled = True
        return self.told(wanted)

    async def close(self) -> None:
        """The node leaves: what is under way is called off."""
        for one in self._kept.values():
            one.is_cancelled = True
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
