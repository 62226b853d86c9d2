"""Network namespaces of the kernel: in which one a thread is."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager

CLONE_NEWNET = 0x40000000
OWN = "/proc/thread-self/ns/net"

_libc = ctypes.CDLL(None, use_errno=True)


def enter(namespace: str) -> None:
    """Put this thread into the namespace at a path; OSError.

    Its sockets, threads and processes are made there from now on; those that it has stay where they
    are.
    """
    descriptor = os.open(namespace, os.O_RDONLY)
    try:
        _enter(descriptor, namespace)
    finally:
        os.close(descriptor)


@contextmanager
def inside(namespace: str) -> Iterator[None]:
    """Have this thread in the namespace at a path, and then where it was; OSError."""
    former = os.open(OWN, os.O_RDONLY)
    try:
        enter(namespace)
        try:
            yield
        finally:
            _enter(former, OWN)
    finally:
        os.close(former)


def _enter(descriptor: int, name: str) -> None:
    if _libc.setns(descriptor, CLONE_NEWNET):
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), name)
