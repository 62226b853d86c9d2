"""The rules of composing stacks from strings, and of the record that a life leaves behind."""

from __future__ import annotations

import inspect
import re
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupcore import events
from groupcore.batch import Batch
from groupcore.errors import CompositionError, WireError
from groupcore.events import Connect, Event, Persisted, ViewInstalled
from groupcore.membership.state import MembershipOptions
from groupcore.membership.succession import Ballot, Proposal, Record
from groupcore.order_state import OrderState
from groupcore.stack import Stack
from groupcore.stacks import DEFAULT_STACK, StackOptions, compose, encode_record, read_record
from groupcore.view import Address, View

A = Address("a", 1)
VIEW = View(3, 1, 0, 7, (A, Address("b", 1)))


def composed(spec: str, lineage: bytes | None = None) -> Stack:
    return compose(spec, A, Random(1), lineage=lineage)


def names(stack: Stack) -> list[str]:
    return [layer.name for layer in stack.layers]


def run_until_view(stack: Stack) -> ViewInstalled:
    """Let a node alone form its view."""
    stack.notify(Connect(), 0.0)
    now = 0.0
    for _ in range(100):
        stack.end_turn(now)
        output = stack.take()
        for persist in output.persists:
            stack.notify(Persisted(persist.token), now)
        for item in output.deliveries:
            if isinstance(item, ViewInstalled):
                return item
        wake = stack.next_wake()
        assert wake is not None
        now = wake
        stack.wake(now)
    raise AssertionError("no view was formed")


def test_the_default_stack_names_its_layers_from_the_lowest_to_the_highest() -> None:
    assert names(composed(DEFAULT_STACK)) == DEFAULT_STACK.split(":")[1:]


def test_the_transport_may_be_left_out() -> None:
    assert names(composed(DEFAULT_STACK.removeprefix("UDP:"))) == DEFAULT_STACK.split(":")[1:]


@pytest.mark.parametrize(
    "spec",
    [
        "UDP:PING:FD:NAKACK:UNICAST:GMS",
        "UDP:PING:FD:NAKACK:UNICAST:STABLE:GMS",
        "UDP:PING:FD:NAKACK:UNICAST:GMS:SEQUENCER",
        "UDP:PING:FD:NAKACK:UNICAST:STABLE:GMS:FRAG:SEQUENCER",
    ],
)
def test_a_smaller_stack_can_be_composed(spec: str) -> None:
    assert names(composed(spec)) == spec.split(":")[1:]


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        ("UDP:PING:FD:NAKACK:UNICAST:STABLE", "FD requires 'views' from a layer above"),
        ("UDP:FD:NAKACK:GMS", "GMS requires 'discovery' from a layer below"),
        ("UDP:PING:FD:UNICAST:GMS", "GMS requires 'digest' from a layer below"),
        ("UDP:PING:FD:NAKACK:GMS:SEQUENCER", "SEQUENCER requires 'reliable unicast' from a layer"),
        ("UDP:PING:FD:NAKACK:UNICAST:GMS:DURABILITY", "DURABILITY requires 'total order' from"),
        ("UDP:PING:FD:NAKACK:UNICAST:GMS:SEQUENCER:FRAG:FRAG", "FRAG stands twice"),
        ("UDP:PING:PONG", "no layer is called PONG; there are PING, FD, NAKACK"),
        ("", "no layer is called "),
    ],
)
def test_a_stack_that_misses_something_is_refused_by_name(spec: str, complaint: str) -> None:
    with pytest.raises(CompositionError, match=complaint):
        composed(spec)


def test_the_first_life_has_an_empty_record() -> None:
    assert read_record(None) == Record()


@given(
    view=st.none() | st.just(VIEW),
    rebuilding=st.booleans(),
    ballot=st.none() | st.builds(Ballot, st.integers(1, 9), st.just(A)),
)
def test_a_record_survives_the_disk(
    view: View | None, rebuilding: bool, ballot: Ballot | None
) -> None:
    accepted = Proposal(3, VIEW, False, 9, {A: 4}, {A: (A,)}, (A,), (A,)) if ballot else None
    record = Record(view, rebuilding, ballot, ballot, accepted)
    assert read_record(encode_record(record)) == record


@given(st.binary(max_size=40))
def test_a_damaged_record_is_refused_by_name(damaged: bytes) -> None:
    with pytest.raises(WireError, match="bad_record"):
        read_record(damaged)


def test_a_node_alone_forms_a_view_and_orders_its_messages() -> None:
    stack = composed(DEFAULT_STACK)
    view = run_until_view(stack).view
    assert view.members == (A,)
    stack.end_turn(1.0)
    stack.send(Batch(A, None, (), b"\x91\xc4\x01m", 1), 1.0)
    stack.end_turn(1.0)
    assert stack.take().deliveries == [Batch(A, None, (), b"\x91\xc4\x01m", 1, position=1)]


def test_the_largest_body_is_what_fragmentation_can_carry() -> None:
    assert composed(DEFAULT_STACK).body_limit_bytes == 16 << 20
    assert composed("UDP:PING:FD:NAKACK:UNICAST:GMS").body_limit_bytes is None


@pytest.mark.parametrize("name", DEFAULT_STACK.split(":")[1:])
def test_a_layer_is_told_of_all_events_that_it_reacts_to(name: str) -> None:
    (layer,) = [layer for layer in composed(DEFAULT_STACK).layers if layer.name == name]
    source = inspect.getsource(type(layer))
    matched = re.findall(r"case (\w+)\(|isinstance\(event, (\w+)\)", source)
    kinds = {getattr(events, word, None) for pair in matched for word in pair if word}
    reacts_to = {kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Event)}
    assert reacts_to == set(layer.hears or ())


def test_without_sequencer_there_is_no_order_to_hand_over() -> None:
    event = run_until_view(composed("UDP:PING:FD:NAKACK:UNICAST:STABLE:GMS"))
    assert event.order_state == OrderState()


def test_a_second_life_goes_on_in_the_chain_that_its_disk_knows() -> None:
    record = Record(View(3, 1, 0, 7, (A,)))
    stack = compose(
        DEFAULT_STACK,
        Address("a", 2),
        Random(1),
        StackOptions(membership=MembershipOptions(durable=True)),
        encode_record(record),
    )
    view = run_until_view(stack).view
    assert (view.number, view.lineage, view.epoch) == (4, 7, 2)
