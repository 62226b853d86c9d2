"""Certificates signed, and looked at by whoever was given one. Nothing here needs Spark.

`{"certificate": {…}, "key": "<public key>", "signature": "<of the certificate>"}`, both Base64,
Ed25519 over the certificate as JSON with sorted keys and without spaces. Who relies on it compares
the key with one that it has from elsewhere.
"""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from pipeline.errors import PipelineError


def sign(certificate: dict[str, Any], key: Ed25519PrivateKey) -> dict[str, Any]:
    """The certificate with the key and its signature."""
    signature = key.sign(_signed_bytes(certificate))
    return {
        "certificate": certificate,
        "key": _as_text(key.public_key()),
        "signature": base64.b64encode(signature).decode(),
    }


def verify(document: dict[str, Any], key: str | None = None) -> dict[str, Any]:
    """The certificate in a document, if its signature is good.

    `key`: the public key, Base64, that it has to be signed by. Raises PipelineError
    `bad_signature`, `other_key`.
    """
    if key is not None and document.get("key") != key:
        raise PipelineError(
            "other_key", "The certificate is signed by another key.", "Ask whose it is."
        )
    try:
        public = Ed25519PublicKey.from_public_bytes(base64.b64decode(document["key"]))
        public.verify(
            base64.b64decode(document["signature"]), _signed_bytes(document["certificate"])
        )
    except (InvalidSignature, KeyError, TypeError, ValueError):
        raise PipelineError(
            "bad_signature",
            "The signature does not belong to the certificate.",
            "Trust nothing in it; audit again.",
        ) from None
    certificate: dict[str, Any] = document["certificate"]
    return certificate


def load_key(path: Path) -> Ed25519PrivateKey:
    """The key in a PEM file; one is made where no file is, for its owner's eyes only.

    Raises PipelineError `bad_key` if something else is in the file.
    """
    if path.exists():
        try:
            key = serialization.load_pem_private_key(path.read_bytes(), None)
        except (TypeError, ValueError):
            key = None
        if not isinstance(key, Ed25519PrivateKey):
            raise PipelineError(
                "bad_key", f"{path} holds no Ed25519 key.", "Name another file, or a new one."
            )
        return key
    made = Ed25519PrivateKey.generate()
    text = made.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    with os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
        file.write(text)
    return made


def public_key(given: str) -> str:
    """A public key, Base64, as it was given: so, or as a file that has it, so or as PEM; or a PEM
    file of the key that signs.

    Raises PipelineError `bad_key`.
    """
    path = Path(given)
    try:
        data = path.read_bytes() if path.is_file() else given.encode()
        for load in (_public_of_private, serialization.load_pem_public_key):
            try:
                key = load(data)
            except ValueError:
                continue
            if isinstance(key, Ed25519PublicKey):
                return _as_text(key)
        raw = base64.b64decode(data.strip(), validate=True)
        return _as_text(Ed25519PublicKey.from_public_bytes(raw))
    except (OSError, TypeError, ValueError):
        raise PipelineError(
            "bad_key",
            f"{given} is no Ed25519 key.",
            "Give the Base64 that the certificate's owner has published, or a file of it.",
        ) from None


def _public_of_private(data: bytes) -> object:
    key = serialization.load_pem_private_key(data, None)
    return key.public_key()


def _as_text(key: Ed25519PublicKey) -> str:
    raw = key.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
    return base64.b64encode(raw).decode()


def _signed_bytes(certificate: dict[str, Any]) -> bytes:
    return json.dumps(certificate, sort_keys=True, separators=(",", ":")).encode()
