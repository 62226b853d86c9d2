"""Certificates: the operator's word that a key is that of a node of this name in this cluster."""

from __future__ import annotations

from dataclasses import dataclass

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from groupcore.errors import WireError
from groupcore.identity.signed import PUBLIC_BYTES, fields_of, is_signed_by, public_bytes, sign
from groupcore.sequencing.names import NAME_MAX

PURPOSE = b"groupcore certificate 1 "
VERSION = 1
SERIAL_BYTES = 16
CERTIFICATE_BYTES_MAX = 384
SECONDS_MAX = 1 << 40


@dataclass(frozen=True, slots=True)
class Certificate:
    """What an operator has signed. `issuer` and `public` are Ed25519 keys, `serial` 16 bytes.

    `not_after`: seconds since 1970 from which on it is good no more. `packed`: as it is signed.
    """

    cluster: str
    name: str
    public: bytes
    serial: bytes
    not_after: int
    issuer: bytes
    packed: bytes

    @property
    def is_genuine(self) -> bool:
        """Whether the issuer has signed it; whether the issuer is trusted is another question."""
        return is_signed_by(self.issuer, PURPOSE, self.packed)


def issue(
    operator: Ed25519PrivateKey,
    cluster: str,
    name: str,
    public: bytes,
    serial: bytes,
    not_after: int,
) -> Certificate:
    """A certificate for the node of this name and key."""
    assert len(public) == PUBLIC_BYTES, "an Ed25519 key has 32 bytes"
    assert len(serial) == SERIAL_BYTES, "a serial has 16 bytes"
    issuer = public_bytes(operator)
    fields = [VERSION, cluster, name, public, serial, not_after, issuer]
    return Certificate(
        cluster, name, public, serial, not_after, issuer, sign(operator, PURPOSE, fields)
    )


def read_certificate(packed: bytes) -> Certificate:
    """What a certificate says, its signature not looked at yet; WireError `bad_certificate`."""
    try:
        fields = fields_of(packed, CERTIFICATE_BYTES_MAX)
    except WireError as error:
        raise WireError("bad_certificate", str(error)) from None
    match fields:
        case [
            1,
            str() as cluster,
            str() as name,
            bytes() as public,
            bytes() as serial,
            int() as not_after,
            bytes() as issuer,
        ] if (
            type(not_after) is int
            and 0 <= not_after < SECONDS_MAX
            and 0 < len(name) <= NAME_MAX
            and 0 < len(cluster) <= NAME_MAX
            and len(serial) == SERIAL_BYTES
            and len(public) == len(issuer) == PUBLIC_BYTES
        ):
            return Certificate(cluster, name, public, serial, not_after, issuer, packed)
    raise WireError("bad_certificate", "its fields are not those of a certificate")
