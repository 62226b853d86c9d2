"""Who may read behind a rejoin: judged by a state of now, not by those that lead to it."""

from __future__ import annotations

import pytest

from groupcore.sequencing.events import Enrolled, Joined, Released, StateInstalled
from groupcore.sequencing.names import Process
from groupcore.shared import ForbiddenError
from groupcore.shared.access import Guarded
from groupcore.shared.changes import Changed, Replaced
from groupcore.shared.machine import Done
from groupcore.shared.operations import operation
from groupcore.shared.replica import Replica
from groupcore.view import Address
from tests.groupcore.shared.ports import GROUP, ME, OTHER, HandPort, begin, feed, run
from tests.groupcore.shared.test_access import said

NEXT = Process(Address("a", 2), 1)
"""The same node's process in its next life, and one more of it."""
EVES = Process(Address("a", 2), 2)


class Board(Guarded, check_every=0):
    """Nobody's to begin with."""

    lines: list[str]

    @operation
    def note(self, line: str) -> None:
        self.lines.append(line)


SHARED = (said("ann", ("claim", [])), said("ann", ("grant", ["eve", "READ"])))
"""From the first of these on eve may not read it, from the second on she may."""
REVOKED = said("ann", ("revoke", ["eve"]))
SEEN, SECRET = said("ann", ("note", ["seen"])), said("ann", ("note", ["secret"]))


class Followed:
    """A feed of pages, which sends the whole state to who follows when it is another one."""

    def __init__(self, follower: Replica[Board]) -> None:
        self._follower = follower
        self.sent: list[list[str]] = []

    def on_done(self, position: int, process: Process, done: Done) -> None:
        del position, process, done

    on_member = on_done

    def on_replaced(self) -> None:
        if not self._follower.given_up.done:
            self.sent.append(list(self._follower.body.origin.lines))


def shared_board() -> tuple[list[Replica[Board]], list[HandPort]]:
    """A node that keeps the object, and a page of eve's there."""
    ports = [HandPort(ME, "ann"), HandPort(Process(ME.node, 2), "eve")]
    keeper = Replica(Board, ports[0])
    faces = [keeper, Replica(Board, ports[1], keeper.body)]
    keeper.open()
    begin(keeper, ME)
    feed(keeper, run(2, OTHER, 1, *SHARED))
    faces[1].open()
    eve = ports[1].process
    feed(keeper, Enrolled(GROUP, 4, eve), Joined(GROUP, 4, eve))
    feed(keeper, run(5, OTHER, 3, SEEN))
    assert faces[1].ready.result().lines == ["seen"]
    return faces, ports


def come_back(faces: list[Replica[Board]], ports: list[HandPort]) -> None:
    """The cluster has gone on without the node; its next life begins."""
    for face in faces:
        face.interrupt()
    for port, process in zip(ports, (NEXT, EVES), strict=True):
        port.become(process)
    for face in faces:
        face.restart()


def told_again(*behind: bytes) -> list[object]:
    """What a node with a log is told that takes a group up: all of it, up to its JOINs."""
    end = 6 + len(behind)
    return [
        StateInstalled(GROUP, 0, None),
        Joined(GROUP, 1, ME),
        run(2, OTHER, 1, *SHARED),
        Joined(GROUP, 4, Process(ME.node, 2)),
        run(5, OTHER, 3, SEEN, *behind),
        Enrolled(GROUP, end, NEXT),
        Joined(GROUP, end, NEXT),
        Enrolled(GROUP, end + 1, EVES),
        Joined(GROUP, end + 1, EVES),
    ]


def test_who_may_read_now_may_read_behind_a_rejoin_that_tells_the_past_again() -> None:
    faces, ports = shared_board()
    come_back(faces, ports)
    feed(faces[0], *told_again())  # type: ignore[arg-type]
    assert not faces[1].given_up.done, faces[1].given_up.error
    assert ports[1].asked == ["join", "join"]
    assert faces[1].target.lines == ["seen"]


def test_who_was_removed_meanwhile_is_shown_nothing_that_came_behind_that() -> None:
    faces, ports = shared_board()
    feeds = Followed(faces[1])
    faces[0].body.observers.append(feeds)
    changes = faces[1].target.changes()
    come_back(faces, ports)
    feed(faces[0], *told_again(REVOKED, SECRET)[:-2])  # type: ignore[arg-type]
    assert feeds.sent == []
    feed(faces[0], *told_again(REVOKED, SECRET)[-2:])  # type: ignore[arg-type]
    assert feeds.sent == []
    assert isinstance(faces[1].given_up.error, ForbiddenError)
    assert "secret" not in faces[1].target.lines
    assert not [one for one in changes.take() if isinstance(one, Changed | Replaced)]
    assert faces[0].target.lines == ["seen", "secret"]


def test_who_was_removed_meanwhile_is_not_sent_the_state_that_another_node_gives() -> None:
    faces, ports = shared_board()
    feeds = Followed(faces[1])
    faces[0].body.observers.append(feeds)
    changes = faces[1].target.changes()
    donor = Replica(Board, HandPort(OTHER, "ann"))
    donor.open()
    begin(donor, OTHER, own=OTHER)
    feed(donor, run(2, OTHER, 1, *SHARED, SEEN, REVOKED, SECRET))
    come_back(faces, ports)
    feed(faces[0], StateInstalled(GROUP, 6, donor.body.state()))
    feed(faces[0], Enrolled(GROUP, 7, NEXT), Joined(GROUP, 7, NEXT))
    assert feeds.sent == []
    assert isinstance(faces[1].given_up.error, ForbiddenError)
    assert faces[1].target.lines == ["seen"]
    assert not [one for one in changes.take() if isinstance(one, Changed | Replaced)]


def test_a_reader_reads_nothing_of_the_states_that_lead_to_the_one_of_now() -> None:
    faces, ports = shared_board()
    come_back(faces, ports)
    feed(faces[0], *told_again(REVOKED, SECRET)[:-4])  # type: ignore[arg-type]
    assert faces[1].target.lines == ["seen"]


def test_who_was_removed_and_let_in_again_is_let_in() -> None:
    faces, ports = shared_board()
    come_back(faces, ports)
    again = (REVOKED, SECRET, said("ann", ("grant", ["eve", "READ"])))
    feed(faces[0], *told_again(*again))  # type: ignore[arg-type]
    assert not faces[1].given_up.done
    assert faces[1].target.lines == ["seen", "secret"]


@pytest.mark.parametrize("was_in", [False, True])
def test_who_opens_it_at_a_node_with_a_log_is_judged_by_the_list_of_now(was_in: bool) -> None:
    """Also as a process that had it open before, in the same life."""
    port = HandPort(ME, "eve")
    replica = Replica(Board, port)
    replica.open()
    former = [Enrolled(GROUP, 1, ME)] if was_in else [Joined(GROUP, 1, OTHER)]
    feed(replica, StateInstalled(GROUP, 0, None), *former, run(2, OTHER, 1, *SHARED, SEEN))
    feed(replica, Enrolled(GROUP, 5, ME), Joined(GROUP, 5, ME))
    assert replica.ready.result().lines == ["seen"]
    assert port.asked == ["join"]


def test_the_right_is_judged_as_before_once_the_state_is_of_now() -> None:
    faces, ports = shared_board()
    come_back(faces, ports)
    feed(faces[0], *told_again())  # type: ignore[arg-type]
    feed(faces[0], run(8, OTHER, 4, REVOKED, SECRET))
    assert isinstance(faces[1].given_up.error, ForbiddenError)
    assert faces[1].target.lines == ["seen"]
    feed(faces[0], Released(GROUP))
