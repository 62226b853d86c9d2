"""Questions between nodes: each answers for itself, whoever is asked by an admin gathers.

Idea. What is the same at all nodes, because it follows from the order, is read where it is asked
for. What each node alone knows (its processor, its sessions, its settings) it is asked for over a
connection that is sealed with the cluster's key (decision 0053). A node that does not answer in
time is said to be silent; nobody waits longer for it.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol, TypeAlias

from msgpack import packb, unpackb
from msgpack.exceptions import UnpackException

from groupcore.errors import GroupcoreError
from groupcore.transfer.sources import StateSource
from server.errors import BadMessageError

logger = logging.getLogger("server")

ANSWER_S = 2.0
"""How long a node may take to answer."""
SLOW_S = {"prune": 60.0}
"""The same of questions whose answer is work for the disk."""
QUESTION_BYTES_MAX = 900
"""A question fits into the name of a transfer."""

Shown: TypeAlias = dict[str, Any]
Answers: TypeAlias = Mapping[str, Callable[[Shown], "Shown | Awaitable[Shown]"]]


class Line(Protocol):
    """How a node is reached."""

    async def ask(self, node: str, asked: bytes) -> bytes | None:
        """What the node gives under this name; None when it gives nothing."""


class Answering(StateSource):
    """The answer to one question, as it is read by the node that has asked."""

    size_bytes = None

    def __init__(self, work: Awaitable[bytes]) -> None:
        self._task = asyncio.ensure_future(work)

    def read(self, offset: int, size: int) -> bytes | None:
        """See `StateSource`."""
        return self._task.result()[offset : offset + size] if self._task.done() else None

    def close(self) -> None:
        """What was begun is ended anyway."""


class Colleagues:
    """The nodes of the view, this one (`me`) included; `answers` are this one's own."""

    def __init__(
        self, me: str, nodes: Callable[[], tuple[str, ...]], line: Line, answers: Answers
    ) -> None:
        self._me = me
        self._nodes = nodes
        self._line = line
        self._answers = answers
        self._asking: dict[tuple[str, bytes], asyncio.Task[Shown]] = {}

    # --- asked ----------------------------------------------------------------------------------

    def answer(self, asked: bytes) -> StateSource | None:
        """What another node has asked, over a sealed connection; None for what is no question."""
        try:
            name, about = unpackb(asked)
        except (UnpackException, ValueError, TypeError):
            return None
        if type(name) is not str or name not in self._answers or not isinstance(about, dict):
            return None
        return Answering(self._packed(name, about))

    async def _packed(self, name: str, about: Shown) -> bytes:
        try:
            found = {"answer": await self._own(name, about)}
        except BadMessageError as error:
            found = {"problem": {"code": error.code, "detail": error.message}}
        except GroupcoreError as error:
            found = {"problem": {"code": "not_primary", "detail": f"{error}; try again"}}
        packed: bytes = packb(found)
        return packed

    async def _own(self, name: str, about: Shown) -> Shown:
        found = self._answers[name](about)
        return await found if inspect.isawaitable(found) else found

    # --- asking ---------------------------------------------------------------------------------

    async def ask(self, node: str, name: str, **about: object) -> Shown:
        """One node's answer; BadMessageError is its own, or `node_silent`, `unknown_node`."""
        if node == self._me:
            return await self._own(name, about)
        if node not in self._nodes():
            raise BadMessageError("unknown_node", f"no node {node[:64]!r} is in the view")
        question: bytes = packb([name, about])
        assert len(question) <= QUESTION_BYTES_MAX, "who asks sees to it"
        key = (node, question)
        task = self._asking.get(key)
        if task is None:  # once for all who ask the same at the same time
            work = self._ask(node, question, SLOW_S.get(name, ANSWER_S))
            task = self._asking[key] = asyncio.get_running_loop().create_task(work)
            task.add_done_callback(lambda _: self._asking.pop(key, None))
        return await asyncio.shield(task)

    async def _ask(self, node: str, question: bytes, limit_s: float) -> Shown:
        packed = None
        try:
            async with asyncio.timeout(limit_s):
                packed = await self._line.ask(node, question)
        except TimeoutError:
            logger.info("node %s has not answered within %g s", node, limit_s)
        if packed is None:
            raise BadMessageError("node_silent", f"node {node} does not answer now; try again")
        return read_answer(packed, node)

    async def gather(self, name: str, **about: object) -> dict[str, Shown | None]:
        """What each node of the view answers, this one first; None: it is silent."""
        nodes = (self._me, *(node for node in self._nodes() if node != self._me))

        async def one(node: str) -> Shown | None:
            try:
                return await self.ask(node, name, **about)
            except BadMessageError as error:
                logger.debug("%s does not say %s: %s", node, name, error)
                return None

        return dict(zip(nodes, await asyncio.gather(*map(one, nodes)), strict=True))


def read_answer(packed: bytes, node: str) -> Shown:
    """What another node has answered; BadMessageError is its own, or says that it is no answer."""
    try:
        found = unpackb(packed)
    except (UnpackException, ValueError, TypeError, RecursionError):
        found = None
    match found:
        case {"problem": {"code": str(code), "detail": str(detail)}}:
            raise BadMessageError(code, detail)
        case {"answer": dict(answer)}:
            return answer
        case _:
            raise BadMessageError("node_silent", f"node {node} answers what nobody can read")
