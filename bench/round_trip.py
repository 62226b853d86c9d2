"""The floor under the latency: one multicast over bare sockets, answered by one receiver.

The same sockets and the same loop as a member's, and no protocol: one process multicasts 200 bytes,
the others receive it, one of them answers by unicast, and the sender notes when that has come.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import secrets
import time
from collections.abc import Callable
from multiprocessing.connection import Connection

from groupcore.aio.udp import UdpSockets
from groupcore.peers import SocketAddress
from groupcore.transport import Datagram

BIND = "127.0.0.1"
GROUP = "228.8.8.8"
SIZE_BYTES = 200
WARM_UP = 300
PATIENCE_S = 5.0
PROBE = bytes(SIZE_BYTES)

OnDatagram = Callable[[memoryview, SocketAddress], None]


def watch(sockets: UdpSockets, on_datagram: OnDatagram) -> None:
    """Call back for every datagram that comes in."""
    loop = asyncio.get_running_loop()
    for watched in sockets.sockets:
        loop.add_reader(watched.fileno(), lambda: sockets.drain(on_datagram))


async def listen(answers: bool, port: int, pipe: Connection) -> None:
    """Receive; one of the receivers answers."""
    sockets = UdpSockets(BIND, 0, (GROUP, port))

    def on_datagram(data: memoryview, source: SocketAddress) -> None:
        if answers:
            sockets.send([Datagram(bytes(data), source)])

    watch(sockets, on_datagram)
    pipe.send("ready")
    await asyncio.get_running_loop().run_in_executor(None, pipe.recv)


def run_listener(answers: bool, port: int, pipe: Connection) -> None:
    """The process's main function."""
    import uvloop

    uvloop.run(listen(answers, port, pipe))


async def send(port: int, count: int) -> list[float]:
    """One multicast after the other; microseconds until each was answered."""
    sockets = UdpSockets(BIND, 0, (GROUP, port))
    answered = asyncio.Event()

    def on_datagram(data: memoryview, source: SocketAddress) -> None:
        if source != sockets.address:
            answered.set()

    watch(sockets, on_datagram)
    times = []
    for _ in range(WARM_UP + count):
        answered.clear()
        began = time.perf_counter_ns()
        sockets.send([Datagram(PROBE, None)])
        async with asyncio.timeout(PATIENCE_S):
            await answered.wait()
        times.append((time.perf_counter_ns() - began) / 1e3)
    sockets.close()
    return times[WARM_UP:]


def measure(members: int, count: int) -> list[float]:
    """The times of `count` round trips among this many processes, in microseconds."""
    import uvloop

    context = multiprocessing.get_context("spawn")
    port = 30_000 + secrets.randbelow(20_000)
    processes = []
    pipes = []
    try:
        for index in range(members - 1):
            ours, theirs = context.Pipe()
            process = context.Process(target=run_listener, args=(index == 0, port, theirs))
            process.start()
            processes.append(process)
            pipes.append(ours)
            ours.recv()
        return uvloop.run(send(port, count))
    finally:
        for process in processes:
            process.kill()
            process.join()
