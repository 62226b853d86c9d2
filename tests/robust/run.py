"""`python -m tests.robust.run`: real nodes under faults, judged by the simulator's checkers.

Three nodes, or `--nodes`, each in a network namespace of its own with a disk of its own, and
clients that type into one document. What is played is in `FAULTS`, each kind in turn, in an order
that is drawn. Then all is healed; what clients saw and what each node's log says go through the
checkers, the texts of all nodes have to be alike, and every token whose call was answered has to
stand there once. A kind that was never played is a violation, too.

The last line is JSON: what was done, and `violations`. 1 if there is any, 2 where no network
namespaces or disks can be made.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import aiohttp
from websockets.asyncio.client import ClientConnection

from groupcore.aio.lives import REJOIN_MAX_S
from groupcore.sim.checkers import Violation
from tests.end_to_end.cluster import eventually
from tests.end_to_end.page import BLOCK, TOKEN_WIDTH, Fields, Tab, tokens
from tests.robust.disks import Disks
from tests.robust.evidence import explained, keep
from tests.robust.faults import FAULTS, LASTS_S, Faults
from tests.robust.history import Calls, Line, is_whole, judge
from tests.robust.network import Network, NoNetwork
from tests.robust.spaces import NAMES, Spaces
from tests.robust.watch import Watch

CLIENTS = 3
QUIET_S = (0.3, 1.5)
"""Between two faults."""
CALLS_OF_A_TEXT = 900
"""A block takes 10,000 characters; then people go on in another document."""
HEALED_S = 2 * REJOIN_MAX_S + 120.0
"""Within so long who is started is ready, and all nodes are one view again, with one text.

On a starved machine a node is excluded when it was not scheduled, too, as when it has just come
back, and waits longer with each time before it comes again; a client that stays with it waits as
long.
"""


class Client(Tab):
    """A tab that notes when it has asked for what, and when it was answered."""

    from_page = True

    def __init__(
        self, calls: Calls, client: str, doc: str, urls: Callable[[], list[str]], seed: int
    ) -> None:
        super().__init__(client, doc, urls, seed)
        self.calls = calls
        self.done: set[int] = set()

    async def until(
        self, condition: Callable[[], bool], what: str, limit_s: float = HEALED_S
    ) -> None:
        """See `Tab`."""
        await super().until(condition, what, limit_s)

    async def type_token(self) -> None:
        """See `Tab`; who has typed enough into this text waits for the next one."""
        if self.op >= CALLS_OF_A_TEXT // 2:
            await asyncio.Event().wait()
        self.calls.submit(time.monotonic(), self._id, self.op + 1)
        await super().type_token()

    async def _take(self, connection: ClientConnection, message: Fields) -> None:
        numbers: list[int] = []
        if message["t"] == "result":
            numbers = [message["n"]]
        elif message["t"] in ("snapshot", "opened"):
            numbers = [number for number, _, code in message["done"] if not code]
        for number in numbers:
            if number not in self.done and number <= self.op:
                self.done.add(number)
                self.calls.answer(time.monotonic(), self._id, number)
        await super()._take(connection, message)


class Chapter:
    """A document, and who types into it; `dumps` is what each node's log says of it in the end."""

    def __init__(self, doc: str, calls: Calls, clients: list[Client]) -> None:
        self.doc = doc
        self.calls = calls
        self.clients = clients
        self.dumps: dict[str, list[Line]] = {}

    @property
    def group(self) -> str:
        """Its block."""
        return f"doc/{self.doc}/{BLOCK}"

    def judged(self, dumps: Mapping[str, list[Line]]) -> list[Violation]:
        """What the checkers have to say of it, with these logs."""
        return judge(self.calls, dumps, self.group)


