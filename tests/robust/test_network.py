"""A run's network: its own namespaces, and nothing else."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.robust.namespaces import OWN, inside
from tests.robust.network import SPACES, Network, run

EVERYTHING = 0xFFFFFFFF
"""All groups of NETLINK_ROUTE: cards, addresses, routes, neighbours."""


@contextmanager
def watched() -> Iterator[socket.socket]:
    """What the kernel says of every change of the namespace that this thread is in."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as watch:
        watch.bind((0, EVERYTHING))
        watch.setblocking(False)
        yield watch


def has_heard(watch: socket.socket) -> bool:
    """Whether anything has changed."""
    try:
        return bool(watch.recv(1 << 16))
    except BlockingIOError:
        return False


@contextmanager
def quiet() -> Iterator[None]:
    """Be in a namespace without any card that is up: nobody else changes anything there."""
    name = f"groupcore-quiet-{os.getpid()}"
    run("ip", "netns", "add", name)
    try:
        with inside(str(SPACES / name)):
            yield
    finally:
        run("ip", "netns", "del", name)


@pytest.mark.process
def test_a_network_changes_nothing_in_the_namespace_that_it_is_made_in() -> None:
    """Browsers there would load everything again: `ERR_NETWORK_CHANGED`."""
    with quiet(), watched() as watch:
        before = os.stat(OWN).st_ino
        with Network(3) as network, watched() as within:
            assert os.stat(OWN).st_ino != before
            network.cut(0, on=True)
            network.cut(0, on=False)
            network.deafen(1, on=True)
            network.deafen(1, on=False)
            network.lose(2, 20)
            network.lose(2, 0)
            assert has_heard(within), "a cut is a change, where the bridge is"
        assert os.stat(OWN).st_ino == before
        assert not has_heard(watch)


@pytest.mark.process
def test_a_network_reaches_its_nodes_and_leaves_nothing_behind() -> None:
    with Network(2) as network:
        own = [Path(network.prefix(number)[1].removeprefix("--net=")) for number in range(2)]
        assert all(one.exists() for one in own)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asker:
            asker.bind(("", 0))
            asker.settimeout(10)
            port = asker.getsockname()[1]
            say = f"from socket import *; socket(2, 2).sendto(b'here', ('10.200.0.1', {port}))"
            subprocess.run([*network.prefix(1), "python3", "-c", say], check=True)
            assert asker.recvfrom(9)[1][0] == network.address(1)
    assert not any(one.exists() for one in own)
