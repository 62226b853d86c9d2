"""Certificates: the operator's word that a key is that of a node of this name in this cluster.

A certificate says as well whether the node may administer: sign authorizations
(`groupcore.identity.authorization`). One that may not takes part in the order all the same.
Version 1 has no such field, and is of a node that may; version 2 names the rights.
"""

from __future__ import annotations

from dataclasses import dataclass

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from groupcore.errors import WireError
from groupcore.identity.signed import PUBLIC_BYTES, fields_of, is_signed_by, public_bytes, sign
from groupcore.sequencing.names import NAME_MAX

PURPOSE = b"groupcore certificate 1 "
VERSION, VERSION_WITH_RIGHTS = 1, 2
ADMINISTER = "administer"
"""The right to sign authorizations."""
RIGHTS_MAX = 16
SERIAL_BYTES = 16
CERTIFICATE_BYTES_MAX = 384
SECONDS_MAX = 1 << 40


@dataclass(frozen=True, slots=True)
class Certificate:
    """What an operator has signed. `issuer` and `public` are Ed25519 keys, `serial` 16 bytes.

    `not_after`: seconds since 1970 from which on it is good no more. `administers`: whether the
    node may sign authorizations. `packed`: as it is signed.
    """

    cluster: str
    name: str
    public: bytes
    serial: bytes
    not_after: int
    issuer: bytes
    packed: bytes
    administers: bool = True

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
    *,
    administers: bool = True,
) -> Certificate:
    """A certificate for the node of this name and key."""
    assert len(public) == PUBLIC_BYTES, "an Ed25519 key has 32 bytes"
    assert len(serial) == SERIAL_BYTES, "a serial has 16 bytes"
    issuer = public_bytes(operator)
    fields = [cluster, name, public, serial, not_after, issuer]
    versioned = [VERSION, *fields] if administers else [VERSION_WITH_RIGHTS, *fields, []]
    packed = sign(operator, PURPOSE, versioned)
    return Certificate(cluster, name, public, serial, not_after, issuer, packed, administers)


def read_certificate(packed: bytes) -> Certificate:
    """What a certificate says, its signature not looked at yet; WireError `bad_certificate`."""
    try:
        fields = fields_of(packed, CERTIFICATE_BYTES_MAX)
    except WireError as error:
        raise WireError("bad_certificate", str(error)) from None
    match fields:
        case [
            1 | 2 as version,
            str() as cluster,
            str() as name,
            bytes() as public,
            bytes() as serial,
            int() as not_after,
            bytes() as issuer,
            *more,
        ] if (
            type(not_after) is int
            and 0 <= not_after < SECONDS_MAX
            and 0 < len(name) <= NAME_MAX
            and 0 < len(cluster) <= NAME_MAX
            and len(serial) == SERIAL_BYTES
            and len(public) == len(issuer) == PUBLIC_BYTES
            and len(more) == version - VERSION
        ):
            administers = version == VERSION or ADMINISTER in _rights(more[0])
            return Certificate(
                cluster, name, public, serial, not_after, issuer, packed, administers
            )
    raise WireError("bad_certificate", "its fields are not those of a certificate")


def _rights(wire: object) -> list[str]:
    """The rights of version 2; those of later versions are kept, as they allow nothing here."""
    if not isinstance(wire, list) or len(wire) > RIGHTS_MAX:
        raise WireError("bad_certificate", "its rights are no list of names")
    if not all(type(one) is str and 0 < len(one) <= NAME_MAX for one in wire):
        raise WireError("bad_certificate", "its rights are no list of names")
    return wire
