"""The rules of the handshake: who becomes a peer, and what each one can say."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from msgpack import packb, unpackb

from groupcore.identity.card import Credentials, OwnCard, read_card
from groupcore.identity.handshake import Handshake
from groupcore.seal import (
    CHALLENGE,
    DATA,
    GROUP,
    HEADER,
    HELLO,
    KEY_BYTES,
    PAIR,
    PROOF,
    SOUNDING,
    Keyring,
    Sealer,
    sender_id,
)
from groupcore.transport import TransportOptions
from groupcore.view import Address
from tests.groupcore.identity.operators import NOW, Operator, cluster, node_key
from tests.groupcore.transports import ATTACKER, HOSTS, KEY, Node, acquaint, exchange

NOTHING = b"\x91\xc0"


def door(node: Node) -> Handshake:
    found = node.transport._admission
    assert isinstance(found, Handshake)
    return found


def hello(node: Node, now: float = 0.0) -> bytes:
    """What a node sends ahead of its first multicast."""
    return next(data for data in node.sends(b"text", now=now) if data[1] == HELLO)


def knows(node: Node, other: Node) -> bool:
    return other.address in node.transport.peers()


# --- who becomes a peer ---------------------------------------------------------------------------


def test_two_strangers_show_their_certificates_and_then_hear_each_other() -> None:  # H1
    a, b = cluster("a", "b")
    assert knows(a, b)
    assert knows(b, a)
    (to_all,) = a.sends(b"for all")
    (to_b,) = a.sends(b"for b", to=b)
    assert to_all[0] == GROUP
    assert to_b[0] == PAIR
    assert b.receives(to_all, a.host) == [b"for all"]
    assert b.receives(to_b, a.host) == [b"for b"]
    assert b.receives(to_all, a.host) == []
    assert b.transport.drops == {"replayed": 1}


def test_they_need_no_more_datagrams_than_without_certificates() -> None:
    counts = []
    for nodes in ([Node("a"), Node("b")], [Operator().node("a"), Operator().node("b")]):
        acquaint(*nodes)
        counts.append(sum(node.transport.counters()["datagrams_sent"] for node in nodes))
    plain, certified = counts
    assert certified - plain == 2, "each node's hello"


def test_who_has_the_cluster_key_alone_is_refused() -> None:
    a, rogue = Operator().node("a"), Node("b")
    acquaint(a, rogue)
    for datagram in rogue.sends(b"text") + rogue.sends(b"text"):
        assert a.receives(datagram, rogue.host) == []
    assert a.transport.peers() == rogue.transport.peers() == {}
    assert a.transport.drops == {"no_certificate": 2}
    for datagram in a.sends(b"text", now=1.0):
        assert rogue.receives(datagram, a.host) == []
    assert set(rogue.transport.drops) == {"has_certificate"}


def test_who_has_the_cluster_key_alone_cannot_speak_for_a_node() -> None:  # H1, H2
    a, b = cluster("a", "b")
    forger = Sealer(Keyring("home", {1: KEY}, 1), sender_id("a"), a.boot, counter=1 << 40)
    card = door(a)._own.card.packed
    nonce = bytes(16)
    before = b.transport._table.peers[sender_id("a") + a.boot].window.highest
    for kind, fields in (
        (DATA, [None]),
        (PROOF, [nonce, "a", 1]),
        (PROOF, [nonce, 0, bytes(KEY_BYTES)]),
        (HELLO, [card, b""]),
        (CHALLENGE, [nonce, b.boot, card]),
        (SOUNDING, []),
    ):
        assert b.receives(forger.seal(kind, packb(fields)), ATTACKER, now=1.0) == []
    peer = b.transport._table.peers[sender_id("a") + a.boot]
    assert (peer.window.highest, peer.source) == (before, a.host)
    (text,) = a.sends(b"text", to=b)
    assert b.receives(text, a.host, now=1.0) == [b"text"]


@pytest.mark.parametrize(
    ("credentials", "reason"),
    [
        (lambda: Operator(b"other").credentials("b"), "foreign_certificate"),
        (lambda: Operator(cluster="away").credentials("b"), "foreign_certificate"),
        (lambda: Operator().credentials("b", until=NOW), "expired_certificate"),
        (lambda: Operator().credentials("c"), "not_its_name"),
        (
            lambda: Credentials(
                node_key("x"), Operator().credentials("b").certificate, Operator().trust()
            ),
            "bad_card",
        ),
        (
            lambda: Credentials(
                node_key("x"),
                Operator(b"other").certificate("b", node_key("x")),
                Operator(b"other").trust(),
            ),
            "foreign_certificate",
        ),
    ],
    ids=["another operator", "another cluster", "expired", "another name", "not its key", "own"],
)
def test_a_certificate_that_is_not_good_here_is_refused_by_reason(  # B1
    credentials: object, reason: str
) -> None:
    assert callable(credentials)
    a, b = Operator().node("a"), Node("b", credentials=credentials())
    a.receives(hello(b), b.host)
    assert a.transport.drops == {reason: 1}
    assert a.transport.flush(0.0) == [], "and nothing is answered"
    acquaint(a, b, now=1.0)
    assert not knows(a, b)


def test_a_certificate_whose_signature_is_altered_is_refused() -> None:
    operator = Operator()
    good = operator.credentials("b")
    packed = bytes([good.certificate.packed[0] ^ 1]) + good.certificate.packed[1:]
    altered = Credentials(good.key, replace(good.certificate, packed=packed), good.trust)
    a, b = operator.node("a"), Node("b", credentials=altered)
    a.receives(hello(b), b.host)
    assert a.transport.drops == {"bad_certificate": 1}


def test_a_card_is_good_for_its_boot_alone() -> None:
    operator = Operator()
    a, b = operator.node("a"), operator.node("b")
    other = Sealer(Keyring("home", {1: KEY}, 1), sender_id("b"), b"another boot".ljust(16))
    a.receives(other.seal(HELLO, packb([door(b)._own.card.packed, b""])), ATTACKER)
    assert a.transport.drops == {"bad_card": 1}


def test_a_recorded_card_makes_no_peer_of_who_repeats_it() -> None:  # H1
    operator = Operator()
    a, b = operator.node("a"), operator.node("b")
    recorded = hello(b)
    late = operator.node("a", incarnation=2)
    late.receives(recorded, ATTACKER)
    (challenge,) = late.transport.flush(0.0)
    assert len(challenge.data) <= len(recorded), "T7"
    replay = Sealer(Keyring("home", {1: KEY}, 1), sender_id("b"), b.boot, counter=99)
    nonce = unpackb(_opened(challenge.data))[0]
    for fields in ([nonce, "b", 1], [nonce, 0, bytes(32)]):
        late.receives(replay.seal(PROOF, packb(fields)), ATTACKER)
    assert not knows(late, b)
    assert late.transport.drops == {"no_certificate": 2}
    assert not knows(a, b)


def _opened(datagram: bytes) -> bytes:
    """What a letter says: the cluster key opens it."""
    _, _, epoch, sender, boot, _ = HEADER.unpack_from(datagram)
    cipher = Keyring("home", {1: KEY}, 1).cipher(epoch, sender, boot)
    assert cipher is not None
    header = datagram[: HEADER.size]
    return cipher.decrypt(bytes(4) + header[-8:], datagram[HEADER.size :], header)


def test_a_boot_that_is_no_peer_is_challenged_once_an_interval_and_source() -> None:  # H3
    operator = Operator()
    a, b = operator.node("a"), operator.node("b", options=TransportOptions(hello_every_s=0.0))
    hellos = [hello(b, now=at / 100) for at in range(9)]
    for datagram in hellos[:5]:
        a.receives(datagram, b.host, now=0.0)
    assert len(a.transport.flush(0.0)) == 1
    a.receives(hellos[5], ATTACKER, now=0.01)
    assert [sent.destination for sent in a.transport.flush(0.01)] == [ATTACKER]
    a.receives(hellos[6], b.host, now=0.05)
    assert [sent.destination for sent in a.transport.flush(0.05)] == [b.host], (
        "who repeats hellos from elsewhere takes no challenge away"
    )


def test_the_answer_to_a_challenge_is_smaller_than_it() -> None:  # H3
    operator = Operator()
    a, b = operator.node("a"), operator.node("b")
    a.receives(hello(b), b.host)
    (challenge,) = a.transport.flush(0.0)
    b.receives(challenge.data, a.host)
    proof = next(sent.data for sent in b.transport.flush(0.0) if sent.data[1] == PROOF)
    assert proof[0] == PAIR
    assert len(proof) <= 150 < len(challenge.data)


def test_who_floods_with_cards_costs_a_bounded_number_of_signatures(
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # H3
    checked = []

    def counted(card: object, trust: object) -> None:
        checked.append(card)

    monkeypatch.setattr("groupcore.identity.handshake.check_card", counted)
    operator = Operator()
    a = operator.node("a", options=TransportOptions(unknown_burst=1e9, unknown_per_s=1e9))
    credentials = operator.credentials("b")
    for number in range(2_000):
        boot = number.to_bytes(16, "big")
        card = OwnCard(credentials, Address("b", 1), boot, Random(number)).card
        flooding = Sealer(Keyring("home", {1: KEY}, 1), sender_id("b"), boot)
        source = ATTACKER if number < 1_000 else ("127.0.0.9", number)
        a.receives(flooding.seal(HELLO, packb([card.packed, b""])), source)
        if number == 999:
            assert len(checked) == 50
    assert len(checked) == 200
    assert a.transport.drops["throttled"] == 1_800


def test_a_node_that_is_known_is_not_looked_at_again(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = cluster("a", "b")

    def never(card: object, trust: object) -> None:
        raise AssertionError("it is known")

    monkeypatch.setattr("groupcore.identity.handshake.check_card", never)
    for at in range(1, 9):
        for datagram in b.sends(b"text", now=float(at)):
            a.receives(datagram, b.host, now=float(at))
    exchange(a, b, now=9.0)
    assert a.transport.drops == {}


def test_a_challenge_for_another_boot_is_not_answered() -> None:
    operator = Operator()
    a, b, c = (operator.node(name) for name in "abc")
    a.receives(hello(b), b.host)
    (challenge,) = a.transport.flush(0.0)
    c.receives(challenge.data, a.host)
    assert c.transport.flush(0.0) == []
    assert c.transport.drops == {"not_for_me": 1}


@pytest.mark.parametrize("fields", [[], [b""], [b"x" * 99, b""], [1, 2], [b"n" * 16, b"b", b"c"]])
def test_letters_that_say_nothing_change_nothing(fields: list[object]) -> None:
    a = Operator().node("a")
    stranger = Sealer(Keyring("home", {1: KEY}, 1), sender_id("b"), b"b" * 16)
    for kind in (HELLO, CHALLENGE):
        a.receives(stranger.seal(kind, packb(fields)), ATTACKER)
    assert sum(a.transport.drops.values()) == 2
    assert a.transport.flush(0.0) == []
    assert not a.transport._table.pending


# --- one speaks for itself only -------------------------------------------------------------------


def test_a_node_cannot_speak_for_another_one_to_all() -> None:  # C1
    a, b, c = cluster("a", "b", "c")
    (original,) = a.sends(b"\x00" * 40)
    # c has a's group key, as every receiver has, and the codes of what a has sent.
    peer = c.transport._table.peers[sender_id("a") + a.boot]
    assert peer.pair is not None
    (opener,) = peer.pair.group.values()
    counter = (99).to_bytes(8, "big")
    header = original[: HEADER.size - 8] + counter
    body = opener._cipher.encrypt(bytes(4) + counter, b"\x91\xc0", header)  # type: ignore[attr-defined]
    for codes in (_codes(original), bytes([0]), door(c)._coding[0].encrypt(bytes(12), b"", body)):
        assert b.receives(header + body + codes, HOSTS["a"]) == []
    assert set(b.transport.drops) == {"forged"}
    assert b.receives(original, HOSTS["a"]) != []


def _codes(datagram: bytes) -> bytes:
    return datagram[-1 - 16 * datagram[-1] :]


def _body(datagram: bytes) -> bytes:
    return datagram[: -1 - 16 * datagram[-1]]


def test_codes_of_one_datagram_are_not_good_for_another() -> None:  # C1
    a, b, _ = cluster("a", "b", "c")
    (first,) = a.sends(b"one")
    (second,) = a.sends(b"two")
    assert b.receives(_body(second) + _codes(first), a.host) == []
    assert b.transport.drops == {"forged": 1}
    assert b.receives(second, a.host) == [b"two"]


def test_a_node_cannot_speak_for_another_one_to_one() -> None:
    a, b, c = cluster("a", "b", "c")
    (said,) = c.sends(b"by c", to=b)
    as_a = bytes([PAIR, DATA, 0]) + sender_id("a") + a.boot + said[-8:]
    assert b.receives(as_a + said[HEADER.size :], a.host) == []
    assert b.transport.drops == {"forged": 1}


def test_what_is_for_one_opens_nowhere_else() -> None:
    a, b, c = cluster("a", "b", "c")
    (said,) = a.sends(b"for b", to=b)
    assert c.receives(said, a.host) == []
    assert c.transport.drops == {"forged": 1}


def test_a_node_cannot_make_another_one_believe_that_it_is_cloned() -> None:  # X6
    a, b = cluster("a", "b")
    peer = b.transport._table.peers[sender_id("a") + a.boot]
    assert peer.pair is not None
    (opener,) = peer.pair.group.values()
    counter = (1 << 50).to_bytes(8, "big")
    header = bytes((GROUP, SOUNDING, 0)) + sender_id("a") + a.boot + counter
    body = opener._cipher.encrypt(bytes(4) + counter, b"\x90", header)  # type: ignore[attr-defined]
    code = door(b)._coding[0].encrypt(bytes(4) + counter, b"", body)
    shared = Sealer(Keyring("home", {1: KEY}, 1), sender_id("a"), a.boot, 1 << 50)
    for forged in (header + body + code + b"\x01", shared.seal(HELLO, b"\x90")):
        a.receives(forged, ATTACKER)
    assert not a.transport.is_cloned
    assert a.transport.drops == {"forged": 2}


def test_a_copy_of_this_very_boot_is_noticed() -> None:  # X6
    operator = Operator()
    a, copy = operator.node("a"), operator.node("a")
    for _ in range(3):
        copy.sends(b"text", now=0.0)
    late = [data for data in copy.sends(b"text", now=1.0) if data[0] == GROUP]
    a.receives(late[0], copy.host, now=1.0)
    assert a.transport.is_cloned


def test_the_group_key_is_not_given_to_a_prober() -> None:  # H4
    a, prober = Operator().node("a"), Operator().node("h")
    asking = Node("h", credentials=Operator().credentials("h"))
    asking.address = Address("probe:1", 1)
    asking.transport = type(a.transport)(
        asking.address,
        asking.keys,
        b"p" * 16,
        TransportOptions(),
        Random(1),
        Operator().credentials("h"),
    )
    acquaint(a, asking)
    assert asking.address in a.transport.peers()
    (peer,) = asking.transport._table.peers.values()
    assert peer.pair is not None
    assert peer.pair.group == {}
    assert not knows(a, prober)


# --- what a thief gets ----------------------------------------------------------------------------


def test_a_recording_does_not_open_for_who_steals_the_nodes_keys_later() -> None:  # B3
    operator = Operator()
    a, b = operator.node("a"), operator.node("b")
    recorded = hello(a), hello(b)
    acquaint(a, b, now=1.0)
    secrets = a.sends(b"secret", to=b, now=1.0) + a.sends(b"secret", now=1.0)
    # The thief has the cluster key, both nodes' keys, and the operator's; the boots are over.
    cards = [read_card(unpackb(_opened(each))[0]) for each in recorded]
    for thief, card in zip(("b", "a"), cards, strict=True):
        anew = OwnCard(operator.credentials(thief), Address(thief, 1), b"x" * 16, Random(9))
        for key in anew.keys_with(card):
            for secret in secrets:
                with pytest.raises(InvalidTag):
                    _decrypt(key, secret)
    assert b.receives(secrets[0], a.host, now=1.0) == [b"secret"], "who has it does open it"


def _decrypt(key: bytes, datagram: bytes) -> bytes:
    header = datagram[: HEADER.size]
    return AESGCM(key).decrypt(bytes(4) + header[-8:], datagram[HEADER.size :], header)


def test_who_steals_a_key_is_a_second_node_of_that_name_and_nothing_else() -> None:  # T6
    a, b, c = cluster("a", "b", "c")
    thief = Node("c", incarnation=7, credentials=Operator().credentials("c"))
    acquaint(a, b, thief)
    assert knows(a, thief)
    thief.transport._sealer = Sealer(thief.keys, sender_id("b"), b.boot)
    for datagram in (
        thief.transport._sealer.seal(DATA, NOTHING),
        *thief.sends(b"text", to=a),
    ):
        assert a.receives(datagram, b.host) in ([], [b"text"])
    assert a.transport.drops["no_certificate"] == 1
    assert knows(a, b)
    assert not knows(a, c), "the later life of that name has taken its place"
