"""States of former versions of a class: known ones are taken, while nobody runs such a version."""

from __future__ import annotations

import pytest

from groupcore.sequencing.events import (
    Departed,
    Enrolled,
    Joined,
    ServiceEvent,
    StateInstalled,
    StateWanted,
)
from groupcore.shared import MisfitError, SchemaMismatchError, SharedObject, operation
from groupcore.shared.declaration import declaration_of
from groupcore.shared.replica import Replica
from tests.groupcore.shared.ports import GROUP, ME, OTHER, HandPort, begin, calls, feed, run


def the_first_version() -> type[SharedObject]:
    class Score(SharedObject):
        points: int = 0
        names: list[str]

        @operation
        def add(self, points: int) -> None:
            self.points += points

    return Score


FIRST = declaration_of(the_first_version(), SharedObject).fingerprint.hex()
FORMERLY = {FIRST: ("points", "names")}


class Score(SharedObject):
    """The second version: a field came between the former ones, and another operation."""

    formerly = FORMERLY
    points: int = 0
    levels: dict[str, int]
    names: list[str]

    @operation
    def add(self, points: int) -> None:
        self.points += points

    @operation
    def reach(self, name: str) -> None:
        self.levels[name] = self.points


def packed_by_the_first_version() -> bytes:
    port = HandPort()
    replica = Replica(the_first_version(), port)
    begin(replica, ME)
    feed(replica, run(2, ME, 1, calls(("add", [3]))), StateWanted(1, GROUP))
    return port.given[0][1]


def taker(*events: ServiceEvent) -> Replica[Score]:
    replica = Replica(Score, HandPort(OTHER))
    replica.open()
    state = StateInstalled(GROUP, 2, packed_by_the_first_version())
    feed(replica, state, *events)
    return replica


def test_a_state_of_a_known_former_version_is_taken_when_its_owners_are_gone() -> None:
    replica = taker(
        Departed(GROUP, 3, ME, gone=True), Enrolled(GROUP, 4, OTHER), Joined(GROUP, 4, OTHER)
    )
    score = replica.ready.result()
    assert (score.points, score.levels, score.names) == (3, {}, [])
    feed(replica, run(5, OTHER, 1, calls(("reach", ["top"]))))
    assert score.levels == {"top": 3}


def test_a_former_version_that_still_runs_is_not_joined() -> None:
    replica = taker(Enrolled(GROUP, 3, OTHER), Joined(GROUP, 3, OTHER))
    assert isinstance(replica.ready.error, SchemaMismatchError)
    with pytest.raises(SchemaMismatchError):
        replica.ready.result()


class Tally(SharedObject):
    """A version in which an operation has one argument more than its log."""

    points: int = 0

    @operation
    def add(self, points: int, times: int = 1) -> None:
        self.points += points * times


def test_an_argument_that_came_later_has_its_default_where_a_log_lacks_it() -> None:
    replica = Replica(Tally, HandPort())
    begin(replica, ME)
    feed(replica, run(2, ME, 1, calls(("add", [3]), ("add", [2, 5]))))
    assert replica.ready.result().points == 13


@pytest.mark.parametrize("arguments", [[], [1, 2, 3]])
def test_an_operation_lacks_no_argument_and_has_none_too_many(arguments: list[object]) -> None:
    spec = declaration_of(Tally, SharedObject).operations["add"]
    with pytest.raises(MisfitError):
        spec.decode(arguments)
