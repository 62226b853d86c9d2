"""Cases of places for the page: games of cells, squares, interest, chance."""

from __future__ import annotations

import random
from dataclasses import asdict, is_dataclass, replace

from groupcore.sequencing.names import Process
from groupcore.shared.machine import Entry, Machine
from groupcore.shared.messages import encode_operate
from groupcore.shared.places.behaviours import chance
from groupcore.shared.places.cell import Cell
from groupcore.shared.places.interest import View, interest
from groupcore.shared.places.limits import SIDE, START
from groupcore.shared.places.parts import name_of, node_of
from groupcore.shared.places.shown import seen
from groupcore.shared.places.squares import ROOT, Box, leaf_at, path_at, quarters
from groupcore.shared.places.thing import Edit, Thing
from groupcore.view import Address

Json = dict[str, object]
File = dict[str, list[Json]]

PEOPLE = [Process(Address(name, 1), 1) for name in "ab"]
STRANGER = Process(Address("c", 1), 1)
"""Somebody who is in no group."""
KINDS = ("sticky", "switch", "light", "timer", "dice", "vote", "token", "ball", "furniture")
TABLES = (
    *("things", "grabs", "active", "owes", "received", "went", "gone", "joints", "busy"),
    *("outcomes", "_given"),
)


def place_vectors() -> File:
    """What two people do in a place that is divided and united, and what becomes of its cells."""
    draw = random.Random(190)
    file: File = {"games": [], "points": [], "interest": [], "chance": []}
    for _ in range(6):
        file["games"].append(_Game(draw).play(70))
    for _ in range(40):
        x, y, depth = _place(draw), _place(draw), draw.randint(0, 14)
        file["points"].append({"x": x, "y": y, "depth": depth, "path": path_at(x, y, depth)})
        thing, position = f"thing-{draw.randint(0, 99)}", draw.randint(0, 1 << 33)
        case: Json = {"thing": thing, "position": position, "rolls": depth}
        file["chance"].append({**case, "bits": chance(thing, position, depth)})
    for _ in range(60):
        file["interest"].append(_interest(draw))
    return file


def _place(draw: random.Random) -> int:
    return START + SIDE // 8 * draw.randint(1, 7) + draw.randint(-300, 300)


def _interest(draw: random.Random) -> Json:
    tree = {ROOT: "leaf"}
    for _ in range(draw.randint(0, 12)):
        path = draw.choice([one for one, role in tree.items() if role == "leaf"])
        tree[path] = "inner"
        tree.update(dict.fromkeys(quarters(path), "leaf"))
    inner = [one for one, role in tree.items() if role == "inner"]
    for path in draw.sample(inner, min(len(inner), draw.randint(0, 3))):
        if not any(one.startswith(path) and len(one) > len(path) + 1 for one in tree):
            for quarter in quarters(path):  # what is below it is not known
                del tree[quarter]
    across, down = draw.choice((50, 1 << 20, 1 << 29)), draw.choice((51, 1 << 20, 1 << 31))
    x, y = _place(draw), _place(draw)
    box = Box(x - across, y - down, x + across + 1, y + down)
    view = View(box, draw.randint(-1, 1) * 7, draw.randint(-1, 1) * 7)
    held = draw.sample(sorted(tree), draw.randint(0, len(tree)))
    found = interest(view, tree, held)
    given = {"box": list(box), "dx": view.dx, "dy": view.dy, "tree": list(tree.items())}
    return {**given, "held": held, "needed": list(found.needed), "far": list(found.far)}


