"""A network of this machine's own: a bridge, and a namespace with an address for each node.

Needs root, `ip`, and, for loss, the system call `bpf`. Everything that is made carries the run's
own name and is removed with it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from types import TracebackType
from typing import Self

from tests.robust.packet_loss import PacketLoss

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
    """Use it in `with`. Node number n, from 0, has the address `address(n)`."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._name = f"gr{os.getpid() % 100_000}"
        self._subnet = f"10.{200 + os.getpid() % 50}.{os.getpid() // 50 % 250}"
        self._losses: dict[int, list[PacketLoss]] = {}

    def address(self, number: int) -> str:
        """The address of a node in the run's network."""
        return f"{self._subnet}.{number + 2}"

    def prefix(self, number: int) -> list[str]:
        """What a command begins with that is to run in a node's namespace."""
        return ["nsenter", f"--net={self._net(number)}"]

    def _net(self, number: int) -> str:
        return f"/var/run/netns/{self._space(number)}"

    def _space(self, number: int) -> str:
        return f"{self._name}n{number}"

    def _end(self, number: int) -> str:
        return f"{self._name}v{number}"

    def __enter__(self) -> Self:
        """Make it; NoNetwork."""
        if os.geteuid() != 0:
            raise NoNetwork("network namespaces need root")
        for program, package in (("ip", "iproute2"), ("nsenter", "util-linux")):
            if shutil.which(program) is None:
                raise NoNetwork(f"there is no program `{program}` (package {package})")
        try:
            self._make()
        except NoNetwork:
            self._remove()
            raise
        return self

    def _make(self) -> None:
        run("ip", "link", "add", self._name, "type", "bridge", "mcast_snooping", "0")
        run("ip", "addr", "add", f"{self._subnet}.1/24", "dev", self._name)
        run("ip", "link", "set", self._name, "up")
        for number in range(self.size):
            space, end = self._space(number), self._end(number)
            run("ip", "netns", "add", space)
            run("ip", "link", "add", end, "type", "veth", "peer", "name", "eth0", "netns", space)
            run("ip", "link", "set", end, "master", self._name, "up")
            inside = ("ip", "-n", space)
            run(*inside, "link", "set", "lo", "up")
            run(*inside, "addr", "add", f"{self.address(number)}/24", "dev", "eth0")
            run(*inside, "link", "set", "eth0", "up")
            run(*inside, "route", "add", "default", "via", f"{self._subnet}.1")

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Remove all of it."""
        self._remove()

    def _remove(self) -> None:
        for number in list(self._losses):
            self.lose(number, 0.0)
        names = [("netns", "del", self._space(number)) for number in range(self.size)]
        for name in (*names, ("link", "del", self._name)):
            subprocess.run(["ip", *name], capture_output=True, check=False)

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
