"""Loss on a network interface: an XDP program that drops a share of the UDP datagrams that arrive.

The program is eight instructions of eBPF, loaded and attached by the system call `bpf`, so neither
a compiler nor netem is needed. It ends with its file descriptor: with `close`, or this process.
TCP is left alone: a test's own questions over HTTP are not what is to be lost.
"""

from __future__ import annotations

import ctypes
import os
import platform
import socket
import struct
from threading import Thread

from tests.robust.namespaces import enter

BPF_CALLS = {"x86_64": 321, "aarch64": 280}
"""Number of the system call on each machine."""
PROG_LOAD, LINK_CREATE = 5, 28
XDP_PROGRAM, XDP_ATTACH, XDP_GENERIC = 6, 37, 2
XDP_DROP, XDP_PASS = 1, 2
GET_RANDOM = 7
"""The helper `bpf_get_prandom_u32`."""
PROTOCOL_AT, UDP, HEADERS_BYTES = 23, 17, 34
"""Where an Ethernet frame of IPv4 says what it carries."""

_libc = ctypes.CDLL(None, use_errno=True)


def _instruction(code: int, target: int, source: int, offset: int, value: int) -> bytes:
    return struct.pack("<BBhi", code, source << 4 | target, offset, value)


def program(percent: float) -> bytes:
    """Drop UDP with this probability, and let everything else pass."""
    threshold = min(int(percent / 100 * 2**31), 2**31 - 1)
    lines = (
        (0x61, 2, 1, 0, 0),  # r2 = data
        (0x61, 3, 1, 4, 0),  # r3 = end of the data
        (0xBF, 4, 2, 0, 0),  # r4 = r2
        (0x07, 4, 0, 0, HEADERS_BYTES),  # r4 += 34
        (0x2D, 4, 3, 7, 0),  # shorter: pass
        (0x71, 5, 2, PROTOCOL_AT, 0),  # r5 = the protocol
        (0x55, 5, 0, 5, UDP),  # not UDP: pass
        (0x85, 0, 0, 0, GET_RANDOM),  # r0 = a random number
        (0x57, 0, 0, 0, 2**31 - 1),  # r0 &= 31 bits
        (0x35, 0, 0, 2, threshold),  # above the threshold: pass
        (0xB7, 0, 0, 0, XDP_DROP),
        (0x95, 0, 0, 0, 0),
        (0xB7, 0, 0, 0, XDP_PASS),
        (0x95, 0, 0, 0, 0),
    )
    return b"".join(_instruction(*line) for line in lines)


def _bpf(command: int, attributes: bytes) -> int:
    """The system call; OSError."""
    number = BPF_CALLS.get(platform.machine())
    if number is None:
        raise OSError(f"no number of the call bpf is known for {platform.machine()}")
    given = ctypes.create_string_buffer(attributes, 128)
    found: int = _libc.syscall(number, command, given, 128)
    if found < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return found


class PacketLoss:
    """Loss at an interface, of this network namespace or the one at a path; OSError."""

    def __init__(self, interface: str, percent: float, namespace: str | None = None) -> None:
        self._program = self._link = -1
        self._errors: list[OSError] = []
        attaching = Thread(target=self._attach, args=(interface, percent, namespace))
        attaching.start()  # a thread of its own has the other namespace, and takes it along
        attaching.join()
        if self._errors:
            self.close()
            raise self._errors[0]

    def _attach(self, interface: str, percent: float, namespace: str | None) -> None:
        try:
            if namespace is not None:
                enter(namespace)
            code = ctypes.create_string_buffer(program(percent))
            license_ = ctypes.create_string_buffer(b"GPL")
            count = (len(code) - 1) // 8
            places = (ctypes.addressof(code), ctypes.addressof(license_))
            self._program = _bpf(PROG_LOAD, struct.pack("<IIQQ", XDP_PROGRAM, count, *places))
            index = socket.if_nametoindex(interface)
            link = struct.pack("<IIII", self._program, index, XDP_ATTACH, XDP_GENERIC)
            self._link = _bpf(LINK_CREATE, link)
        except OSError as error:
            self._errors.append(error)

    def close(self) -> None:
        """Lose nothing any more."""
        for descriptor in (self._link, self._program):
            if descriptor >= 0:
                os.close(descriptor)
        self._link = self._program = -1
