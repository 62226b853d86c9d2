"""A session gets into groups and out of them, whatever becomes of its node meanwhile."""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from random import Random

from groupcore.errors import ChannelClosedError, GroupcoreError, GroupRefusedError
from groupcore.sequencing.events import Departed, Enrolled, Joined, Released
from groupcore.sequencing.names import GroupId, Order, Process
from groupcore.sequencing.options import ServiceOptions
from groupcore.shared.errors import ClosedError, RefusedError
from groupcore.shared.events import SharedEvent
from groupcore.shared.pending import Pending
from groupcore.shared.session import Session
from groupcore.shared.session_port import OPENING_S, REOPEN_S
from groupcore.shared.site import Site
from groupcore.shared.standing import REJOIN_S
from groupcore.shared.tasks import Schedule, wait
from groupcore.shared.types import Counter
from groupcore.view import Address

GROUP = 7
MEMBER = Process(Address("a", 1), 99)


class Groups:
    """A service that answers when the test says so; who is no member cannot leave."""

    options = ServiceOptions()

    def __init__(self) -> None:
        self.lives = 0
        self.members: list[Process] = []
        self.closed: list[Process] = []
        self.joining: dict[Process, Pending[int]] = {}
        self.attending: dict[Process, Pending[int]] = {}
        self.left: list[Process] = []
        self.asked = 0

    def open_process(self) -> Process:
        self.lives += 1
        return Process(Address("a", self.lives), 1)

    def close_process(self, process: Process) -> None:
        self.closed.append(process)

    async def join(self, process: Process, group: GroupId) -> int:
        assert group == GROUP
        self.asked += 1
        self.joining[process] = Pending(wait)
        return await self.joining[process]

    async def attend(self, process: Process, group: GroupId) -> int:
        assert group == GROUP
        self.asked += 1
        self.attending[process] = Pending(wait)
        return await self.attending[process]

    def leave(self, process: Process, group: GroupId) -> None:
        assert group == GROUP
        self.left.append(process)
        if process in self.members:
            self.members.remove(process)

    def send(self, process: Process, group: GroupId, payloads: Sequence[bytes]) -> int:
        raise AssertionError((process, group, payloads))

    def send_volatile(self, process: Process, group: GroupId, payload: bytes) -> None:
        raise AssertionError((process, group, payload))

    async def saved(self) -> None:
        """At once."""


class Asked:
    """What became of something that somebody waits for."""

    def __init__(self, runtime: Schedule, coroutine: Coroutine[object, None, object]) -> None:
        self.result: object = None
        self.error: GroupcoreError | None = None
        self._ended = False
        runtime.spawn(self._wait(coroutine))

    @property
    def done(self) -> bool:
        return self._ended

    async def _wait(self, coroutine: Coroutine[object, None, object]) -> None:
        try:
            self.result = await coroutine
        except GroupcoreError as error:
            self.error = error
        self._ended = True


