"""How far every node is with every stream: what is held by a quorum, what is stable.

Source. Design, section 4.7: k-resilience, taken to max(k + 1, a quorum of the view), so that
whoever forms the next primary view has what was delivered (reliability.md, invariant 3); the
paper's footnote on history buffers: a message may be deleted when all destinations have it.

Invariants.
  I1  Nothing counts as held on fewer than max(k + 1, quorum) voters of the present view.
  I2  Nothing counts as stable that a member of the present view has not said to have delivered.
"""

from __future__ import annotations

from collections.abc import Iterable

from groupcore.view import Address, View, quorum_size


class Reaches:
    """What each member of the view has said; `me` says it by calling `note`.

    `news` grows with all that is said and lets somebody forget something: delivered, or saved.
    """

    def __init__(self, k: int) -> None:
        self._k = k
        self._received: dict[Address, dict[Address, int]] = {}
        self._delivered: dict[Address, dict[Address, int]] = {}
        self._saved: dict[Address, dict[Address, int]] = {}
        self._members: tuple[Address, ...] = ()
        self._voting: tuple[Address, ...] = ()
        self._fresh: set[Address] = set()
        self.news = 0
        self._need = 1
        self._need_with_first = 1

    def install(self, view: View, fresh: Iterable[Address] = ()) -> None:
        """Count the voters of this view from now on; who is `fresh` has stored nothing yet."""
        self._members, self._voting = view.members, view.voting
        self._fresh = (self._fresh | set(fresh)) & set(view.members)
        self.news += 1
        tables = (self._received, self._delivered, self._saved)
        for said in [by_member for table in tables for by_member in table.values()]:
            for member in [member for member in said if member not in view.members]:
                del said[member]
        count = len(view.voters)
        floor = min(self._k + 1, len(view.voting))
        self._need = max(floor, quorum_size(count, with_lowest_rank=False))
        self._need_with_first = max(floor, quorum_size(count, with_lowest_rank=True))

    def note(
        self, member: Address, stream: Address, received: int, delivered: int, saved: int = 0
    ) -> bool:
        """What a member says of a stream; False when it says nothing new of the first two."""
        if saved:
            if member in self._fresh:
                self._fresh.discard(member)
                self.news += 1
            stored_by = self._saved.get(stream)
            if stored_by is None:
                stored_by = self._saved[stream] = {}
            if saved > stored_by.get(member, 0):
                stored_by[member] = saved
                self.news += 1
        by_member = self._received.get(stream)
        if by_member is None:
            by_member = self._received[stream] = {}
            self._delivered[stream] = {}
        delivered_by = self._delivered[stream]
        if received <= by_member.get(member, -1) and delivered <= delivered_by.get(member, -1):
            return False
        by_member[member] = max(received, by_member.get(member, 0))
        if delivered > delivered_by.get(member, -1):
            delivered_by[member] = delivered
            self.news += 1
        return True

    def forget(self, stream: Address) -> None:
        """The stream is over and stable."""
        self._received.pop(stream, None)
        self._delivered.pop(stream, None)
        self._saved.pop(stream, None)

    def held(self, stream: Address) -> int:
        """The frame up to which a quorum of the view has received the stream (I1)."""
        return self._by_quorum(self._received.get(stream))

    def saved(self, stream: Address) -> int:
        """The frame up to which a quorum of the view has stored the stream (I1)."""
        return self._by_quorum(self._saved.get(stream))

    def _by_quorum(self, by_member: dict[Address, int] | None) -> int:
        voting = self._voting
        if by_member is None or len(voting) < self._need_with_first:
            return 0
        reached = sorted([by_member.get(m, 0) for m in voting], reverse=True)
        held = reached[self._need - 1] if len(voting) >= self._need else 0
        if self._need_with_first < self._need:
            first = by_member.get(voting[0], 0)
            held = max(held, min(first, reached[self._need_with_first - 1]))
        return held

    def stable(self, stream: Address) -> int:
        """The frame up to which every member has delivered the stream (I2)."""
        by_member = self._delivered.get(stream)
        if by_member is None:
            return 0
        return min([by_member.get(m, 0) for m in self._members], default=0)

    def saved_by_all(self, stream: Address) -> int:
        """The frame up to which every member has stored the stream."""
        by_member = self._saved.get(stream, {})
        return min([by_member.get(m, 0) for m in self._members], default=0)

    def saved_by_settled(self, stream: Address) -> int:
        """The same of the members that have come into a view before this one, or have a state."""
        by_member = self._saved.get(stream, {})
        return min((by_member.get(m, 0) for m in self._members if m not in self._fresh), default=0)

    def holders(self, stream: Address, frame: int, but: Address) -> list[Address]:
        """The members that have said to have the stream up to this frame, except one."""
        by_member = self._received.get(stream, {})
        return [m for m in self._members if m != but and by_member.get(m, 0) >= frame]

    def first_to_tell(self, stream: Address) -> list[Address]:
        """The voters, of lowest rank first, who make a quorum with the stream's sequencer (I1)."""
        others = [member for member in self._voting if member != stream]
        mine = len(others) < len(self._voting)
        return others[: self._need_with_first - mine]  # the lowest rank is in it, or sequences

    def suffices_itself(self, stream: Address) -> bool:
        """Whether every voter makes a quorum with the stream's sequencer, so that only that one
        has to be told."""
        if stream not in self._voting:
            return False
        first = stream == self._voting[0]
        return (self._need_with_first if first else self._need) <= 2

    @property
    def need(self) -> int:
        """How many voters must hold a frame, in the dearer case."""
        return self._need
