"""The sockets of a node: one for unicast, which sends everything, and one for the group.

Reading drains: up to a fixed number of datagrams a turn into one reused buffer (hot path, rule 6).
A send that the kernel refuses is a lost datagram like any other: counted, never raised.
"""

from __future__ import annotations

import ctypes
import errno
import logging
import socket
import struct
from collections import Counter
from collections.abc import Callable, Iterable
from time import perf_counter

from groupcore.aio.errors import PortInUseError
from groupcore.errors import GroupcoreError, SettingsError
from groupcore.peers import SocketAddress
from groupcore.seal import BOOT_OFFSET
from groupcore.transport import Datagram
from groupcore.transport_options import DATAGRAM_BYTES_MAX

log = logging.getLogger(__name__)

DATAGRAMS_A_TURN_MAX = 64
"""Datagrams that are read before what they caused is sent."""
READING_S = 0.01
"""When reading a socket has taken so long in a turn, the rest is left for the next one."""
RECEIVE_BUFFER_BYTES = 8 << 20
"""What is asked of the kernel for each socket; it grants up to `net.core.rmem_max`, doubled."""
RECEIVE_BUFFER_BYTES_LEAST = 1 << 20
"""Below this a burst of a few senders is lost, and the log says so (hot path, rule 15)."""

SO_ATTACH_FILTER = 26
BPF_LOAD_WORD = 0x20
BPF_JUMP_IF_EQUAL = 0x15
BPF_LOAD_LENGTH = 0x80
BPF_JUMP_IF_AT_LEAST = 0x35
BPF_RETURN = 0x06
UDP_HEADER_BYTES = 8
"""A filter of a UDP socket sees the datagram with its UDP header in front."""

OnDatagram = Callable[[memoryview, SocketAddress], None]


