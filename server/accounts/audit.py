"""The audit log: who did what, when, from where, each entry chained to the one before it.

Idea. An entry's hash covers the entry and the hash before it, so that nobody takes one out or
changes one without all that follow being different. The object keeps the last ones; each node
writes all of them to a file of its own, which can be verified by itself
(`server.accounts.audit_file`).

Invariants.
  U1  Entries are numbered from 1 without a hole, and each carries the hash of the one before it.
  U2  No entry has a secret, a password or a text of a document in it.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

from groupcore.shared import operation
from server.accounts.names import ORIGIN_MAX, shortened
from server.administered import Administered

KEPT = 1_000
"""So many entries are in the object, the last ones."""
FIRST = "0" * 64
"""What stands in the place of the hash before the first entry."""


@dataclass(frozen=True, slots=True)
class Note:
    """An entry: `by` a principal, `what` in the past tense, `about` whom or what, `origin` where.

    `chain` is the hash of this entry and of all before it.
    """

    number: int
    at_ms: int
    by: str
    what: str
    about: str
    origin: str
    chain: str


def chained(before: str, number: int, at_ms: int, words: tuple[str, str, str, str]) -> str:
    """The hash of an entry behind one with the hash `before`."""
    text = json.dumps([before, number, at_ms, *words], ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def follows(note: Note, before: str) -> bool:
    """Whether the entry is whole, and stands behind one with this hash."""
    words = (note.by, note.what, note.about, note.origin)
    return note.chain == chained(before, note.number, note.at_ms, words)


class Audited(Administered):
    """The log, as the part of the accounts that all others write into.

    Only nodes have accounts open, as nobody in particular: they say on whose behalf they call.
    """

    notes: list[Note]
    noted: int = 0
    chain: str = FIRST

    def may_call(self, principal: str, operation: str) -> bool:
        """Nodes only."""
        del operation
        return not principal

    def may_read(self, principal: str) -> bool:
        """Nodes only."""
        return not principal

    @operation
    def note(self, by: str, what: str, about: str, origin: str) -> None:
        """Write down what has changed nothing here: a refusal, an export."""
        self._note(by, what, about, origin)

    def _note(self, by: str, what: str, about: str, origin: str) -> None:
        self.noted += 1
        at_ms = round(self.context.time_s * 1000)
        words = (by, what, shortened(about, 200), shortened(origin, ORIGIN_MAX))
        self.chain = chained(self.chain, self.noted, at_ms, words)
        self.notes.append(Note(self.noted, at_ms, *words, self.chain))
        if len(self.notes) > 2 * KEPT:  # taking them out one by one would copy the list each time
            self.notes = self.notes[-KEPT:]
