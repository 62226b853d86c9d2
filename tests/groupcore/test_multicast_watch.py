"""Reports, soundings and copies, where multicasts do not arrive."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupcore.multicast_watch import LOOK_S, NOTHING
from groupcore.seal import DATA, INTRODUCTION, MISSING, SOUNDING
from groupcore.transport import Datagram, TransportOptions
from tests.groupcore.transports import HOSTS, Node, acquaint, batch, kinds, pair

MISSED_S = TransportOptions().missed_s


class Filtered:
    """Two nodes; `a` multicasts and pings all the time, and `b` hears only what is for it alone."""

    def __init__(self) -> None:
        self.a, self.b = pair()
        self.now = 0.0
        self.filtered = True
        self.sent: list[Datagram] = []
        self.got: list[list[bytes]] = []

    def run(self, seconds: float) -> None:
        """Let them talk, ten times a second."""
        for _ in range(round(seconds * 10)):
            self.now += 0.1
            self.a.transport.send(batch(self.a, b"all"))
            self.a.transport.send(batch(self.a, b"one", self.b))
            self.sent = self.a.transport.flush(self.now)
            for datagram in self.sent:
                if datagram.destination == self.b.host or not self.filtered:
                    self.got.append(self.b.receives(datagram.data, self.a.host, self.now))
            for datagram in self.b.transport.flush(self.now):
                self.a.receives(datagram.data, self.b.host, self.now)

    @property
    def copies(self) -> int:
        """How many copies of multicasts `a` has sent in its last turn."""
        data = [each for each in self.sent if each.data[1] == DATA]
        return len(data) - len({each.data for each in data})


def test_while_multicasts_arrive_nothing_else_is_sent() -> None:  # C1
    pair_ = Filtered()
    pair_.filtered = False
    pair_.run(10)
    assert {each.data[1] for each in pair_.sent} == {DATA}
    assert pair_.b.transport.flush(pair_.now + LOOK_S) == []
    assert pair_.copies == 0


def test_who_misses_the_multicasts_of_a_peer_gets_copies() -> None:
    pair_ = Filtered()
    pair_.run(MISSED_S + 3 * LOOK_S)
    assert pair_.copies == 1
    pair_.got.clear()
    pair_.run(5)
    assert pair_.got.count([b"all"]) == pair_.got.count([b"one"]) == 50
    assert pair_.a.transport.counters()["copied_to"] == 1
    assert pair_.b.transport.counters()["multicast_missed"] == 1


def test_a_copy_is_no_sign_that_multicast_works() -> None:
    pair_ = Filtered()
    pair_.run(30)
    assert pair_.copies == 1


def test_after_a_sounding_has_come_the_copies_end() -> None:
    pair_ = Filtered()
    pair_.run(5)
    pair_.filtered = False
    pair_.run(1)
    assert pair_.b.transport.counters()["multicast_missed"] == 0
    pair_.run(TransportOptions().copied_s)
    assert pair_.copies == 0
    assert pair_.b.transport.drops["replayed"] > 0  # what came both ways came up once


def test_one_report_brings_a_sounding_and_no_copies() -> None:  # C2
    a, b = pair()
    a.receives(b.transport._sealer.seal(MISSING, NOTHING), b.host, now=0.1)
    datagrams = a.transport.flush(0.1)
    assert kinds(datagrams) == [SOUNDING]
    assert datagrams[0].destination is None
    assert len(a.sends(b"all", now=0.2)) == 1
    a.receives(b.sends(b"all", now=0.7)[0], b.host, now=0.7)
    a.receives(b.transport._sealer.seal(MISSING, NOTHING), b.host, now=1.2)
    a.transport.flush(1.2)
    assert len(a.sends(b"all", now=1.3)) == 1


def test_soundings_are_rare_however_many_report() -> None:
    a, b, c = Node("a"), Node("b"), Node("c")
    acquaint(a, b, c)
    for node in (b, c, b, c):
        a.receives(node.transport._sealer.seal(MISSING, NOTHING), node.host, now=0.1)
    assert kinds(a.transport.flush(0.1)).count(SOUNDING) == 1


def test_a_silent_peer_is_not_reported_to() -> None:  # C3
    _, b = pair()
    reports = [kinds(b.transport.flush(tenth / 10)).count(MISSING) for tenth in range(100)]
    assert 0 < sum(reports) < 12
    assert sum(reports[31:]) == 0


def test_hosts_of_which_nothing_was_heard_are_knocked_at_once_a_second() -> None:
    a = Node("a", options=TransportOptions(initial_hosts=(HOSTS["b"],)))
    knocks = [a.transport.flush(quarter / 4) for quarter in range(20)]
    sent = [datagram for datagrams in knocks for datagram in datagrams]
    assert kinds(sent) == [INTRODUCTION] * 4
    assert {datagram.destination for datagram in sent} == {HOSTS["b"]}


def test_a_knock_makes_two_nodes_peers() -> None:
    a = Node("a", options=TransportOptions(initial_hosts=(HOSTS["b"],)))
    b = Node("b")
    nodes = {a.host: a, b.host: b}
    a.transport.flush(0.0)
    waiting = [(a, each) for each in a.transport.flush(MISSED_S)]
    while waiting:
        sender, datagram = waiting.pop(0)
        if datagram.destination is not None:
            to = nodes[datagram.destination]
            to.receives(datagram.data, sender.host, MISSED_S)
            waiting += [(to, each) for each in to.transport.flush(MISSED_S)]
    assert a.transport.peers() == {b.address: b.host}
    assert b.transport.peers() == {a.address: a.host}


@pytest.mark.parametrize("kind", [SOUNDING, MISSING])
@given(plaintext=st.binary(max_size=20).filter(lambda data: data != NOTHING))
def test_a_report_that_says_anything_is_counted(kind: int, plaintext: bytes) -> None:
    a, b = pair()
    for now in (0.1, 0.2):
        a.receives(b.transport._sealer.seal(kind, plaintext), b.host, now)
    assert a.transport.drops["bad_report"] == 2
    assert len(a.sends(b"all", now=0.3)) == 1


def test_the_report_of_a_stranger_is_not_believed() -> None:
    a, stranger = Node("a"), Node("b")
    for _ in range(2):
        a.receives(stranger.transport._sealer.seal(MISSING, NOTHING), stranger.host)
    assert a.transport.drops["unproven"] == 2
    assert len(a.sends(b"all", now=0.0)) <= 2  # a challenge, and the group
