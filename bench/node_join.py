"""A node joins real ones over lossy links, or comes back, while people type: times and their waits.

Nodes run in network namespaces (`tests.robust.network`: needs root), and hold documents of so many
megabytes. Four people type at those that stay. The joiner loses a share of its datagrams in both
directions. `serving`: from the start of its process to `/readyz`. `giver_killed`: the node that
gives the state is killed when two fifths have come. A node that comes back was stopped, or killed.

What others' answers take is compared with the seconds before and behind it: `p99_ratio` is that of
the time from the first piece to the last, by the mean of the two. `others` are the same figures
of those alone who type at nodes that live: who types at the giver that is killed has to connect
to another one. Of those, `failover` are the answers that were waited for between the kill and the
view without the giver, which has a goal of its own, and `transfer` all others from the first piece
on: that is what a transfer costs. All nodes share this machine.
"""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import groupby, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import aiohttp
from websockets.asyncio.client import ClientConnection

from bench.measuring import load_average, quantile
from tests.end_to_end.cluster import ended, eventually
from tests.end_to_end.page import Fields, Tab
from tests.robust.network import Network
from tests.robust.spaces import Spaces

PARAGRAPH = "Some words of a paragraph that somebody has written about the plan. " * 6
PARAGRAPHS = 1_200
"""Of a document of half a megabyte."""
BEFORE_S = 5.0
STAYING = "abc"
JOINER = "d"
INTERVAL_S = 0.04
GIVEN = 0.4
LIMIT_S = 120.0
LOOK_S = 0.02


class Typist(Tab):
    """Types into a document of its own; how long each answer took, and when it came."""

    from_page = True

    def __init__(self, doc: str, url: Callable[[], list[str]], seed: int) -> None:
        super().__init__("pqrs"[seed], doc, url, seed)
        self.waits: list[tuple[float, float]] = []
        self._asked = 0.0

    async def type_token(self) -> None:
        """See `Tab`."""
        self._asked = time.monotonic()
        await super().type_token()

    async def _take(self, connection: ClientConnection, message: Fields) -> None:
        if message["t"] == "result" and message["n"] == self.op:
            now = time.monotonic()
            self.waits.append((now, 1e3 * (now - self._asked)))
        await super()._take(connection, message)


def waits_of(typists: list[Typist], begins: float, ends: float) -> dict[str, float]:
    """Quantiles of the answers that came in a time, and the longest pause of any typist, in ms."""
    return figures([ms for one in typists for at, ms in one.waits if begins <= at < ends])


def figures(waits: list[float]) -> dict[str, float]:
    """Quantiles of these waits, in ms."""
    return {
        "answers": len(waits),
        "p50_ms": round(quantile(waits, 0.5), 1),
        "p99_ms": round(quantile(waits, 0.99), 1),
        "longest_ms": round(max(waits, default=0.0), 1),
    }


@asynccontextmanager
async def typing(folder: Path, size_mb: float) -> AsyncIterator[tuple[Spaces, list[Typist]]]:
    """Three of four nodes with documents, and people who type at them."""
    with Network(len(STAYING) + 1) as network:
        async with Spaces(folder, network) as cluster, AsyncExitStack() as stack:
            await cluster.start(*STAYING)
            for name in STAYING:
                await cluster.view_of(name, *STAYING)
            for number in range(round(2 * size_mb)):
                text = "\n\n".join(f"{number} {at} {PARAGRAPH}" for at in range(PARAGRAPHS))
                await cluster.create(STAYING[number % 3], text)
            typists = []
            for seed in range(4):
                doc = await cluster.create(STAYING[seed % 3])

                def urls(first: int = seed) -> list[str]:
                    found = cluster.urls()[:3]
                    return found[first % 3 :] + found[: first % 3]

                typists.append(await stack.enter_async_context(Typist(doc, urls, seed)))
            for one in typists:
                one.start_typing(INTERVAL_S)
            yield cluster, typists
            for one in typists:
                await one.interrupt()


