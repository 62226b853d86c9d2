"""What the tests have workers do: good, slow and bad."""

from __future__ import annotations

import os
import resource
import select
from pathlib import Path

from server.work.process import RefusedWorkError

GIB = 1 << 30


def echo(value: object) -> object:
    """The same again."""
    return value


def pid() -> object:
    """Which process it is."""
    return os.getpid()


def about() -> object:
    """Where it stands, and what it has."""
    return [os.nice(0), sorted(os.environ), sorted(os.listdir("/proc/self/fd"))]


def spin() -> object:
    """Never comes to an end."""
    while True:
        pass


def wait(path: str) -> object:
    """Until somebody makes this file."""
    while not Path(path).exists():
        select.select([], [], [], 0.01)
    return os.getpid()


def grow() -> object:
    """More than there is."""
    return len(bytearray(8 * GIB))


def fall() -> object:
    """As a decoder that has a hole."""
    os._exit(1)


def lie() -> object:
    """As a decoder that has fallen to what it read: other bytes than an answer's."""
    os.write(1, b"\1\0\0\0\4abcd")
    os._exit(1)


def fail() -> object:
    """Our own bug."""
    raise ZeroDivisionError("ours")


def refuse() -> object:
    """With a code of its own."""
    raise RefusedWorkError("too_large", "this is too large")


def write(path: str) -> object:
    """A file, which it must not."""
    with Path(path).open("wb") as file:
        file.write(b"x")
    return True


def memory() -> object:
    """The limit of its address space."""
    return resource.getrlimit(resource.RLIMIT_AS)[0]