class Run:
    """One run; `happened` counts the faults by kind.

    `played`: begin and end of each fault, in seconds as the calls have them, kind, and node.
    """

    def __init__(self, cluster: Spaces, seed: int, lasts_s: tuple[float, float]) -> None:
        self.cluster = cluster
        self.random = Random(seed)
        self.watch = Watch(cluster)
        self.faults = Faults(cluster, self.random, lasts_s, self.watch.healed)
        self.chapters: list[Chapter] = []
        self.happened: Counter[str] = Counter()
        self.played: list[tuple[float, float, str, str]] = []
        self.problems: list[str] = []

    async def play(self, seconds: float) -> None:
        """Hurt the cluster while people type, then heal it and judge; each kind once at least."""
        names = NAMES[: self.cluster.network.size]
        await self.cluster.start(*names)
        for name in names:
            await self.cluster.view_of(name, *names)
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self.watch)
            await self._begin(stack)
            await self._hurt(seconds, stack)
            await eventually(self.watch.is_whole, "all nodes are one view", HEALED_S)
            for client in self.chapters[-1].clients:
                await client.stop_typing()
            for chapter in self.chapters:
                await self._settle(names, chapter)
        await self._judge(names)

    async def _begin(self, stack: AsyncExitStack) -> None:
        """Another document, into which all type."""
        calls = Calls()
        chapter = Chapter(await self.cluster.create("a"), calls, [])
        for number in range(CLIENTS):
            urls = self._urls_from(number)
            seed = CLIENTS * len(self.chapters) + number
            one = Client(calls, "pqr"[number], chapter.doc, urls, seed)
            chapter.clients.append(await stack.enter_async_context(one))
        for one in chapter.clients:
            one.start_typing(0.05)
        self.chapters.append(chapter)

    async def _turn_over(self, stack: AsyncExitStack) -> None:
        """Go on in another document when this one is full; the nodes are whole."""
        former = self.chapters[-1]
        if len(former.calls.submitted) < CALLS_OF_A_TEXT:
            return
        for client in former.clients:
            await client.stop_typing()
        await self._begin(stack)

    def _urls_from(self, number: int) -> Callable[[], list[str]]:
        def urls() -> list[str]:
            found = self.cluster.urls()
            return found[number % len(found) :] + found[: number % len(found)] if found else []

        return urls

    async def _hurt(self, seconds: float, stack: AsyncExitStack) -> None:
        """Faults for so long, and until every kind has been played."""
        end = time.monotonic() + seconds
        left: list[str] = []
        began = time.monotonic()
        while time.monotonic() < end or len(self.happened) < len(FAULTS):
            if not left:
                left = list(FAULTS)
                self.random.shuffle(left)
            kind = left.pop()
            name = self.random.choice(NAMES[: self.cluster.network.size])
            self.watch.begin(kind)
            begins = time.monotonic()
            self.problems += await self.faults.play(kind, name)
            self.played.append((begins, time.monotonic(), kind, name))
            print(f"{time.monotonic() - began:6.1f} s {kind} of {name}", flush=True)
            self.happened[kind] += 1
            await asyncio.sleep(self.random.uniform(*QUIET_S))
            full = len(self.chapters[-1].calls.submitted) >= CALLS_OF_A_TEXT
            if full or self.random.random() < 0.5:
                await eventually(self.watch.is_whole, f"whole behind {kind} of {name}", HEALED_S)
                await self._turn_over(stack)

    async def _settle(self, names: str, chapter: Chapter) -> None:
        texts: set[str | None] = set()

        async def alike() -> bool:
            texts.clear()
            texts.update([await self._text(name, chapter.doc) for name in names])
            return len(texts) == 1 and None not in texts

        await eventually(alike, "all nodes have one text", HEALED_S)
        found = Counter(tokens(texts.pop() or ""))
        for client in chapter.clients:
            for number in sorted(client.done):
                token = client.typed[number - 1]
                if found[token] != 1:
                    self.problems.append(
                        f"18: {token} was answered and stands {found[token]} times"
                    )
        assert all(len(token) == TOKEN_WIDTH for token in found), "a token is torn"

    async def _text(self, name: str, doc: str) -> str | None:
        """As a node has it; None from one that cannot say it now, as on a starved machine."""
        try:
            code, body = await self.cluster.get(
                f"{self.cluster.nodes[name].url}/api/v1/documents/{doc}"
            )
        except (aiohttp.ClientError, TimeoutError):
            return None
        return str(body["blocks"][0]["text"]) if code == 200 else None

    async def _judge(self, names: str) -> None:
        for chapter in self.chapters:

            async def dumped(chapter: Chapter = chapter) -> bool:
                dumps = await asyncio.gather(*(self._dump(name, chapter.group) for name in names))
                chapter.dumps = {
                    name: lines
                    for name, lines in zip(names, dumps, strict=True)
                    if lines is not None
                }
                return None not in dumps and is_whole(chapter.dumps, chapter.group)

            what = f"the logs say alike how far {chapter.group} is settled"
            await eventually(dumped, what, HEALED_S)
            if not any(chapter.dumps.values()):
                self.problems.append(f"no log has group {chapter.group}")
            found = chapter.judged(chapter.dumps)
            self.problems += [explained(one, chapter.dumps) for one in found]
        missing = [kind for kind in FAULTS if not self.happened[kind]]
        self.problems += [f"{kind} was never played" for kind in missing]

    async def _dump(self, name: str, group: str) -> list[Line] | None:
        """From the node: its folder does not say yet of the last lines that they are settled.

        None from one that cannot say it now.
        """
        at = self.cluster.managed(name)
        process = await self.cluster.command(name, "dump-log", *at, "--group", group)
        output, _ = await process.communicate()
        if process.returncode:
            return None
        return [json.loads(line) for line in output.splitlines()]

    def summary(self) -> dict[str, Any]:
        """What was done and found, for JSON."""
        return {
            "faults": {kind: self.happened[kind] for kind in FAULTS},
            "calls": sum(len(one.calls.submitted) for one in self.chapters),
            "answered": sum(len(one.calls.answered) for one in self.chapters),
            **self.watch.summary(),
            "violations": len(self.problems),
        }


async def robust(
    seconds: float, nodes: int, seed: int, lasts_s: tuple[float, float] = LASTS_S
) -> tuple[Run, float]:
    """Make the network, the disks and the cluster, and play; NoNetwork."""
    began = time.monotonic()
    with (
        TemporaryDirectory() as folder,
        Network(nodes) as network,
        Disks(Path(folder) / "disks", nodes) as disks,
    ):
        async with Spaces(Path(folder), network, disks) as cluster:
            cluster.ready_s = HEALED_S
            run = Run(cluster, seed, lasts_s)
            went_well = False
            try:
                await run.play(seconds)
                went_well = not run.problems
            finally:
                if not went_well:
                    print(f"kept in {keep(run, Path(folder))}", flush=True)
    return run, time.monotonic() - began


def main(arguments: list[str] | None = None) -> int:
    """See above."""
    parser = argparse.ArgumentParser(prog="python -m tests.robust.run", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--nodes", type=int, choices=range(3, 6), default=3)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    try:
        run, took_s = asyncio.run(robust(options.minutes * 60, options.nodes, options.seed))
    except NoNetwork as problem:
        print(json.dumps({"violations": None, "problem": str(problem)}))
        return 2
    for found in run.problems:
        print(found)
    print(json.dumps({"seed": options.seed, "seconds": round(took_s, 1), **run.summary()}))
    return 1 if run.problems else 0


if __name__ == "__main__":
    sys.exit(main())
