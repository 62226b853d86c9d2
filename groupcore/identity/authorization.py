"""Authorizations: a node's signature over what it asks for, with the certificate that allows it.

Idea. Whoever orders other nodes' messages (a sequencer) or hands on a state could put words into
their mouths. What only some nodes may ask for is therefore signed by the node that asks, and each
replica looks at the signature at the message's place in the order: it needs nothing but the bytes
and what the object itself knows, so all replicas come to the same answer.

Invariants.
  A1  An authorization is good for one text, of one object, of one cluster.
  A2  It is good once: its number is higher than that of the node's one before, which the object
      keeps.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from groupcore.errors import WireError
from groupcore.identity.certificate import (
    CERTIFICATE_BYTES_MAX,
    Certificate,
    read_certificate,
)
from groupcore.identity.signed import fields_of, is_signed_by, sign
from groupcore.wire_fields import INTEGER_MAX

PURPOSE = b"groupcore authorization 1 "
VERSION = 1
DIGEST_BYTES = 32
AUTHORIZATION_BYTES_MAX = CERTIFICATE_BYTES_MAX + 160


@dataclass(frozen=True, slots=True)
class Authorization:
    """What a node has signed: `number` is its own, `digest` that of the object's name and the text.

    `packed`: as it is signed.
    """

    certificate: Certificate
    number: int
    digest: bytes
    packed: bytes

    def covers(self, name: str, text: bytes) -> bool:
        """Whether the holder of the certificate's key has signed this text for this object (A1).

        Whether the certificate is to be believed is another question.
        """
        return self.digest == _digest(name, text) and is_signed_by(
            self.certificate.public, PURPOSE, self.packed
        )


def authorize(
    key: Ed25519PrivateKey, certificate: Certificate, number: int, name: str, text: bytes
) -> bytes:
    """An authorization of this text for the object of this name; `number` from 1."""
    assert 0 < number <= INTEGER_MAX, "numbers travel as positive integers"
    return sign(key, PURPOSE, [VERSION, certificate.packed, number, _digest(name, text)])


def read_authorization(packed: bytes) -> Authorization:
    """What one says, its signature not looked at yet; WireError `bad_authorization`."""
    try:
        fields = fields_of(packed, AUTHORIZATION_BYTES_MAX)
        match fields:
            case [1, bytes() as certificate, int() as number, bytes() as digest] if (
                type(number) is int and 0 < number <= INTEGER_MAX and len(digest) == DIGEST_BYTES
            ):
                return Authorization(read_certificate(certificate), number, digest, packed)
    except WireError as error:
        raise WireError("bad_authorization", str(error)) from None
    raise WireError("bad_authorization", "its fields are not those of an authorization")


def _digest(name: str, text: bytes) -> bytes:
    digest = blake2b(digest_size=DIGEST_BYTES)
    named = name.encode()
    digest.update(len(named).to_bytes(2, "big") + named + text)
    return digest.digest()
