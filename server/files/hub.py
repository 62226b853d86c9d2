"""Who follows the list of files at this node, and what each has not been told of yet."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

from groupcore.web import Badge
from server.files.sight import Places, Sight

ITEMS_MAX = 200
"""Of more things at once a follower is told to ask for everything anew."""


class Follower:
    """One page that follows; `news` is set when there is something to tell, `sight` is of what it
    may have seen.
    """

    def __init__(self, badge: Badge, places: Places) -> None:
        self.badge = badge
        self.sight = Sight(places)
        self.news = asyncio.Event()
        self.ended: asyncio.Future[tuple[int, str]] = asyncio.get_running_loop().create_future()
        self._items: set[str] = set()
        self._all = False
        self._own = False

    def add(self, items: Iterable[str]) -> None:
        """These have changed."""
        self._items.update(items)
        if len(self._items) > ITEMS_MAX:
            self._all = True
            self._items.clear()
        self.news.set()

    def add_all(self) -> None:
        """Anything may have changed."""
        self._all = True
        self.news.set()

    def add_own(self) -> None:
        """What they like, or have opened last, is something else."""
        self._own = True
        self.news.set()

    def take(self) -> tuple[set[str], bool, bool]:
        """The items, whether all may have changed, whether one's own have; nothing is left."""
        taken = self._items, self._all, self._own
        self._items, self._all, self._own = set(), False, False
        self.news.clear()
        return taken

    def end(self, code: int, reason: str) -> None:
        """It is to be closed, with this code."""
        if not self.ended.done():
            self.ended.set_result((code, reason))


class Hub:
    """The followers of a node."""

    def __init__(self) -> None:
        self._followers: set[Follower] = set()
        self._places = Places()

    def __len__(self) -> int:
        return len(self._followers)

    def follow(self, badge: Badge) -> Follower:
        """One more."""
        follower = Follower(badge, self._places)
        self._followers.add(follower)
        return follower

    def leave(self, follower: Follower) -> None:
        """One less."""
        self._followers.discard(follower)

    def changed(self, items: Iterable[str]) -> None:
        """Tell all of these; what somebody may not see is left out for each."""
        known = tuple(items)
        for follower in self._followers:
            follower.add(known)

    def changed_all(self) -> None:
        """Tell all to ask anew."""
        for follower in self._followers:
            follower.add_all()

    def changed_own(self, principal: str) -> None:
        """Tell the pages of one person."""
        for follower in self._followers:
            if follower.badge.principal == principal:
                follower.add_own()

    def dismiss(self, wanted: Callable[[Badge], bool], code: int, reason: str) -> None:
        """Close those with such badges."""
        for follower in list(self._followers):
            if wanted(follower.badge):
                follower.end(code, reason)
