"""Cycles in a relation: strongly connected components (Tarjan), and a shortest cycle in one."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence

Graph = Mapping[int, Sequence[int]]
"""For each node its successors; one without may be missing."""
STARTS_MAX = 64
"""Nodes of a component from which a shortest cycle is looked for; a broken order has thousands."""


def find_components(graph: Graph) -> list[list[int]]:
    """The strongly connected components of two nodes or more, without recursion."""
    numbers: dict[int, int] = {}
    low: dict[int, int] = {}
    on_path: set[int] = set()
    path: list[int] = []
    found: list[list[int]] = []
    for root in graph:
        if root in numbers:
            continue
        numbers[root] = low[root] = len(numbers)
        path.append(root)
        on_path.add(root)
        work = [(root, iter(graph[root]))]
        while work:
            node, successors = work[-1]
            for successor in successors:
                if successor not in numbers:
                    numbers[successor] = low[successor] = len(numbers)
                    path.append(successor)
                    on_path.add(successor)
                    work.append((successor, iter(graph.get(successor, ()))))
                    break
                if successor in on_path:
                    low[node] = min(low[node], numbers[successor])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == numbers[node]:
                    component = _take(path, node)
                    on_path.difference_update(component)
                    if len(component) > 1:
                        found.append(component)
    return found


def _take(path: list[int], node: int) -> list[int]:
    at = len(path) - 1
    while path[at] != node:
        at -= 1
    component = path[at:]
    del path[at:]
    return component


def shortest_cycle(graph: Graph, component: Sequence[int]) -> list[int]:
    """The nodes of a shortest cycle through the smallest nodes of a component, in order.

    The first one is not repeated. Of equally short ones that which begins with the smallest node.
    """
    inside = set(component)
    best: list[int] = []
    for start in sorted(component)[:STARTS_MAX]:
        came: dict[int, int] = {}
        waiting = deque([start])
        while waiting and start not in came:
            node = waiting.popleft()
            for successor in graph.get(node, ()):
                if successor in inside and successor not in came:
                    came[successor] = node
                    waiting.append(successor)
        cycle = [start]
        while (node := came[cycle[-1]]) != start:
            cycle.append(node)
        if not best or len(cycle) < len(best):
            best = [start, *reversed(cycle[1:])]
        if len(best) == 2:
            break
    return best
