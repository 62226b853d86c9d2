"""The rules of group keys: each view has its own, nothing waits, and who is gone opens nothing."""

from __future__ import annotations

from random import Random

from groupcore.identity.group_key import GroupKey
from groupcore.identity.handshake import Handshake
from groupcore.seal import HELLO, KEY, KEY_TAKEN
from groupcore.transport_options import TransportOptions
from tests.groupcore.identity.operators import Operator, cluster
from tests.groupcore.transports import ATTACKER, Node, acquaint, exchange, kinds


def view(*nodes: Node) -> None:
    """All of them are in a view of these members."""
    for node in nodes:
        node.transport.on_members(each.address for each in nodes)


def changes(node: Node) -> int:
    return node.transport.counters()["group_keys"]


def door(node: Node) -> Handshake:
    found = node.transport._admission
    assert isinstance(found, Handshake)
    return found


def test_each_view_with_other_members_has_keys_of_its_own() -> None:  # G1
    a, b, c = cluster("a", "b", "c")
    view(a, b, c)
    exchange(a, b, c, now=1.0)
    assert [changes(node) for node in (a, b, c)] == [1, 1, 1]
    view(a, b, c)
    exchange(a, b, c, now=3.0)
    assert [changes(node) for node in (a, b, c)] == [1, 1, 1], "the members are the same"
    for node in (a, b, c):
        (said,) = [data for data in node.sends(b"text", now=4.0) if data[1] == 0]
        for other in (a, b, c):
            if other is not node:
                assert other.receives(said, node.host, now=4.0) == [b"text"]


def test_keys_are_given_in_one_order_under_any_hash_seed() -> None:
    """Else a schedule of the simulator with certificates would depend on how its process began."""
    first, *others = cluster(*"abcdefgh")
    view(first, *others)
    given = [sent.destination for sent in first.transport.flush(1.0) if sent.data[1] == KEY]
    assert given == [
        one.host for one in sorted(others, key=lambda one: door(one)._own.card.identity)
    ]


def test_views_that_follow_each_other_quickly_change_the_keys_once_more() -> None:  # G1
    a, b, c = cluster("a", "b", "c")
    for at in range(9):
        view(*((a, b, c) if at % 2 else (a, b)))
        exchange(a, b, c, now=10.0 + at / 10)
    assert changes(a) == 1
    exchange(a, b, c, now=11.0)
    assert changes(a) == 2


def test_who_is_gone_opens_nothing_of_what_follows() -> None:  # G2
    a, b, c = cluster("a", "b", "c")
    (before,) = a.sends(b"before")
    assert c.receives(before, a.host) == [b"before"]
    view(a, b)
    exchange(a, b, now=1.0)
    (after,) = [data for data in a.sends(b"after", now=1.0) if data[1] == 0]
    assert c.receives(after, a.host, now=1.0) == []
    assert c.transport.drops == {"unknown_group_key": 1}
    assert b.receives(after, a.host, now=1.0) == [b"after"]


def test_who_shows_that_it_is_there_is_given_the_key_again() -> None:  # G2
    a, b, c = cluster("a", "b", "c")
    view(a, b)
    exchange(a, b, now=1.0)
    (lost,) = [data for data in a.sends(b"lost", now=1.0) if data[1] == 0]
    c.receives(lost, a.host, now=1.0)
    assert KEY not in kinds(a.transport.flush(1.05)), "nothing is given for what does not open"
    (hello,) = [data for data in c.sends(b"hello", now=1.1) if data[1] == HELLO]
    a.receives(hello, ATTACKER, now=1.1)
    (given,) = [sent for sent in a.transport.flush(1.1) if sent.data[1] == KEY]
    assert given.destination == c.host
    a.receives(hello, ATTACKER, now=1.15)
    assert KEY not in kinds(a.transport.flush(1.15)), "once in 0.2 s"
    c.receives(given.data, a.host, now=1.1)
    exchange(a, c, now=1.2)
    (found,) = [data for data in a.sends(b"found", now=1.2) if data[1] == 0]
    assert c.receives(found, a.host, now=1.2) == [b"found"]
    for at in range(15, 25):
        for datagram in c.sends(b"hello", now=at / 10):
            a.receives(datagram, c.host, now=at / 10)
        assert KEY not in kinds(a.transport.flush(at / 10)), "it has said to have it"


