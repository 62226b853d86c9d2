"""Bytes near valid ones: turned, cut, doubled, spliced, and with values of another type inside."""

from __future__ import annotations

from random import Random
from typing import Any

from msgpack import ExtType, packb, unpackb

INTERESTING = (0, 1, 0x7F, 0x80, 0x90, 0xC0, 0xC1, 0xC4, 0xC7, 0xD9, 0xDC, 0xDD, 0xDF, 0xFF)
DEEP = 400


def nested(depth: int) -> Any:
    value: Any = []
    for _ in range(depth):
        value = [value]
    return value


WRONG: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 3, 255, 1 << 31, (1 << 53) + 1, (1 << 62) - 1, 1 << 62),
    *((1 << 63) - 1, 1 << 63, (1 << 64) - 1, -(1 << 63), 0.0, 1.5, float("inf"), float("nan")),
    *(
        "",
        "a",
        "b",
        "x" * 65,
        "\x00",
        "\ufffc",
        "é" * 40,
        b"",
        b"\x00",
        b"\x90",
        b"\xc1",
        b"x" * 300,
    ),
    *([], [[]], [0], [["a", 1]], ["a", 1], {}, {"a": 1}, {"t": "x"}, nested(DEEP)),
    ExtType(1, b"x"),
)
"""What stands in the place of a value: of every type, and at the edge of each."""


class Mutator:
    """`seeds` are valid; all chance is `random`'s. `kept`: the share that is left as it is."""

    def __init__(self, random: Random, seeds: list[bytes], kept: float = 0.0) -> None:
        self._random = random
        self._seeds = seeds
        self._kept = kept

    def next(self) -> bytes:
        """The next one: often a value exchanged, else bytes, sometimes both."""
        random = self._random
        data = random.choice(self._seeds)
        if random.random() < self._kept:
            return data
        kind = random.random()
        if kind < 0.55:
            data = self._exchanged(data)
        if kind > 0.45:
            for _ in range(random.choice((1, 1, 1, 2, 5))):
                data = self._turned(data)
        return data

    def _turned(self, data: bytes) -> bytes:
        random = self._random
        at = random.randrange(len(data) + 1)
        match random.randrange(7):
            case 0:
                return data[:at]
            case 1:
                return data[:at] + bytes([random.choice(INTERESTING)]) + data[at + 1 :]
            case 2:
                return data[:at] + random.randbytes(random.randint(1, 9)) + data[at:]
            case 3:
                return data[:at] + data[at + random.randint(1, 9) :]
            case 4:
                end = min(at + random.randint(1, 40), len(data))
                return data[:end] + data[at:end] + data[end:]
            case 5:
                other = random.choice(self._seeds)
                return data[:at] + other[random.randrange(len(other) + 1) :]
            case _:
                if at == len(data):
                    return data + b"\xff"
                return data[:at] + bytes([data[at] ^ 1 << random.randrange(8)]) + data[at + 1 :]

    def _exchanged(self, data: bytes) -> bytes:
        """A value within another one, or two exchanged, where the bytes are packed values."""
        start = 1 if data[:1] == b"\xc1" else 0
        try:
            value = unpackb(data[start:], strict_map_key=False)
            for _ in range(self._random.choice((1, 1, 2, 3))):
                value = self._changed(value)
            changed: bytes = packb(value)
            return data[:start] + changed
        except Exception:  # not packed values, or not to be packed again: bytes are turned instead
            return self._turned(data)

    def _changed(self, value: Any) -> Any:
        random = self._random
        if isinstance(value, bytes) and len(value) > 2 and random.random() < 0.6:
            return self._exchanged(value) if random.random() < 0.7 else self._turned(value)
        if not isinstance(value, list | dict) or not value or random.random() < 0.08:
            return self._instead(value)
        if isinstance(value, dict):
            key = random.choice(sorted(value, key=repr))
            return value | {key: self._changed(value[key])}
        at, value = random.randrange(len(value)), list(value)
        kind = random.random()
        if kind < 0.8:
            value[at] = self._changed(value[at])
        elif kind < 0.87:
            del value[at]
        elif kind < 0.94:
            value.insert(at, value[at])
        else:
            other = random.randrange(len(value))
            value[at], value[other] = value[other], value[at]
        return value

    def _instead(self, value: Any) -> Any:
        random = self._random
        if type(value) is int and random.random() < 0.5:
            return max(value + random.choice((-2, -1, 1, 2, 8)), 0)
        return random.choice(WRONG)
