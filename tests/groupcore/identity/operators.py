"""An operator that tests make, and nodes that it has given certificates."""

from __future__ import annotations

from hashlib import blake2b

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from groupcore.identity.card import Credentials
from groupcore.identity.certificate import Certificate, issue
from groupcore.identity.revocations import Revocations, revoke
from groupcore.identity.signed import public_bytes
from groupcore.identity.trust import Trust
from groupcore.seal import Keyring
from groupcore.transport import TransportOptions
from tests.groupcore.transports import Node, acquaint

NOW = 1_000_000


class Operator:
    """Signs certificates of cluster `home`, which are good until NOW + 100."""

    def __init__(self, seed: bytes = b"o", cluster: str = "home") -> None:
        self.key = Ed25519PrivateKey.from_private_bytes(seed.ljust(32))
        self.cluster = cluster
        self.revoked: set[bytes] = set()

    def certificate(self, name: str, key: Ed25519PrivateKey, until: int = NOW + 100) -> Certificate:
        serial = name.encode().ljust(16)[:16]
        return issue(self.key, self.cluster, name, public_bytes(key), serial, until)

    def trust(self) -> Trust:
        return Trust("home", [public_bytes(self.key)], lambda: NOW)

    def credentials(self, name: str, until: int = NOW + 100) -> Credentials:
        key = node_key(name)
        return Credentials(key, self.certificate(name, key, until), self.trust())

    def node(
        self,
        name: str,
        incarnation: int = 1,
        options: TransportOptions | None = None,
        keys: Keyring | None = None,
        boot: bytes = b"",
    ) -> Node:
        return Node(name, incarnation, boot, keys, options, self.credentials(name))

    def revocations(self, number: int, *names: str) -> Revocations:
        return revoke(self.key, self.cluster, number, [name.encode().ljust(16) for name in names])


def node_key(name: str) -> Ed25519PrivateKey:
    """The key of the node of this name, as whoever has stolen it has it."""
    return Ed25519PrivateKey.from_private_bytes(blake2b(name.encode(), digest_size=32).digest())


def cluster(*names: str, options: TransportOptions | None = None) -> list[Node]:
    """Nodes of one operator that know each other."""
    operator = Operator()
    nodes = [operator.node(name, options=options) for name in names]
    acquaint(*nodes)
    return nodes
