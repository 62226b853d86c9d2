"""The rules of admission: which boots are listened to, and under which keys."""

from __future__ import annotations

from random import Random

import pytest

from groupcore.batch import Batch, pack_messages
from groupcore.layers import nakack_headers
from groupcore.seal import CHALLENGE, DATA, PROOF, Keyring, Sealer, sender_id
from groupcore.transport import SocketAddress, Transport, TransportOptions
from groupcore.view import Address
from tests.groupcore.transports import (
    ATTACKER,
    HOSTS,
    KEY,
    Node,
    acquaint,
    batch,
    exchange,
    kinds,
    pair,
)

# --- freshness ------------------------------------------------------------------------------------


def test_two_strangers_prove_themselves_and_then_hear_each_other() -> None:
    a, b = pair()
    assert a.transport.peers() == {b.address: b.host}
    assert b.transport.peers() == {a.address: a.host}
    (datagram,) = a.sends(b"text")
    (got,) = b.transport.receive(datagram, a.host, 0.0)
    assert got == Batch(
        a.address, None, (nakack_headers.Data(1, 2, 0),), pack_messages([b"text"]), 1
    )


def test_a_boot_is_not_listened_to_before_it_has_proven_itself() -> None:  # X2
    a, b = Node("a"), Node("b")
    (datagram,) = a.sends(b"text")
    assert b.receives(datagram, a.host) == []
    assert b.transport.drops == {"unproven": 1}
    assert b.transport.take_heard() == ()
    (challenge,) = b.transport.flush(0.0)
    assert kinds([challenge]) == [CHALLENGE]
    assert challenge.destination == a.host


def test_one_boot_is_challenged_once_an_interval() -> None:  # A3
    a, b = Node("a"), Node("b")
    for _ in range(9):
        b.receives(a.sends(b"text")[0], a.host, now=0.0)
    assert len(b.transport.flush(0.0)) == 1
    b.receives(a.sends(b"text")[0], a.host, now=0.049)
    assert b.transport.flush(0.049) == []
    b.receives(a.sends(b"text")[0], a.host, now=0.05)
    assert len(b.transport.flush(0.05)) == 1


def test_a_recording_of_an_earlier_life_is_never_taken_for_the_living() -> None:  # T3
    a, b = pair()
    recording = a.sends(b"text", to=b) + a.sends(b"text")
    late = Node("b", incarnation=2)
    for datagram in recording * 3:
        assert late.receives(datagram, ATTACKER) == []
    assert late.transport.peers() == {}
    assert late.transport.take_heard() == ()
    assert late.transport.drops == {"unproven": 6}


def test_a_recorded_proof_proves_nothing_to_another_challenge() -> None:  # A1
    a, b = Node("a"), Node("b")
    b.receives(a.sends(b"text")[0], a.host)
    (challenge,) = b.transport.flush(0.0)
    a.transport.receive(challenge.data, b.host, 0.0)
    proof = next(d.data for d in a.transport.flush(0.0) if d.data[1] == PROOF)
    again = Node("b", incarnation=2)
    again.receives(a.sends(b"text")[0], a.host)
    again.receives(proof, a.host)
    assert again.transport.peers() == {}
    assert again.transport.drops["bad_proof"] == 1


def test_a_proof_that_took_longer_than_the_nonce_lives_is_refused() -> None:  # A1
    a, b = Node("a"), Node("b")
    b.receives(a.sends(b"text")[0], a.host)
    (challenge,) = b.transport.flush(0.0)
    a.transport.receive(challenge.data, b.host, 0.0)
    proof = next(d.data for d in a.transport.flush(0.0) if d.data[1] == PROOF)
    b.receives(proof, a.host, now=10.0)
    assert b.transport.peers() == {}
    acquaint(a, b, now=20.0)
    assert a.address in b.transport.peers()


def test_a_proof_under_a_name_that_is_not_the_senders_is_refused() -> None:  # A1, T6
    b = Node("b")
    sealer = Sealer(Keyring("home", {1: KEY}, 1), sender_id("a"), b"x" * 16)
    impostor = Transport(
        Address("c", 1), Keyring("home", {1: KEY}, 1), b"x" * 16, TransportOptions(), Random(1)
    )
    impostor._admission._sealer = sealer
    b.receives(sealer.seal(DATA, b"\x91\xc0"), ATTACKER)
    (challenge,) = b.transport.flush(0.0)
    impostor.receive(challenge.data, b.host, 0.0)
    for datagram in impostor.flush(0.0):
        b.receives(datagram.data, ATTACKER)
    assert b.transport.peers() == {}
    assert b.transport.drops["bad_proof"] == 1


def test_nothing_sealed_before_the_proof_is_accepted_after_it() -> None:  # X2
    a, b = Node("a"), Node("b")
    (early,) = a.sends(b"early")
    acquaint(a, b)
    assert b.receives(early, a.host) == []
    assert b.transport.drops == {"too_old": 1}


