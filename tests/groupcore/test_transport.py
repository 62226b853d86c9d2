"""The rules of the transport: what is dropped and counted, how packets are bundled."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groupcore.seal import CHALLENGE, DATA, HEADER, KINDS, PROOF
from groupcore.transport import Transport, TransportOptions
from tests.groupcore.transports import (
    ATTACKER,
    HOSTS,
    Node,
    acquaint,
    batch,
    pair,
)

# --- forged, altered, replayed --------------------------------------------------------------------


def test_a_replayed_datagram_is_dropped_and_counted() -> None:  # X2, fault 4
    a, b = pair()
    (datagram,) = a.sends(b"text")
    assert b.receives(datagram, a.host) == [b"text"]
    b.transport.take_heard()
    assert b.receives(datagram, ATTACKER) == []
    assert b.transport.drops == {"replayed": 1}
    assert b.transport.take_heard() == ()
    assert b.transport.peers() == {a.address: a.host}


def test_a_forged_counter_does_not_lock_the_sender_out() -> None:  # W3
    a, b = pair()
    (datagram,) = a.sends(b"text")
    forged = bytearray(datagram)
    forged[27:35] = b"\xff" * 8
    assert b.receives(bytes(forged), ATTACKER) == []
    assert b.transport.drops == {"forged": 1}
    assert b.receives(datagram, a.host) == [b"text"]


def test_datagrams_may_overtake_each_other_within_the_window() -> None:  # fault 5
    a, b = pair()
    sealed = [a.sends(b"%d" % number)[0] for number in range(100)]
    Random(1).shuffle(sealed)
    assert sorted(int(b.receives(each, a.host)[0]) for each in sealed) == list(range(100))


def test_datagrams_of_impossible_size_version_or_kind_are_counted() -> None:
    a, b = pair()
    (datagram,) = a.sends(b"text")
    for data in (b"", datagram[:50], bytes(65_537)):
        assert b.receives(data, ATTACKER) == []
    assert b.transport.drops == {"bad_size": 3}
    for place, value in ((0, 9), (1, 99), (0, 2), (1, 6)):
        assert b.receives(datagram[:place] + bytes([value]) + datagram[place + 1 :], a.host) == []
    assert b.transport.drops["bad_clear_header"] == 2
    assert b.transport.drops["has_certificate"] == 2


@pytest.mark.parametrize("proven", [False, True])
def test_own_datagrams_that_come_back_are_ignored(proven: bool) -> None:
    a = Node("a")
    if proven:
        acquaint(a, Node("b"))
    (datagram,) = a.sends(b"text")
    assert a.receives(datagram, a.host) == []
    assert a.transport.drops == {}
    assert a.transport.flush(0.0) == []


def test_packets_behind_a_bad_one_are_still_processed() -> None:
    a, b = pair()
    good = batch(a, b"good")
    a.transport.send(good)
    a.transport._queues[None][:0] = [b"\xc0", b"\x93\x91\x91\xcc\xff\x00\xc4\x00"]
    (datagram,) = a.transport.flush(0.0)
    assert b.receives(datagram.data, a.host) == [b"good"]
    assert b.transport.drops == {"bad_packet": 1, "unknown_header": 1}


@pytest.mark.parametrize(
    "plaintext",
    [b"", b"\xc1", b"\x90", b"\x92\xc0", b"\xdd\xff\xff\xff\xff", b"\xc0", b"\x91\xc0\xc0"],
)
def test_a_sealed_datagram_that_holds_no_packets_is_counted(plaintext: bytes) -> None:
    a, b = pair()
    assert b.receives(a.transport._sealer.seal(DATA, plaintext), a.host) == []
    assert b.transport.drops == {"malformed": 1}


@pytest.mark.parametrize("kind", [CHALLENGE, PROOF])
@pytest.mark.parametrize("plaintext", [b"", b"\xc0", b"\x93\x01\x02\x03", b"\x92\xc4\x00\xc4\x00"])
def test_a_sealed_control_datagram_of_the_wrong_form_is_counted(
    kind: int, plaintext: bytes
) -> None:
    a, b = Node("a"), Node("b")
    b.receives(a.transport._sealer.seal(kind, plaintext), a.host)
    assert sum(b.transport.drops.values()) == 1
    assert b.transport.peers() == {}


def test_a_control_datagram_above_its_limit_is_not_opened() -> None:
    a, b = Node("a"), Node("b")
    b.receives(a.transport._sealer.seal(PROOF, bytes(600)), a.host)
    assert b.transport.drops == {"bad_size": 1}


def snapshot(transport: Transport) -> tuple[object, ...]:
    table = transport._table
    return (
        transport.peers(),
        sorted(table.pending),
        sorted(table.lanes),
        [(peer.window.highest, bytes(peer.window._slots)) for peer in table.peers.values()],
        transport.take_heard(),
        transport.flush(0.0),
        transport.same_id_seen,
    )


@settings(max_examples=200)
@given(data=st.data())
def test_no_bytes_of_an_outsider_change_anything_but_the_counters(data: st.DataObject) -> None:
    # X1, faults 6 and 47
    a, b = pair()
    sealed = a.sends(b"text") + a.sends(b"text", to=b)
    for datagram in sealed:
        b.receives(datagram, a.host)
    b.transport.take_heard()
    before = snapshot(b.transport)
    real = data.draw(st.sampled_from(sealed))
    raw = data.draw(
        st.binary(max_size=120)
        | st.integers(0, len(real) - 1).map(lambda end: real[:end])
        | st.binary(min_size=1, max_size=40).map(lambda tail: real + tail)
        | st.tuples(st.integers(0, len(real) - 1), st.integers(1, 255)).map(
            lambda change: bytes(
                byte ^ change[1] if place == change[0] else byte for place, byte in enumerate(real)
            )
        )
        | st.binary(min_size=40, max_size=90).map(lambda tail: real[:35] + tail)
        | st.just(real)
    )
    assert b.receives(raw, ATTACKER) == []
    assert sum(b.transport.drops.values()) == 1
    assert snapshot(b.transport) == before


@settings(max_examples=200)
@given(kind=st.sampled_from(KINDS), plaintext=st.binary(max_size=200))
def test_no_sealed_bytes_of_a_member_make_it_raise(kind: int, plaintext: bytes) -> None:  # X1
    a, b = pair()
    assert b.receives(a.transport._sealer.seal(kind, plaintext), a.host) == []
    stranger = Node("c")
    assert b.receives(stranger.transport._sealer.seal(kind, plaintext), stranger.host) == []


# --- clones ---------------------------------------------------------------------------------------


def clone_of(node: Node) -> Node:
    """The same life once more, as of now: a machine that is copied while it runs."""
    options = TransportOptions(first_counter=node.transport._sealer.counter)
    return Node(node.address.name, node.address.incarnation, node.boot, options=options)


def noticed(node: Node) -> bool:
    return node.transport.is_cloned


def test_a_clone_ends_and_so_does_whom_it_was_cloned_from() -> None:  # X6, T4
    a, b = pair()
    clone = clone_of(a)
    (behind,) = clone.sends(b"clone")
    _, ahead = a.sends(b"1") + a.sends(b"2")
    assert a.receives(behind, clone.host) == []
    assert not noticed(a)  # it may be its own that has come back
    assert clone.receives(ahead, a.host) == []
    assert noticed(clone)
    late = a.sends(b"3")
    (last,) = clone.transport.flush(0.0)
    assert last.destination is None
    for node in (a, b):
        node.receives(last.data, clone.host)
    assert noticed(a)
    assert b.receives(late[0], a.host) == []
    assert b.transport.drops == {"too_old": 1}


def test_nobody_without_the_key_makes_a_node_take_itself_for_cloned() -> None:  # X6
    a, _ = pair()
    (datagram,) = a.sends(b"text")
    forged = bytearray(datagram)
    forged[27:35] = b"\xff" * 8
    assert a.receives(bytes(forged), ATTACKER) == []
    assert a.receives(datagram, ATTACKER) == []
    assert not noticed(a)
    assert a.transport.drops == {"forged": 1}


# --- bundling -------------------------------------------------------------------------------------


def test_packets_of_one_turn_travel_together_in_order() -> None:  # X4
    a, b = pair()
    for number in range(5):
        a.transport.send(batch(a, b"%d" % number))
    (datagram,) = a.transport.flush(0.0)
    assert b.receives(datagram.data, a.host) == [b"0", b"1", b"2", b"3", b"4"]
    assert datagram.destination is None


def test_each_destination_has_its_own_datagrams() -> None:
    a, b, c = Node("a"), Node("b"), Node("c")
    acquaint(a, b, c)
    for to in (b, c, b, None):
        a.transport.send(batch(a, b"text", to))
    sent = [datagram.destination for datagram in a.transport.flush(0.0)]
    assert sent == [b.host, c.host, None]


@given(sizes=st.lists(st.integers(0, 1_100), min_size=1, max_size=30))
def test_no_datagram_is_above_the_limit_and_the_order_is_kept(sizes: list[int]) -> None:  # X4
    a, b = Node("a", options=TransportOptions(datagram_bytes_max=1_400)), Node("b")
    acquaint(a, b)
    texts = [bytes([number]) * size for number, size in enumerate(sizes)]
    for to in (None, b):
        for text in texts:
            a.transport.send(batch(a, text, to))
    datagrams = a.transport.flush(0.0)
    assert all(len(datagram.data) <= 1_400 for datagram in datagrams)
    got = [text for datagram in datagrams for text in b.receives(datagram.data, a.host)]
    assert got == texts * 2


def test_a_packet_above_the_limit_travels_alone() -> None:
    a, b = Node("a", options=TransportOptions(datagram_bytes_max=1_400)), Node("b")
    acquaint(a, b)
    for size in (10, 5_000, 10):
        a.transport.send(batch(a, bytes(size)))
    datagrams = a.transport.flush(0.0)
    assert [b.receives(datagram.data, a.host) for datagram in datagrams] == [
        [bytes(10)],
        [bytes(5_000)],
        [bytes(10)],
    ]


def test_a_packet_that_no_datagram_holds_is_a_bug_above() -> None:
    a = Node("a")
    with pytest.raises(AssertionError, match="FRAG"):
        a.transport.send(batch(a, bytes(65_000)))


def test_an_unknown_destination_is_dropped_and_counted() -> None:
    a, b = Node("a"), Node("b")
    assert a.sends(b"text", to=b) == []
    assert a.transport.drops == {"unknown_destination": 1}


def test_a_multicast_without_multicast_is_sealed_once_for_everybody() -> None:
    options = TransportOptions(multicast=False, initial_hosts=(HOSTS["b"], HOSTS["h"]))
    a, b, c = Node("a", options=options), Node("b"), Node("c")
    acquaint(a, b, c)
    a.transport.send(batch(a, b"text"))
    datagrams = a.transport.flush(0.0)
    assert [each.destination for each in datagrams] == [HOSTS["b"], HOSTS["h"]] + (
        [c.host] if c.address in a.transport.peers() else []
    )
    assert len({each.data for each in datagrams}) == 1
    (got,) = b.transport.receive(datagrams[0].data, a.host, 0.0)
    assert got.destination is None


def test_silent_peers_get_few_copies_where_there_is_no_multicast() -> None:
    options = TransportOptions(multicast=False, initial_hosts=(HOSTS["b"],))
    a, b = Node("a", options=options), Node("b")
    acquaint(a, b)
    a.transport.options = TransportOptions(multicast=False)
    assert len(a.sends(b"text", now=29.0)) == 1
    assert [len(a.sends(b"text", now=30.0 + step / 10)) for step in range(12)] == [
        1, *[0] * 9, 1, 0,
    ]  # fmt: skip


def test_the_counters_name_drops_traffic_and_peers() -> None:
    a, b = pair()
    (datagram,) = a.sends(b"text")
    b.receives(datagram, a.host)
    b.receives(datagram, a.host)
    counters = b.transport.counters()
    assert counters["drops.replayed"] == 1
    assert counters["peers"] == 1
    assert counters["datagrams_sent"] > 0
    assert HEADER.size == 35
