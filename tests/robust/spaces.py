"""A cluster of real nodes, each in the namespace of its own network address, and with its disk."""

from __future__ import annotations

import asyncio
import ssl
import sys
from asyncio.subprocess import Process
from pathlib import Path

from tests.certificates import Authority
from tests.end_to_end.cluster import ROOT, Cluster, NodeProcess
from tests.robust.disks import Disks
from tests.robust.network import Network

NAMES = "abcde"


class Spaces(Cluster):
    """Nodes run in the namespaces of a network. Without `disks` their folders are in `folder`."""

    def __init__(
        self, folder: Path, network: Network, disks: Disks | None = None, **flags: str | int
    ) -> None:
        super().__init__(folder, size=network.size, multicast="228.8.8.8:45588", ttl=1, **flags)
        self.network = network
        # They are managed from outside their namespaces, so by TLS, with a certificate.
        self.authority = Authority(folder)
        self.cert, self.cert_key = self.authority.issue("robust", unit="owner")
        self.tls = ssl.create_default_context(cafile=self.authority.path)
        self.tls.load_cert_chain(self.cert, self.cert_key)
        self.disks = disks
        self.program = ("-m", "server")

    def headers(self, url: str) -> dict[str, str]:
        """What is written over HTTP comes from a page of the first node."""
        is_managed = url.startswith("https:")
        return {} if is_managed else {"Origin": f"http://{self.network.address(0)}:8000"}

    def managed(self, name: str) -> list[str]:
        """The options by which a command asks a node."""
        shown = {"--ca": self.authority.path, "--cert": self.cert, "--cert-key": self.cert_key}
        files = [word for option, path in shown.items() for word in (option, str(path))]
        return ["--admin", self.nodes[name].admin_url, *files]

    def data(self, name: str) -> Path:
        """A node's folder, as it sees it."""
        if self.disks is None:
            return self.folder / name
        return self.disks.folder(NAMES.index(name)) / "data"

    def _prefix(self, number: int) -> list[str]:
        disks = [] if self.disks is None else self.disks.prefix()
        return [*self.network.prefix(number), *disks, "env", "-C", str(ROOT)]

    async def spawn(self, name: str, **flags: str | int) -> NodeProcess:
        """See `Cluster`."""
        number = NAMES.index(name)
        address = self.network.address(number)
        own = {"node_id": name, "data": str(self.data(name)), "bind": address}
        own |= {"http": f"{address}:8000", "admin": f"{address}:9000"}
        cert, key = self.authority.issue(f"node-{name}-{len(self._all)}", address)
        own |= {"admin_cert": str(cert), "admin_key": str(key)}
        own |= {"admin_clients": str(self.authority.path)}
        given = {**self.flags, **own, **flags}
        if self.disks is not None:
            # The disks are in a namespace of their own, where no certificate is put: the key alone.
            given.pop("operator_key", None)
        arguments = self.arguments(given)
        log = self.folder / f"{name}.{len(self._all)}.log"
        with log.open("wb") as output:
            process = await asyncio.create_subprocess_exec(
                *self._prefix(number),
                *(sys.executable, *self.program, *arguments),
                cwd=ROOT,
                stdout=output,
                stderr=output,
            )
        node = NodeProcess(name, process, log)  # type: ignore[arg-type]
        self._all.append(node)
        return node

    async def command(self, name: str, *arguments: str) -> Process:
        """A command of the server that sees a node's folder; its output is in a pipe."""
        return await asyncio.create_subprocess_exec(
            *self._prefix(NAMES.index(name)),
            *(sys.executable, "-m", "server", *arguments),
            stdout=asyncio.subprocess.PIPE,
        )
