"""A network within this machine: a namespace with an address for each node, and one for the bridge.

Whoever uses the network is in the bridge's namespace meanwhile, with an address of its own. In the
machine's namespace no card, address or route comes or goes: programs that watch for that, as
browsers do, take it for another network and load everything again.

Needs root, `ip`, and, for loss, the system call `bpf`. Everything that is made is removed again.
"""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.robust.namespaces import inside
from tests.robust.packet_loss import PacketLoss

SUBNET = "10.200.0"
SPACES = Path("/var/run/netns")
"""Where `ip` keeps the namespaces that have names."""
BRIDGE = "bridge"
NOBODY = "02:00:00:00:00:99"
"""The address of a card that no node has."""


class NoNetwork(Exception):
    """Namespaces cannot be made here; the text says why."""


def run(*command: str) -> None:
    """Run a command; NoNetwork with what it says when it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NoNetwork(f"{' '.join(command)}: {done.stderr.strip()}")


class Network:
    """Use it in `with`: this thread, and what it starts, is in the bridge's namespace meanwhile.

    Node number n, from 0, has the address `address(n)`.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._name = f"groupcore-{secrets.token_hex(4)}"
        self._losses: dict[int, list[PacketLoss]] = {}
        self._stack = ExitStack()

    def address(self, number: int) -> str:
        """The address of a node in the run's network."""
        return f"{SUBNET}.{number + 2}"

    def prefix(self, number: int) -> list[str]:
        """What a command begins with that is to run in a node's namespace."""
        return ["nsenter", f"--net={self._net(number)}"]

    def _net(self, number: int) -> str:
        return str(SPACES / self._space(number))

    def _space(self, number: int) -> str:
        return f"{self._name}-{number}"

    def _end(self, number: int) -> str:
        return f"to{number}"

    def __enter__(self) -> Self:
        """Make it; NoNetwork."""
        if os.geteuid() != 0:
            raise NoNetwork("network namespaces need root")
        for program, package in (("ip", "iproute2"), ("nsenter", "util-linux")):
            if shutil.which(program) is None:
                raise NoNetwork(f"there is no program `{program}` (package {package})")
        with ExitStack() as stack:
            stack.callback(self._remove)
            run("ip", "netns", "add", self._name)
            stack.enter_context(inside(str(SPACES / self._name)))
            self._make()
            self._stack = stack.pop_all()
        return self

    def _make(self) -> None:
        run("ip", "link", "set", "lo", "up")
        run("ip", "link", "add", BRIDGE, "type", "bridge", "mcast_snooping", "0")
        run("ip", "addr", "add", f"{SUBNET}.1/24", "dev", BRIDGE)
        run("ip", "link", "set", BRIDGE, "up")
        for number in range(self.size):
            space, end = self._space(number), self._end(number)
            run("ip", "netns", "add", space)
            run("ip", "link", "add", end, "type", "veth", "peer", "name", "eth0", "netns", space)
            run("ip", "link", "set", end, "master", BRIDGE, "up")
            there = ("ip", "-n", space)
            run(*there, "link", "set", "lo", "up")
            run(*there, "addr", "add", f"{self.address(number)}/24", "dev", "eth0")
            run(*there, "link", "set", "eth0", "up")
            run(*there, "route", "add", "default", "via", f"{SUBNET}.1")

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Remove all of it; this thread is where it was before."""
        for number in list(self._losses):
            self.lose(number, 0.0)
        self._stack.close()

    def _remove(self) -> None:
        for space in (*(self._space(number) for number in range(self.size)), self._name):
            subprocess.run(["ip", "netns", "del", space], capture_output=True, check=False)

    # --- what goes wrong ------------------------------------------------------------------------

    def cut(self, number: int, on: bool) -> None:
        """Pull a node's cable, or put it in again."""
        run("ip", "link", "set", self._end(number), "down" if on else "up")

    def deafen(self, number: int, on: bool) -> None:
        """Have a node get no unicasts of the others, though it hears their multicasts; or end it.

        The others believe that its address is at a card that is not there.
        """
        for other in range(self.size):
            if other == number:
                continue
            entry = (self.address(number), "dev", "eth0")
            neighbour = ("ip", "-n", self._space(other), "neigh")
            if on:
                run(*neighbour, "replace", *entry, "lladdr", NOBODY, "nud", "permanent")
            else:
                run(*neighbour, "del", *entry)

    def lose(self, number: int, percent: float) -> None:
        """From now on so many of the datagrams to and from a node are lost; 0: none.

        NoNetwork where the kernel takes no XDP program.
        """
        for loss in self._losses.pop(number, ()):
            loss.close()
        if not percent:
            return
        try:
            losses = [PacketLoss(self._end(number), percent)]
            self._losses[number] = losses
            losses.append(PacketLoss("eth0", percent, self._net(number)))
        except OSError as error:
            self.lose(number, 0.0)
            raise NoNetwork(f"the kernel takes no XDP program for loss: {error}") from None
