"""Transports on a network that a test plays by hand."""

from __future__ import annotations

from random import Random

from groupcore.batch import Batch, pack_messages, unpack_messages
from groupcore.identity.card import Credentials
from groupcore.layers import nakack_headers
from groupcore.seal import Keyring
from groupcore.transport import Datagram, SocketAddress, Transport, TransportOptions
from groupcore.view import Address

KEY = b"k" * 32
HOSTS = {name: ("127.0.0.1", port) for port, name in enumerate("abcdefgh", 1_000)}
ATTACKER = ("127.0.0.9", 9)


class Node:
    """A transport with its place on a network that a test plays by hand."""

    def __init__(
        self,
        name: str,
        incarnation: int = 1,
        boot: bytes = b"",
        keys: Keyring | None = None,
        options: TransportOptions | None = None,
        credentials: Credentials | None = None,
    ) -> None:
        self.address = Address(name, incarnation)
        self.host = HOSTS[name]
        self.boot = boot or f"{name}{incarnation}".encode().ljust(16)
        self.keys = keys or Keyring("home", {1: KEY}, 1)
        self.transport = Transport(
            self.address,
            self.keys,
            self.boot,
            options or TransportOptions(),
            Random(f"{name}{incarnation}"),
            credentials,
        )

    def sends(self, text: bytes, to: Node | None = None, now: float = 0.0) -> list[bytes]:
        self.transport.send(batch(self, text, to))
        return [datagram.data for datagram in self.transport.flush(now)]

    def receives(self, datagram: bytes, source: SocketAddress, now: float = 0.0) -> list[bytes]:
        batches = self.transport.receive(datagram, source, now)
        return [text for each in batches for text in unpack_messages(each.body)]


def batch(sender: Node, text: bytes, to: Node | None = None) -> Batch:
    destination = None if to is None else to.address
    body = pack_messages([text])
    return Batch(sender.address, destination, (nakack_headers.Data(1, 2, 0),), body, 1)


def exchange(*nodes: Node, now: float = 0.0) -> None:
    """Carry what the nodes have to send to where it goes, until they are silent."""
    waiting = [(node, datagram) for node in nodes for datagram in node.transport.flush(now)]
    while waiting:
        sender, datagram = waiting.pop(0)
        for node in nodes:
            if node is not sender and datagram.destination in (None, node.host):
                node.transport.receive(datagram.data, sender.host, now)
                waiting += [(node, answer) for answer in node.transport.flush(now)]


def acquaint(*nodes: Node, now: float = 0.0) -> None:
    for node in nodes:
        node.transport.send(batch(node, b"hello"))
    exchange(*nodes, now=now)
    for node in nodes:
        node.transport.drops.clear()
        node.transport.take_heard()


def pair() -> tuple[Node, Node]:
    a, b = Node("a"), Node("b")
    acquaint(a, b)
    return a, b


def kinds(datagrams: list[Datagram]) -> list[int]:
    return [datagram.data[1] for datagram in datagrams]
