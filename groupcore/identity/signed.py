"""Signed records: a msgpack array, and an Ed25519 signature over its bytes and its purpose.

The purpose enters what is signed, so a record of one kind is never good as one of another.
Source. RFC 8032 (Ed25519).
"""

from __future__ import annotations

from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from msgpack import Packer

from groupcore.errors import WireError
from groupcore.wire import unpack_packets

SIGNATURE_BYTES = 64
PUBLIC_BYTES = 32
"""A public Ed25519 or X25519 key."""

_packer = Packer(use_bin_type=True, autoreset=True)


def public_bytes(key: Ed25519PrivateKey) -> bytes:
    """The 32 bytes of a key's public half."""
    return key.public_key().public_bytes_raw()


def sign(key: Ed25519PrivateKey, purpose: bytes, fields: list[Any]) -> bytes:
    """The fields, packed, behind a signature for this purpose."""
    body: bytes = _packer.pack(fields)
    return key.sign(purpose + body) + body


def fields_of(record: bytes, bytes_max: int) -> list[Any]:
    """What a signed record says, nobody's word yet; WireError `bad_record`."""
    if not SIGNATURE_BYTES < len(record) <= bytes_max:
        raise WireError("bad_record", f"{len(record)} bytes")
    try:
        return unpack_packets(record[SIGNATURE_BYTES:])
    except WireError:
        raise WireError("bad_record", "it is no array") from None


def is_signed_by(public: bytes, purpose: bytes, record: bytes) -> bool:
    """Whether the holder of this key has signed the record for this purpose."""
    signature, body = record[:SIGNATURE_BYTES], record[SIGNATURE_BYTES:]
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, purpose + body)
    except (InvalidSignature, ValueError):
        return False
    return True