class Look:
    """Asks a node for its status all the while; how long it did not answer, and what it said."""

    def __init__(self, cluster: Spaces, name: str) -> None:
        self._cluster = cluster
        self._name = name
        self._task: asyncio.Task[None] | None = None
        self.said: list[tuple[float, dict[str, Any]]] = []

    async def __aenter__(self) -> Look:
        """Begin."""
        self._task = asyncio.create_task(self._run())
        return self

    async def __aexit__(self, *_: object) -> None:
        """End."""
        assert self._task is not None
        await ended(self._task)

    async def _run(self) -> None:
        while True:
            node = self._cluster.nodes.get(self._name)
            if node is not None and node.running and node.listens:
                try:
                    status = await self._cluster.status(self._name)
                    self.said.append((time.monotonic(), status))
                except (aiohttp.ClientError, TimeoutError):
                    pass
            await asyncio.sleep(LOOK_S)

    def longest_s(self, begins: float) -> float:
        """The longest time between two answers behind that time."""
        times = [at for at, _ in self.said if at >= begins]
        return max((b - a for a, b in pairwise(times)), default=0.0)

    def left(self, begins: float) -> int:
        """How often it stopped serving, behind the first time that it did."""
        states = [one["state"] for at, one in self.said if at >= begins]
        return sum(former == "serving" != later for former, later in pairwise(states))

    def too_soon(self) -> int:
        """How often it said that it serves while it took the others' state."""
        return sum(one["state"] == "serving" and bool(one["taking"]) for _, one in self.said)


def is_one(status: dict[str, Any], names: str) -> bool:
    """Whether a node serves in a view of these, and takes nothing any more."""
    view = status["view"]
    whole = view is not None and view["primary"] and set(view["members"]) == set(names)
    return bool(whole and status["state"] == "serving" and status["taking"] is None)


async def settled(cluster: Spaces, names: str) -> None:
    """All of these nodes are one."""

    async def one() -> bool:
        try:
            return all([is_one(await cluster.status(name), names) for name in names])
        except (aiohttp.ClientError, TimeoutError, AssertionError):
            return False

    await eventually(one, f"{names} are one", LIMIT_S)


async def join(size_mb: float, loss: float, kills: bool) -> dict[str, Any]:
    """A node with an empty folder joins."""
    with TemporaryDirectory() as folder:
        async with typing(Path(folder), size_mb) as (cluster, typists):
            await asyncio.sleep(BEFORE_S)
            cluster.network.lose(3, loss)
            began = time.monotonic()
            cluster.nodes[JOINER] = await cluster.spawn(JOINER)
            names = STAYING + JOINER
            async with Look(cluster, JOINER) as look:
                if kills:
                    await eventually(lambda: half(look), "two fifths have come", LIMIT_S)
                    await cluster.nodes["a"].kill()
                    names = names.replace("a", "")
                killed = gone = time.monotonic()
                if kills:
                    await eventually(lambda: is_without(cluster, "b", "a"), "a is gone", LIMIT_S)
                    gone = time.monotonic()
                await settled(cluster, names)
                ended = time.monotonic()
                await asyncio.sleep(BEFORE_S)
                told = [(at, one["taking"]) for at, one in look.said if one["taking"]]
                first = told[0][0] if told else began
                living = [one for one in typists if not (kills and at_giver(one))]
            return {
                "case": "giver_killed" if kills else "join",
                "mb": size_mb,
                "loss_percent": loss,
                "serving_s": round(ended - began, 2),
                "behind_the_kill_s": round(ended - killed, 2) if kills else None,
                "first_asked_s": round(told[0][0] - began, 2) if told else None,
                "bytes_of_each_giver": sizes_of([one for _, one in told]),
                "starting": waits_of(typists, began, first),
                **compared(typists, began, first, ended),
                "others": compared(living, began, first, ended),
                **(apart(living, first, killed, gone, ended) if kills else {}),
                "load": load_average(),
            }