class UdpSockets:
    """The pair of sockets of one node, open from the constructor to `close`.

    `address` is where the unicast socket is bound; `counters` what was read, sent and lost.
    """

    def __init__(
        self, bind: str, port: int = 0, group: SocketAddress | None = None, ttl: int = 0
    ) -> None:
        """PortInUseError when `port` is taken; SettingsError when an address cannot be used.

        `group` None: no multicast. `ttl` is how many networks a multicast may cross; with 0 none
        leaves this machine.
        """
        self.counters: Counter[str] = Counter()
        self._group = group
        self._buffer = memoryview(bytearray(DATAGRAM_BYTES_MAX))
        self._group_socket: socket.socket | None = None
        self._unicast_socket = _unicast_socket(bind, port)
        try:
            if group is not None:
                _send_multicast_from(self._unicast_socket, bind, ttl)
                self._group_socket = _group_socket(bind, group)
            self.address: SocketAddress = self._unicast_socket.getsockname()
            self.receive_buffer_bytes = min(map(_enlarge_receive_buffer, self.sockets))
        except BaseException:
            self.close()
            raise
        if self.receive_buffer_bytes < RECEIVE_BUFFER_BYTES_LEAST:
            log.warning(
                "the kernel grants a receive buffer of %d KiB only: bursts may be lost; raise "
                "net.core.rmem_max to %d",
                self.receive_buffer_bytes >> 10,
                RECEIVE_BUFFER_BYTES,
            )

    @property
    def sockets(self) -> tuple[socket.socket, ...]:
        """The sockets to watch for reading."""
        if self._group_socket is None:
            return (self._unicast_socket,)
        return (self._unicast_socket, self._group_socket)

    def ignore_boot(self, boot: bytes) -> None:
        """Have the kernel drop the copies of this boot's own multicasts, where it can.

        Every multicast comes back to its sender; dropped before it is copied, it costs nothing.
        What the kernel lets through all the same, the transport drops by the same sign.
        """
        if self._group_socket is None or not hasattr(socket, "AF_PACKET"):
            return
        first, second = struct.unpack_from("!II", boot)
        offset = UDP_HEADER_BYTES + BOOT_OFFSET
        program = b"".join(
            struct.pack("HBBI", *instruction)
            for instruction in (
                # A load beyond the end would drop the datagram unseen; it is to be counted.
                (BPF_LOAD_LENGTH, 0, 0, 0),
                (BPF_JUMP_IF_AT_LEAST, 0, 5, offset + 8),
                (BPF_LOAD_WORD, 0, 0, offset),
                (BPF_JUMP_IF_EQUAL, 0, 3, first),
                (BPF_LOAD_WORD, 0, 0, offset + 4),
                (BPF_JUMP_IF_EQUAL, 0, 1, second),
                (BPF_RETURN, 0, 0, 0),
                (BPF_RETURN, 0, 0, 0xFFFFFFFF),
            )
        )
        loaded = ctypes.create_string_buffer(program)
        length = len(program) // struct.calcsize("HBBI")
        attached = struct.pack("HP", length, ctypes.addressof(loaded))
        try:
            self._group_socket.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, attached)
        except OSError as error:
            self._count("filter", error)

    def drain(self, on_datagram: OnDatagram) -> None:
        """Hand over what has arrived, up to DATAGRAMS_A_TURN_MAX datagrams, half from each socket.

        Less if that takes long: a datagram may be full of small requests.
        The view is valid during the call only: the buffer is used again.
        """
        buffer = self._buffer
        sockets = self.sockets
        for watched in sockets:
            receive_into = watched.recvfrom_into
            received = 0
            until = perf_counter() + READING_S
            try:
                while received < DATAGRAMS_A_TURN_MAX // len(sockets):
                    size, source = receive_into(buffer)
                    received += 1
                    on_datagram(buffer[:size], source)
                    if perf_counter() > until:
                        break
            except BlockingIOError:
                pass
            except OSError as error:  # an ICMP answer to something that was sent
                self._count("receive", error)
            self.counters["received"] += received

    def send(self, datagrams: Iterable[Datagram]) -> None:
        """Send each to its destination, or to the group where it has none."""
        send_to = self._unicast_socket.sendto
        for datagram in datagrams:
            destination = datagram.destination or self._group
            assert destination is not None, "a multicast without a group"
            try:
                send_to(datagram.data, destination)
            except OSError as error:
                self._count("send", error)

    def close(self) -> None:
        """Close both sockets."""
        self._unicast_socket.close()
        if self._group_socket is not None:
            self._group_socket.close()

    def _count(self, what: str, error: OSError) -> None:
        reason = errno.errorcode.get(error.errno or 0, "unknown")
        self.counters[f"{what}_failed.{reason}"] += 1


def _unicast_socket(bind: str, port: int) -> socket.socket:
    opened = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    opened.setblocking(False)
    try:
        opened.bind((bind, port))
    except OSError as error:
        opened.close()
        raise _bind_error(error, bind, port) from None
    return opened


def _send_multicast_from(unicast: socket.socket, bind: str, ttl: int) -> None:
    unicast.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(bind))
    unicast.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_LOOP, 1)
    unicast.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, ttl)


def _group_socket(bind: str, group: SocketAddress) -> socket.socket:
    opened = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    opened.setblocking(False)
    try:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if hasattr(socket, "SO_REUSEPORT"):
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        opened.bind(group)
        membership = socket.inet_aton(group[0]) + socket.inet_aton(bind)
        opened.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, membership)
    except OSError as error:
        opened.close()
        raise _bind_error(error, *group) from None
    return opened


def _bind_error(error: OSError, host: str, port: int) -> GroupcoreError:
    if error.errno == errno.EADDRINUSE:
        return PortInUseError(
            f"UDP port {port} of {host} is taken; stop the program that has it, or give this "
            "node another port (0: any free one)"
        )
    return SettingsError(
        f"cannot use {host}:{port} ({error.strerror}); give an address of this machine's "
        "interfaces, and a multicast group that is routed there (or none)"
    )


def _enlarge_receive_buffer(opened: socket.socket) -> int:
    """Ask for a large receive buffer; what the kernel has given, in bytes."""
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER_BYTES)
    return opened.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF)