def test_what_is_proven_is_heard() -> None:
    a, b = Node("a"), Node("b")
    a.transport.send(batch(a, b"hello"))
    exchange(a, b)
    assert b.transport.take_heard() == (a.address,)
    assert b.transport.take_heard() == ()
    b.receives(a.sends(b"text")[0], a.host)
    assert b.transport.take_heard() == (a.address,)


def test_an_answer_is_hardly_larger_than_its_cause() -> None:  # X3, T7
    a, b = Node("a"), Node("b")
    a.transport.send(Batch(a.address, None, (nakack_headers.Data(0, 0, 0),)))
    (least,) = a.transport.flush(0.0)
    b.transport.receive(least.data, a.host, 0.0)
    (challenge,) = b.transport.flush(0.0)
    a.transport.receive(challenge.data, b.host, 0.0)
    proof = a.transport.flush(0.0)[0]
    assert len(challenge.data) <= len(least.data) + 32
    assert len(proof.data) <= len(challenge.data) + 64


def test_a_challenge_from_a_stranger_is_answered_once() -> None:  # A3
    a, b = Node("a"), Node("b")
    b.receives(a.sends(b"text")[0], a.host)
    (challenge,) = b.transport.flush(0.0)
    answers = []
    for _ in range(5):
        a.transport.receive(challenge.data, ATTACKER, 0.0)
        answers += a.transport.flush(0.0)
    assert kinds(answers) == [PROOF, CHALLENGE]


def test_a_challenge_to_another_boot_is_not_answered() -> None:
    a, b, c = Node("a"), Node("b"), Node("c")
    b.receives(a.sends(b"text")[0], a.host)
    (challenge,) = b.transport.flush(0.0)
    c.transport.receive(challenge.data, b.host, 0.0)
    assert PROOF not in kinds(c.transport.flush(0.0))
    assert c.transport.drops == {"not_for_me": 1}


# --- where a peer is ------------------------------------------------------------------------------

ELSEWHERE = ("127.0.0.8", 1_000)
"""Where a node has moved to."""


def settle(node: Node, other: Node, place: SocketAddress, now: float) -> None:
    """What `other` asks for is carried to `place`, where `node` is, and answered from there."""
    for datagram in other.transport.flush(now):
        if datagram.destination == place:
            node.transport.receive(datagram.data, other.host, now)
    for datagram in node.transport.flush(now):
        other.transport.receive(datagram.data, place, now)


@pytest.mark.parametrize("now", [0.1, 5.0])
def test_a_copy_that_comes_from_elsewhere_moves_no_peer(now: float) -> None:  # A5, X5, T3
    a, b, c = Node("a"), Node("b"), Node("c")
    acquaint(a, b, c)
    for datagram in [*a.sends(b"for b", to=b, now=now), *a.sends(b"for all", now=now)]:
        c.receives(datagram, ATTACKER, now=now)
    assert c.transport.peers()[a.address] == a.host
    c.transport.send(batch(c, b"secret", to=a))
    answers = c.transport.flush(now)
    assert [one.destination for one in answers if one.data[1] == DATA] == [a.host]
    assert kinds([one for one in answers if one.destination == ATTACKER]) in ([], [CHALLENGE])
    c.receives(a.sends(b"text", now=now)[0], a.host, now=now)
    assert c.transport.peers()[a.address] == a.host


def test_a_peer_that_has_moved_is_found_where_it_proves_to_be() -> None:  # A5
    a, b = pair()
    assert b.receives(a.sends(b"text")[0], ELSEWHERE, now=0.5) == [b"text"]
    assert b.transport.flush(0.5) == []  # its known source is not silent for long enough
    assert b.receives(a.sends(b"text")[0], ELSEWHERE, now=0.7) == [b"text"]
    settle(a, b, ELSEWHERE, 0.7)
    assert b.transport.peers() == {a.address: ELSEWHERE}
    assert b.transport.drops == {}


def test_a_proof_moves_a_peer_only_to_where_it_was_asked_for() -> None:  # A5
    a, b = pair()
    b.receives(a.sends(b"text")[0], ELSEWHERE, now=0.7)
    (challenge,) = b.transport.flush(0.7)
    a.transport.receive(challenge.data, b.host, 0.7)
    (proof,) = a.transport.flush(0.7)
    b.receives(proof.data, ATTACKER, now=0.7)
    assert b.transport.peers() == {a.address: a.host}


def test_a_proof_of_before_moves_no_peer() -> None:  # A5
    a, b = pair()
    b.receives(a.sends(b"text")[0], ELSEWHERE, now=0.7)
    (first,) = b.transport.flush(0.7)
    b.receives(a.sends(b"text")[0], ELSEWHERE, now=0.79)  # another nonce
    a.transport.receive(first.data, b.host, 0.79)
    proof = next(each.data for each in a.transport.flush(0.79) if each.data[1] == PROOF)
    b.receives(proof, ELSEWHERE, now=0.79)
    assert b.transport.peers() == {a.address: a.host}
    assert b.transport.drops == {"bad_proof": 1}