class Home:
    """A node with one site, on virtual time."""

    def __init__(self, attends: bool = False) -> None:
        self.groups = Groups()
        self.runtime = Schedule(Random(1))
        self.finding: list[Exception | None] = []
        self.found: Pending[None] | None = None
        self.sites: dict[str, Site] = {}
        self.session = Session(self, attends=attends)
        self.session.begin()

    @property
    def member(self) -> Process:
        return MEMBER

    def site(self, name: str, kind: type[object], order: Order) -> Site:
        def say(event: SharedEvent) -> None:
            raise AssertionError(event)

        def drop(site: Site) -> None:
            self.sites.pop(site.name, None)

        def fail(site: Site, error: Exception) -> None:
            raise error

        return self.sites.setdefault(name, Site(name, kind, order, say, drop, fail))

    async def find_group(self, site: Site) -> None:
        site.group = GROUP
        if self.found is not None:
            await self.found
        error = self.finding.pop(0) if self.finding else None
        if error is not None:
            raise error

    def now_s(self) -> float:
        return self.runtime.now_s

    def authorize(self, name: str, text: bytes) -> bytes:
        """Nothing."""
        del name, text
        return b""

    def forget(self, session: Session) -> None:
        """Nothing."""

    # --- what the tests do ----------------------------------------------------------------------

    def pass_s(self, duration_s: float = 0.0) -> None:
        """So much time passes, or none: whatever can happen at once does."""
        self.runtime.advance(self.runtime.now_s + duration_s)

    def begin_open(self) -> Asked:
        """Somebody opens the object."""
        opening = Asked(self.runtime, self.session.open(Counter, "clicks"))
        self.pass_s()
        return opening

    def begin_close(self) -> Asked:
        """Somebody closes it."""
        closing = Asked(self.runtime, self.session.let_go("clicks"))
        self.pass_s()
        return closing

    def let_in(self, seqno: int = 1) -> None:
        """The JOIN of the session has this place, and is answered."""
        process = self.session.process
        self.groups.members.append(process)
        for event in (Enrolled(GROUP, seqno, process), Joined(GROUP, seqno, process)):
            for site in list(self.sites.values()):
                site.feed(event)
        self.groups.joining.pop(process).resolve(1)
        self.pass_s()

    def let_out(self) -> None:
        """The LEAVE of the session has its place."""
        assert self.groups.members == []
        for site in list(self.sites.values()):
            site.feed(Departed(GROUP, 2, self.session.process, gone=False))
        self.pass_s()

    def begin_anew(self) -> None:
        """The cluster has gone on without the node."""
        self.groups.members.clear()
        for site in self.sites.values():
            site.interrupt()
        self.session.interrupt()


def opened() -> Home:
    home = Home()
    opening = home.begin_open()
    home.let_in()
    assert opening.done
    return home


def test_p1_what_is_closed_while_its_node_finds_its_group_again_is_not_joined() -> None:
    home = opened()
    home.found = Pending(wait)
    home.begin_anew()
    closing = home.begin_close()
    home.found.resolve(None)
    home.pass_s(OPENING_S)
    assert closing.done
    assert not home.groups.joining
    assert not home.sites


def test_p1_what_is_closed_while_its_process_joins_again_is_left_when_it_is_in() -> None:
    home = opened()
    home.begin_anew()
    home.pass_s()
    home.begin_close()
    home.let_in()
    assert home.groups.members == []


def test_p2_all_who_open_an_object_wait_for_one_opening() -> None:
    home = Home()
    first, second = home.begin_open(), home.begin_open()
    assert home.groups.asked == 1
    home.let_in()
    assert isinstance(first.result, Counter)
    assert first.result is second.result


def test_p2_all_are_told_that_the_opening_has_failed_and_the_next_begins_anew() -> None:
    home = Home()
    home.finding = [GroupRefusedError("too_many", "there are too many groups")]
    home.found = Pending(wait)
    waiting = [home.begin_open(), home.begin_open()]
    home.found.resolve(None)
    home.pass_s()
    for one in waiting:
        assert isinstance(one.error, RefusedError)
        assert one.error.code == "too_many"
    assert not home.sites
    again = home.begin_open()
    home.let_in()
    assert isinstance(again.result, Counter)


def test_p3_what_is_being_closed_when_the_cluster_goes_on_without_the_node_is_closed() -> None:
    home = Home()
    opening = home.begin_open()
    home.let_in()
    assert isinstance(opening.result, Counter)
    closing = opening.result.close()  # by itself, not by its session
    home.begin_anew()
    home.pass_s()
    assert closing.done
    assert not home.groups.joining
    assert not home.sites
    again = home.begin_open()
    home.let_in()
    assert isinstance(again.result, Counter)


def test_who_opens_what_is_being_closed_waits_for_that_and_has_another_one() -> None:
    home = Home()
    opening = home.begin_open()
    home.let_in()
    assert isinstance(opening.result, Counter)
    opening.result.close()
    again = home.begin_open()
    assert not again.done
    home.let_out()
    home.let_in(3)
    assert isinstance(again.result, Counter)
    assert again.result is not opening.result


def test_what_is_opened_again_before_its_node_has_let_go_of_the_group_shows_what_is_done() -> None:
    home = opened()
    home.begin_close()
    home.found = Pending(wait)
    again = home.begin_open()
    home.let_out()  # now its port is there, and waits until the group is found
    for site in home.sites.values():
        site.feed(Released(GROUP))
    home.found.resolve(None)
    home.pass_s()
    home.let_in(1)  # told from the beginning
    assert isinstance(again.result, Counter)
    (site,) = home.sites.values()
    assert site.body is not None
    assert vars(again.result) is vars(site.body.origin)


