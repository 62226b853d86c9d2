"""Attention: whether one that has had its turn in vain is listened to all the same.

Idea. Who is passed over may be well: its time was too short, or others held it up, or it passes
over this member in turn. So it is not silenced; others go before it. Its ballots are answered where
nobody else's are under way, and its vote is kept, for an attempt to which the others' do not
suffice. A ballot that is not answered is remembered by its round, so that the next is above it.

Source. Paxos is safe whoever is answered ("Paxos Made Simple", Lamport 2001, section 2.4): a single
proposer is wanted for progress alone.

Invariants.
  I1  While a member proposes, has the turn to propose, or heard within `attempt_s` from a
      proposer that it has promised and not passed over, nobody that it has passed over outbids it.
  I2  Otherwise it answers as any voter does: members that have passed each other over need no
      common time to hear each other again.
"""

from __future__ import annotations

from collections.abc import Set

from groupcore.view import Address


class Attention:
    """To whose attempt a voter has given its word, and for how long that goes first."""

    def __init__(self, attempt_s: float) -> None:
        self.attempt_s = attempt_s
        self.heeded: Address | None = None
        self.until = 0.0

    def give(self, proposer: Address, now: float) -> None:
        """This proposer has this voter's promise and goes on asking."""
        self.heeded, self.until = proposer, now + self.attempt_s

    def on_view(self) -> None:
        """A view begins: no attempt is under way."""
        self.heeded = None

    def is_given(self, passed_over: Set[Address], now: float) -> bool:
        """Whether somebody's attempt goes on who has not been passed over."""
        return self.heeded is not None and self.heeded not in passed_over and now < self.until
