"""Turns in which a service has nothing to do are left out, and nothing else changes."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from random import Random

import pytest

from groupcore.batch import Batch
from groupcore.events import PrimaryRegained
from groupcore.sequencing import headers as h
from groupcore.sequencing.commands import Drain
from groupcore.sequencing.conductor import Conductor
from groupcore.sequencing.directory import Directory
from groupcore.sequencing.idle import Idle
from groupcore.sequencing.names import GroupId, Order, Process
from groupcore.sequencing.options import ServiceOptions
from groupcore.sequencing.placement import PlannedMove
from groupcore.sequencing.service import Service
from groupcore.sim.jobs import Job
from groupcore.view import Address
from tests.groupcore.sequencing.world import World

FAR = (50, 50, 50)
"""How far b says to have a stream."""

PLAN = '{"plan": 1, "groups": {"%d": "b"}}'

LOOKS_ONLY = {
    *(
        "counters",
        "disk_mark",
        "facts",
        "groups",
        "held",
        "is_logged",
        "next_wake",
        "open_process",
        "waiting",
    ),
    *(
        "has_streams",
        "known_streams",
        "progress",
        "restore",
        "stored_streams",
        "stored_view",
        "trace",
        "watch",
    ),
    *("end_turn", "take", "wake"),
}
"""What asks of a service, what it is made with, and the turn itself."""


@dataclass(frozen=True, slots=True)
class Given:
    """A service at which nothing happens, with a process in a group."""

    service: Service
    group: GroupId
    process: Process
    now: float

    @property
    def me(self) -> Address:
        return self.service.plane.me


def digest_of(given: Given, frames: int = 0, reaches: tuple[h.Reach, ...] = ()) -> Batch:
    """b has sent so many frames more than is known at a."""
    plane = given.service.plane
    assert plane.view is not None
    b = plane.view.members[1]
    said = h.Digest(plane.view.number, plane.streams[b].highest + frames, reaches)
    return Batch(b, None, (said,), b"", 0)


INPUTS: dict[str, Callable[[Given], object]] = {
    "attend": lambda g: g.service.attend(g.service.open_process(), g.group, g.now),
    "cancel_move": lambda g: g.service.cancel_move(1, g.now),
    "cancel_plan": lambda g: g.service.cancel_plan(1, g.now),
    "close_process": lambda g: g.service.close_process(g.process, g.now),
    "create": lambda g: g.service.create("h", Order.FIFO, g.now),
    "delete": lambda g: g.service.delete(g.group, g.now),
    "drain": lambda g: g.service.drain("a", True, g.now),
    "give_state": lambda g: g.service.give_state(99, None),
    "hands_over": lambda g: g.service.hands_over(g.now),
    "join": lambda g: g.service.join(g.service.open_process(), g.group, g.now),
    "leave": lambda g: g.service.leave(g.process, g.group, g.now),
    "move": lambda g: g.service.move([g.group], g.me, "plan", g.now),
    "on_event": lambda g: g.service.on_event(PrimaryRegained(), g.now),
    "on_order": lambda g: g.service.on_order(g.me, b"", g.now, 99),
    "propose": lambda g: g.service.propose(Drain(1, "a", True), g.now),
    "receive": lambda g: g.service.receive(digest_of(g, frames=1), g.now),
    "run_plan": lambda g: g.service.run_plan(PLAN % g.group, 1, g.now),
    "send": lambda g: g.service.send(g.process, g.group, [b"one"], g.now),
    "send_volatile": lambda g: g.service.send_volatile(g.process, g.group, b"one", g.now),
    "stop_acknowledging": lambda g: g.service.stop_acknowledging(1),
    "stored": lambda g: g.service.stored(1, g.now),
}


def at_rest(names: str = "abc") -> tuple[World, GroupId, Process]:
    """A cluster in which all has been said, and a member at a."""
    world = World(names)
    group, process = world.create("g"), world.open("a")
    world.join(process, group)
    world.send(process, group, b"hello")
    world.run(400)
    return world, group, process


def test_what_is_told_to_a_service_is_known_here() -> None:
    public = {name for name, _ in inspect.getmembers(Service) if not name.startswith("_")}
    assert public == {*INPUTS, *LOOKS_ONLY}


def idling() -> Given:
    """At a, in a cluster at rest."""
    world, group, process = at_rest()
    service = world["a"].service
    for _ in range(3):  # what was due is over
        service.wake(world.now)
        service.end_turn(world.now)
        service.take()
    assert service.idle.is_on
    return Given(service, group, process, world.now)


@pytest.mark.parametrize("name", INPUTS)
def test_whatever_comes_ends_it(name: str) -> None:
    given = idling()
    with suppress(KeyError):  # nobody has wanted that state
        INPUTS[name](given)
    assert not given.service.idle.is_on


@pytest.mark.parametrize(
    ("more", "is_news"),
    [((0, 0, 0), False), ((1, 0, 0), True), ((0, 1, 0), True), ((0, 0, 1), True)],
    ids=["nothing", "received", "delivered", "saved"],
)
def test_i2_a_digest_ends_it_where_it_says_something_new(
    more: tuple[int, int, int], is_news: bool
) -> None:
    given = idling()
    own = given.service.plane.own
    given.service.receive(digest_of(given, reaches=(h.Reach(own.address, *FAR),)), given.now)
    for _ in range(3):
        given.service.end_turn(given.now)
        given.service.take()
    received, delivered, saved = (one + another for one, another in zip(FAR, more, strict=True))
    reach = h.Reach(own.address, received, delivered, saved)
    given.service.receive(digest_of(given, reaches=(reach,)), given.now)
    assert given.service.idle.is_on is not is_news


def test_i2_what_a_node_without_a_state_stores_first_ends_it() -> None:
    """Somebody may wait for just that: it does not count as one that has nothing any more."""
    given = idling()
    plane = given.service.plane
    assert plane.view is not None
    stored = h.Reach(plane.me, 0, 0, 1)
    given.service.receive(digest_of(given, reaches=(stored,)), given.now)
    plane.reaches.install(plane.view, fresh=[plane.view.members[1]])
    for _ in range(3):
        given.service.end_turn(given.now)
        given.service.take()
    assert given.service.idle.is_on
    given.service.receive(digest_of(given, reaches=(stored,)), given.now)
    assert not given.service.idle.is_on


def test_a_turn_that_has_only_told_how_far_this_node_is_is_the_last() -> None:
    service = idling().service
    said: list[Batch] = []
    while not said:
        at = service.next_wake()
        assert at is not None
        service.end_turn(at)
        said = service.take().sends
    (digest,) = said
    assert isinstance(digest.headers[-1], h.Digest)
    assert service.idle.is_on


def test_commands_that_wait_until_the_node_is_ready_are_said_then_and_want_no_turns() -> None:
    given = idling()
    given.service.plane.ready = False
    given.service.propose(Drain(1, "a", True), given.now)
    for _ in range(3):
        given.service.end_turn(given.now)
        assert not given.service.take().commands
    assert given.service.idle.is_on
    given.service.plane.ready = True
    given.service.on_event(PrimaryRegained(), given.now)
    given.service.end_turn(given.now)
    assert len(given.service.take().commands) == 1


@pytest.mark.parametrize(("profile", "index"), [("sequencing", 1), ("durable", 3), ("access", 2)])
def test_with_it_and_without_nodes_do_the_same(
    monkeypatch: pytest.MonkeyPatch, profile: str, index: int
) -> None:
    job = Job(profile, 7, index, "")
    left_out = 0
    lasts = Idle.lasts

    def counted(idle: Idle, now: float) -> bool:
        nonlocal left_out
        left_out += lasts(idle, now)
        return idle.is_on

    monkeypatch.setattr(Idle, "lasts", counted)
    idling = job.verdict().trace.hash()
    assert left_out > 100
    monkeypatch.setattr(Idle, "begin", lambda idle, wake_at, look_at: None)
    assert job.verdict().trace.hash() == idling


def test_most_turns_of_a_quiet_cluster_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    world, _, _ = at_rest()
    turns = 0
    proceed = Conductor.proceed

    def counted(conductor: Conductor, now: float) -> None:
        nonlocal turns
        turns += 1
        proceed(conductor, now)

    monkeypatch.setattr(Conductor, "proceed", counted)
    world.run(1_000)
    assert 0 < turns < 1_000  # of three thousand


def test_a_coordinator_looks_at_the_loads_when_it_is_time(monkeypatch: pytest.MonkeyPatch) -> None:
    world, _, _ = at_rest("a")
    service = world["a"].service
    looked: list[float] = []

    def look(directory: Directory) -> list[PlannedMove]:
        looked.append(world.now)
        return []

    monkeypatch.setattr("groupcore.sequencing.balancing.plan_balance", look)
    report_s = service.plane.options.report_s
    end = world.now + 5 * report_s
    while world.now < end:
        world.run(1)
    assert len(looked) >= 4


def test_who_begins_with_nothing_planned_is_idle_until_something_comes() -> None:
    service = Service(Address("a", 1), ServiceOptions(), Random(0))
    for now in (1.0, 2.0, 1e6):
        service.end_turn(now)
        service.take()
    assert service.idle.is_on
    assert service.take().sends == []
    assert service.stop_acknowledging(1) == {Address("a", 1): 0}
    assert not service.idle.is_on
