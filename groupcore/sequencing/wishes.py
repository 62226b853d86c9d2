"""What this node's processes wish of groups, and the requests that are under way for it.

Idea. JOIN and LEAVE go to the group's sequencer until the record shows them. A program may wish for
thousands of groups in one turn: then some requests are under way at a time, and each answer makes
room for the next. So what one program asks for stays a small part of everybody's turns.

Invariants.
  I1  At most `ASKED_AT_ONCE` requests are under way, those aside that have long been repeated: what
      is not answered keeps nobody waiting.
  I2  Wishes have their turns in the order in which they were made.
  I3  An answer allows the request that it answers, and no later one of the same process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from groupcore.sequencing.deadlines import Deadlines
from groupcore.sequencing.headers import Join, Leave
from groupcore.sequencing.names import GroupId, Process
from groupcore.sequencing.plane import Plane
from groupcore.sequencing.wish import Wish

ASKED_AT_ONCE = 256
"""Requests that are under way at a time."""
LOOKED_AT = 256
"""Wishes that could not be asked for, and are looked at again in one turn."""
AGAIN_S = 0.005
"""When there are more of those: the pause before the next ones are looked at."""

Key = tuple[Process, GroupId]


class Wishes:
    """The wishes of this node. `is_awaited` says of a group that a LEAVE of it has to wait."""

    def __init__(self, plane: Plane, is_awaited: Callable[[GroupId, float], bool]) -> None:
        self._plane = plane
        self._is_awaited = is_awaited
        self._wishes: dict[Key, Wish] = {}
        self._by_request: dict[int, Key] = {}
        self._by_group: dict[GroupId, dict[Key, None]] = {}
        self._waiting: dict[Key, None] = {}
        self._put_off: dict[Key, None] = {}
        self._again_at: Deadlines[Key] = Deadlines()
        self._under_way: set[Key] = set()
        self._look_at: float | None = None

    # --- which there are ------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._wishes)

    def __contains__(self, key: Key) -> bool:
        return key in self._wishes

    def get(self, key: Key) -> Wish | None:
        """What the process wishes of the group."""
        return self._wishes.get(key)

    def of_request(self, request: int) -> Wish | None:
        """The wish that this request has made."""
        key = self._by_request.get(request)
        return None if key is None else self._wishes[key]

    def of_group(self, group: GroupId) -> list[Wish]:
        """What processes wish of this group."""
        return [self._wishes[key] for key in self._by_group.get(group, ())]

    def leaving(self, group: GroupId) -> set[Process]:
        """This node's members that have asked to leave the group."""
        return {wish.process for wish in self.of_group(group) if wish.leaving}

    def of_process(self, process: Process) -> list[Wish]:
        """What this process wishes."""
        return [wish for key, wish in self._wishes.items() if key[0] == process]

    def groups(self) -> Iterator[GroupId]:
        """The groups that processes wish to be in, or out of."""
        return iter(self._by_group)

    def add(self, wish: Wish) -> None:
        """The process wishes this, and nothing else, of the group."""
        key = (wish.process, wish.group)
        self.remove(key)
        self._wishes[key] = wish
        self._by_request[wish.request] = key
        self._by_group.setdefault(wish.group, {})[key] = None
        if wish.allowed:
            self._waiting[key] = None

    def remove(self, key: Key) -> Wish | None:
        """It has come true, or is not wished any more."""
        wish = self._wishes.pop(key, None)
        if wish is None:
            return None
        self._by_request.pop(wish.request, None)
        others = self._by_group[wish.group]
        del others[key]
        if not others:
            del self._by_group[wish.group]
        self._waiting.pop(key, None)
        self._put_off.pop(key, None)
        self._again_at.drop(key)
        self._under_way.discard(key)
        return wish

    def allow(self, key: Key, request: int) -> None:
        """S2 holds with this: it may be asked for, if it is still what was wished (I3)."""
        wish = self._wishes.get(key)
        if wish is not None and not wish.allowed and wish.request == request:
            wish.allowed = True
            self._waiting[key] = None

    def hurry(self, groups: tuple[GroupId, ...]) -> None:
        """The groups have another sequencer: ask it at once."""
        if not self._wishes:
            return
        for group in groups:
            for key in self._by_group.get(group, ()):
                self._wishes[key].wait_s = 0.0
                if key in self._again_at:
                    self._again_at.set(key, -1.0)

    # --- asking ---------------------------------------------------------------------------------

    def ask(self, now: float) -> None:
        """Send the requests that are due."""
        for key in self._again_at.take_due(now):
            self._ask(key, now)
        put_off = list(self._put_off)[:LOOKED_AT] if self._put_off else ()
        for key in put_off:
            del self._put_off[key]
            self._ask(key, now)
        self._look_at = now + AGAIN_S if len(put_off) == LOOKED_AT else None
        while self._waiting and len(self._under_way) < ASKED_AT_ONCE:
            key = next(iter(self._waiting))
            del self._waiting[key]
            self._ask(key, now)

    def _ask(self, key: Key, now: float) -> None:
        wish = self._wishes[key]
        owner = self._plane.owner(wish.group)
        if owner is None or (wish.leaving and self._is_awaited(wish.group, now)):
            self._under_way.discard(key)
            self._put_off[key] = None  # as soon as that is over: no time is planned for it
            return
        options = self._plane.options
        self._under_way.add(key)
        if wish.wait_s >= options.resend_max_s:
            self._under_way.discard(key)  # I1
        wish.wait_s = min(wish.wait_s * 2, options.resend_max_s) or options.resend_s
        self._again_at.set(key, now + wish.wait_s)
        request = Leave if wish.leaving else Join
        asked = (wish.group, wish.process.number, wish.request, self._plane.ordered)
        self._plane.to(owner, request(*asked))

    def is_put_off(self) -> bool:
        """Whether something is looked at again in every turn: no time is planned for it."""
        return bool(self._put_off)

    def next_wake(self) -> float | None:
        """When a request is to be repeated, or more wishes are looked at."""
        again_at, look_at = self._again_at.next(), self._look_at
        if again_at is None or look_at is None:
            return look_at if again_at is None else again_at
        return min(again_at, look_at)
