"""What is thrown away: counted by reason, and bad input also by where it came from.

Plain tables, bounded, no time and no messages. Much is dropped that is nobody's fault (duplicates,
what is for another life, datagrams of a boot that has yet to prove itself); only what no node of
this cluster sends on purpose is **bad input**, to be named to the operator.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

BAD_INPUT = frozenset(
    {
        *("bad_size", "bad_clear_header", "unknown_key_epoch", "forged", "throttled"),
        *("bad_challenge", "bad_proof", "bad_introduction", "bad_report", "same_id", "not_a_node"),
        *("bad_report", "malformed", "bad_packet", "bad_header", "unknown_header", "bad_body"),
        *("no_such_layer", "header_out_of_place", "bad_key", "bad_card", "no_certificate"),
        *("bad_certificate", "foreign_certificate", "expired_certificate", "not_its_name"),
        *("revoked_certificate", "has_certificate"),
    }
)
"""The reasons that are named with their source. Layers add theirs by `events.BadInput`."""

RECENT_MAX = 64
SOURCES_MAX = 64
OTHERS = "other sources"


class Drops(Counter[str]):
    """Numbers by reason. `recent` are the bad ones since it was last emptied, in order."""

    def __init__(self) -> None:
        self.recent: list[str] = []
        super().__init__()

    def __setitem__(self, reason: str, number: int) -> None:
        """Count, and remember a bad one until its source is known."""
        super().__setitem__(reason, number)
        if reason in BAD_INPUT and len(self.recent) < RECENT_MAX:
            self.recent.append(reason)


class DropsBySource:
    """Bad input since it was last taken; sources above `SOURCES_MAX` are counted together."""

    __slots__ = ("_table",)

    def __init__(self) -> None:
        self._table: dict[str, Counter[str]] = {}

    def __bool__(self) -> bool:
        """Whether there is any."""
        return bool(self._table)

    def note(self, source: str, reasons: Iterable[str]) -> None:
        """Count bad input of this source."""
        if source not in self._table and len(self._table) >= SOURCES_MAX:
            source = OTHERS
        self._table.setdefault(source, Counter()).update(reasons)

    def take(self) -> dict[str, Counter[str]]:
        """Numbers by source and reason."""
        taken, self._table = self._table, {}
        return taken
