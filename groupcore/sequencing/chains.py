"""Chains: up to where the messages of each process have their places, and which those are.

Idea. A process's runs are numbered 1, 2, ... in the order in which it sends them, whatever groups
they go to: its chain. A run names the one before it, as long as its sender does not know where that
stands; a sequencer gives it numbers when it knows that. So the runs of a chain get their places one
after the other, at whatever sequencers, and who knows the place of one knows that all before have
theirs. One integer says what ids of all pending messages would.

Source. Paper, section 5, "Increasing concurrency"; decisions 0020 and 0025.

Invariants.
  I1  A chain number counts when its run stands in a frame that this node has received (or made,
      in its own stream), and acknowledges: who has a frame of this node's that rests on it has
      that one, too. A new node is told of what is held only.
  I2  Where a run stands, with the context of its frame, covers where all stand that are before it
      in its chain and that the context of the next one does not name.
"""

from __future__ import annotations

from groupcore.context import Numbers, merge_into
from groupcore.view import Address

Standing = tuple[Address, int, Numbers]
"""A frame, by stream and number, and its context."""


class Chains:
    """The chains of all processes, by their `Senders` keys.

    `watched` are those that somebody waits for; `moved` those of them that have got further.
    """

    __slots__ = ("_ahead", "_held", "moved", "watched")

    def __init__(self) -> None:
        self._held: dict[int, tuple[int, Standing]] = {}
        self._ahead: dict[int, tuple[int, Standing]] = {}
        self.watched: set[int] = set()
        self.moved: dict[int, None] = {}

    def note_held(self, key: int, chain: int, standing: Standing) -> None:
        """The process's run of this chain number stands in a frame that is held."""
        held = self._held.get(key)
        if held is None or chain > held[0]:
            self._held[key] = (chain, standing)
            ahead = self._ahead.get(key)
            if ahead is not None and ahead[0] <= chain:
                del self._ahead[key]
            if key in self.watched:
                self.moved[key] = None

    def note_received(self, key: int, chain: int, standing: Standing) -> None:
        """The process's run of this chain number stands in a frame that is here."""
        if chain > self.reached(key):
            self._ahead[key] = (chain, standing)
            if key in self.watched:
                self.moved[key] = None

    def reached(self, key: int) -> int:
        """The latest of the process's runs that has its place, and with it all before; or 0."""
        last = self._ahead.get(key) or self._held.get(key)
        return last[0] if last is not None else 0

    def add_place(self, key: int, numbers: Numbers, but: tuple[Address, int] | None = None) -> None:
        """Put into a context what a process's next run has to be delivered behind (I2).

        `but`: that is in this frame itself, where the order of its runs says it.
        """
        last = self._ahead.get(key) or self._held.get(key)
        if last is not None:
            address, frame, context = last[1]
            if frame > numbers.get(address, 0) and (address, frame) != but:
                numbers[address] = frame
            merge_into(numbers, context)

    def snapshot(self) -> list[tuple[int, int, Standing]]:
        """Key, chain number and place of all that are held."""
        return [(key, chain, standing) for key, (chain, standing) in self._held.items()]

    def forget(self, keys: list[int]) -> None:
        """The nodes of these processes are gone: nothing more comes of them."""
        for key in keys:
            self._held.pop(key, None)
            self._ahead.pop(key, None)
