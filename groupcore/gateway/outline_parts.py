"""The outline of a place in parts: a page is told the regions of the tree that it sees."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from groupcore.gateway.parts import EVERYWHERE, Piece, Sight
from groupcore.gateway.place_kinds import far
from groupcore.shared.object import SharedObject
from groupcore.shared.places import PlaceOutline
from groupcore.shared.places.outlook import News, Outlook
from groupcore.shared.places.squares import Box


class OutlineParts:
    """See `groupcore.gateway.parts`: the parts are regions, by their roots."""

    def __init__(self, target: SharedObject) -> None:
        assert isinstance(target, PlaceOutline)
        self._outline = target
        self._outlook = Outlook(target)

    def seen(self, sight: Sight) -> frozenset[str]:
        """The regions that the rectangle meets, and some around it."""
        return self._outlook.regions(Box(*sight))

    def shown(self, parts: Iterable[str]) -> dict[str, object]:
        """Title, tree and what cells look like from afar, as far as these regions know them."""
        outline, outlook, regions = self._outline, self._outlook, list(parts)
        return {
            "title": outline.title,
            "version": outline.tree_version,
            "tree": [list(pair) for pair in outlook.roles(regions).items()],
            "far": [far(*pair) for pair in outlook.far(regions).items()],
        }

    def told(self, operation: str, details: Sequence[object]) -> list[Piece]:
        """What has changed, by region."""
        title = Piece(EVERYWHERE, ["title", self._outline.title])
        pieces = [title] if operation == "rename" else []
        for news in self._outlook.news(details):
            pieces += self._pieces(news)
        return pieces

    def _pieces(self, news: News) -> list[Piece]:
        pieces: list[Piece] = []
        if news.roles:
            roles = [list(pair) for pair in news.roles]
            pieces.append(Piece(news.region, ["tree", self._outline.tree_version, roles]))
        if news.far:
            pieces.append(Piece(news.region, ["far", [far(*pair) for pair in news.far]]))
        return pieces
