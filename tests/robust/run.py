"""`python -m tests.robust.run`: real nodes under faults, judged by the simulator's checkers.

Three nodes, or `--nodes`, each in a network namespace of its own, and clients that type into one
document. Nodes are cut off, lose packets, are killed, and are stopped and go on. Then all is
healed; what clients saw and what each node's log says go through the checkers, the texts of all
nodes have to be alike, and every token whose call was answered has to stand there once.

The last line is JSON: what was done, and `violations`. 1 if there is any, 2 where no network
namespaces can be made.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Self

from websockets.asyncio.client import ClientConnection

from tests.end_to_end.cluster import ROOT, Cluster, NodeProcess, eventually
from tests.end_to_end.page import BLOCK, TOKEN_WIDTH, Fields, Tab, tokens
from tests.robust.history import Calls, Line, judge
from tests.robust.network import Network, NoNetwork

NAMES = "abcde"
CLIENTS = 3
QUIET_S = (0.3, 1.5)
"""Between two faults."""
LASTS_S = (0.3, 4.0)
"""How long a fault lasts."""
HEALED_S = 60.0
"""Within so long all nodes have to be one view again, with one text."""
KINDS = ("cut", "loss", "kill", "stop")


class Client(Tab):
    """A tab that notes when it has asked for what, and when it was answered."""

    from_page = True

    def __init__(
        self, calls: Calls, client: str, doc: str, urls: Callable[[], list[str]], seed: int
    ) -> None:
        super().__init__(client, doc, urls, seed)
        self.calls = calls
        self.done: set[int] = set()

    async def type_token(self) -> None:
        """See `Tab`."""
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


class Spaces(Cluster):
    """A cluster whose nodes run in the namespaces of a network."""

    def __init__(self, folder: Path, network: Network) -> None:
        super().__init__(folder, size=network.size, multicast="228.8.8.8:45588", ttl=1)
        self.network = network

    async def __aenter__(self) -> Self:
        """See `Cluster`; what is written over HTTP comes from a page of the first node."""
        await super().__aenter__()
        assert self._http is not None
        self._http.headers["Origin"] = f"http://{self.network.address(0)}:8000"
        return self

    async def spawn(self, name: str, **flags: str | int) -> NodeProcess:
        """See `Cluster`."""
        number = NAMES.index(name)
        address = self.network.address(number)
        own = {"node_id": name, "data": str(self.folder / name), "bind": address}
        own |= {"http": f"{address}:8000", "admin": f"{address}:9000"}
        given = {**self.flags, **own, **flags}
        arguments = [f"--{key.replace('_', '-')}={value}" for key, value in given.items()]
        log = self.folder / f"{name}.{len(self._all)}.log"
        with log.open("wb") as output:
            process = await asyncio.create_subprocess_exec(
                *self.network.prefix(number),
                *(sys.executable, "-m", "server", *arguments),
                cwd=ROOT,
                stdout=output,
                stderr=output,
            )
        node = NodeProcess(name, process, log)  # type: ignore[arg-type]
        self._all.append(node)
        return node


class Run:
    """One run; `happened` counts the faults by kind."""

    def __init__(self, cluster: Spaces, seed: int) -> None:
        self.cluster = cluster
        self.network = cluster.network
        self.random = Random(seed)
        self.calls = Calls()
        self.happened: Counter[str] = Counter()
        self.problems: list[str] = []
        self.has_loss = True

    async def play(self, seconds: float) -> None:
        """Hurt the cluster while people type, then heal it and judge."""
        names = NAMES[: self.network.size]
        await self.cluster.start(*names)
        for name in names:
            await self.cluster.view_of(name, *names)
        doc = await self.cluster.create("a")
        async with AsyncExitStack() as stack:
            clients = []
            for number in range(CLIENTS):
                letter = "pqr"[number]
                one = Client(self.calls, letter, doc, self._urls_from(number), number + 1)
                clients.append(await stack.enter_async_context(one))
            for client in clients:
                client.start_typing(0.05)
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                await self._hurt()
                await asyncio.sleep(self.random.uniform(*QUIET_S))
            for name in names:
                await self.cluster.view_of(name, *names)
            for client in clients:
                await client.stop_typing()
            await self._settle(names, doc, clients)
        await self._judge(names, doc)

    def _urls_from(self, number: int) -> Callable[[], list[str]]:
        def urls() -> list[str]:
            found = self.cluster.urls()
            return found[number % len(found) :] + found[: number % len(found)] if found else []

        return urls

    async def _hurt(self) -> None:
        number = self.random.randrange(self.network.size)
        name, kind = NAMES[number], self.random.choice(KINDS)
        lasts_s = self.random.uniform(*LASTS_S)
        node = self.cluster.nodes[name]
        self.happened[kind] += 1
        if kind == "cut":
            self.network.cut(number, on=True)
            await asyncio.sleep(lasts_s)
            self.network.cut(number, on=False)
        elif kind == "stop":
            node.signal(signal.SIGSTOP)
            await asyncio.sleep(lasts_s)
            node.signal(signal.SIGCONT)
        elif kind == "kill":
            await node.kill()
            await asyncio.sleep(lasts_s)
            await self.cluster.start(name)
        elif self.has_loss:
            try:
                self.network.lose(number, self.random.choice((1, 5, 20)))
                await asyncio.sleep(lasts_s)
                self.network.lose(number, 0)
            except NoNetwork as problem:
                self.has_loss = False
                print(f"no loss: {problem}", flush=True)

    async def _settle(self, names: str, doc: str, clients: list[Client]) -> None:
        async def alike() -> bool:
            texts = {await self.cluster.text(name, doc) for name in names}
            return len(texts) == 1

        await eventually(alike, "all nodes have one text", HEALED_S)
        found = Counter(tokens(await self.cluster.text("a", doc)))
        for client in clients:
            for number in sorted(client.done):
                token = client.typed[number - 1]
                if found[token] != 1:
                    self.problems.append(
                        f"18: {token} was answered and stands {found[token]} times"
                    )
        assert all(len(token) == TOKEN_WIDTH for token in found), "a token is torn"

    async def _judge(self, names: str, doc: str) -> None:
        group = f"doc/{doc}/{BLOCK}"
        dumps = {name: await self._dump(name, group) for name in names}
        if not any(dumps.values()):
            self.problems.append(f"no log has group {group}")
        self.problems += [str(violation) for violation in judge(self.calls, dumps, group)]

    async def _dump(self, name: str, group: str) -> list[Line]:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "server", "dump-log", str(self.cluster.folder / name)),
            *("--group", group),
            cwd=ROOT,
            stdout=asyncio.subprocess.PIPE,
        )
        output, _ = await process.communicate()
        if process.returncode:
            self.problems.append(f"dump-log of {name} ended with {process.returncode}")
        return [json.loads(line) for line in output.splitlines()]


async def robust(seconds: float, nodes: int, seed: int) -> tuple[Run, float]:
    """Make the network and the cluster, and play; NoNetwork."""
    began = time.monotonic()
    with TemporaryDirectory() as folder, Network(nodes) as network:
        async with Spaces(Path(folder), network) as cluster:
            run = Run(cluster, seed)
            await run.play(seconds)
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
    summary = {
        "seed": options.seed,
        "seconds": round(took_s, 1),
        "faults": dict(sorted(run.happened.items())),
        "calls": len(run.calls.submitted),
        "answered": len(run.calls.answered),
        "violations": len(run.problems),
    }
    print(json.dumps(summary))
    return 1 if run.problems else 0


if __name__ == "__main__":
    sys.exit(main())