async def is_without(cluster: Spaces, name: str, gone: str) -> bool:
    """Whether a node is in a primary view without that one."""
    view = (await cluster.status(name))["view"]
    return bool(view and view["primary"] and gone not in view["members"])


def apart(
    typists: list[Typist], first: float, killed: float, gone: float, ended: float
) -> dict[str, dict[str, float]]:
    """The waits from the first piece to the last: those of the failover, and the others."""
    waits = [wait for one in typists for wait in one.waits if first <= wait[0] < ended]
    failover = [ms for at, ms in waits if at >= killed and at - ms / 1e3 < gone]
    transfer = [ms for at, ms in waits if at < killed or at - ms / 1e3 >= gone]
    seconds = round(gone - killed, 2)
    return {
        "failover": {"seconds": seconds, **figures(failover)},
        "transfer": figures(transfer),
    }


def at_giver(typist: Typist) -> bool:
    """Whether this one typed at the node that gave the state first, before it was killed."""
    return "pqrs".index(typist.client) % len(STAYING) == 0


def compared(typists: list[Typist], began: float, first: float, ended: float) -> dict[str, Any]:
    """What answers take from the first piece on, until all is done, and before and behind it."""
    before = waits_of(typists, began - BEFORE_S, began)
    taking = waits_of(typists, first, ended)
    behind = waits_of(typists, ended, ended + BEFORE_S)
    usual_ms = (before["p99_ms"] + behind["p99_ms"]) / 2
    ratio = round(taking["p99_ms"] / usual_ms, 2)
    return {"before": before, "meanwhile": taking, "behind": behind, "p99_ratio": ratio}


def sizes_of(told: list[dict[str, Any]]) -> list[int]:
    """How large the state of each giver was, as the taker has said while it came."""
    sizes = [one["of"] for one in told if one["phase"] == "fetching"]
    return [size for size, _ in groupby(sizes)]


async def half(look: Look) -> bool:
    """Whether two fifths of the state have come."""
    for _, status in look.said[-1:]:
        taking = status["taking"]
        if taking and taking["of"]:
            return bool(taking["bytes"] > GIVEN * taking["of"])
    return False


async def come_back(size_mb: float, how: str) -> dict[str, Any]:
    """A node was stopped for 4 s, or killed; it comes back."""
    with TemporaryDirectory() as folder:
        async with typing(Path(folder), size_mb) as (cluster, typists):
            await cluster.start(JOINER)
            names = STAYING + JOINER
            await settled(cluster, names)
            await asyncio.sleep(BEFORE_S)
            node = cluster.nodes[JOINER]
            async with Look(cluster, JOINER) as look:
                if how == "stopped":
                    node.signal(signal.SIGSTOP)
                    await settled(cluster, STAYING)
                    began = time.monotonic()
                    node.signal(signal.SIGCONT)
                else:
                    await node.kill()
                    await settled(cluster, STAYING)
                    began = time.monotonic()
                    cluster.nodes[JOINER] = await cluster.spawn(JOINER)
                await settled(cluster, names)
                ended = time.monotonic()
                await asyncio.sleep(5.0)
                told = [one["taking"] for at, one in look.said if one["taking"] and at > began]
            return {
                "case": f"back, {how}",
                "mb": size_mb,
                "settled_s": round(ended - began, 2),
                "status_longest_s": round(look.longest_s(began), 2),
                "left_again": look.left(ended),
                "said_serving_too_soon": look.too_soon(),
                "bytes_of_each_giver": sizes_of(told),
                "before": waits_of(typists, began - BEFORE_S, began),
                "meanwhile": waits_of(typists, began, ended),
                "load": load_average(),
            }


def run(quick: bool) -> dict[str, object]:
    """All cases; with `quick` one join."""
    cases: list[Callable[[], Any]] = [lambda: join(4, 1, False)]
    if not quick:
        cases += [
            lambda: join(20, 5, False),
            lambda: join(20, 5, True),
            lambda: come_back(20, "stopped"),
            lambda: come_back(20, "killed"),
        ]
    return {"cases": [asyncio.run(case()) for case in cases]}
