"""How pictures are named: by the hash of what they hold."""

from __future__ import annotations

import re
from hashlib import sha256

HASH = re.compile(r"[0-9a-f]{64}")


def is_hash(text: str) -> bool:
    """Whether this can be the name of a picture."""
    return HASH.fullmatch(text) is not None


def hash_of(data: bytes) -> str:
    """Under which name these bytes are kept."""
    return sha256(data).hexdigest()