def test_p3_a_node_that_is_outside_the_cluster_asks_until_it_finds_the_group() -> None:
    home = opened()
    home.finding = [ChannelClosedError("outside"), GroupRefusedError("left", "outside")]
    home.begin_anew()
    home.pass_s(REOPEN_S)
    assert not home.groups.joining
    home.pass_s(REOPEN_S)
    assert list(home.groups.joining) == [home.session.process]


def test_p3_what_another_order_has_taken_the_name_of_meanwhile_is_closed_with_that_reason() -> None:
    home = opened()
    home.finding = [GroupRefusedError("bad_order", "the group is strict")]
    home.begin_anew()
    home.pass_s()
    assert not home.sites
    assert not home.groups.joining


def test_p4_the_cluster_goes_on_without_the_node_while_an_object_is_opened_there() -> None:
    home = Home()
    home.found = Pending(wait)
    opening = home.begin_open()
    found, home.found = home.found, Pending(wait)  # asked in a life that is over now
    home.finding = [GroupRefusedError("left", "the cluster has gone on without this node")]
    found.resolve(None)
    home.begin_anew()
    home.pass_s(REOPEN_S)
    assert [opening.done, home.groups.asked] == [False, 0]
    home.found.resolve(None)
    home.pass_s()
    home.let_in()
    assert isinstance(opening.result, Counter)
    assert home.groups.asked == 1


def test_p4_an_opening_goes_on_while_its_node_is_outside_the_cluster() -> None:
    home = Home()
    left = GroupRefusedError("left", "outside")
    home.finding = [ChannelClosedError("not joined yet"), left, left]
    opening = home.begin_open()
    home.pass_s(2.5 * REOPEN_S)
    assert [opening.done, home.groups.asked] == [False, 0]
    home.pass_s(REOPEN_S)
    home.let_in()
    assert isinstance(opening.result, Counter)


def test_p4_who_closes_an_object_whose_node_is_outside_is_told_that_it_is_closed() -> None:
    home = Home()
    home.finding = [GroupRefusedError("left", "outside")] * 3
    opening = home.begin_open()
    closing = home.begin_close()
    home.pass_s(REOPEN_S)
    assert [opening.done, closing.done] == [True, True]
    assert isinstance(opening.error, ClosedError)
    assert [home.groups.asked, home.groups.members, home.sites] == [0, [], {}]


def test_p3_of_two_next_lives_only_the_last_joins() -> None:
    home = opened()
    home.found = Pending(wait)
    home.begin_anew()
    home.begin_anew()
    home.found.resolve(None)
    home.pass_s()
    assert home.groups.asked == 2
    assert list(home.groups.joining) == [home.session.process]


def test_a_process_that_has_just_left_asks_again_until_the_record_shows_it() -> None:
    home = Home()
    home.begin_open()
    refusal = GroupRefusedError("already_a_member", "it has not left yet")
    home.groups.joining.pop(home.session.process).fail(refusal)
    home.pass_s(REJOIN_S)
    assert home.groups.asked == 2
    home.let_in()
    assert home.groups.members == [home.session.process]


def test_closing_waits_for_an_opening_that_is_under_way_but_not_for_ever() -> None:
    home = Home()
    opening = home.begin_open()
    closing = home.begin_close()
    home.pass_s(OPENING_S / 2)
    assert [closing.done, opening.done] == [False, False]
    home.pass_s(OPENING_S)
    assert [closing.done, opening.done] == [True, True]
    assert isinstance(opening.error, ClosedError)
    home.let_in()
    assert home.groups.members == []


def test_a_session_closes_all_its_objects_and_then_its_process_is_over() -> None:
    home = opened()
    closing = Asked(home.runtime, home.session.close())
    home.pass_s(OPENING_S)
    assert [closing.done, home.session.ended] == [False, True]
    home.let_out()
    assert closing.done
    assert home.groups.closed == [home.session.process]
