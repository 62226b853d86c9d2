"""Nodes with gateways, and what pages may open there."""

from __future__ import annotations

from dataclasses import dataclass

from groupcore.aio import Node
from groupcore.gateway.gateway import Gateway
from groupcore.shared import SharedObject, operation
from groupcore.shared.access import Guarded
from groupcore.shared.types import (
    Counter,
    Lease,
    List,
    Lock,
    Map,
    Outline,
    Presence,
    Register,
    Text,
    Topic,
)
from tests.groupcore.aio.test_objects import Cluster
from tests.groupcore.web.tabs import Tab


@dataclass(frozen=True)
class Score:
    """Points of somebody."""

    player: str
    points: int


class Game(SharedObject):
    """A program's own class."""

    scores: list[Score]
    _hidden: int = 7

    @operation
    def score(self, player: str, points: int = 1) -> Score:
        if points > 9:
            raise ValueError("too many at once")
        self.scores.append(Score(player, points))
        return self.scores[-1]


class Sheet(SharedObject):
    """An own class with an operation that nodes call for themselves."""

    for_nodes = frozenset({"clean"})
    rows: int = 0

    @operation
    def add(self) -> None:
        self.rows += 1

    @operation
    def clean(self) -> None:
        self.rows = 0


class Minutes(Guarded):
    """An own class with an access list."""

    lines: list[str]

    @operation
    def note(self, line: str) -> None:
        self.lines.append(line)


TYPES: dict[str, type[object]] = {
    "Counter": Counter,
    "Game": Game,
    "Sheet": Sheet,
    "Lease": Lease,
    "List": List[str],
    "Lock": Lock,
    "Map": Map[str, int],
    "Minutes": Minutes,
    "Presence": Presence[str],
    "Register": Register[str],
    "Outline": Outline,
    "Text": Text,
    "Topic": Topic[int],
}


class Site:
    """Nodes with a gateway each."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.gateways: dict[str, Gateway] = {}

    async def start(self, *names: str) -> list[Gateway]:
        for node in await self.cluster.start(*names):
            self.gateways[node.node_id] = Gateway(node, TYPES, linger_s=0.2)
        return [self.gateways[name] for name in names]


def node_of(gateway: Gateway) -> Node:
    """The node that the gateway serves pages at."""
    assert isinstance(gateway.node, Node)
    return gateway.node


def tab(number: int) -> Tab:
    return Tab(f"client-of-page-{number:02}")


async def pages(gateway: Gateway, count: int) -> list[Tab]:
    tabs = [tab(number) for number in range(count)]
    for one in tabs:
        await one.connect(gateway)
    return tabs


async def tabs_state(gateway: Gateway, kind: str, name: str) -> object:
    """The state as somebody new is shown it."""
    fresh = tab(99)
    await fresh.connect(gateway)
    state: object = (await fresh.open(kind, name))["state"]
    return state
