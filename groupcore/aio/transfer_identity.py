"""Who is at the other end of a connection for states, where nodes have identities.

Behind the halves (`transfer_keys`) the server, then the caller, sends its certificate and a
signature of its node's key over all that was said, sealed. Each goes on only when the other's is
good: the cluster key alone fetches nothing, and is served nothing.

    shown      length (2 bytes), sealed: a signed record of the certificate and what was said
"""

from __future__ import annotations

from asyncio import StreamReader
from hashlib import sha256

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from groupcore.aio.errors import TransferError
from groupcore.errors import WireError
from groupcore.identity.card import Credentials
from groupcore.identity.certificate import read_certificate
from groupcore.identity.signed import fields_of, is_signed_by, sign

PURPOSES = (b"groupcore transfer caller 1 ", b"groupcore transfer server 1 ")
SHOWN_BYTES_MAX = 768
CALLER, SERVER = 0, 1
NONCE = bytes(12)
"""Each box seals once."""


class Showing:
    """Both ends' words of one connection; `boxes` are of keys for these two words alone."""

    def __init__(
        self, credentials: Credentials, said: bytes, caller: AESGCM, server: AESGCM
    ) -> None:
        self._credentials = credentials
        self._said = sha256(said).digest()
        self._boxes = (caller, server)

    def shown(self, end: int) -> bytes:
        """What this end, CALLER or SERVER, sends of itself."""
        certificate = self._credentials.certificate.packed
        record = sign(self._credentials.key, PURPOSES[end], [certificate, self._said])
        sealed = self._boxes[end].encrypt(NONCE, record, None)
        return len(sealed).to_bytes(2, "big") + sealed

    async def look(self, end: int, reader: StreamReader) -> str:
        """The name of the node at that end; TransferError when it shows nothing good."""
        size = int.from_bytes(await reader.readexactly(2), "big")
        if size > SHOWN_BYTES_MAX:
            raise TransferError("the other end shows no certificate")
        sealed = await reader.readexactly(size)
        try:
            record = self._boxes[end].decrypt(NONCE, sealed, None)
        except InvalidTag:
            raise TransferError("a frame does not open; do both have the cluster's key?") from None
        try:
            return self._judged(end, record)
        except WireError as error:
            raise TransferError(f"the other end is not let in: {error}") from None

    def _judged(self, end: int, record: bytes) -> str:
        match fields_of(record, SHOWN_BYTES_MAX):
            case [bytes() as packed, bytes() as said] if said == self._said:
                certificate = read_certificate(packed)
                self._credentials.trust.check(certificate)
                if is_signed_by(certificate.public, PURPOSES[end], record):
                    return certificate.name
        raise WireError("bad_card", "it is not signed for this connection")
