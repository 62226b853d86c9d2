"""Named streams of chance, each derived from the seed by hashing.

Separate streams keep a schedule comparable when a part of it is left out: dropping a fault must
not change what the network draws for the first datagram (reliability, section A, rule 2).
"""

from __future__ import annotations

from hashlib import blake2b
from random import Random


def derive(seed: int, *names: str | int) -> int:
    """A 64-bit seed for the stream of these names."""
    text = "/".join([str(seed), *map(str, names)])
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big")


def stream(seed: int, *names: str | int) -> Random:
    """The generator of these names: the same for the same seed, unlike any other name's."""
    return Random(derive(seed, *names))
