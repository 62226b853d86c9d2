"""Revocations: the operator's list of certificates that are good no more.

A list replaces the former one of its operator when its number is higher, so a node that is shown
an old list loses nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from groupcore.errors import WireError
from groupcore.identity.certificate import SERIAL_BYTES
from groupcore.identity.signed import PUBLIC_BYTES, fields_of, is_signed_by, public_bytes, sign
from groupcore.sequencing.names import NAME_MAX
from groupcore.wire_fields import INTEGER_MAX

PURPOSE = b"groupcore revocations 1 "
VERSION = 1
SERIALS_MAX = 1_000
REVOCATIONS_BYTES_MAX = 256 + SERIALS_MAX * (SERIAL_BYTES + 2)


@dataclass(frozen=True, slots=True)
class Revocations:
    """A list that an operator has signed, with its number and the serials on it."""

    cluster: str
    number: int
    serials: frozenset[bytes]
    issuer: bytes
    packed: bytes

    @property
    def is_genuine(self) -> bool:
        """Whether the issuer has signed it."""
        return is_signed_by(self.issuer, PURPOSE, self.packed)


def revoke(
    operator: Ed25519PrivateKey, cluster: str, number: int, serials: Iterable[bytes]
) -> Revocations:
    """The list of this number, with all certificates that are revoked so far."""
    listed = sorted(set(serials))
    assert len(listed) <= SERIALS_MAX, "an operator who revokes so much takes a new key"
    issuer = public_bytes(operator)
    packed = sign(operator, PURPOSE, [VERSION, cluster, number, listed, issuer])
    return Revocations(cluster, number, frozenset(listed), issuer, packed)


def read_revocations(packed: bytes) -> Revocations:
    """What a list says, its signature not looked at yet; WireError `bad_revocations`."""
    try:
        fields = fields_of(packed, REVOCATIONS_BYTES_MAX)
    except WireError as error:
        raise WireError("bad_revocations", str(error)) from None
    match fields:
        case [1, str() as cluster, int() as number, list() as serials, bytes() as issuer] if (
            type(number) is int
            and 0 < number <= INTEGER_MAX
            and 0 < len(cluster) <= NAME_MAX
            and len(issuer) == PUBLIC_BYTES
            and len(serials) <= SERIALS_MAX
            and all(type(one) is bytes and len(one) == SERIAL_BYTES for one in serials)
        ):
            return Revocations(cluster, number, frozenset(serials), issuer, packed)
    raise WireError("bad_revocations", "its fields are not those of a list of revocations")
