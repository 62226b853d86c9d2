"""The asking side of PROBE: a program that is no node asks those of a cluster what they are.

It joins nothing and reads only. It has a node id of a kind that no node may have, and the nodes'
transports neither send it the group's messages nor tell others of it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import SystemRandom

from groupcore.aio.identity import NodeIdentity
from groupcore.aio.life import transport_options
from groupcore.aio.settings import ChannelSettings, check_settings, resolve_hosts
from groupcore.aio.udp import UdpSockets
from groupcore.batch import Batch
from groupcore.errors import WireError
from groupcore.layers.probe import Answer, Gathering, Report
from groupcore.peers import PROBER_PREFIX, SocketAddress
from groupcore.seal import BOOT_BYTES
from groupcore.transport import Transport
from groupcore.view import Address
from groupcore.wire import decode_record

ASK_EVERY_S = 0.1


@dataclass(frozen=True, slots=True)
class Found:
    """Who has answered, sorted, and what came that did not open, by reason."""

    reports: tuple[Report, ...]
    drops: dict[str, int]


async def probe(
    cluster: str,
    *,
    key: bytes | None = None,
    bind: str = "127.0.0.1",
    multicast: str | None = "228.8.8.8:45588",
    hosts: Sequence[str] = (),
    ttl: int = 0,
    timeout_s: float = 2.0,
    identity: NodeIdentity | None = None,
) -> Found:
    """Ask the nodes of a cluster; until all members of their views have answered, or it is time.

    The settings are those of a channel; `identity` is that of a node, which may be running.
    SettingsError and KeyFileError name what is wrong.
    """
    settings = replace(
        check_settings(
            cluster,
            node_id="prober" if identity is None else identity.certificate.name,
            bind=bind,
            port=0,
            multicast=multicast,
            initial_hosts=hosts,
            key=key,
            ttl=ttl,
            cluster_size=1,
            application_state=False,
            datagram_bytes_max=None,
            identity=identity,
        ),
        node_id=PROBER_PREFIX + SystemRandom().randbytes(6).hex(),
    )
    addresses = await resolve_hosts(settings.initial_hosts)
    sockets = UdpSockets(settings.bind, 0, settings.group, settings.ttl)
    try:
        prober = Prober(settings, addresses, sockets)
        await prober.ask_for(timeout_s)
    finally:
        sockets.close()
    reports = sorted(prober.gathering.reports.values(), key=lambda report: report.address)
    return Found(tuple(reports), dict(prober.transport.drops))


class Prober:
    """One question to a cluster, through sockets that somebody else closes."""

    def __init__(
        self, settings: ChannelSettings, hosts: tuple[SocketAddress, ...], sockets: UdpSockets
    ) -> None:
        random = SystemRandom()
        address = Address(settings.node_id, time.time_ns())
        self._keys = settings.keys
        boot = random.randbytes(BOOT_BYTES)
        options = transport_options(settings, hosts)
        self.transport = Transport(address, self._keys, boot, options, random, settings.credentials)
        self.gathering = Gathering(random.getrandbits(63), _decode)
        self._sockets = sockets
        self._complete = asyncio.Event()
        sockets.ignore_boot(boot)

    async def ask_for(self, timeout_s: float) -> None:
        """Ask again and again until everybody has answered, or the time is over."""
        loop = asyncio.get_running_loop()
        for watched in self._sockets.sockets:
            loop.add_reader(watched.fileno(), self._on_readable)
        try:
            async with asyncio.timeout(timeout_s):
                while not self._complete.is_set():
                    query = Batch(
                        self.transport.address, None, (self.gathering.query(),), reliable=False
                    )
                    self.transport.send(query)
                    self._flush()
                    await self._answers()
                    if not self.transport.peers():
                        self._keys.use_next()  # nobody opens what is sealed with this one
        except TimeoutError:
            pass
        finally:
            for watched in self._sockets.sockets:
                loop.remove_reader(watched.fileno())

    async def _answers(self) -> None:
        try:
            async with asyncio.timeout(ASK_EVERY_S):
                await self._complete.wait()
        except TimeoutError:
            pass

    def _flush(self) -> None:
        self._sockets.send(self.transport.flush(asyncio.get_running_loop().time()))

    def _on_readable(self) -> None:
        now = asyncio.get_running_loop().time()
        arrived: list[Batch] = []

        def on_datagram(datagram: memoryview, source: SocketAddress) -> None:
            arrived.extend(self.transport.receive(datagram, source, now))

        self._sockets.drain(on_datagram)
        for batch in arrived:
            self._on_batch(batch)
        self._flush()

    def _on_batch(self, batch: Batch) -> None:
        answer = batch.headers[-1]
        if not isinstance(answer, Answer):
            return
        try:
            self.gathering.add(batch.sender, answer)
        except WireError as error:
            self.transport.drops[error.reason] += 1
        if self.gathering.is_complete():
            self._complete.set()


def _decode(data: bytes) -> Report:
    report = decode_record(data, Report)
    assert isinstance(report, Report)
    return report
