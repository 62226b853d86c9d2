"""Cards: what a node's key says of one of its boots, and how two boots come to keys of their own.

Idea. Each boot draws an X25519 key pair, and the node's key signs the public half with the boot's
id, name and incarnation: the card. It is sent to everybody and secret to nobody. Two boots that
have each other's cards have keys that nobody else can know; a recording of cards is of no use
without the private halves, which end with the process.

Source. RFC 7748 (X25519), RFC 5869 (HKDF); the signed pre-key of X3DH, one a boot.

Invariants.
  B1  A card is good only with a certificate that `Trust.check` lets pass, and for its name alone;
      a prober has the certificate of a node, and a name that no node has.
  B2  The keys of a pair depend on both cards whole: who is taken for another derives others.
  B3  Who gets a node's key after a boot has ended opens nothing that this boot has sent or got.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import blake2b
from random import Random

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from groupcore.errors import WireError
from groupcore.identity.certificate import Certificate, read_certificate
from groupcore.identity.signed import PUBLIC_BYTES, fields_of, is_signed_by, sign
from groupcore.identity.trust import Trust
from groupcore.peers import PROBER_PREFIX
from groupcore.seal import BOOT_BYTES, KEY_BYTES, sender_id
from groupcore.sequencing.names import NAME_MAX
from groupcore.view import Address
from groupcore.wire_fields import INTEGER_MAX

PURPOSE = b"groupcore boot 1 "
PAIR_PURPOSE = b"groupcore pair 1 "
VERSION = 1
CARD_BYTES_MAX = 640


@dataclass(frozen=True, slots=True)
class Card:
    """What a node says of one boot: `half` is the boot's public X25519 key."""

    certificate: Certificate
    address: Address
    boot: bytes
    half: bytes
    packed: bytes

    @property
    def identity(self) -> bytes:
        """Sender id and boot id, as the clear header of the boot's datagrams has them."""
        return sender_id(self.address.name) + self.boot


@dataclass(frozen=True, slots=True)
class Credentials:
    """What a node shows of itself, and whom it believes. `key` is the node's own."""

    key: Ed25519PrivateKey = field(repr=False)
    certificate: Certificate
    trust: Trust


class OwnCard:
    """The card of this boot, with what it keeps to itself."""

    def __init__(
        self, credentials: Credentials, address: Address, boot: bytes, random: Random
    ) -> None:
        self._private = X25519PrivateKey.from_private_bytes(random.randbytes(PUBLIC_BYTES))
        half = self._private.public_key().public_bytes_raw()
        certificate = credentials.certificate
        fields = [VERSION, certificate.packed, *address, boot, half]
        packed = sign(credentials.key, PURPOSE, fields)
        self.card = Card(certificate, address, boot, half, packed)

    def keys_with(self, other: Card) -> tuple[bytes, bytes, bytes, bytes]:
        """Four keys that this boot and the other one alone have; WireError `bad_card`.

        To seal with and to code with what goes there, then the same for what comes from there.
        """
        try:
            shared = self._private.exchange(X25519PublicKey.from_public_bytes(other.half))
        except ValueError:
            raise WireError("bad_card", "its half is no public key") from None
        ours, theirs = _digest(self.card), _digest(other)
        info = PAIR_PURPOSE + min(ours, theirs) + max(ours, theirs)
        salt = self.card.certificate.cluster.encode()
        derived = HKDF(SHA256(), 4 * KEY_BYTES, salt=salt, info=info).derive(shared)
        a, b, c, d = (derived[at : at + KEY_BYTES] for at in range(0, 4 * KEY_BYTES, KEY_BYTES))
        return (a, b, c, d) if ours < theirs else (c, d, a, b)


def read_card(packed: bytes) -> Card:
    """What a card says, its signatures not looked at yet; WireError `bad_card`."""
    try:
        fields = fields_of(packed, CARD_BYTES_MAX)
    except WireError as error:
        raise WireError("bad_card", str(error)) from None
    match fields:
        case [
            1,
            bytes() as certificate,
            str() as name,
            int() as incarnation,
            bytes() as boot,
            bytes() as half,
        ] if (
            type(incarnation) is int
            and 0 <= incarnation <= INTEGER_MAX
            and 0 < len(name) <= NAME_MAX
            and len(boot) == BOOT_BYTES
            and len(half) == PUBLIC_BYTES
        ):
            address = Address(name, incarnation)
            return Card(read_certificate(certificate), address, boot, half, packed)
    raise WireError("bad_card", "its fields are not those of a card")


def check_card(card: Card, trust: Trust) -> None:
    """WireError when it is not good, and why (B1); reasons are those of `Trust.check`, and these.

    `not_its_name` for a name that the certificate is not for, `bad_card` when it is not signed.
    """
    name, certificate = card.address.name, card.certificate
    if name != certificate.name and not name.startswith(PROBER_PREFIX):
        raise WireError("not_its_name", f"the certificate is for {certificate.name!r}")
    trust.check(certificate)
    if not is_signed_by(certificate.public, PURPOSE, card.packed):
        raise WireError("bad_card", "the node has not signed it")


def _digest(card: Card) -> bytes:
    return blake2b(card.packed, digest_size=32).digest()
