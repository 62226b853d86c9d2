"""The floor under ordered multicast: the same datagrams over bare sockets, no protocol at all.

One process multicasts datagrams of the size that a full batch has, three receive them into one
buffer and answer every eighth with one byte, which opens the sender's window. What this costs the
kernel is in every figure of `order`; the ratio of the two says what the protocol adds.
"""

from __future__ import annotations

import multiprocessing
import secrets
import socket
import time
from multiprocessing.connection import Connection

from bench.ordering import cpu_s

RECEIVERS = 3
WINDOW = 8
DATAGRAM_BYTES = 60_000


def group_socket(group: tuple[str, int]) -> socket.socket:
    """A socket that receives what is multicast to the group on loopback."""
    opened = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
    opened.bind(group)
    membership = socket.inet_aton(group[0]) + socket.inet_aton("127.0.0.1")
    opened.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, membership)
    return opened


def receive(group: tuple[str, int], pipe: Connection) -> None:
    """Receive for ever; answer every eighth datagram; on demand tell the CPU time."""
    opened = group_socket(group)
    buffer = memoryview(bytearray(1 << 16))
    pipe.send("ready")
    received = 0
    while True:
        size, sender = opened.recvfrom_into(buffer)
        if size == 1:
            pipe.send(cpu_s())
            if buffer[0] == 1:
                return
            continue
        received += 1
        if received % WINDOW == 0:
            opened.sendto(b"+", sender)


def measure(seconds: float) -> float:
    """CPU microseconds of all four processes for each datagram and process."""
    context = multiprocessing.get_context("spawn")
    group = ("228.8.8.8", 30_000 + secrets.randbelow(20_000))
    pipes, processes = [], []
    for _ in range(RECEIVERS):
        ours, theirs = context.Pipe()
        process = context.Process(target=receive, args=(group, theirs), daemon=True)
        process.start()
        pipes.append(ours)
        processes.append(process)
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sender.bind(("127.0.0.1", 0))
    sender.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton("127.0.0.1"))
    sender.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 0)
    sender.settimeout(5.0)
    for pipe in pipes:
        pipe.recv()

    def ask(mark: bytes) -> float:
        sender.sendto(mark, group)
        return float(sum(pipe.recv() for pipe in pipes)) + cpu_s()

    datagram = secrets.token_bytes(DATAGRAM_BYTES)
    try:
        before, sent, end = ask(b"\0"), 0, time.perf_counter() + seconds
        while time.perf_counter() < end:
            for _ in range(WINDOW):
                sender.sendto(datagram, group)
            for _ in range(RECEIVERS):
                sender.recv(16)
            sent += WINDOW
        return 1e6 * (ask(b"\1") - before) / (sent * (RECEIVERS + 1))
    finally:
        sender.close()
        for process in processes:
            process.kill()
