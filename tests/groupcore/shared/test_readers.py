"""Many sessions of a node that have an object open: who may read it is asked with little work."""

from __future__ import annotations

from typing import ClassVar

from groupcore.sequencing.names import Process
from groupcore.shared.replica import Replica
from tests.groupcore.shared.ports import ME, OTHER, HandPort, begin, feed, run
from tests.groupcore.shared.test_access import Minutes, said


class Asked(Minutes, check_every=0):
    """Counts how often it was asked who may read it."""

    asked: ClassVar[list[str]] = []

    def may_read(self, principal: str) -> bool:
        type(self).asked.append(principal)
        return super().may_read(principal)


def test_readers_are_judged_once_a_principal_however_many_sessions_of_theirs_there_are() -> None:
    first = Replica(Asked, HandPort(ME, "eve"))
    others = [("eve", 2), ("bob", 3), ("bob", 4)]
    ports = [HandPort(Process(ME.node, number), principal) for principal, number in others]
    faces = [first, *(Replica(Asked, port, first.body) for port in ports)]
    for face in faces:
        face.open()
    begin(first, *(face.process for face in faces))
    Asked.asked.clear()
    feed(first, run(5, OTHER, 1, said("ann", ("note", ["seen"]))))
    assert sorted(Asked.asked) == ["bob", "eve"]
    hidden = said("ann", ("note", ["secret"]))
    feed(first, run(6, OTHER, 2, said("ann", ("revoke", ["eve"])), hidden))
    assert [face.target.lines for face in faces] == [["seen"]] * 2 + [["seen", "secret"]] * 2
    assert [face.given_up.done for face in faces] == [True, True, False, False]
