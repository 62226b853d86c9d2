"""What simulated applications agree on when nobody has the state of their component any more.

Where components go on alone (merge policy `application`) the last holder of a state can be lost,
and it is left to the applications what they go on with. Here, as in the replicated dictionary, a
member that is given no state says so in the total order, and who has the state never says it. The
place where all members of a view have said so is where the state begins anew: from the journal
that reaches furthest. A member that wants to ask again takes its word back first, and takes no
state before that is in the order.
"""

from __future__ import annotations

from collections.abc import Iterable

from groupcore.sim.trace import Slot
from groupcore.view import Address

SEEKING = b"seeking"
"""I ask for the state again: what I said before does not hold any more."""


def nothing(journal: Slot) -> bytes:
    """The word of a member that was given no state, with the place that its journal reaches."""
    return b"nothing %d %d" % journal


class Beginning:
    """What has been said in this view, at one member of it.

    `resigned`: this member has said that it was given nothing, and may take no state.
    """

    def __init__(self) -> None:
        self.resigned = False
        self._takes_back = False
        self._members: frozenset[Address] = frozenset()
        self._journals: dict[Address, Slot] = {}

    def resign(self) -> None:
        """This member says that it was given nothing."""
        self.resigned, self._takes_back = True, False

    def take_back(self) -> None:
        """This member says that it asks again; what it said holds until that is in the order."""
        self._takes_back = True

    def on_view(self, members: Iterable[Address]) -> None:
        """What was said in the former view does not count in this one."""
        self._members = frozenset(members)
        self._journals.clear()

    def on_word(self, member: Address, word: bytes) -> Address | None:
        """A word at its place in the order; whose journal it is if the state begins anew there."""
        if word == SEEKING:
            self._journals.pop(member, None)
            return None
        epoch, position = map(int, word.split()[1:])
        self._journals[member] = (epoch, position)
        if not self._members or not self._members.issubset(self._journals):
            return None
        furthest = max(self._journals[member] for member in self._members)
        self.resigned = False
        chosen = min(m for m in self._members if self._journals[m] == furthest)
        self._journals.clear()
        return chosen

    def on_own_seeking(self) -> bool:
        """Whether this member may take a state from here on: its last word was taken back."""
        free = self.resigned and self._takes_back
        if free:
            self.resigned = self._takes_back = False
        return free
