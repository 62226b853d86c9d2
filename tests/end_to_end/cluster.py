"""Real nodes: processes of the server on the loopback interface, started, hurt and ended.

Each cluster has a multicast port, a key and an operator of its own, so that clusters do not meet.
Nodes listen on ports that the system chooses and name them in their log. Only processes that were
started here are ended, each by its own handle. There are no accounts, unless a test asks for them.
"""

from __future__ import annotations

import asyncio
import re
import secrets
import signal
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import aiohttp

from groupcore.aio.identity import (
    CERTIFICATE,
    NODE_CERTIFICATE,
    node_key,
    operator_key,
    signed_up,
    write_operator,
    write_record,
)
from groupcore.aio.private import make_folder
from groupcore.identity.signed import public_bytes
from tests.end_to_end.nursery import Forked, nursery
from tests.management import credentials

ROOT = Path(__file__).resolve().parent.parent.parent
NAMES = ("a", "b", "c")
LIMIT_S = 20.0
POLL_S = 0.02
POLL_MOST_S = 0.1
FIRST = "first."
"""What a new document says: one token of the width that tabs type."""

Status = dict[str, Any]


async def eventually(
    condition: Callable[[], Awaitable[bool]],
    what: str,
    limit_s: float = LIMIT_S,
    interval_s: float = POLL_S,
) -> None:
    """Ask again and again until this holds; AssertionError says what did not come.

    More and more rarely: who is asked all the time takes longer.
    """
    loop = asyncio.get_running_loop()
    deadline = loop.time() + limit_s
    while not await condition():
        assert loop.time() < deadline, f"within {limit_s:g} s: {what}"
        await asyncio.sleep(interval_s)
        interval_s = max(interval_s, min(1.3 * interval_s, POLL_MOST_S))


async def ended(task: asyncio.Task[None]) -> None:
    """Cancel what runs in the background, and wait until it has ended; raises what it raised."""
    task.cancel()
    await asyncio.wait([task])
    if not task.cancelled():
        task.result()


