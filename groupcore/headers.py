"""Which header classes travel, and by which code: each says so where it is defined.

A code belongs to one class for ever, and is never used again for another: nodes of several versions
read each other. Codes below OWN_CODES are the library's; a program's own layers take others.

    @travels(1_000)
    @dataclass(frozen=True, slots=True)
    class Stamp(Header): ...
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from groupcore.batch import Header
from groupcore.errors import CompositionError

H = TypeVar("H", bound=type[Header])

OWN_CODES = 1_000
"""From here on codes are for layers that are not the library's."""
CODE_MAX = 65_535

HEADERS: dict[int, type[Header]] = {}
"""Every header class whose module has been loaded, by its code."""
CODES: dict[type[Header], int] = {}


def travels(code: int) -> Callable[[H], H]:
    """Has a slotted dataclass travel with this code; its `kind` and code are nobody else's.

    Raises CompositionError for a code or a kind that another class has, and one out of bounds.
    """

    def register(kind: H) -> H:
        is_own = kind.__module__.partition(".")[0] == "groupcore"
        first, last = (1, OWN_CODES - 1) if is_own else (OWN_CODES, CODE_MAX)
        if not first <= code <= last:
            raise CompositionError(f"{kind.__qualname__}: give a code from {first} to {last}")
        if code in HEADERS:
            other = HEADERS[code]
            raise CompositionError(
                f"{kind.__qualname__}: {other.__module__}.{other.__qualname__} has code {code}"
            )
        if any(other.kind == kind.kind for other in CODES):
            raise CompositionError(f"{kind.__qualname__}: another header is called {kind.kind}")
        HEADERS[code] = kind
        CODES[kind] = code
        return kind

    return register
