"""Who is known to have delivered how much, in one view: the proof that something is stable.

A plain table, no time and no messages. Rows and columns are ranks: a row is what one member has
delivered at least of each sender. Knowledge only grows, and it may be old; what the lowest entry
of a column says has been delivered by every member of the view.
"""

from __future__ import annotations

from collections.abc import Iterable

Ranked = tuple[int, ...]
"""A number for each member of a view, by rank: a digest that means nothing in another view."""


def lowest(one: Ranked, other: Ranked) -> Ranked:
    """Of each sender the lower of two numbers."""
    return tuple(map(min, one, other))


def lagged(ranked: Ranked, lag: int) -> Ranked:
    """So many less of each sender, never below 0."""
    return tuple(max(0, number - lag) for number in ranked)


class Reports:
    """What each of `members` members has delivered at least."""

    def __init__(self, members: int) -> None:
        self.rows: list[Ranked] = [(0,) * members for _ in range(members)]

    def learn(self, ranks: Iterable[int], delivered: Ranked) -> None:
        """Each of these members has delivered at least this."""
        for rank in ranks:
            self.rows[rank] = tuple(map(max, self.rows[rank], delivered))

    @property
    def stable(self) -> Ranked:
        """What every member has delivered at least, of each sender."""
        return tuple(map(min, *self.rows)) if len(self.rows) > 1 else self.rows[0]
