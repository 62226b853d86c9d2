"""States in pieces over links that lose: nodes with nothing but `States`, on virtual time.

Every packet of the network is lost by itself, so a datagram of several is lost with any of them.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count
from random import Random
from typing import cast

import pytest

from groupcore.batch import Header
from groupcore.sequencing import states as states_module
from groupcore.sequencing.headers import StatePiece, StateRequest
from groupcore.sequencing.names import GroupId
from groupcore.sequencing.options import ServiceOptions
from groupcore.sequencing.pieces import LATE_MIN_S, WINDOW_MAX, Pieces
from groupcore.sequencing.plane import Plane
from groupcore.sequencing.states import Copy, States, state_digest
from groupcore.view import Address
from tests.groupcore.layers.building import A, B, C

GROUP = GroupId(7)
PACKET_BYTES = 1_472
HOP_S = 0.0005
DIGEST = b"d" * 16


@dataclass
class FakePlane:
    """What `States` needs of its node's tables; what it sends goes over the links."""

    me: Address
    links: Links
    options: ServiceOptions = field(default_factory=ServiceOptions)
    counters: Counter[str] = field(default_factory=Counter)

    def to(self, destination: Address, header: Header) -> None:
        self.links.send(self.me, destination, header)

    def in_view(self, node: Address) -> bool:
        return node not in self.links.gone


