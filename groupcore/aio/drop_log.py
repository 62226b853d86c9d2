"""Bad input in the log: who sent it and what was wrong, one line a source and minute."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Mapping

from groupcore.token_bucket import TokenBuckets

log = logging.getLogger(__name__)

PERIOD_S = 60.0
LINES_MAX = 20
"""Lines a minute about all sources together: whoever invents sources does not fill the disk."""
SOURCES_MAX = 256

MEANINGS = {
    "forged": "another key or cluster name, altered on the way, or a node that speaks for another",
    "no_certificate": "a node with the cluster key alone, where nodes have certificates",
    "has_certificate": "a node with a certificate, where nodes have the cluster key alone",
    "foreign_certificate": "a certificate of another operator, or for another cluster",
    "expired_certificate": "its certificate is no longer good; issue another one",
    "revoked_certificate": "the operator has revoked its certificate",
    "not_its_name": "its certificate is for another node",
    "bad_certificate": "its certificate is not signed by the operator, or damaged",
    "unknown_key_epoch": "a key that this node does not have",
    "bad_clear_header": "another version of the protocol, or no node at all",
    "same_id": "this node's id is given to another node, too",
    "no_such_layer": "another stack than this node's",
    "unknown_header": "another version of the protocol",
}
"""What is most likely the matter, by the drop's reason."""
STRANGERS = frozenset(
    {
        "forged",
        "no_certificate",
        "has_certificate",
        "foreign_certificate",
        "expired_certificate",
        "revoked_certificate",
        "not_its_name",
        "bad_certificate",
        "unknown_key_epoch",
        "same_id",
    }
)
"""Reasons of what comes from who is not let in, or speaks for another."""


Listener = Callable[[str, Mapping[str, int]], None]


def silent(source: str, reasons: Mapping[str, int]) -> None:
    """Nobody listens."""


class DropLog:
    """Says once what a source does wrong, and again after a minute if it goes on.

    `listener` is given the source (an address, or the name of a proven node) and how often each
    reason was met, whenever a line is written; it must not raise.
    """

    def __init__(self, node_id: str) -> None:
        self.listener: Listener = silent
        self._node_id = node_id
        self._quiet_until: dict[str, float] = {}
        self._unsaid: dict[str, Counter[str]] = {}
        self._lines = TokenBuckets(LINES_MAX / PERIOD_S, LINES_MAX, 1)

    def tell(self, dropped: Mapping[str, Mapping[str, int]], now: float) -> None:
        """Log what was dropped, by source and reason, where it is time; `now` in seconds."""
        for source, reasons in dropped.items():
            unsaid = self._unsaid.setdefault(source, Counter())
            unsaid.update(reasons)
            if now < self._quiet_until.get(source, now) or not self._lines.take(None, now):
                continue
            self._quiet_until.pop(source, None)
            self._quiet_until[source] = now + PERIOD_S
            del self._unsaid[source]
            self._say(source, unsaid)
            self.listener(source, unsaid)
        for table in (self._quiet_until, self._unsaid):
            while len(table) > SOURCES_MAX:
                table.pop(next(iter(table)))

    def _say(self, source: str, reasons: Counter[str]) -> None:
        numbers = ", ".join(f"{reason} {number}" for reason, number in sorted(reasons.items()))
        meaning = next((MEANINGS[reason] for reason in reasons if reason in MEANINGS), "")
        log.warning(
            "%s has dropped bad input of %s (%s)%s",
            self._node_id,
            source,
            numbers,
            f": {meaning}" if meaning else "",
        )
