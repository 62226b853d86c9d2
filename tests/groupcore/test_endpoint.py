"""The rules of the endpoint: inputs of a turn go in, and what they caused comes out in order."""

from __future__ import annotations

from random import Random
from typing import ClassVar

from hypothesis import given
from hypothesis import strategies as st

from groupcore.batch import Batch, pack_messages
from groupcore.effects import Down, Effect, Notify, Persist, StartTimer, Up
from groupcore.endpoint import Delivery, Endpoint
from groupcore.events import (
    BadInput,
    Congested,
    Connect,
    CutHeld,
    Event,
    FetchCut,
    Heard,
    Leave,
    Persisted,
    Refused,
    ViewInstalled,
)
from groupcore.layer import Layer
from groupcore.layers import nakack_headers
from groupcore.seal import Keyring
from groupcore.sequencing.options import ServiceOptions
from groupcore.sequencing.service import Service
from groupcore.stack import Stack
from groupcore.transport import Transport, TransportOptions
from groupcore.view import Address, View

A, B = Address("a", 1), Address("b", 1)
HOSTS = {A: ("127.0.0.1", 1), B: ("127.0.0.1", 2)}


class Plain(Layer):
    """Puts one header on what goes down, takes it off again, and remembers what it was told."""

    name: ClassVar[str] = "PLAIN"
    headers = (nakack_headers.Data,)

    def __init__(self) -> None:
        self.events: list[Event] = []

    def on_down(self, batch: Batch, now: float) -> list[Effect]:
        return [Down(batch.with_header(nakack_headers.Data(0, 0, 0)))]

    def on_up(self, batch: Batch, now: float) -> list[Effect]:
        return [Up(batch.ordered(batch.sender, 7))]

    def on_event(self, event: Event, now: float) -> list[Effect]:
        self.events.append(event)
        if isinstance(event, Connect):
            view = View(1, 1, 0, 1, (A, B))
            return [Persist(3, b"record"), Notify(ViewInstalled(view)), StartTimer("late", 2.0)]
        return []

    def on_timer(self, timer: str, now: float) -> list[Effect]:
        return [Notify(Connect(9, 9))]


def endpoint(address: Address, options: TransportOptions | None = None) -> tuple[Endpoint, Plain]:
    layer = Plain()
    boot = address.name.encode() * 15 + bytes([address.incarnation])
    transport = Transport(
        address,
        Keyring("home", {1: b"k" * 32}, 1),
        boot,
        options or TransportOptions(),
        Random(str(address)),
    )
    return Endpoint(address, Stack([layer]), transport), layer


def acquaint(*endpoints: Endpoint) -> dict[Address, list[Delivery | Event]]:
    """Let them prove themselves to each other; what each of them delivered meanwhile."""
    delivered: dict[Address, list[Delivery | Event]] = {each.address: [] for each in endpoints}
    for each in endpoints:
        each.multicast([b"hello"], 0.0)
    waiting = []
    for each in endpoints:
        waiting += [(each, datagram) for datagram in each.end_turn(0.0).datagrams]
    while waiting:
        sender, datagram = waiting.pop(0)
        for each in endpoints:
            if each is not sender:
                each.receive(datagram.data, HOSTS.get(sender.address, ("127.0.0.1", 9)), 0.0)
                turn = each.end_turn(0.0)
                delivered[each.address] += turn.deliveries
                waiting += [(each, answer) for answer in turn.datagrams]
    return delivered


def test_messages_come_out_at_the_other_end_with_origin_and_position() -> None:
    (a, _), (b, _) = endpoint(A), endpoint(B)
    acquaint(a, b)
    a.multicast([b"one", b"two"], 0.0)
    a.unicast(B, [b"three"], 0.0)
    for datagram in a.end_turn(0.0).datagrams:
        b.receive(datagram.data, HOSTS[A], 0.0)
    assert b.end_turn(0.0).deliveries == [
        Delivery(A, 7, [b"one", b"two"]),
        Delivery(A, 7, [b"three"]),
    ]