class Links:
    """The nodes, what is under way between them, and what has been sent, with its time."""

    def __init__(self, loss: float, seed: int = 1) -> None:
        self.loss = loss
        self.random = Random(seed)
        self.now = 0.0
        self.gone: set[Address] = set()
        self.silent: set[Address] = set()
        self.sent: list[tuple[float, Address, Header]] = []
        self.nodes: dict[Address, States] = {}
        self._due: list[tuple[float, int, Address, Address, Header]] = []
        self._turn = count()

    def add(self, me: Address, state: bytes | None, copies: bool = True) -> States:
        plane = cast(Plane, FakePlane(me, self))
        given: list[int] = []

        def copy(token: int, node: Address, request: StateRequest) -> Copy:
            given.append(token)
            return Copy.BEGUN

        states = self.nodes[me] = States(plane, copy, lambda group: 0)
        states.begun = given  # type: ignore[attr-defined]
        states.has = state if copies else None  # type: ignore[attr-defined]
        return states

    def send(self, source: Address, target: Address, header: Header) -> None:
        if source in self.silent or target in self.silent:
            return
        self.sent.append((self.now, source, header))
        size = len(header.data) + 150 if isinstance(header, StatePiece) else 100
        packets = -(-size // PACKET_BYTES)
        if self.random.random() < (1 - self.loss) ** packets:
            at = self.now + HOP_S * self.random.uniform(0.8, 1.4)
            heappush(self._due, (at, next(self._turn), source, target, header))

    def run(self, until_s: float, done: list[bytes | None]) -> float:
        """Until something is done, or that time; when it was."""
        while self.now < until_s and not done:
            wakes = [one.next_wake() for one in self.nodes.values()]
            times = [at for at in wakes if at is not None] + [at for at, *_ in self._due[:1]]
            self.now = max(self.now, min(times, default=until_s))
            while self._due and self._due[0][0] <= self.now:
                _, _, source, target, header = heappop(self._due)
                if target in self.silent:
                    continue
                if isinstance(header, StateRequest):
                    self.nodes[target].on_request(source, header)
                    self.copy(target)
                else:
                    assert isinstance(header, StatePiece)
                    self.nodes[target].on_piece(source, header, self.now)
            for me, states in self.nodes.items():
                if me not in self.silent:
                    states.wake(self.now)
                    states.proceed(self.now)
                    states.give_owed()
        return self.now

    def copy(self, me: Address) -> None:
        states = self.nodes[me]
        has: bytes | None = states.has  # type: ignore[attr-defined]
        begun: list[int] = states.begun  # type: ignore[attr-defined]
        while has is not None and begun:
            states.give(begun.pop(), has)


@pytest.fixture(autouse=True)
def any_state(monkeypatch: pytest.MonkeyPatch) -> None:
    """How states come is tested with bytes at random, which are no state of a group."""
    monkeypatch.setattr(states_module, "is_group_state", lambda state, least: True)


def take(links: Links, *givers: Address) -> list[bytes | None]:
    done: list[bytes | None] = []
    links.nodes[C].take(GROUP, 0, (), lambda: dict.fromkeys(givers, 1), lambda: False, done.append)
    links.nodes[C].proceed(links.now)
    return done


def world(loss: float, size_bytes: int, seed: int = 1) -> tuple[Links, bytes]:
    links = Links(loss, seed)
    state = Random(seed).randbytes(size_bytes)
    for giver in (A, B):
        links.add(giver, state)
    links.add(C, None)
    return links, state


@pytest.mark.parametrize("loss", [0.0, 0.01, 0.05, 0.3])
def test_four_megabytes_come_over_a_link_that_loses(loss: float) -> None:
    links, state = world(loss, 4 << 20)
    done = take(links, A, B)
    took_s = links.run(60, done)
    assert done == [state]
    assert took_s < (2.0 if loss < 0.1 else 15.0)
    assert not [one for _, one, header in links.sent if one == B], "the first giver was enough"


def test_what_is_lost_costs_what_is_lost() -> None:
    links, _ = world(0.05, 4 << 20)
    done = take(links, A, B)
    links.run(60, done)
    pieces = -(-(4 << 20) // ServiceOptions().state_chunk_bytes)
    sent = sum(isinstance(header, StatePiece) for _, _, header in links.sent)
    assert sent < 1.35 * pieces


@pytest.mark.parametrize("seed", [1, 2])
def test_twenty_megabytes_come_though_the_giver_dies_in_the_midst_of_it(seed: int) -> None:
    links, state = world(0.05, 20 << 20, seed)
    done = take(links, A, B)
    links.run(3.0, done)
    assert not done
    links.silent.add(A)
    assert links.run(60, done) < 15.0
    assert done == [state]


def test_a_giver_that_loses_much_is_not_left_for_it() -> None:
    links, state = world(0.4, 200_000)
    done = take(links, A, B)
    links.run(60, done)
    assert done == [state]
    assert not [one for _, one, _ in links.sent if one == B]


def test_a_giver_that_makes_its_copy_says_so_and_is_waited_for() -> None:
    links, state = world(0.0, 10_000)
    slow = links.nodes[A]
    slow.has = None  # type: ignore[attr-defined]
    done = take(links, A, B)
    links.run(2.5, done)
    assert not done
    slow.has = state  # type: ignore[attr-defined]
    links.copy(A)
    links.run(5, done)
    assert done == [state]
    assert not [one for _, one, _ in links.sent if one == B]


def test_a_giver_whose_copy_takes_long_is_believed_as_long_as_it_gets_on_with_it() -> None:
    links, state = world(0.0, 10_000)
    slow = links.nodes[A]
    slow.has = None  # type: ignore[attr-defined]
    slow.made = lambda: int(links.now)
    done = take(links, A, B)
    links.run(12.0, done)
    assert not done
    slow.has = state  # type: ignore[attr-defined]
    links.copy(A)
    links.run(13, done)
    assert done == [state]
    assert not [one for _, one, _ in links.sent if one == B]


def test_a_giver_that_never_has_its_copy_is_left() -> None:
    links, state = world(0.0, 10_000)
    links.nodes[A].has = None  # type: ignore[attr-defined]
    done = take(links, A, B)
    assert links.run(20, done) < 7.0
    assert done == [state]


def test_the_taker_asks_for_so_much_a_second_and_no_more() -> None:
    links, _ = world(0.0, 8 << 20)
    done = take(links, A)
    links.run(60, done)
    rate = ServiceOptions().state_rate_bytes
    for second in (0, 1):
        given = sum(
            len(header.data)
            for at, _, header in links.sent
            if isinstance(header, StatePiece) and second <= at < second + 1
        )
        assert given <= 1.1 * rate
    for tenth in range(10):
        begins = 0.5 + tenth / 100
        given = sum(
            len(header.data)
            for at, _, header in links.sent
            if isinstance(header, StatePiece) and begins <= at < begins + 0.01
        )
        assert given <= 0.02 * rate, "no burst in ten milliseconds"


def test_who_takes_says_how_much_has_come_of_how_much() -> None:
    links, state = world(0.0, 4 << 20)
    taker = links.nodes[C]
    assert taker.progress(GROUP) is None
    done = take(links, A)
    assert taker.progress(GROUP) == (0, 0)
    links.run(0.5, done)
    progress = taker.progress(GROUP)
    assert progress is not None
    assert 1 << 20 < progress[0] < progress[1] >= len(state)
    links.run(5, done)
    assert taker.progress(GROUP) is None


# --- the pieces of one state ----------------------------------------------------------------------


def begun(pieces: int) -> Pieces:
    taken = Pieces()
    assert taken.ask(10, 0.0) == [(0, 1)]
    assert taken.take(0, pieces, DIGEST, b"0", 0.001)
    return taken


def test_before_the_first_piece_nothing_else_is_asked_for() -> None:
    taken = Pieces()
    assert taken.ask(10, 0.0) == [(0, 1)]
    assert taken.ask(10, 0.0) == []


def test_a_piece_counts_once_and_only_within_the_count() -> None:  # I1
    taken = begun(3)
    assert not taken.take(3, 3, DIGEST, b"x", 0.002)
    assert not taken.take(1, 4, DIGEST, b"x", 0.002)
    assert not taken.take(1, 3, b"e" * 16, b"x", 0.002)
    taken.ask(10, 0.002)
    assert taken.take(1, 3, DIGEST, b"1", 0.003)
    assert taken.take(1, 3, DIGEST, b"again", 0.003)
    assert taken.take(2, 3, DIGEST, b"2", 0.003)
    assert taken.whole
    assert taken.joined() == b"012"


def test_at_most_a_window_is_under_way_and_less_where_answers_come_late() -> None:  # I2
    taken, now = begun(100_000), 0.001
    for _ in range(300):
        for first, until in taken.ask(1_000, now):
            for index in range(first, until):
                taken.take(index, 100_000, DIGEST, b"x", now + 0.001)
        now += 0.001
    taken.ask(1_000, now)
    assert taken.under_way == WINDOW_MAX
    for index in sorted(taken._asked)[:40]:
        taken.take(index, 100_000, DIGEST, b"x", now + 0.2)
    taken.look(now + 1.0)
    taken.ask(1_000, now + 1.0)
    assert taken.under_way < WINDOW_MAX / 2


def window_of_rounds(late_rounds: int) -> int:
    """How many pieces are under way behind so many rounds whose answers come late."""
    taken, now = begun(100_000), 0.001
    for number in range(300 + late_rounds):
        took_s = 0.001 if number < 300 else 0.2
        for first, until in taken.ask(1_000, now):
            for index in range(first, until):
                taken.take(index, 100_000, DIGEST, b"x", now + took_s)
        now += took_s
    taken.ask(1_000, now)
    return taken.under_way


def test_i2_one_pause_of_a_busy_machine_does_not_make_the_window_small() -> None:
    assert window_of_rounds(1) >= WINDOW_MAX / 2


def test_i2_a_link_that_stays_slow_has_little_under_way() -> None:
    assert window_of_rounds(15) <= 4


def test_who_has_asked_for_a_window_or_for_all_wants_nothing_more_for_now() -> None:  # I2
    few = begun(2)
    wanted = [few.wants]
    few.ask(10, 0.002)
    wanted.append(few.wants)
    assert wanted == [True, False]
    many = begun(100_000)
    asked = sum(until - first for first, until in many.ask(1_000, 0.002))
    assert asked == many.under_way < 1_000
    wanted = [many.wants]
    many.take(1, 100_000, DIGEST, b"x", 0.003)
    wanted.append(many.wants)
    assert wanted == [False, True]


def test_what_later_ones_have_overtaken_is_asked_for_again_at_once() -> None:
    taken, now = begun(1_000), 0.001
    for _ in range(10):
        for first, until in taken.ask(1_000, now):
            for index in range(first, until):
                if index != 2:
                    taken.take(index, 1_000, DIGEST, b"x", now + 0.001)
        now += 0.001
    assert now < LATE_MIN_S
    assert taken.repeated >= 1


def test_the_hash_of_what_is_given_is_that_of_the_state() -> None:
    links, state = world(0.0, 5_000)
    done = take(links, A)
    links.run(5, done)
    (digest,) = {header.digest for _, _, header in links.sent if isinstance(header, StatePiece)}
    assert digest == state_digest(state)