class _Game:
    """All entries have one order here; each is done by the cell, and by the page's."""

    def __init__(self, draw: random.Random) -> None:
        self._draw = draw
        self._machines: dict[str, Machine] = {}
        self._steps: list[Json] = []
        self._things = 0
        self._joints = 0
        self._time_ms = 1_000

    @property
    def _cells(self) -> dict[str, Cell]:
        return {path: one.target for path, one in self._machines.items()}  # type: ignore[misc]

    def play(self, steps: int) -> Json:
        self._ask(ROOT, "become", ROOT, 1, "leaf")
        for kind in KINDS:
            self._put(kind)
        for path, ball in [(ROOT, one.id) for one in self._cells[ROOT].things.values()]:
            if self._cells[path].things[ball].kind == "ball":
                self._ask(path, "operate", ball, "kick", [777, -55], "", {})
        for _ in range(steps):
            self._step(self._draw.random())
        while any(cell.owes for cell in self._cells.values()):
            self._carry()
        screen = [[path, asdict(thing)] for path, thing in seen(self._cells)]
        return {"steps": self._steps, "cells": self._dumped(), "screen": screen}

    def _step(self, number: float) -> None:
        self._time_ms += 40
        choices = (
            (0.2, self._put),
            (0.4, self._carry),
            (0.5, self._change),
            (0.62, self._operate),
            (0.7, self._hold),
            (0.76, self._joint),
            (0.8, self._delete),
            (0.85, self._divide),
            (0.87, self._unite),
            (0.9, self._depart),
        )
        for most, choice in choices:
            if number < most:
                return choice()
        moving = [path for path, cell in self._cells.items() if cell.active]
        path = self._draw.choice(moving or list(self._cells))
        return self._ask(path, "tick", self._cells[path].ticks + 1)

    # --- one entry ------------------------------------------------------------------------------

    def _machine(self, path: str) -> Machine:
        if path not in self._machines:
            machine = self._machines[path] = Machine(Cell(), len(self._machines) + 1)
            for process in PEOPLE:
                machine.apply(Entry(machine.position + 1, process, 0, None, joined=True))
        return self._machines[path]

    def _ask(self, path: str, operation: str, *arguments: object, who: int = 0) -> None:
        machine, process = self._machine(path), (*PEOPLE, STRANGER)[who]
        call = machine.target._shared.prepare(operation, arguments, {})
        payload = encode_operate(self._time_ms, [(call[0].name, call[1])])
        done = machine.apply(Entry(machine.position + 1, process, 1, payload))
        error = done.error
        step: Json = {"code": "" if error is None else getattr(error, "code", str(error))}
        step["holder"] = getattr(error, "holder", "")
        step["result"] = _plain(done.results[0]) if done.results else None
        self._note(path, process, [operation, *map(_plain, arguments)], step)

    def _note(self, path: str, process: Process, operation: list[object], what: Json) -> None:
        machine = self._machines[path]
        place: Json = {
            "process": name_of(process),
            "node": node_of(process),
            "time_ms": machine.time_ms,
        }
        place["member"] = process in machine.members
        self._steps.append(
            {"cell": path, **place, "position": machine.position, "operation": operation, **what}
        )

    # --- what people do -------------------------------------------------------------------------

    def _put(self, kind: str = "") -> None:
        draw = self._draw
        self._things += 1
        x, y = _place(draw), _place(draw)
        thing = Thing(f"t{self._things}", kind or draw.choice(KINDS), x, y, width=640, height=64)
        if thing.kind == "switch":
            links = tuple(f"t{draw.randint(1, self._things + 1)}" for _ in range(2))
            thing = replace(thing, links=links)
        if thing.kind == "light":
            thing = thing.with_props(on=False)
        if draw.random() < 0.1:
            thing = replace(thing, width=-1)
        text = draw.choice(("", "caffè", "two 🙂🙂"))
        some = [replace(thing, text=text, points=(1, -2, 3, 4))]
        self._ask(self._leaf(x, y), "put", some, "")

    def _leaf(self, x: int, y: int) -> str:
        tree = {path: cell.role for path, cell in self._cells.items()}
        return leaf_at(tree, x, y)

    def _some(self, count: int = 1) -> list[tuple[str, str]]:
        all_here = [(path, one) for path, cell in self._cells.items() for one in cell.things]
        return self._draw.sample(all_here, min(count, len(all_here)))

    def _edit(self, thing: str) -> Edit:
        draw = self._draw
        x, y = _place(draw), _place(draw)
        changes = draw.choice(
            (
                (("x", x), ("y", y)),
                (("x", x),),
                (("locked", draw.random() < 0.4),),
                (("text", "ä🙂"), ("style.colour", "red"), ("props.solid", True)),
                (("style.colour", None), ("order", -5), ("links", "t1,t2"), ("group", "g")),
                (("width", "wide"),),
                (("constructor", 1),),
            )
        )
        expected = draw.choice(((), (("x", 0),), (("text", ""),)))
        to = self._leaf(x, y) if draw.random() < 0.5 else ""
        return Edit(thing, changes, expected, to)

    def _change(self) -> None:
        for path, thing in self._some():
            by = self._draw.choice(("", "one"))
            self._ask(path, "change", [self._edit(thing)], by, who=self._draw.randint(0, 1))

    def _operate(self) -> None:
        for path, thing in self._some():
            kind = self._cells[path].things[thing].kind
            action, given = {
                "timer": ("start", [100]),
                "dice": ("roll", []),
                "vote": ("choose", [self._draw.randint(-1, 2)]),
                "token": ("flip", []),
                "ball": ("kick", [self._draw.randint(-900, 900), self._draw.randint(-90, 90)]),
            }.get(kind, ("toggle", []))
            lamps = {one: place for place, cell in self._cells.items() for one in cell.things}
            by = self._draw.choice(("", "🙂", "\uff21", "one"))
            self._ask(path, "operate", thing, action, given, by, lamps)

    def _hold(self) -> None:
        for path, thing in self._some():
            verb = self._draw.choice(("grab", "grab", "release"))
            who, by = self._draw.randint(0, 2), self._draw.choice(("", "one"))
            self._ask(path, verb, [thing], by, who=who)
        if self._draw.random() < 0.1:
            self._ask(self._draw.choice(list(self._cells)), "part", "one")

    def _delete(self) -> None:
        for path, thing in self._some():
            self._ask(path, "delete", [thing, "none"], "", self._draw.choice((-1, 0)))

    def _joint(self) -> None:
        some = self._some(3)
        paths = sorted({path for path, _ in some})
        if len(paths) < 2:
            return
        self._joints += 1
        joint = f"j{self._joints}"
        for path in paths:
            edits = [self._edit(one) for where, one in some if where == path]
            self._ask(path, "prepare", joint, paths, edits, "", who=1)
        if self._draw.random() < 0.7:
            ready = all(joint in self._cells[path].joints for path in paths)
            self._ask(paths[0], "decide", joint, ready, who=1)

    # --- what nodes do --------------------------------------------------------------------------

    def _carry(self) -> None:
        owing = [(path, cell) for path, cell in self._cells.items() if cell.owes]
        if not owing:
            return
        path, cell = self._draw.choice(owing)
        target = self._draw.choice(list(cell.owes))
        parcels = list(cell.owes[target])
        other = self._machine(target).target
        assert isinstance(other, Cell)
        if other.role == "unborn":
            self._ask(target, "become", target, 100, "out")
        for parcel in parcels[: self._draw.randint(1, 3)]:
            self._ask(target, "accept", path, parcel)
        self._ask(path, "handed", target, other.received[path])

    def _divide(self) -> None:
        leaves = [path for path, cell in self._cells.items() if cell.role == "leaf"]
        path = self._draw.choice(leaves)
        if len(path) > 3:
            return
        version, draw = len(self._steps) + 200, self._draw
        below = draw.sample(quarters(path), draw.randint(0, 2))
        for one in quarters(path):
            for lower in quarters(one) if one in below else ():
                self._ask(lower, "become", lower, version, "leaf")
            self._ask(one, "become", one, version, "inner" if one in below else "leaf")
        if draw.random() < 0.3:
            self._ask(path, "become", path, version, "inner")
        else:
            self._ask(path, "quartered", path, version, below)

    def _unite(self) -> None:
        cells = self._cells
        for path, cell in cells.items():
            four = quarters(path)
            if cell.role == "inner" and all(
                one in cells and cells[one].role == "leaf" for one in four
            ):
                version = len(self._steps) + 200
                self._ask(path, "become", path, version, "leaf")
                for one in four:
                    self._ask(one, "become", one, version, "out")
                return

    def _depart(self) -> None:
        """The second person leaves a cell, and comes again."""
        path = self._draw.choice(list(self._cells))
        machine = self._machines[path]
        machine.apply(Entry(machine.position + 1, PEOPLE[1], 0, None))
        self._note(path, PEOPLE[1], ["departed"], {"code": "", "holder": "", "result": None})
        machine.apply(Entry(machine.position + 1, PEOPLE[1], 0, None, joined=True))

    # --- what there is --------------------------------------------------------------------------

    def _dumped(self) -> Json:
        return {path: _dump(cell) for path, cell in self._cells.items()}


def _dump(cell: Cell) -> Json:
    """The state of a cell, its tables as pairs in their order."""
    plain: Json = {
        "path": cell.path,
        "role": cell.role,
        "roleVersion": cell.role_version,
        "ticks": cell.ticks,
        "over": list(cell.over),
    }
    for name in TABLES:
        table: dict[str, object] = getattr(cell, name)
        plain[name.removeprefix("_")] = [[key, _plain(value)] for key, value in table.items()]
    return plain


def _plain(value: object) -> object:
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else value
