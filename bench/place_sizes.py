"""What a page is given of places of 10,000 to 1,000,000 things, and what their trees cost a node.

No nodes and no sockets: trees and cells are made here as nodes make them of things in a grid, and
what a page that sees some 200 of these is sent is packed. `bytes_in_sight` is all of it,
`outline_bytes` the outline's part, p50 of looks at random spots; `whole_bytes` what it was before
pages followed parts of a tree (`sight` None). The rest is CPU of one look at another part, of
telling one change, of beginning to follow parts, of packing and of loading the whole outline (when
a node joins), and the outline's size, packed. Last, the largest place's bytes over the smallest's.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from math import isqrt

import msgpack

from bench.measuring import load_average, quantile
from bench.places import SEEN, STEP, Row
from groupcore.gateway import place_kinds
from groupcore.gateway.outline_parts import OutlineParts
from groupcore.sequencing.names import Process
from groupcore.shared.machine import Entry, Machine
from groupcore.shared.messages import encode_operate
from groupcore.shared.places import Cell, PlaceOutline, Thing
from groupcore.shared.places.digest import CellDigest
from groupcore.shared.places.limits import SPLIT_ABOVE, SPLITS_MAX
from groupcore.shared.places.outline import Described
from groupcore.shared.places.squares import ROOT, Box, leaves_in, quarters, square_of
from groupcore.view import Address

THINGS = (10_000, 100_000, 1_000_000)
LOOKS = 40
NODE = Process(Address("a", 1), 1)


class Grid:
    """Notes in a square that begins at the origin, `side` of them a side."""

    def __init__(self, things: int) -> None:
        self.side = isqrt(things)

    def ranges(self, path: str) -> tuple[range, range]:
        """Those of a cell: columns and rows."""
        left, top, right, bottom = square_of(path)
        spans = [
            range(max(0, -(-low // STEP)), min(self.side, -(-high // STEP)))
            for low, high in ((left, right), (top, bottom))
        ]
        return spans[0], spans[1]

    def count(self, path: str) -> int:
        """How many a cell has."""
        columns, rows = self.ranges(path)
        return len(columns) * len(rows)

    def things(self, path: str) -> list[Thing]:
        """Those of a cell."""
        columns, rows = self.ranges(path)
        return [
            Thing(
                f"t{row * self.side + column}",
                "sticky",
                STEP * column,
                STEP * row,
                width=6_400,
                height=6_400,
            )
            for row in rows
            for column in columns
        ]


class Outlined:
    """The outline of a place with such a grid, in its order."""

    def __init__(self, grid: Grid) -> None:
        self.outline = PlaceOutline()
        self.machine = Machine(self.outline, 1)
        self.machine.apply(Entry(1, NODE, 0, None, joined=True))
        level = [ROOT]
        while level:
            crowded = [path for path in level if grid.count(path) > SPLIT_ABOVE]
            for start in range(0, len(crowded), SPLITS_MAX):
                self.run("split", crowded[start : start + SPLITS_MAX])
            level = [one for path in crowded for one in quarters(path)]
        leaves = [path for path, role in self.outline.tree.items() if role == "leaf"]
        self.full = [path for path in leaves if grid.count(path)]
        for path in self.full:
            self.run("describe", path, CellDigest(grid.count(path), *square_of(path)))

    def run(self, operation: str, *arguments: object) -> None:
        """An operation of a node."""
        spec, wire = self.outline._shared.prepare(operation, arguments, {})
        payload = encode_operate(1_000, [(spec.name, wire)])
        done = self.machine.apply(Entry(self.machine.position + 1, NODE, 1, payload))
        assert done.error is None, done.error


def size_of(name: str, state: object) -> int:
    """Bytes of the message that gives a page this state."""
    about = {"t": "snapshot", "name": name, "birth": "a#19a2b3c4d5/12:345", "version": 12_345}
    return len(msgpack.packb({**about, "state": state, "done": [], "last": 0}))


def cell_size(grid: Grid, path: str) -> int:
    """Bytes of a cell, as a page is given it."""
    cell = Cell()
    cell.become(path, 1, "leaf")
    things = grid.things(path)
    if things:
        cell.put(things).result()
    return size_of(f"place/0123456789abcdef/{path}", place_kinds.cell(cell, -1))


def cpu_ms(act: Callable[..., object], *arguments: object) -> float:
    """CPU time that this takes."""
    began = time.process_time()
    act(*arguments)
    return 1e3 * (time.process_time() - began)


def look(parts: OutlineParts, box: Box) -> dict[str, object]:
    """What a page is told of the outline that sees this."""
    return parts.shown(parts.seen((box.left, box.top, box.right, box.bottom)))


def place(things: int, looks: int) -> Row:
    """One size."""
    grid = Grid(things)
    outlined = Outlined(grid)
    outline, name = outlined.outline, "place/0123456789abcdef"
    parts = OutlineParts(outline)
    chance, most = random.Random(things), max(1, STEP * (grid.side - SEEN))
    cells: dict[str, int] = {}
    sizes, outlines, looked = [], [], []
    for _ in range(looks):
        x, y = chance.randrange(most), chance.randrange(most)
        box = Box(x, y, x + SEEN * STEP, y + SEEN * STEP)
        looked.append(cpu_ms(look, parts, box))
        outlines.append(size_of(name, look(parts, box)))
        for path in leaves_in(outline.tree, box):
            if path not in cells:
                cells[path] = cell_size(grid, path)
        sizes.append(sum(cells[path] for path in leaves_in(outline.tree, box)))
    both = [outline_size + size for outline_size, size in zip(outlines, sizes, strict=True)]
    whole = size_of(name, place_kinds.outline(outline, -1))
    packed = outlined.machine.packed()
    told = [cpu_ms(parts.told, "describe", [Described((path,))]) for path in outlined.full]
    return {
        "things": things,
        "cells": len(outline.tree),
        "leaves": len(outlined.full),
        "bytes_in_sight": round(quantile(both, 0.5)),
        "outline_bytes": round(quantile(outlines, 0.5)),
        "outline_bytes_max": max(outlines),
        "whole_bytes": round(quantile([whole + size for size in sizes], 0.5)),
        "look_cpu_ms": round(quantile(looked, 0.5), 2),
        "told_cpu_ms": round(quantile(told, 0.5), 3),
        "followed_cpu_ms": round(cpu_ms(OutlineParts, outline), 1),
        "pack_cpu_ms": round(cpu_ms(outlined.machine.packed), 1),
        "load_cpu_ms": round(cpu_ms(Machine(PlaceOutline(), 1).load, packed), 1),
        "packed_bytes": len(packed),
    }


def measure(sizes: tuple[int, ...], looks: int) -> list[Row]:
    """Places of these sizes, and how the last compares to the first."""
    rows = [place(things, looks) for things in sizes]
    times = {
        f"{name}_times": round(rows[-1][name] / rows[0][name], 2)
        for name in ("bytes_in_sight", "outline_bytes", "whole_bytes")
    }
    return [*rows, {"things": sizes[-1], **times}]


def run(quick: bool) -> dict[str, object]:
    """10,000, 100,000 and 1,000,000 things; the first two when it is to be quick."""
    rows = measure(THINGS[:2] if quick else THINGS, LOOKS)
    return {"places": rows, "load_average": load_average()}
