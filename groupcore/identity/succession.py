"""Successions: an operator's word that another operator takes its place in a cluster.

What the former operator's nodes were let do is from then on let do to those of the successor alone.
"""

from __future__ import annotations

from dataclasses import dataclass

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from groupcore.errors import WireError
from groupcore.identity.signed import PUBLIC_BYTES, fields_of, is_signed_by, public_bytes, sign
from groupcore.sequencing.names import NAME_MAX

PURPOSE = b"groupcore succession 1 "
VERSION = 1
SUCCESSION_BYTES_MAX = 512


@dataclass(frozen=True, slots=True)
class Succession:
    """What an operator (`issuer`) has signed: `successor` is the next one's public key."""

    cluster: str
    successor: bytes
    issuer: bytes
    packed: bytes

    @property
    def is_genuine(self) -> bool:
        """Whether the issuer has signed it."""
        return is_signed_by(self.issuer, PURPOSE, self.packed)


def succeed(operator: Ed25519PrivateKey, cluster: str, successor: bytes) -> Succession:
    """This operator is followed by that one."""
    assert len(successor) == PUBLIC_BYTES, "an Ed25519 key has 32 bytes"
    issuer = public_bytes(operator)
    packed = sign(operator, PURPOSE, [VERSION, cluster, successor, issuer])
    return Succession(cluster, successor, issuer, packed)


def read_succession(packed: bytes) -> Succession:
    """What one says, its signature not looked at yet; WireError `bad_succession`."""
    try:
        fields = fields_of(packed, SUCCESSION_BYTES_MAX)
    except WireError as error:
        raise WireError("bad_succession", str(error)) from None
    match fields:
        case [1, str() as cluster, bytes() as successor, bytes() as issuer] if (
            0 < len(cluster) <= NAME_MAX and len(successor) == len(issuer) == PUBLIC_BYTES
        ):
            return Succession(cluster, successor, issuer, packed)
    raise WireError("bad_succession", "its fields are not those of a succession")
