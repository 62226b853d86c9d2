"""The rules of probers at a node's transport: they are answered, and count for nothing else."""

from __future__ import annotations

from msgpack import packb

from groupcore.batch import Batch
from groupcore.layers.discovery import Discover
from groupcore.layers.probe import Query
from groupcore.seal import INTRODUCTION
from groupcore.transport import TransportOptions
from tests.groupcore.transports import HOSTS, Node, acquaint, batch, exchange, kinds


class Prober(Node):
    """A transport with a node id that only probers have."""

    def __init__(self, options: TransportOptions | None = None) -> None:
        HOSTS.setdefault("probe:1", ("127.0.0.1", 2_000))
        super().__init__("probe:1", options=options)

    def says(self, header: Query | Discover) -> bytes:
        self.transport.send(Batch(self.address, None, (header,), reliable=False))
        (datagram,) = self.transport.flush(0.0)
        return datagram.data


def test_a_prober_may_ask_and_nothing_else() -> None:
    a, prober = Node("a"), Prober()
    acquaint(a, prober)
    query = Query(1, ())
    (asked,) = a.transport.receive(prober.says(query), prober.host, 0.0)
    assert asked.headers == (query,)
    assert a.transport.receive(prober.says(Discover(None)), prober.host, 0.0) == []
    assert a.transport.drops == {"not_a_node": 1}


def test_a_prober_is_neither_heard_nor_counted_as_a_peer() -> None:
    a, prober = Node("a"), Prober()
    acquaint(a, prober)
    a.transport.receive(prober.says(Query(1, ())), prober.host, 0.0)
    assert a.transport.take_heard() == ()
    assert a.transport.counters()["peers"] == 0


def test_the_groups_messages_are_not_sent_to_a_prober() -> None:
    to_a = TransportOptions(multicast=False, initial_hosts=(HOSTS["a"],))
    a = Node("a", options=TransportOptions(multicast=False))
    b, prober = Node("b", options=to_a), Prober(to_a)
    acquaint(prober, b, a)
    exchange(prober, b, a)
    a.transport.send(batch(a, b"text"))
    assert {datagram.destination for datagram in a.transport.flush(0.5)} == {b.host}


def test_a_prober_is_introduced_to_nobody_and_introduces_nobody() -> None:
    to_a = TransportOptions(multicast=False, initial_hosts=(HOSTS["a"],))
    a = Node("a", options=TransportOptions(multicast=False))
    b, prober = Node("b", options=to_a), Prober(to_a)
    acquaint(prober, b, a)
    assert INTRODUCTION not in kinds(a.transport.flush(10.0))  # there are not two nodes to tell of
    assert INTRODUCTION not in kinds(prober.transport.flush(10.0))
    forged = prober.transport._sealer.seal(INTRODUCTION, packb([HOSTS["h"]]))
    a.receives(forged, prober.host)
    assert a.transport.drops == {"not_a_node": 1}
