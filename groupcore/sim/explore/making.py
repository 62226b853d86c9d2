"""What the making of a successor is alike in: nodes that change, links, what may still go wrong."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Generic, Protocol, Self, TypeVar

from groupcore.batch import Batch
from groupcore.sim.explore.world import Budget, Link, Packet, Past, packet_of


class Keyed(Protocol):
    """A node's state, which gets its key when the successor is complete."""

    def keyed(self, now: float) -> Self:
        """The same with its key."""


N = TypeVar("N", bound=Keyed)


class Making(Generic[N]):
    """The next state under construction; `opened` are the nodes in which it differs.

    `at_once`: what arrives before anything else happens, and at which node.
    """

    def __init__(
        self,
        nodes: Iterable[N],
        links: Mapping[Link, tuple[Packet, ...]],
        now: float,
        past: Past,
        budget: Budget,
        todo: frozenset[int],
    ) -> None:
        self.nodes = list(nodes)
        self.links = dict(links)
        self.now = now
        self.past = past
        self.budget = budget
        self.todo = todo
        self.stuck = False
        self.opened: set[int] = set()
        self.at_once: list[tuple[int, Batch]] = []

    def key_opened(self) -> None:
        """Give the nodes that differ their keys."""
        for number in self.opened:
            self.nodes[number] = self.nodes[number].keyed(self.now)

    def change(self, number: int, **fields: object) -> N:
        """Replace fields of a node."""
        self.opened.add(number)
        node: N = replace(self.nodes[number], **fields)  # type: ignore[type-var]
        self.nodes[number] = node
        return node

    def pop(self, link: Link) -> tuple[Batch, ...]:
        """Take the first packet off a link."""
        first, *rest = self.links[link]
        if rest:
            self.links[link] = tuple(rest)
        else:
            del self.links[link]
        return first.batches

    def lose(self, link: Link) -> None:
        """The first packet of a link does not arrive."""
        self.pop(link)
        self.budget = replace(self.budget, losses=self.budget.losses - 1)

    def dispatch(self, number: int, packets: Mapping[int, list[Batch]]) -> None:
        """A packet is on its way from a node to each of these."""
        for target, batches in packets.items():
            link = (number, target)
            self.links[link] = (*self.links.get(link, ()), packet_of(batches, self.now))
