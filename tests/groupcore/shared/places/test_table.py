"""Things are in one place at every cut, whoever dies; joint moves are seen whole or not at all."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groupcore.shared.places import Edit, Thing, shown
from groupcore.shared.places.handover import Handover
from groupcore.shared.places.joining import Joining
from groupcore.shared.places.squares import ROOT, contains, quarters
from tests.groupcore.shared.places.table import Person, Table, quartered

FAR = 300_000_000
CORNERS = {
    path: (x, y)
    for path in quarters(ROOT)
    for x in (-FAR, 1_000_000_000)
    for y in (-FAR, 1_000_000_000)
    if contains(path, x, y)
}


def judge(person: Person) -> None:
    """No thing is shown twice, and of pairs that move together none is seen half-done."""
    things = person.shown
    held = Counter(one for cell in person.cells.values() for one in cell.things)
    assert not held or max(held.values()) == 1, f"{held} to {person.process}"
    twice = [one for one, count in Counter(thing.id for thing in things).items() if count > 1]
    assert not twice, f"{twice} are shown twice to {person.process}"
    by_id = {thing.id: thing for thing in things}
    for one, thing in by_id.items():
        other = by_id.get(one.replace("left", "right"))
        if one.startswith("left") and other is not None:
            assert thing.text == other.text, f"{one} is {thing.text}, its pair {other.text}"


class Game:
    """A random game of some people: they put, move, move together, carry and die."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.table = Table(self.random)
        self.people = quartered(self.table, self.random.randint(2, 4))
        self.put: set[str] = set()
        self.joints: list[tuple[Person, str, list[str], dict[str, int]]] = []
        self._number = 0

    def play(self, moves: int = 60) -> None:
        first = self.people[0]
        for pair in range(3):
            one, other = self.random.sample(quarters(ROOT), 2)
            for side, path in (("left", one), ("right", other)):
                x, y = CORNERS[path]
                first.told(path, first.ask(path, "put", [Thing(f"{side}-{pair}", "shape", x, y)]))
                self.put.add(f"{side}-{pair}")
        for _ in range(moves):
            self.move(self.random.choice(self.table.people))
            for person in self.table.people:
                judge(person)

    def move(self, person: Person) -> None:
        number = self.random.random()
        if number < 0.5:
            for _ in range(self.random.randint(1, 6)):
                person.step()
                judge(person)
        elif number < 0.62:
            person.carry()
        elif number < 0.72:
            self._drag(person)
        elif number < 0.73:
            self._delete(person)
        elif number < 0.82:
            self._begin(person)
        elif number < 0.96:
            self._decide()
        elif person is not self.people[0]:
            self.table.leave(person)

    def _drag(self, person: Person) -> None:
        mine = [(path, one) for path, cell in person.cells.items() for one in cell.things]
        if mine:
            path, one = self.random.choice(mine)
            x, y = CORNERS[self.random.choice(quarters(ROOT))]
            person.ask(path, "change", [Edit(one, (("x", x), ("y", y)))])

    def _delete(self, person: Person) -> None:
        """Delete something that was put for that; it is not shown again to who has seen it go."""
        mine = [(path, one) for path, cell in person.cells.items() for one in cell.things]
        if mine:
            path, one = self.random.choice(mine)
            done = person.told(path, person.ask(path, "delete", [one]))
            if done.error is None and done.results == [[one]]:
                self.put.discard(one)
                assert one not in {thing.id for thing in person.shown}

    def _begin(self, person: Person) -> None:
        """Begin a joint move of a pair, both of which this person sees."""
        where = {one: path for path, cell in person.cells.items() for one in cell.things}
        pairs = [one for one in where if one.startswith("left") and "right" + one[4:] in where]
        if not pairs:
            return
        left = self.random.choice(pairs)
        right = "right" + left[4:]
        paths = sorted({where[left], where[right]})
        if len(paths) < 2:
            return
        self._number += 1
        x, y = CORNERS[self.random.choice(quarters(ROOT))]
        text = f"t{self._number}"
        asked = {}
        for path in paths:
            edits = [
                Edit(one, (("text", text), ("x", x), ("y", y)))
                for one in (left, right)
                if where[one] == path
            ]
            asked[path] = person.ask(path, "prepare", text, paths, edits)
            if path == paths[0] and person.told(path, asked[path]).error is not None:
                return  # the cell that decides is asked first, and says no
        self.joints.append((person, text, paths, asked))

    def _decide(self) -> None:
        if not self.joints:
            return
        person, joint, paths, asked = self.joints.pop(self.random.randrange(len(self.joints)))
        if person in self.table.people:
            said = [person.told(path, number).error is None for path, number in asked.items()]
            person.ask(paths[0], "decide", joint, all(said))

    def end(self) -> None:
        while self.joints:
            self._decide()
        self.table.rest()
        for person in self.table.people:
            judge(person)
        first = self.people[0]
        assert {thing.id for thing in first.shown} == self.put
        for path, cell in first.cells.items():
            assert (cell.owes, cell.joints, cell.busy, cell.outcomes) == ({}, {}, {}, {}), path
            for thing in cell.things.values():
                assert contains(path, thing.x, thing.y)
        for person in self.table.people:
            for path, machine in person.machines.items():
                assert machine.packed() == first.machines[path].packed()


@given(st.integers(min_value=0, max_value=1 << 40))
@settings(max_examples=60, deadline=None)
def test_a_thing_is_in_one_cell_at_every_cut_and_joint_moves_are_whole(seed: int) -> None:
    game = Game(seed)  # P1, P2, J1, J2, J3
    game.play()
    game.end()


def _is_found() -> bool:
    for seed in range(40):
        try:
            game = Game(seed)
            game.play()
            game.end()
        except AssertionError:
            return True
    return False


def test_parcels_that_are_taken_twice_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Handover, "_has", lambda self, source, number: False)
    assert _is_found()


def test_a_joint_move_that_each_cell_shows_by_itself_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(shown, "edited", lambda thing, edit: thing)
    assert _is_found()


def test_joint_moves_of_the_dead_that_are_left_prepared_are_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Joining, "on_departed", lambda self, process: None)
    assert _is_found()


def test_a_joint_move_that_things_do_not_take_along_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Joining, "_verdicts_for", lambda self, things, to: ())
    assert _is_found()