def test_the_stack_is_told_once_a_turn_who_was_heard() -> None:
    (a, _), (b, layer) = endpoint(A), endpoint(B)
    acquaint(a, b)
    layer.events.clear()
    for _ in range(3):
        a.multicast([b"text"], 0.0)
        for datagram in a.end_turn(0.0).datagrams:
            b.receive(datagram.data, HOSTS[A], 0.0)
    b.end_turn(0.0)
    b.end_turn(0.0)
    assert layer.events == [Heard((A,))]


def test_events_and_records_come_out_and_events_go_in() -> None:
    a, layer = endpoint(A)
    a.notify(Connect(), 0.0)
    turn = a.end_turn(0.0)
    assert turn.persists == [Persist(3, b"record")]
    assert turn.deliveries == [ViewInstalled(View(1, 1, 0, 1, (A, B)))]
    a.notify(Persisted(3), 0.1)
    assert layer.events[-1] == Persisted(3)


class Cutting(Plain):
    """Wants the cut as soon as it is told to, and stores what comes of it."""

    def on_event(self, event: Event, now: float) -> list[Effect]:
        self.events.append(event)
        if isinstance(event, Leave):
            return [Notify(FetchCut({}, {}, {B: 0}, {B: (B,)}))]
        return [Persist(4, b"accepted")] if isinstance(event, CutHeld) else []


def test_a_cut_goes_to_the_data_plane_and_its_answer_back_to_the_stack_in_one_turn() -> None:
    layer = Cutting()
    service = Service(A, ServiceOptions(), Random(1))
    a = Endpoint(A, Stack([layer]), endpoint(A)[0].transport, service)
    view = View(1, 1, 0, 1, (A, B))
    service.on_event(ViewInstalled(view, None, True, recovered=True), 0.0)
    a.notify(Leave(), 0.0)
    turn = a.end_turn(0.0)
    assert [type(event) for event in layer.events] == [Leave, FetchCut, CutHeld]
    assert turn.persists == [Persist(4, b"accepted")]


def test_timers_run_when_woken() -> None:
    a, _ = endpoint(A)
    assert a.next_wake() is None
    a.notify(Connect(), 1.0)
    assert a.next_wake() == 3.0
    a.end_turn(1.0)
    a.wake(3.0)
    assert Connect(9, 9) in a.end_turn(3.0).deliveries


def test_a_body_that_does_not_open_is_dropped_and_counted() -> None:
    a, _ = endpoint(A)
    good = pack_messages([b"x"])
    for body, count in ((b"\xc1", 1), (good, 2), (b"\x91\x01", 1), (good, 1)):
        a.stack.receive(Batch(B, None, (nakack_headers.Data(0, 0, 0),), body, count), 0.0)
    assert a.end_turn(0.0).deliveries == [Delivery(B, 7, [b"x"])]
    assert a.counters()["endpoint.drops.bad_body"] == 3


@given(sizes=st.lists(st.integers(0, 700) | st.just(5_000), max_size=40))
def test_payloads_are_cut_into_batches_that_fit_a_datagram(sizes: list[int]) -> None:
    a, _ = endpoint(A, TransportOptions(datagram_bytes_max=1_400))
    payloads = [bytes(size) for size in sizes]
    parts = list(a._parts(payloads))
    assert [payload for part in parts for payload in part] == payloads
    for part in parts:
        assert part
        assert len(part) == 1 or len(pack_messages(part)) <= 1_400 - 200


def test_a_node_that_is_in_no_view_stops_when_its_id_is_in_use() -> None:  # T6, fault 19
    (a, _), (twin, _) = endpoint(A), endpoint(Address("a", 2))
    twin.notify(Connect(), 0.0)
    twin.end_turn(0.0)
    delivered = acquaint(a, twin)
    (refused,) = delivered[a.address]
    assert isinstance(refused, Refused)
    assert refused.code == "id_in_use"
    assert delivered[twin.address] == []


