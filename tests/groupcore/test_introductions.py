"""The rules of introductions: how nodes find each other where there is no multicast."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgpack import packb

from groupcore.introductions import Introductions
from groupcore.peers import PeerTable, SocketAddress
from groupcore.seal import INTRODUCTION
from groupcore.transport import TransportOptions
from tests.groupcore.transports import ATTACKER, HOSTS, Node, acquaint, batch, exchange, kinds


def node(name: str, *hosts: str) -> Node:
    initial = tuple(HOSTS[host] for host in hosts)
    return Node(name, options=TransportOptions(multicast=False, initial_hosts=initial))


def introductions() -> Introductions:
    return Introductions(PeerTable(4, 4), TransportOptions(peers_max=4))


def test_two_nodes_that_know_only_a_third_find_each_other() -> None:
    a, b, c = node("a"), node("b", "a"), node("c", "a")
    for now in (0.0, 0.1, 0.2):
        for each in (a, b, c):
            each.transport.send(batch(each, b"hello"))
        exchange(a, b, c, now=now)
    assert set(b.transport.peers()) == {a.address, c.address}
    assert set(c.transport.peers()) == {a.address, b.address}


def test_introductions_are_repeated_once_a_second() -> None:
    a, b, c = node("a"), node("b", "a"), node("c", "a")
    acquaint(b, c, a)
    told = [kinds(a.transport.flush(10.0 + tenth / 10)).count(INTRODUCTION) for tenth in range(12)]
    assert told == [2, *[0] * 9, 2, 0]


def test_a_node_that_was_introduced_and_never_answers_is_forgotten() -> None:  # N2
    a, b, c = node("a"), node("b", "a"), node("c", "a")
    acquaint(b, c, a)
    a.transport.flush(0.0)
    b.receives(a.transport._sealer.seal(INTRODUCTION, packb([HOSTS["h"]])), a.host, now=1.0)
    for now, reached in ((5.9, True), (6.0, False)):
        b.transport.send(batch(b, b"text"))
        targets = {datagram.destination for datagram in b.transport.flush(now)}
        assert (HOSTS["h"] in targets) == reached


def test_the_introduction_of_a_stranger_is_not_believed() -> None:  # N1
    b, stranger = node("b"), node("c")
    b.receives(stranger.transport._sealer.seal(INTRODUCTION, packb([HOSTS["h"]])), ATTACKER)
    b.transport.flush(0.0)
    assert b.transport.drops == {"unproven": 1}
    assert b.sends(b"text") == []


def test_what_was_introduced_is_bounded() -> None:  # N2
    told = introductions()
    for port in range(1, 100):
        assert told.receive(packb([("127.0.0.1", port)]), 0.0)
    assert told.hosts(0.0) == [("127.0.0.1", port) for port in range(96, 100)]


@pytest.mark.parametrize(
    "item",
    [
        None,
        ["127.0.0.1"],
        ["host.example", 1],
        ["127.0.0.1", 0],
        ["127.0.0.1", 65_536],
        ["127.0.0.1", True],
        [b"127.0.0.1", 1],
    ],
)
def test_what_is_no_socket_address_is_refused_with_the_whole(item: object) -> None:
    told = introductions()
    assert not told.receive(packb([("127.0.0.1", 1), item]), 0.0)
    assert told.hosts(0.0) == []


@given(plaintext=st.binary(max_size=60))
def test_no_bytes_make_it_raise(plaintext: bytes) -> None:
    told = introductions()
    told.receive(plaintext, 0.0)
    hosts: list[SocketAddress] = told.hosts(0.0)
    assert len(hosts) <= 4