def test_a_peer_that_is_copied_from_elsewhere_is_asked_once_an_interval() -> None:  # A3, A5
    a, b = pair()
    for _ in range(9):
        b.receives(a.sends(b"text")[0], ATTACKER, now=0.7)
    assert kinds(b.transport.flush(0.7)) == [CHALLENGE]


# --- strangers -----------------------------------------------------------------------------------


def test_a_stranger_without_the_key_costs_a_bounded_number_of_openings() -> None:  # A4, T7
    b = Node("b", options=TransportOptions(unknown_per_s=10, unknown_burst=5))
    rogue = Node("a", keys=Keyring("home", {1: b"x" * 32}, 1))
    for _ in range(20):
        b.receives(rogue.sends(b"text")[0], ATTACKER)
    assert b.transport.drops == {"forged": 5, "throttled": 15}
    assert b.transport.flush(0.0) == []
    assert b.transport._table.pending == {}  # A2


def test_a_throttled_stranger_does_not_stop_another_source() -> None:
    options = TransportOptions(unknown_per_s=1, unknown_burst=2)
    a, b = Node("a"), Node("b", options=options)
    rogue = Node("c", keys=Keyring("home", {1: b"x" * 32}, 1))
    for _ in range(20):
        b.receives(rogue.sends(b"text")[0], ATTACKER)
    acquaint(a, b)
    assert b.receives(a.sends(b"text")[0], a.host) == [b"text"]


def test_recordings_of_many_boots_do_not_fill_the_tables() -> None:
    options = TransportOptions(pending_max=4, unknown_burst=1_000)
    b = Node("b", options=options)
    for incarnation in range(100, 200):
        b.receives(Node("a", incarnation).sends(b"text")[0], HOSTS["a"])
    assert len(b.transport._table.pending) == 4


def test_the_peer_that_was_silent_longest_makes_room() -> None:
    b = Node("b", options=TransportOptions(peers_max=2))
    for now, name in enumerate("acd"):
        acquaint(Node(name), b, now=float(now))
    assert sorted(peer.name for peer in b.transport.peers()) == ["c", "d"]


# --- lives and keys -------------------------------------------------------------------------------


def test_a_unicast_to_another_life_is_dropped() -> None:
    a, b = pair()
    (datagram,) = a.sends(b"text", to=b)
    again = Node("b", incarnation=2)
    acquaint(a, again)
    a.transport.send(batch(a, b"text", to=again))
    (for_another,) = a.transport.flush(0.0)
    assert b.receives(datagram, a.host) == [b"text"]
    assert b.receives(for_another.data, a.host) == []
    assert b.transport.drops == {"not_for_me": 1}


def test_a_unicast_comes_up_with_its_destination() -> None:
    a, b = pair()
    (datagram,) = a.sends(b"text", to=b)
    (got,) = b.transport.receive(datagram, a.host, 0.0)
    assert got.destination == b.address


def test_the_other_life_of_ones_own_id_is_reported_and_not_listened_to() -> None:  # T6, fault 19
    a, twin = Node("a"), Node("a", incarnation=7)
    twin.host = HOSTS["h"]
    acquaint(a, twin)
    assert a.transport.same_id_seen == twin.address
    assert twin.transport.same_id_seen == a.address
    assert a.receives(twin.sends(b"text")[0], twin.host) == []
    assert a.transport.drops == {"same_id": 1}
    assert a.transport.peers() == {}
    assert a.transport.take_heard() == ()


def test_a_dead_life_of_ones_own_id_is_not_reported() -> None:
    recording = Node("a").sends(b"text")[0]
    reborn = Node("a", incarnation=2)
    reborn.receives(recording, ATTACKER)
    assert reborn.transport.same_id_seen is None


def test_a_newer_life_takes_the_place_of_the_older() -> None:
    a, _ = pair()
    again = Node("b", incarnation=2)
    acquaint(a, again)
    assert a.transport.peers() == {again.address: again.host}


def test_a_forgotten_peer_proves_itself_again_and_repeats_nothing() -> None:
    a, b = pair()
    (old,) = b.sends(b"old")
    a.transport.forget(b.address)
    assert a.transport.peers() == {}
    acquaint(a, b)
    assert a.transport.peers() == {b.address: b.host}
    assert a.receives(old, b.host) == []
    assert a.transport.drops == {"too_old": 1}


def test_keys_rotate_without_losing_a_datagram() -> None:  # T5
    a, b = pair()
    for node in (a, b):
        node.keys.add(2, b"n" * 32)
    a.keys.use(2)
    assert b.receives(a.sends(b"new")[0], a.host) == [b"new"]
    b.keys.use(2)
    assert a.receives(b.sends(b"new")[0], b.host) == [b"new"]


def test_a_removed_key_opens_nothing_any_more() -> None:  # T5
    a, b = pair()
    b.keys.add(2, b"n" * 32)
    b.keys.use(2)
    b.keys.remove(1)
    assert b.receives(a.sends(b"text")[0], a.host) == []
    assert b.transport.drops == {"unknown_key_epoch": 1}