def test_a_node_that_goes_on_in_a_second_machine_ends_though_it_is_in_a_view() -> None:  # T4, X6
    a, _ = endpoint(A)
    a._in_view = True
    a.transport.is_cloned = True
    (refused,) = a.end_turn(0.0).deliveries
    assert isinstance(refused, Refused)
    assert refused.code == "cloned"
    assert "stop the copy" in refused.detail
    assert a.end_turn(0.1).deliveries == []


def test_the_counters_of_all_parts_have_names() -> None:
    (a, _), (b, _) = endpoint(A), endpoint(B)
    acquaint(a, b)
    assert a.counters()["transport.peers"] == 1
    assert a.counters()["transport.drops.unproven"] >= 1


def test_layers_that_say_to_wait_do_not_cancel_each_other() -> None:
    class Gauge(Plain):
        def on_event(self, event: Event, now: float) -> list[Effect]:
            return [] if isinstance(event, Congested) else [Notify(said.pop(0))]

    transport = endpoint(A)[0].transport
    a = Endpoint(A, Stack([Gauge()]), transport)
    said = [
        *(Congested(True, "FC"), Congested(True, "SEQUENCER"), Congested(False, "FC")),
        *(Congested(False, "FC"), Congested(False, "SEQUENCER"), Congested(True, "FC")),
    ]
    told = []
    while said:
        a.notify(Connect(), 0.0)
        told.append(a.end_turn(0.0).deliveries)
    assert told == [[Congested(True)], [], [], [], [Congested(False)], [Congested(True)]]


# --- bad input ------------------------------------------------------------------------------------


def test_bad_input_is_named_with_the_address_that_it_came_from() -> None:
    (a, _), (b, _) = endpoint(A), endpoint(B)
    acquaint(a, b)
    a.dropped.take()
    b.multicast([b"text"], 0.0)
    (datagram,) = b.end_turn(0.0).datagrams
    forged = datagram.data[:-1] + bytes([datagram.data[-1] ^ 1])
    a.receive(forged, HOSTS[B], 0.0)
    a.receive(b"too short", ("127.0.0.9", 9), 0.0)
    assert a.dropped.take() == {
        "127.0.0.1:2": {"forged": 1},
        "127.0.0.9:9": {"bad_size": 1},
    }
    assert not a.dropped


def test_a_header_of_a_layer_that_the_stack_lacks_is_named_with_its_source() -> None:
    (a, _), (b, _) = endpoint(A), endpoint(B)
    acquaint(a, b)
    a.dropped.take()
    b.transport.send(Batch(B, None, (nakack_headers.HighWater(1, 1),), reliable=False))
    (datagram,) = b.transport.flush(0.0)
    a.receive(datagram.data, HOSTS[B], 0.0)
    assert a.dropped.take() == {"127.0.0.1:2": {"no_such_layer": 1}}


def test_what_is_nobodys_fault_is_counted_and_not_named() -> None:
    (a, _), (b, _) = endpoint(A), endpoint(B)
    acquaint(a, b)
    a.dropped.take()
    b.multicast([b"text"], 0.0)
    (datagram,) = b.end_turn(0.0).datagrams
    a.receive(datagram.data, HOSTS[B], 0.0)
    a.receive(datagram.data, HOSTS[B], 0.0)
    assert a.transport.drops["replayed"] == 1
    assert not a.dropped


def test_what_a_layer_calls_bad_input_is_named_and_not_handed_over() -> None:
    class Strict(Plain):
        def on_event(self, event: Event, now: float) -> list[Effect]:
            told = isinstance(event, Connect)
            return [Notify(BadInput(B, "strict.damaged"))] if told else []

    a = Endpoint(A, Stack([Strict()]), endpoint(A)[0].transport)
    a.notify(Connect(), 0.0)
    assert a.end_turn(0.0).deliveries == []
    assert a.dropped.take() == {str(B): {"strict.damaged": 1}}


def test_a_body_that_is_none_is_named_with_its_origin() -> None:
    a, _ = endpoint(A)
    a.stack.receive(Batch(B, None, (nakack_headers.Data(0, 0, 0),), b"junk", 1), 0.0)
    assert a.end_turn(0.0).deliveries == []
    assert a.dropped.take() == {str(B): {"bad_body": 1}}