def free_udp_port() -> int:
    """A UDP port that nobody has at the moment."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("0.0.0.0", 0))
        return int(probe.getsockname()[1])


class NodeProcess:
    """One server process and its log."""

    def __init__(self, name: str, process: Forked, log: Path) -> None:
        self.name = name
        self.process = process
        self.log = log

    @property
    def running(self) -> bool:
        """Whether it has not ended."""
        return self.process.returncode is None

    def output(self) -> str:
        """Everything that it has written."""
        return self.log.read_text(encoding="utf-8", errors="replace")

    @property
    def url(self) -> str:
        """Its public address, from the log."""
        return self._found(r"serves (http://\S+)")

    @property
    def admin_url(self) -> str:
        """Its management address, from the log."""
        return self._found(r"management on (\S+)")

    @property
    def listens(self) -> bool:
        """Whether it has named its addresses."""
        return "management on" in self.output()

    def _found(self, pattern: str) -> str:
        match = re.search(pattern, self.output())
        assert match is not None, f"{self.name} names no address: {self.output()}"
        return match[1]

    def resident_mb(self) -> int:
        """The memory that it takes; 0 where it has ended."""
        try:
            lines = (
                Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii").splitlines()
            )
        except (FileNotFoundError, ProcessLookupError):
            return 0
        found = (int(line.split()[1]) for line in lines if line.startswith("VmRSS"))
        return next(found, 0) // 1024

    def signal(self, number: signal.Signals) -> None:
        """Send a signal."""
        self.process.send_signal(number)

    async def kill(self) -> None:
        """End it as a power cut of this process would."""
        if self.running:
            self.process.kill()
        await self.process.wait()

    async def exit_code(self, limit_s: float = LIMIT_S) -> int:
        """Wait for its end."""
        async with asyncio.timeout(limit_s):
            return await self.process.wait()


class Cluster:
    """Nodes of one cluster. `flags` go to every node; within `ready_s` who is started is ready."""

    def __init__(self, folder: Path, size: int = len(NAMES), **flags: str | int) -> None:
        self.folder = folder
        self.flags = {
            "multicast": f"228.8.8.8:{free_udp_port()}",
            "cluster_size": size,
            "key_file": str(self.write_key("key")),
            "operator_key": str(self.operator()),
            "http": "127.0.0.1:0",
            "admin": "127.0.0.1:0",
            "accounts": "off",
            **flags,
        }
        self.ready_s = LIMIT_S
        self.tls: ssl.SSLContext | None = None
        self.nodes: dict[str, NodeProcess] = {}
        self.placed: set[str] = set()
        self.placing = asyncio.Lock()
        self._all: list[NodeProcess] = []
        self._http: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        """Nothing runs yet."""
        self._http = aiohttp.ClientSession(
            timeout=aiohttp.ClientTimeout(total=LIMIT_S),
            connector=aiohttp.TCPConnector(ssl=self.tls or True),
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End everything that was started; after a failure, show what the nodes said."""
        assert self._http is not None
        if error is not None:
            await self._print_status()
        await self._http.close()
        for node in self._all:
            await node.kill()
            if error is not None:
                print(f"--- {node.name} ({node.process.returncode})\n{node.output()[-3000:]}")

    async def _print_status(self) -> None:
        for name, node in self.nodes.items():
            if node.running and node.listens:
                try:
                    async with asyncio.timeout(1):
                        print(f"--- {name}: {await self.status(name)}")
                except (aiohttp.ClientError, TimeoutError) as problem:
                    print(f"--- {name}: {problem!r}")

    def write_key(self, name: str) -> Path:
        """A fresh cluster key in a file that only its owner can read."""
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / name
        path.touch(mode=0o600)
        path.write_text(secrets.token_hex(32) + "\n", encoding="ascii")
        return path

    def operator(self) -> Path:
        """The public key of the operator that certifies the nodes here."""
        shown = self.folder / "operator.pub"
        write_operator(shown, public_bytes(operator_key(self.folder / "operator")))
        return shown

    def certify(self, folder: Path, node_id: str) -> None:
        """Give the node of this folder a certificate, where it has none."""
        if (folder / NODE_CERTIFICATE).exists():
            return
        make_folder(folder)
        public = public_bytes(node_key(folder))
        operator = operator_key(self.folder / "operator")
        certificate = signed_up(operator, public, "groupcore", node_id, days=60)
        write_record(folder / NODE_CERTIFICATE, CERTIFICATE, certificate.packed)

    def arguments(self, given: Mapping[str, str | int]) -> list[str]:
        """The arguments of a node with these flags, which has a certificate if it needs one."""
        if given.get("operator_key"):
            self.certify(Path(str(given["data"])), str(given["node_id"]))
        return [f"--{key.replace('_', '-')}={value}" for key, value in given.items()]

    # --- processes ------------------------------------------------------------------------------

    async def spawn(self, name: str, **flags: str | int) -> NodeProcess:
        """Start a node, and do not wait for anything."""
        given = {"node_id": name, "data": str(self.folder / name), **self.flags, **flags}
        arguments = self.arguments(given)
        log = self.folder / f"{name}.{len(self._all)}.log"
        log.touch()
        node = NodeProcess(name, nursery().begin(arguments, log), log)
        self._all.append(node)
        return node

    async def start(self, *names: str) -> None:
        """Start nodes together, and wait until each says that it is ready."""
        for name in names:
            self.nodes[name] = await self.spawn(name)
        for name in names:
            await self.ready(name)

    async def ready(self, name: str) -> None:
        """Wait until `/readyz` of a node says yes."""
        node = self.nodes[name]

        async def says_yes() -> bool:
            assert node.running, f"{name} ended with {node.process.returncode}: {node.output()}"
            if not node.listens:
                return False
            try:
                return (await self.get(f"{node.url}/readyz"))[0] == 200
            except aiohttp.ClientError:
                return False

        await eventually(says_yes, f"{name} is ready", self.ready_s)

    @property
    def all_nodes(self) -> list[NodeProcess]:
        """All that were started, those that have ended, too."""
        return self._all

    def urls(self) -> list[str]:
        """The public addresses of all nodes that listen, in the order of their names."""
        nodes = [node for _, node in sorted(self.nodes.items())]
        return [node.url for node in nodes if node.running and node.listens]

    # --- questions ------------------------------------------------------------------------------

    def headers(self, url: str) -> dict[str, str]:
        """What a request carries: at a management address, what commands show there."""
        return credentials(url)

    async def get(self, url: str) -> tuple[int, Any]:
        """Status and body of a GET, JSON where it is."""
        assert self._http is not None, "use the cluster in `async with`"
        async with self._http.get(url, headers=self.headers(url)) as answer:
            is_json = "json" in answer.headers.get("content-type", "")
            return answer.status, await (answer.json() if is_json else answer.text())

    async def status(self, name: str) -> Status:
        """What a node says of itself."""
        status: Status = (await self.get(f"{self.nodes[name].admin_url}/admin/status"))[1]
        return status

    async def coordinator(self) -> str:
        """The name of the view's coordinator."""
        living = next(name for name, node in self.nodes.items() if node.running)
        return str((await self.status(living))["coordinator"])

    async def sequencer(self, group: str = "documents") -> str:
        """The name of the node that sequences a group."""
        living = next(name for name, node in self.nodes.items() if node.running)
        return str((await self.status(living))["groups"][group]["sequencer"])

    async def admin(self, name: str, task: str, body: object = None) -> tuple[int, Any]:
        """Ask a node's management address for something; status and answer."""
        assert self._http is not None, "use the cluster in `async with`"
        url = f"{self.nodes[name].admin_url}/admin/{task}"
        async with self._http.post(url, json=body, headers=self.headers(url)) as answer:
            return answer.status, await answer.json()

    async def place(self, at: str, *groups: str) -> None:
        """Have a node sequence these groups, and nobody move them by chance from now on."""
        living = next(name for name, node in self.nodes.items() if node.running)
        plan = {"plan": 1, "groups": dict.fromkeys(groups, at)}
        self.placed.update(groups)
        async with self.placing:
            code, answer = await self.admin(living, "migrate", plan)
        assert (code, answer.get("done")) == (200, len(groups)), answer

    async def keep(self, *groups: str) -> None:
        """Have nobody move these groups by chance from now on: what is under way is waited for."""
        self.placed.update(groups)
        async with self.placing:
            pass

    async def view_of(self, name: str, *members: str) -> None:
        """Wait until a node is in a primary view of exactly these members."""

        async def has_it() -> bool:
            view = (await self.status(name))["view"]
            return view is not None and view["primary"] and set(view["members"]) == set(members)

        await eventually(has_it, f"{name} has a view of {members}")

    async def create(self, name: str, text: str = FIRST) -> str:
        """A new document of one paragraph, through a node, and known to all; its id."""
        assert self._http is not None, "use the cluster in `async with`"
        body = {"title": "Plan", "markdown": text}
        url = f"{self.nodes[name].url}/api/v1/documents"
        async with self._http.post(url, json=body, headers=self.headers(url)) as answer:
            assert answer.status == 201, await answer.text()
            doc = str((await answer.json())["id"])

        async def everywhere() -> bool:
            living = [node.url for node in self.nodes.values() if node.running]
            found = [(await self.get(f"{url}/api/v1/documents/{doc}"))[0] for url in living]
            return set(found) == {200}

        await eventually(everywhere, f"every node has {doc}")
        return doc

    async def document(self, name: str, doc: str) -> dict[str, Any]:
        """A document as a node has it."""
        code, body = await self.get(f"{self.nodes[name].url}/api/v1/documents/{doc}")
        assert code == 200, body
        found: dict[str, Any] = body
        return found

    async def text(self, name: str, doc: str) -> str:
        """The text of the first block as a node has it."""
        return str((await self.document(name, doc))["blocks"][0]["text"])

    async def shows(self, name: str, doc: str, text: str) -> None:
        """Wait until a node has this text."""

        async def has_it() -> bool:
            return await self.text(name, doc) == text

        await eventually(has_it, f"{name} has the text of the others")


@asynccontextmanager
async def running_cluster(folder: Path, *names: str, **flags: str | int) -> AsyncIterator[Cluster]:
    """A cluster of these nodes, ready, in one view."""
    async with Cluster(folder, size=len(names), **flags) as cluster:
        await cluster.start(*names)
        for name in names:
            await cluster.view_of(name, *names)
        yield cluster
