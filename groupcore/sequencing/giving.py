"""Giving a new node the directory and the records, as they are when nothing is in between.

They are packed some groups a turn (`node_packing`), and hashed a megabyte a turn. With a log they
are given when the log holds them: who comes after the new node from disk takes nothing that is
before, so this node's disk must not be behind it. And when all other members have stored what they
contain: the new node has no frames that lie in its state, so whose disk lacks some of those could
get them from nobody, if the power goes and this node does not come back. A disk that stores nothing
is waited for `PATIENCE_S`, once in a view: who asks may have gone to another giver meanwhile, and
come back.

Source. Decisions 0026, 0042 and 0048; as I1 of `archiving`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import blake2b

from groupcore.context import Numbers
from groupcore.sequencing.headers import Reach
from groupcore.sequencing.log import Log
from groupcore.sequencing.names import Place
from groupcore.sequencing.node_packing import Packing
from groupcore.sequencing.pieces import DIGEST_BYTES
from groupcore.sequencing.plane import Plane
from groupcore.sequencing.resuming import Held
from groupcore.sequencing.states import Copy, States

HASHED_BYTES = 1 << 20
"""So much of a state is hashed in a turn."""
PATIENCE_S = 3.0
"""So long a member whose disk stores nothing is waited for."""


@dataclass(slots=True)
class Packed:
    """A state that is packed: for whom, when it is on disk here, and what it contains."""

    tokens: list[int]
    state: bytes
    mark: int
    contains: Numbers
    until: float
    hashed: int = 0
    digest: blake2b = field(default_factory=lambda: blake2b(digest_size=DIGEST_BYTES))

    def hash_more(self) -> bool:
        """Hash a slice more; whether all of it is hashed."""
        upto = self.hashed + HASHED_BYTES
        self.digest.update(memoryview(self.state)[self.hashed : upto])
        self.hashed = min(upto, len(self.state))
        return self.hashed == len(self.state)

    @property
    def is_hashed(self) -> bool:
        """Whether nothing is left to hash."""
        return self.hashed == len(self.state)


class Giving:
    """The node states that others have asked for; `place` is that of the directory now."""

    def __init__(self, plane: Plane, states: States, place: Callable[[], Place]) -> None:
        self._plane = plane
        self._states = states
        self._place = place
        self._packing: Packing | None = None
        self._tokens: dict[int, Held] = {}
        self._packing_for: list[int] = []
        self._packed: deque[Packed] = deque()
        self._since: tuple[int, float] | None = None
        self._steps = 0
        states.made = lambda: self._steps

    def copy(self, token: int, bases: tuple[Reach, ...], held: Held) -> Copy:
        """Copy the node's state for a new one; later while a stream is not that far here.

        What the new one holds is left out; one copy serves all who hold the same, most often none.
        """
        plane = self._plane
        if not plane.ready:
            return Copy.NONE
        for base in bases:
            stream = plane.streams.get(base.stream)
            if stream is not None and stream.recorded < base.received:
                return Copy.LATER
        self._tokens[token] = held
        return Copy.BEGUN

    def end_turn(self, now: float) -> None:
        """Do some more of what is under way, and give what can be given now."""
        plane, log = self._plane, self._plane.log
        if self._tokens and self._packing is None:
            held = next(iter(self._tokens.values()))
            self._packing = Packing(self._plane, held)
            self._packing_for = [one for one, its in self._tokens.items() if its == held]
            for token in self._packing_for:
                del self._tokens[token]
        state = None
        if self._packing is not None:
            state = self._packing.step(self._place())
            self._steps += not self._packing.waits
        if state is not None:
            self._packing = None
            tokens, self._packing_for = self._packing_for, []
            mark = 0 if log is None else log.next_mark
            contains = {address: one.recorded for address, one in plane.streams.items()}
            until = self._patience_ends(now)
            self._packed.append(Packed(tokens, state, mark, contains, until))
        while self._packed:
            packed = self._packed[0]
            if not packed.is_hashed:
                self._steps += 1
                if not packed.hash_more():
                    return
            if log is not None and not self._is_stored(packed, log, now):
                return
            self._packed.popleft()
            for token in packed.tokens:
                self._states.give(token, packed.state, packed.digest.digest())

    def _is_stored(self, packed: Packed, log: Log, now: float) -> bool:
        """Whether it is on disk here, and what it contains at all others."""
        if packed.mark > log.stored_mark:
            return False
        plane = self._plane
        everywhere = all(
            address not in plane.streams or plane.reaches.saved_by_settled(address) >= frame
            for address, frame in packed.contains.items()
        )
        if everywhere:
            self._since = None
        return everywhere or now >= packed.until

    def _patience_ends(self, now: float) -> float:
        """Until when the others' disks are waited for."""
        view = self._plane.view_number
        if self._since is None or self._since[0] != view:
            self._since = (view, now)
        return self._since[1] + PATIENCE_S

    def next_wake(self) -> float | None:
        """At once, while there is work to do; when no other disk is waited for any more."""
        if self._packing is not None and not self._packing.waits:
            return 0.0
        if self._packed and not self._packed[0].is_hashed:
            return 0.0
        log = self._plane.log
        if not self._packed or log is None or self._packed[0].mark > log.stored_mark:
            return None  # its log is stored, and that is told
        return self._packed[0].until
