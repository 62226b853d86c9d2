"""Invariant 23: what the key does not vouch for, or vouched for once, counts for nothing."""

from __future__ import annotations

from groupcore.sim.checkers.base import Checker, Violation, life
from groupcore.sim.trace import Suspect, Trace


class Authenticity(Checker):
    """23: forged, stale and repeated datagrams change nothing; no nonce is used twice.

    The world knows what each life has sealed, when, and what each receiver has taken (`notary`), so
    it says of a datagram what it is without asking the code under test. That one key epoch ends
    while another begins is no part of a schedule; the transport's own tests judge it.
    """

    number, name = 23, "authenticity"

    def scan(self, trace: Trace, found: list[Violation]) -> None:
        """Every suspect datagram that did any harm."""
        for record in trace.of(Suspect):
            if record.harm:
                text = f"a {record.what} datagram at {life(record.n, record.inc)}: {record.harm}"
                found.append(self.breach(record.t, (record.n,), text))
