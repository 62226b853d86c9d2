"""An operator for simulated nodes: keys follow from names, so a schedule is the same each time."""

from __future__ import annotations

from hashlib import blake2b

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from groupcore.identity.card import Credentials
from groupcore.identity.certificate import SERIAL_BYTES, issue
from groupcore.identity.signed import public_bytes
from groupcore.identity.trust import Trust


class SimulatedOperator:
    """Certifies the nodes of one schedule; none of its certificates ends."""

    def __init__(self, cluster: str) -> None:
        self._cluster = cluster
        self._key = _key("operator")
        self._trust = Trust(cluster, [public_bytes(self._key)], lambda: 0.0)

    def credentials(self, name: str) -> Credentials:
        """What the node of this name shows, in all its lives."""
        key = _key(f"node {name}")
        serial = blake2b(name.encode(), digest_size=SERIAL_BYTES).digest()
        certificate = issue(self._key, self._cluster, name, public_bytes(key), serial, 1)
        return Credentials(key, certificate, self._trust)


def _key(what: str) -> Ed25519PrivateKey:
    return Ed25519PrivateKey.from_private_bytes(blake2b(what.encode(), digest_size=32).digest())
