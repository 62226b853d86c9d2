"""What a visitor knows of a place's tree: the regions that it sees, followed as a page does."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from groupcore.sequencing.names import Process
from groupcore.shared.body import Body
from groupcore.shared.machine import Done
from groupcore.shared.places.digest import CellDigest
from groupcore.shared.places.interest import View, interest
from groupcore.shared.places.outline import PlaceOutline, TreeChanged
from groupcore.shared.places.outlook import News, Outlook
from groupcore.shared.places.parts import Role
from groupcore.shared.places.squares import Box


class Chart:
    """The tree and what its cells look like, as far as `sight` needs them.

    `tell` hears what is not as the outline says, at the end of each change.
    """

    def __init__(self, body: Body[object], sight: Box, tell: Callable[[str], None]) -> None:
        self.body = body
        self._sight = sight
        self._tell = tell
        self._take_all()
        body.observers.append(self)

    def _outline(self) -> PlaceOutline:
        outline = self.body.origin
        assert isinstance(outline, PlaceOutline)
        return outline

    def _take_all(self) -> None:
        self._outlook = Outlook(self._outline())
        self.roles: dict[str, Role] = {}
        self.far: dict[str, CellDigest] = {}
        self.regions: frozenset[str] = frozenset()
        self._follow()

    def look(self, sight: Box) -> None:
        """Something else is seen from now on."""
        self._sight = sight
        self._follow()
        self.check()

    def _follow(self) -> None:
        """Take the regions that have come to be seen, as they are now; leave the others."""
        regions = self._outlook.regions(self._sight)
        for root in self.regions - regions:
            self._leave(root)
        self.take(regions - self.regions)
        self.regions = regions

    def grow(self) -> None:
        """The tree is another one: the sight may meet other regions of it."""
        self._follow()

    def needed(self, view: View, held: Collection[str]) -> tuple[str, ...]:
        """The cells that the view needs, as far as is known here."""
        return interest(view, self.roles, held).needed

    def take(self, regions: Iterable[str]) -> None:
        """Take these regions, as they are now."""
        some = list(regions)
        self.roles.update(self._outlook.roles(some))
        self.far.update(self._outlook.far(some))

    def _leave(self, root: str) -> None:
        below = [one for one in self.roles if one.startswith(root) and one != root]
        for path in below:
            self.roles.pop(path)
            self.far.pop(path, None)

    def check(self) -> None:
        """Tell what is not as it has to be: the regions that the sight meets, as they are."""
        outlook = Outlook(self._outline())
        regions = outlook.regions(self._sight)
        if self.roles != outlook.roles(regions):
            self._tell("has another tree on its map than there is")
        there = {path: digest for path, digest in self.far.items() if digest.count > 0}
        if there != outlook.far(regions):
            self._tell("has other cells from afar on its map than there are")

    # --- from the body --------------------------------------------------------------------------

    def on_done(self, position: int, process: Process, done: Done) -> None:
        """A message has been done."""
        details = [] if done.error is not None else [one for some in done.details for one in some]
        for news in self._outlook.news(details):
            if news.region in self.regions:
                self._hear(news)
        if any(isinstance(one, TreeChanged) for one in details):
            self.grow()
        self.check()

    def _hear(self, news: News) -> None:
        for path, role in news.roles:
            self.roles[path] = role
            if role == "out":
                del self.roles[path]
            if role != "leaf":
                self.far.pop(path, None)
        self.far.update(news.far)

    def on_member(self, position: int, process: Process, done: Done) -> None:
        """A process has come or gone: nothing that is told of the tree goes by that."""

    def on_replaced(self) -> None:
        """The state was taken anew."""
        self._take_all()

    def close(self) -> None:
        """It is followed no more."""
        if self in self.body.observers:
            self.body.observers.remove(self)
