"""Secrets of 256 bits: given out once, known here by their digests only."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets

SECRET_MAX = 200
"""Most characters of what is taken for a secret."""


def new_secret(kind: str) -> str:
    """A secret that says what it is for: `gct_...` for a token, say."""
    return f"{kind}_{secrets.token_urlsafe(32)}"


def derived(kind: str, of: str, what: str) -> str:
    """The secret that who has the secret `of` gets for `what`, the same each time."""
    code = hmac.new(of.encode(), what.encode("utf-8", "surrogatepass"), hashlib.sha256).digest()
    return f"{kind}_{base64.urlsafe_b64encode(code).rstrip(b'=').decode()}"


def digest_of(secret: str) -> str:
    """What is kept of a secret. It is long and random, so a plain hash is enough."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def csrf_of(secret: str) -> str:
    """What a page must say beside the cookie, which it cannot read, to change something."""
    return hmac.new(secret.encode(), b"csrf", hashlib.sha256).hexdigest()


def equal(one: str, other: str) -> bool:
    """Whether they are equal, in a time that does not tell how far."""
    return hmac.compare_digest(one.encode(), other.encode())
