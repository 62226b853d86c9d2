"""Introductions: where there is no multicast, peers tell each other whom they know.

Idea. A node is told of one or two hosts at its start. A multicast goes to the peers that a node
knows, so two nodes that know only a third would never hear each other. Each node therefore tells
its peers the socket addresses of its own peers; who is told of an unknown one sends its multicasts
there too, and the receiver's challenge does the rest. Told again once a second: losing one is
harmless.

Place. Inside the transport, which asks for it in unicast mode only.
Source. JGroups TCPPING, whose discovery answers carry physical addresses.

Invariants.
  N1  Only peers are told, and only they are believed; an introduction proves nothing.
  N2  What was introduced is forgotten after `introduced_s`, and bounded.
"""

from __future__ import annotations

from ipaddress import AddressValueError, IPv4Address
from typing import Any

from msgpack import Packer

from groupcore.errors import WireError
from groupcore.peers import PeerTable, SocketAddress
from groupcore.transport_options import TransportOptions
from groupcore.wire import unpack_packets

_packer = Packer(use_bin_type=True, autoreset=True)


class Introductions:
    """Whom this node tells of whom, and of whom it was told."""

    def __init__(self, table: PeerTable, options: TransportOptions) -> None:
        self._table = table
        self._options = options
        self._told: dict[SocketAddress, float] = {}
        self._next_at = 0.0
        self._known = 0

    def next(self, now: float) -> bytes | None:
        """What to tell all peers now; None when it was told not long ago or there is nothing."""
        nodes = self._table.nodes
        known = len(nodes)
        if known < 2 or (now < self._next_at and known <= self._known):
            return None
        self._next_at = now + self._options.introduce_every_s
        self._known = known
        packed: bytes = _packer.pack(
            [peer.source for peer in nodes if now - peer.heard_at < self._options.idle_s]
        )
        return packed

    def receive(self, plaintext: bytes, now: float) -> bool:
        """A peer's introduction; False, and nothing is believed, when it is not one."""
        try:
            hosts = [_socket_address(item) for item in unpack_packets(plaintext)]
        except WireError:
            return False
        for host in hosts:
            self._told.pop(host, None)
            if len(self._told) >= self._options.peers_max:
                del self._told[next(iter(self._told))]
            self._told[host] = now + self._options.introduced_s
        return True

    def hosts(self, now: float) -> list[SocketAddress]:
        """Socket addresses that this node was told of lately (N2)."""
        if not self._told:
            return []
        self._told = {host: until for host, until in self._told.items() if now < until}
        return list(self._told)


def _socket_address(item: Any) -> SocketAddress:  # noqa: ANN401 (the codec boundary)
    match item:
        case [str() as host, int() as port] if type(port) is int and 0 < port < 65_536:
            try:
                return str(IPv4Address(host)), port  # a name would make the socket ask for it
            except AddressValueError:
                pass
    raise WireError("bad_introduction", "not a host and a port")
