"""Long work of a node for who runs the cluster: begun at once, watched, called off.

An operation lives in the memory of the node that does it; its id names that node's life, so that
any node can say where it is to be asked for. What it makes gets its name only when it is whole: an
operation that fails, is called off, or ends with its node has made nothing.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from server.console.colleagues import Shown
from server.errors import BadMessageError, ServerError

logger = logging.getLogger("server")

RUNNING_MAX = 2
"""So many at a time: they are for the disk."""
KEPT_MAX = 50
"""So many that are over can still be asked for."""


class CancelledWorkError(Exception):
    """The operation was called off."""


@dataclass(slots=True)
class Operation:
    """What is done: `done` of `total` units (`bytes`, `documents` or `segments`); `total` 0: not
    known. `state` is running, done, failed or cancelled; `problem` says why it failed.
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
    """Those of one life of a node, whose `name` begins their ids."""

    def __init__(self, node: str, life: Callable[[], int]) -> None:
        self._node = node
        self._life = life
        self._given = 0
        self._kept: dict[str, Operation] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def begin(self, what: str, about: str, by: str, unit: str, work: Work) -> Operation:
        """Begin it; BadMessageError `busy` where enough is under way."""
        if len(self._tasks) >= RUNNING_MAX:
            raise BadMessageError("busy", "two operations are under way here; wait for one")
        self._given += 1
        made = Operation(f"{self._node}-{self._life()}-{self._given}", what, about, by, unit)
        self._kept[made.id] = made
        over = [one.id for one in self._kept.values() if one.ended_s is not None]
        for old in over[: max(0, len(over) - KEPT_MAX)]:
            del self._kept[old]
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

    def shown(self) -> list[Shown]:
        """All, the newest first."""
        return [one.shown(self._node) for one in reversed(self._kept.values())]

    def find(self, wanted: str) -> Operation:
        """BadMessageError `unknown_operation`."""
        found = self._kept.get(wanted)
        if found is None:
            raise BadMessageError("unknown_operation", "this node knows of no such operation")
        return found

    def cancel(self, wanted: str) -> Shown:
        """Call it off; what is over stays as it is."""
        found = self.find(wanted)
        found.is_cancelled = True
        return found.shown(self._node)

    async def close(self) -> None:
        """The node leaves: what is under way is called off."""
        for one in self._kept.values():
            one.is_cancelled = True
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
