"""Cells and people around a table: groups in causal order, without a network or a clock.

Each person has replicas of some cells, each as far on as chance lets it be. What somebody sends has
its place in its cell's order at once, and is delivered to a person behind all that its sender had
been given of the cells that this person has (CT2).
"""

from __future__ import annotations

from random import Random
from typing import NamedTuple

from groupcore.sequencing.names import Process
from groupcore.shared.machine import Done, Entry, Machine
from groupcore.shared.messages import encode_operate
from groupcore.shared.places.cell import Cell
from groupcore.shared.places.parts import node_of
from groupcore.shared.places.shown import seen
from groupcore.shared.places.squares import ROOT, quarters
from groupcore.shared.places.thing import Thing
from groupcore.view import Address

Place = dict[str, int]
"""How many entries of each cell somebody has been given."""


class Sent(NamedTuple):
    """An entry of a cell's order, and what its sender had been given before."""

    process: Process
    payload: bytes | None
    joined: bool
    context: Place


class Table:
    """`orders`: what was sent to each cell, in order."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.orders: dict[str, list[Sent]] = {}
        self.people: list[Person] = []
        self.gone: set[Process] = set()

    def sit(self, cells: list[str]) -> Person:
        """Somebody new, who has these cells."""
        person = Person(self, Process(Address(f"n{len(self.people)}", 1), 1), cells)
        self.people.append(person)
        for cell in cells:
            self._append(cell, Sent(person.process, None, True, {}))
        return person

    def _append(self, cell: str, sent: Sent) -> int:
        self.orders.setdefault(cell, []).append(sent)
        return len(self.orders[cell])

    def send(self, person: Person, cell: str, operation: str, *arguments: object) -> int:
        """Give an operation its place; gives that."""
        call = person.cells[cell]._shared.prepare(operation, arguments, {})
        payload = encode_operate(1_000, [(call[0].name, call[1])])
        number = self._append(cell, Sent(person.process, payload, False, dict(person.known)))
        person.know({cell: number})
        return number

    def leave(self, person: Person) -> None:
        """Somebody dies: its departure has its place in each of its cells."""
        self.people.remove(person)
        self.gone.add(person.process)
        for cell in person.cells:
            self._append(cell, Sent(person.process, None, False, {}))

    def rest(self) -> None:
        """Everybody is given everything, and carries all that is owed."""
        while True:
            while any(person.step() for person in self.people):
                pass
            before = {cell: len(order) for cell, order in self.orders.items()}
            for person in self.people:
                person.carry()
            if before == {cell: len(order) for cell, order in self.orders.items()}:
                return


class Person:
    """`place`: what was delivered; `known`: what that depends on, and what was sent from here."""

    def __init__(self, table: Table, process: Process, cells: list[str]) -> None:
        self.table = table
        self.process = process
        self.machines = {cell: Machine(Cell(), number + 1) for number, cell in enumerate(cells)}
        self.place: Place = dict.fromkeys(cells, 0)
        self.known: Place = {}
        self.done: dict[tuple[str, int], Done] = {}
        self.deleted: set[str] = set()

    @property
    def cells(self) -> dict[str, Cell]:
        """The replicas, by path."""
        return {path: machine.target for path, machine in self.machines.items()}  # type: ignore[misc]

    @property
    def shown(self) -> list[Thing]:
        """What its screen shows."""
        return [thing for _, thing in seen(self.cells)]

    def _is_next(self, cell: str) -> bool:
        order = self.table.orders[cell]
        at = self.place[cell]
        if at >= len(order):
            return False
        context = order[at].context
        return all(
            context.get(other, 0) <= number or other == cell for other, number in self.place.items()
        )

    def know(self, context: Place) -> None:
        """What is sent from here from now on depends on this."""
        for cell, number in context.items():
            self.known[cell] = max(number, self.known.get(cell, 0))

    def step(self) -> bool:
        """Be given one more entry, of any cell whose next one may be delivered."""
        ready = [cell for cell in self.machines if self._is_next(cell)]
        if not ready:
            return False
        cell = self.table.random.choice(ready)
        self.place[cell] += 1
        number = self.place[cell]
        sent = self.table.orders[cell][number - 1]
        self.know({**sent.context, cell: max(number, sent.context.get(cell, 0))})
        entry = Entry(number, sent.process, number, sent.payload, sent.joined)
        self.done[cell, number] = self.machines[cell].apply(entry)
        return True

    def ask(self, cell: str, operation: str, *arguments: object) -> int:
        """Send something; it is done when it is delivered."""
        return self.table.send(self, cell, operation, *arguments)

    def told(self, cell: str, number: int) -> Done:
        """Be given what it takes until this entry is done; what that has done."""
        while (cell, number) not in self.done:
            assert self.step(), f"{cell} {number} is never delivered"
        return self.done[cell, number]

    def carry(self) -> None:
        """Carry what this person has caused; who has all cells carries the rest, too."""
        is_first = self is self.table.people[0]
        for path, cell in self.cells.items():
            for target, parcels in list(cell.owes.items()):
                mine = is_first or any(one.by == node_of(self.process) for one in parcels)
                if not mine or target not in self.machines:
                    continue
                known = self.cells[target].received.get(path, 0)
                for parcel in parcels:
                    if parcel.number > known:
                        self.told(target, self.ask(target, "accept", path, parcel))
                self.ask(path, "handed", target, parcels[-1].number)


def quartered(table: Table, people: int, cells: int = 4) -> list[Person]:
    """A place of four cells, and people who have some of them each; the first has all."""
    paths = [ROOT, *quarters(ROOT)]
    made = [table.sit(paths)]
    first = made[0]
    first.ask(ROOT, "become", ROOT, 1, "inner")
    for path in quarters(ROOT):
        first.ask(path, "become", path, 1, "leaf")
    for _ in range(people - 1):
        some = table.random.sample([ROOT, *quarters(ROOT)], table.random.randint(2, cells))
        made.append(table.sit(some))
    for person in made:
        while person.step():
            pass
    return made
