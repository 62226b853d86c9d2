"""The rules of composing stacks from strings, and of the record that a life leaves behind."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupcore import events, stacks
from groupcore.batch import Batch
from groupcore.composition import needs_of
from groupcore.errors import CompositionError, WireError
from groupcore.events import Connect, Event, Persisted, ViewInstalled
from groupcore.layer import Layer
from groupcore.layers.failure_detection import DetectionOptions
from groupcore.membership.ballots import Ballot, Proposal, Record
from groupcore.membership.state import MembershipOptions
from groupcore.order_state import OrderState
from groupcore.stack import Stack
from groupcore.stacks import (
    DEFAULT_STACK,
    LARGE_GROUP_STACK,
    LAYERS,
    TOTAL_STACK,
    Known,
    Parts,
    StackOptions,
    _Wiring,
    compose,
    encode_record,
    plan_stack,
    read_record,
    register_layer,
)
from groupcore.transfer import events as transfer
from groupcore.view import Address, View

A = Address("a", 1)
VIEW = View(3, 1, 0, 7, (A, Address("b", 1)))


def composed(spec: str | Sequence[str], lineage: bytes | None = None) -> Stack:
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


def test_a_large_group_gossips_and_nobody_acknowledges() -> None:
    plan = plan_stack(LARGE_GROUP_STACK)
    assert "PBCAST" in plan.words
    assert "STABLE" not in plan.words
    assert plan.options.nakack.acknowledge == "none"
    assert run_until_view(composed(LARGE_GROUP_STACK)).view.members == (A,)


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        (
            "PING:FD:NAKACK(acknowledge=none):UNICAST:STABLE:RESILIENCE:GMS:FLUSH",
            "RESILIENCE counts acknowledgements",
        ),
        (
            "PING:FD:NAKACK(acknowledge=none):UNICAST:GMS:FLUSH",
            "learns what all hold from STABLE or PB",
        ),
        (
            "PING:FD:NAKACK(acknowledge=some):UNICAST:GMS:FLUSH",
            "acknowledge=some.*: give all or none",
        ),
    ],
)
def test_a_stack_that_waits_for_acknowledgements_in_vain_is_refused(
    spec: str, complaint: str
) -> None:
    with pytest.raises(CompositionError, match=complaint):
        composed(spec)


def test_total_orders_without_a_layer_that_repairs_multicasts() -> None:
    layers = names(composed(TOTAL_STACK))
    assert not {"NAKACK", "STABLE", "RESILIENCE", "SEQUENCER"} & set(layers)
    assert composed(TOTAL_STACK).counters()["TOTAL.position"] == 0


def test_the_transport_may_be_left_out() -> None:
    assert names(composed(DEFAULT_STACK.removeprefix("UDP:"))) == DEFAULT_STACK.split(":")[1:]


@pytest.mark.parametrize(
    "spec",
    [
        "UDP:PING:FD:NAKACK:UNICAST:GMS:FLUSH",
        "UDP:PING:FD:NAKACK:UNICAST:STABLE:GMS:FLUSH",
        "UDP:PING:FD:NAKACK:UNICAST:GMS:FLUSH:SEQUENCER",
        "UDP:PING:FD:NAKACK:UNICAST:STABLE:GMS:FLUSH:FRAG:SEQUENCER",
    ],
)
def test_a_smaller_stack_can_be_composed(spec: str) -> None:
    assert names(composed(spec)) == spec.split(":")[1:]


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        ("UDP:PING:FD:NAKACK:UNICAST:STABLE", "FD requires 'views' from a layer above"),
        (
            "UDP:FD:NAKACK:GMS:FLUSH",
            "GMS requires 'discovery' from a layer below .*; add PING below GMS",
        ),
        ("UDP:PING:FD:GMS:FLUSH:NAKACK", "GMS must stand above NAKACK"),
        (
            "UDP:PING:FD:UNICAST:GMS:FLUSH",
            "GMS requires 'digest' from a layer around it .*; add NAKACK",
        ),
        (
            "UDP:PING:FD:NAKACK:GMS:FLUSH:SEQUENCER",
            "SEQUENCER requires 'reliable unicast' from a layer",
        ),
        (
            "UDP:PING:FD:NAKACK:UNICAST:GMS:FLUSH:DURABILITY",
            "DURABILITY requires 'total order' from",
        ),
        ("UDP:PING:FD:NAKACK:UNICAST:GMS:FLUSH:SEQUENCER:FRAG:FRAG", "FRAG stands twice"),
        (
            "UDP:PING:PONG",
            "no layer is called PONG; did you mean PING[?] there are PROBE, PING, MERGE, FD",
        ),
        ("UDP:PING:SEQUENCE", "no layer is called SEQUENCE; did you mean SEQUENCER[?]"),
        ("PING:UDP", "UDP is the transport; put it first or leave it out"),
        ("UDP(port=3):PING", "UDP takes no options in a stack; give them to the channel"),
        ("", "'' is not a part of a stack"),
        ("UDP:PING:RESILIENCE(k=2)", "RESILIENCE requires 'reliable multicast'"),
    ],
)
def test_a_stack_that_misses_something_is_refused_by_name(spec: str, complaint: str) -> None:
    with pytest.raises(CompositionError, match=complaint):
        composed(spec)


def test_a_stack_is_composed_from_a_list_as_from_a_string() -> None:
    assert names(composed(DEFAULT_STACK.split(":"))) == names(composed(DEFAULT_STACK))


def test_options_in_the_string_replace_those_that_were_given() -> None:
    given = StackOptions(body_bytes_max=9_000, k=2)
    plan = plan_stack(
        "UDP:PING(ask_every_s=0.2):FD(pings=5,timeout_s=2):NAKACK:UNICAST:GMS:FLUSH:"
        "FRAG(body_bytes_max=1000):SEQUENCER",
        given,
    )
    assert plan.options.discovery.ask_every_s == 0.2
    assert plan.options.detection == DetectionOptions(pings=5, timeout_s=2.0)
    assert (plan.options.body_bytes_max, plan.options.k) == (1000, 2)
    assert plan.words == ("PING", "FD", "NAKACK", "UNICAST", "GMS", "FLUSH", "FRAG", "SEQUENCER")
    assert given.body_bytes_max == 9_000


@pytest.mark.parametrize(
    ("word", "complaint"),
    [
        (
            "FD(timeout=1)",
            "FD has no option 'timeout'; did you mean timeout_s[?] it has begin_s",
        ),
        ("FRAG(k=1)", "FRAG has no option 'k'; it has body_bytes_max"),
        ("RESILIENCE(k=1)", "RESILIENCE has no options; take k out of its brackets"),
    ],
)
def test_an_option_that_the_layer_lacks_is_refused_by_name(word: str, complaint: str) -> None:
    spec = re.sub(rf"\b{word.split('(')[0]}\b", word, DEFAULT_STACK)
    with pytest.raises(CompositionError, match=complaint):
        plan_stack(spec)


def test_every_layer_that_is_known_can_be_made() -> None:
    wiring = _Wiring(A, Random(1), StackOptions(), None)
    assert {word: type(make()) for word, make in wiring.makers().items()} == {
        word: known.layer for word, known in LAYERS.items() if known.make is None
    }


# --- a program's own layer ------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True)
class EchoOptions:
    times: int = 1


class Echo(Layer):
    """Lets everything pass; the tests look at what it is made of."""

    name = "ECHO"
    requires_below = frozenset({"reliable multicast"})

    def __init__(self, parts: Parts) -> None:
        self.parts = parts


@pytest.fixture
def echo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stacks, "LAYERS", dict(LAYERS))
    register_layer(Echo, Echo, EchoOptions())


@pytest.mark.usefixtures("echo")
@pytest.mark.parametrize(
    ("word", "own", "times"),
    [
        ("ECHO", {}, 1),
        ("ECHO(times=3)", {}, 3),
        ("ECHO", {"ECHO": EchoOptions(2)}, 2),
        ("ECHO(times=3)", {"ECHO": EchoOptions(2)}, 3),
    ],
)
def test_a_layer_of_ones_own_is_made_with_its_options(
    word: str, own: dict[str, EchoOptions], times: int
) -> None:
    spec = DEFAULT_STACK.replace(":SEQUENCER", f":{word}:SEQUENCER")
    stack = compose(spec, A, Random(1), StackOptions(own=own))
    (made,) = [layer for layer in stack.layers if isinstance(layer, Echo)]
    assert (made.parts.me, made.parts.options) == (A, EchoOptions(times))
    assert run_until_view(stack).view.names == ("a",)


@pytest.mark.usefixtures("echo")
@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        ("UDP:ECHO:PING", r"ECHO.*'reliable multicast'"),
        (DEFAULT_STACK.replace(":FC", ":ECHO(time=1):FC"), r"ECHO has no option 'time'.*times"),
        (
            DEFAULT_STACK.replace(":FC", ":ECHO(times=x):FC"),
            r"ECHO\(times=x\): give a whole number",
        ),
    ],
)
def test_a_layer_of_ones_own_is_checked_as_all_are(spec: str, complaint: str) -> None:
    with pytest.raises(CompositionError, match=complaint):
        plan_stack(spec)


@pytest.mark.usefixtures("echo")
def test_a_word_belongs_to_one_layer() -> None:
    register_layer(Echo, Echo, EchoOptions(5))  # said again, it is as it was said last
    assert stacks.LAYERS["ECHO"].defaults == EchoOptions(5)
    for word, complaint in (
        ("FRAG", r"FRAG is .*Fragmentation; take another"),
        ("UDP", "can be no layer's word"),
        ("my layer", "can be no layer's word"),
    ):
        other = type("Other", (Layer,), {"name": word})
        with pytest.raises(CompositionError, match=complaint):
            register_layer(other, Echo)


def test_the_options_of_every_layer_are_a_field_of_the_stacks_options() -> None:
    fields = {field.name for field in dataclasses.fields(StackOptions)}
    assert {known.options for known in LAYERS.values()} - {None} <= fields


@pytest.mark.parametrize("known", LAYERS.values(), ids=LAYERS)
def test_what_a_layer_answers_it_hears(known: Known) -> None:
    assert known.layer.hears is None or set(known.layer.answers) <= set(known.layer.hears)


@pytest.mark.parametrize("known", LAYERS.values(), ids=LAYERS)
def test_what_a_layer_requires_some_layer_provides(known: Known) -> None:
    for need in needs_of(known.layer):
        assert any(need.is_met_by(other.layer) for other in LAYERS.values()), str(need)


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
    assert composed("UDP:PING:FD:NAKACK:UNICAST:GMS:FLUSH").body_limit_bytes is None


@pytest.mark.parametrize("name", DEFAULT_STACK.split(":")[1:])
def test_a_layer_is_told_of_all_events_that_it_reacts_to(name: str) -> None:
    (layer,) = [layer for layer in composed(DEFAULT_STACK).layers if layer.name == name]
    parts = [type(part) for part in vars(layer).values() if hasattr(type(part), "hears")]
    source = "".join(inspect.getsource(kind) for kind in (type(layer), *parts))
    matched = re.findall(r"(?:case|\|) (\w+)\(|isinstance\(event, (\w+)\)", source)
    words = {word for pair in matched for word in pair if word}
    kinds = {getattr(module, word, None) for module in (events, transfer) for word in words}
    reacts_to = {kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Event)}
    assert reacts_to == set(layer.hears or ())


def test_without_sequencer_there_is_no_order_to_hand_over() -> None:
    event = run_until_view(composed("UDP:PING:FD:NAKACK:UNICAST:STABLE:GMS:FLUSH"))
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
