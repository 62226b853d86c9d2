"""The shapes in which a network falls apart: which directions between nodes fail together."""

from __future__ import annotations

from collections.abc import Sequence

Pair = tuple[int, int]
"""A direction: from this node to that one."""

SHAPES = ("deaf", "mute", "one-way", "link", "isolate", "split", "bridge", "ring", "swizzle")


def directions(shape: str, chosen: Sequence[int], count: int) -> list[Pair]:
    """The directions that fail, in a cluster of `count` nodes; ValueError for an unknown shape.

    `deaf`: the first of the chosen hears nobody; `mute`: nobody hears it. `one-way` and `link`:
    from the first to the second, or between them. `isolate` and `split`: between the chosen and
    all others. `bridge`: likewise, but for the first of the chosen, whom both sides reach. `ring`:
    each reaches only its neighbours in the order of the chosen, so that each sees another
    majority. `swizzle`: everything to the chosen, one after the other.
    """
    others = [node for node in range(count) if node not in chosen]
    first = chosen[0]
    match shape:
        case "deaf":
            return [(other, first) for other in others]
        case "mute":
            return [(first, other) for other in others]
        case "one-way":
            return [(first, chosen[1])]
        case "link":
            return both_ways([(first, chosen[1])])
        case "isolate" | "split":
            return both_ways([(node, other) for node in chosen for other in others])
        case "bridge":
            return both_ways([(node, other) for node in chosen[1:] for other in others])
        case "ring":
            return _ring(chosen)
        case "swizzle":
            return [(node, target) for target in chosen for node in range(count) if node != target]
    raise ValueError(f"no shape of a partition is called {shape!r}; there are {', '.join(SHAPES)}")


def both_ways(pairs: list[Pair]) -> list[Pair]:
    """The pairs, each in both directions."""
    return [direction for one, other in pairs for direction in ((one, other), (other, one))]


def _ring(chosen: Sequence[int]) -> list[Pair]:
    """All pairs that are not neighbours; needs four nodes at least to cut anything."""
    size = len(chosen)
    return both_ways(
        [
            (chosen[one], chosen[other])
            for one in range(size)
            for other in range(one + 1, size)
            if (other - one) % size not in (1, size - 1)
        ]
    )
