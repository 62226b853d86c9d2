"""A device that makes passkeys, as far as the standard has it say something."""

from __future__ import annotations

import hashlib
import json
import struct

import cbor2
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from webauthn.helpers import bytes_to_base64url

PRESENT, VERIFIED, HAS_KEY = 0x01, 0x04, 0x40


class Device:
    """One key, for the pages of one origin; the person agrees at once."""

    def __init__(self, host: str, origin: str, number: int = 7) -> None:
        self.count = 0
        self.verifies = True
        self.id = bytes_to_base64url(f"key {number}".encode())
        self._key = ec.derive_private_key(number, ec.SECP256R1())
        self._host = host
        self._origin = origin

    def made(self, challenge: str) -> str:
        """What a browser says of a new key."""
        numbers = self._key.public_key().public_numbers()
        x, y = (one.to_bytes(32, "big") for one in (numbers.x, numbers.y))
        key = cbor2.dumps({1: 2, 3: -7, -1: 1, -2: x, -3: y})
        name = f"key {self._key.private_numbers().private_value}".encode()
        attested = bytes(16) + struct.pack(">H", len(name)) + name + key
        data = self._data(HAS_KEY) + attested
        made = cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": data})
        return self._said("create", challenge, {"attestationObject": made})

    def signed(self, challenge: str) -> str:
        """What a browser says of a key that has signed."""
        self.count += 1
        data = self._data(0)
        client = self._client("get", challenge)
        signature = self._key.sign(
            data + hashlib.sha256(client).digest(), ec.ECDSA(hashes.SHA256())
        )
        return self._said("get", challenge, {"authenticatorData": data, "signature": signature})

    def _data(self, more: int) -> bytes:
        flags = PRESENT | (VERIFIED if self.verifies else 0) | more
        return hashlib.sha256(self._host.encode()).digest() + struct.pack(">BI", flags, self.count)

    def _client(self, verb: str, challenge: str) -> bytes:
        said = {"type": f"webauthn.{verb}", "challenge": challenge, "origin": self._origin}
        return json.dumps(said).encode()

    def _said(self, verb: str, challenge: str, parts: dict[str, bytes]) -> str:
        parts = {"clientDataJSON": self._client(verb, challenge), **parts}
        response = {name: bytes_to_base64url(part) for name, part in parts.items()}
        whole = {"id": self.id, "rawId": self.id, "type": "public-key", "response": response}
        return json.dumps({**whole, "clientExtensionResults": {}})