def test_two_that_have_both_changed_their_keys_apart_find_each_other_again() -> None:  # G2
    a, b, c, d = cluster("a", "b", "c", "d")
    view(a, b)
    exchange(a, b, now=1.0)
    view(c, d)
    exchange(c, d, now=1.0)
    for node, other in ((a, c), (c, a)):
        (text,) = [data for data in node.sends(b"text", now=1.1) if data[1] == 0]
        assert other.receives(text, node.host, now=1.1) == []
    acquaint(a, b, c, d, now=1.5)
    for node, other in ((a, c), (c, a)):
        (text,) = [data for data in node.sends(b"text", now=1.6) if data[1] == 0]
        assert other.receives(text, node.host, now=1.6) == [b"text"]


def test_nothing_waits_for_a_member_that_does_not_answer() -> None:  # G3
    a, b, c = cluster("a", "b", "c")
    view(a, b, c)
    for at in range(10, 15):
        exchange(a, b, now=at / 10)
        (said,) = [data for data in a.sends(b"text", now=at / 10) if data[1] == 0]
        assert b.receives(said, a.host, now=at / 10) == [b"text"]
        assert c.receives(said, a.host, now=at / 10) == [b"text"], "the former key is in use"
    exchange(a, b, now=1.5)
    assert changes(a) == 1, "after half a second"


def test_a_key_is_sent_again_until_it_is_taken() -> None:
    a, b = cluster("a", "b")
    view(a, b)
    first = [sent for sent in a.transport.flush(1.0) if sent.data[1] == KEY]
    assert len(first) == 1
    assert [sent for sent in a.transport.flush(1.05) if sent.data[1] == KEY] == []
    (again,) = [sent for sent in a.transport.flush(1.1) if sent.data[1] == KEY]
    b.receives(again.data, a.host, now=1.1)
    (taken,) = [sent for sent in b.transport.flush(1.1) if sent.data[1] == KEY_TAKEN]
    a.receives(taken.data, b.host, now=1.1)
    assert changes(a) == 1


def test_the_former_key_is_good_for_a_while_and_then_no_more() -> None:  # C2
    a, b = cluster("a", "b")
    (early,) = a.sends(b"early")
    (late,) = a.sends(b"late")
    view(a, b)
    exchange(a, b, now=1.0)
    assert b.receives(early, a.host, now=5.9) == [b"early"]
    b.transport.flush(6.0)
    assert b.receives(late, a.host, now=6.0) == []
    (said,) = [data for data in a.sends(b"text", now=6.0) if data[1] == 0]
    assert b.receives(said, a.host, now=6.0) == [b"text"]


def test_no_key_is_used_again() -> None:  # G3
    group = GroupKey(Random(1), TransportOptions())
    used = [group.key]
    for at in range(600):
        group.change()
        assert group.due(float(at), set()) == set()
        used.append(group.key)
    assert len(set(used)) == len(used) == 601
    assert group.number == 600 % 256


def test_who_is_revoked_is_heard_no_more_at_once() -> None:  # H5
    operator = Operator()
    a, b, c = (operator.node(name) for name in "abc")
    acquaint(a, b, c)
    (said,) = c.sends(b"text", to=a)
    for node in (a, b):
        assert door(node)._trust.take(operator.revocations(1, "c"))
        node.transport.flush(0.0)
    assert a.receives(said, c.host) == []
    assert c.address not in a.transport.peers()
    assert a.transport.drops == {"revoked_certificate": 1, "unproven": 1}
    acquaint(a, b, c, now=1.0)
    assert c.address not in a.transport.peers()
    assert a.address not in c.transport.peers() or not c.receives(
        a.sends(b"secret", now=2.0)[-1], a.host, now=2.0
    )
    assert changes(a) == 1
    assert b.address in a.transport.peers()


def test_a_list_of_before_brings_nobody_back() -> None:
    operator = Operator()
    trust = operator.trust()
    assert trust.take(operator.revocations(2, "b", "c"))
    assert not trust.take(operator.revocations(1, "c"))
    assert trust.is_revoked(operator.credentials("b").certificate)
    assert not trust.is_revoked(operator.credentials("a").certificate)
