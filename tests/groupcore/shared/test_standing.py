"""The node's own process in a group, for the sessions that attend (`groupcore.shared.standing`)."""

from __future__ import annotations

import pytest

from groupcore.errors import GroupRefusedError
from groupcore.sequencing.events import Departed, Enrolled, Joined, Released
from groupcore.sequencing.names import Order, Process
from groupcore.shared.object import SharedObject
from groupcore.shared.opening import may_attend
from groupcore.shared.session import Session
from groupcore.shared.standing import REJOIN_S
from groupcore.shared.types import Counter, Lock, Presence, Topic
from tests.groupcore.shared.test_session import GROUP, MEMBER, Asked, Home


class Strict(SharedObject, order=Order.STRICT):
    """Its group counts processes."""


class Roll(SharedObject):
    """Keeps a list of who has it open."""

    there: list[str]

    def on_joined(self, process: Process) -> None:
        self.there.append(str(process))


class Register(SharedObject):
    """Wants its sessions to be members."""

    sessions_join = True


def begun() -> Home:
    home = Home(attends=True)
    home.begin_open()
    return home


def stand(home: Home) -> None:
    """The node's process is in."""
    home.groups.members.append(MEMBER)
    for event in (Enrolled(GROUP, 1, MEMBER), Joined(GROUP, 1, MEMBER)):
        for site in list(home.sites.values()):
            site.feed(event)
    home.groups.joining.pop(MEMBER).resolve(1)
    home.pass_s()


def let_attend(home: Home, session: Session) -> None:
    """This session attends."""
    process = session.process
    for site in list(home.sites.values()):
        site.feed(Joined(GROUP, 2, process))
    home.groups.attending.pop(process).resolve(2)
    home.pass_s()


def let_part(home: Home, session: Session) -> None:
    """It does so no more."""
    for site in list(home.sites.values()):
        site.feed(Departed(GROUP, 0, session.process, gone=False))
    home.pass_s()


def test_n1_the_nodes_process_is_in_before_a_session_attends() -> None:
    home = begun()
    assert (list(home.groups.joining), home.groups.attending) == ([MEMBER], {})
    stand(home)
    assert list(home.groups.attending) == [home.session.process]


def test_the_nodes_process_joins_once_however_many_sessions_attend() -> None:
    home = begun()
    sessions = [home.session, *(Session(home, attends=True) for _ in range(3))]
    opening = []
    for number, session in enumerate(sessions[1:], 2):
        session._process = Process(MEMBER.node, number)
        opening.append(Asked(home.runtime, session.open(Counter, "clicks")))
    home.pass_s()
    stand(home)
    for session in sessions:
        let_attend(home, session)
    assert all(one.done and one.error is None for one in opening)
    assert home.groups.asked == 1 + len(sessions)  # one JOIN; the others attend


def test_n2_the_nodes_process_leaves_behind_the_last_that_has_the_object_open() -> None:
    home = begun()
    keeper = Session(home)
    keeper.begin()
    stand(home)
    let_attend(home, home.session)
    Asked(home.runtime, keeper.open(Counter, "clicks"))
    home.pass_s()
    home.begin_close()
    let_part(home, home.session)
    assert home.groups.left == [home.session.process]  # the keeper has it open
    Asked(home.runtime, keeper.close())
    home.pass_s(10)
    assert home.groups.left[-1] == MEMBER
    for site in list(home.sites.values()):
        site.feed(Released(GROUP))
    assert not home.sites


def test_n2_a_process_that_is_let_in_when_nobody_wants_it_leaves_again() -> None:
    home = begun()
    home.begin_close()
    home.pass_s(10)
    assert list(home.sites) == ["clicks"]  # its JOIN is under way
    stand(home)
    assert home.groups.left == [MEMBER]


def test_who_attends_asks_again_while_its_node_comes_back_into_the_group() -> None:
    home = begun()
    home.groups.joining.pop(MEMBER).fail(GroupRefusedError("already_a_member", "it leaves"))
    home.pass_s(REJOIN_S)
    stand(home)
    gone = GroupRefusedError("not_a_member", "the record does not show it yet")
    home.groups.attending.pop(home.session.process).fail(gone)
    home.pass_s(REJOIN_S)
    let_attend(home, home.session)
    assert home.session.port(Counter, "clicks").user.is_in  # type: ignore[attr-defined]


def test_a_node_that_is_refused_tells_who_would_attend_and_lets_the_object_go() -> None:
    home = Home(attends=True)
    opening = home.begin_open()
    home.groups.joining.pop(MEMBER).fail(GroupRefusedError("unknown_group", "it is deleted"))
    home.pass_s()
    assert getattr(opening.error, "code", "") == "unknown_group"
    assert not home.sites


@pytest.mark.parametrize("kind", [Counter, Lock, Presence[str], Topic[str]])
def test_sessions_attend_objects_topics_and_presences(kind: type[object]) -> None:
    assert may_attend(kind, Order.CAUSALLY_TOTAL)


@pytest.mark.parametrize("kind", [Strict, Roll, Register])
def test_sessions_are_members_where_processes_count_and_where_the_class_says_so(
    kind: type[SharedObject],
) -> None:
    assert not may_attend(kind, kind.group_order)
