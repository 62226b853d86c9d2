"""The rules of the fault layers: what harm they do, how it is switched, and that it repeats."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupcore.batch import Batch
from groupcore.effects import Effect
from groupcore.faults import (
    DelayOptions,
    DiscardOptions,
    DuplicateOptions,
    Faults,
    ShuffleOptions,
    Victims,
)
from groupcore.layers.faults import Delay, Discard, Duplicate, FaultLayer, Shuffle
from groupcore.stacks import DEFAULT_STACK, StackOptions, compose
from groupcore.view import Address
from tests.groupcore.layers.building import A, B, C, downs, message, timers, ups

COUNT = 200


def discard(faults: Faults | None = None, **options: float) -> Discard:
    return Discard(Random(1), faults or Faults(), DiscardOptions(**options))  # type: ignore[arg-type]


def numbered(count: int = COUNT, sender: Address = A) -> list[Batch]:
    return [message(sender, str(number)) for number in range(count)]


def down(layer: FaultLayer, batches: list[Batch], now: float = 0.0) -> list[Batch]:
    return [gone for batch in batches for gone in downs(layer.on_down(batch, now))]


def up(layer: FaultLayer, batches: list[Batch], now: float = 0.0) -> list[Batch]:
    return [gone for batch in batches for gone in ups(layer.on_pass(batch, now))]


def texts(batches: list[Batch]) -> list[bytes]:
    return [batch.body for batch in batches]


# --- DISCARD --------------------------------------------------------------------------------------


def test_a_share_is_thrown_away_and_the_rest_passes_in_order() -> None:  # I2
    layer = discard(down=0.5)
    sent = numbered()
    arrived = down(layer, sent)
    assert COUNT * 0.3 < len(arrived) < COUNT * 0.7
    kept = {id(batch) for batch in arrived}
    assert [batch for batch in sent if id(batch) in kept] == arrived
    assert layer.counters() == {"discarded": COUNT - len(arrived)}
    assert len(up(layer, sent)) == COUNT


def test_what_goes_up_has_a_share_of_its_own() -> None:  # I2
    layer = discard(up=1.0)
    assert up(layer, numbered()) == []
    assert len(down(layer, numbered())) == COUNT


def test_only_some_members_are_harmed_or_only_what_matches() -> None:  # I2
    some = Victims(members=frozenset({B}))
    layer = Discard(Random(1), Faults(), DiscardOptions(1.0, 1.0, some))
    assert up(layer, [message(B), message(C)]) == [message(C)]
    assert down(layer, [message(A, to=B), message(A, to=C), message(A)]) == [
        message(A, to=C),
        message(A),
    ]
    loud = Victims(matches=lambda batch: b"!" in batch.body)
    layer = Discard(Random(1), Faults(), DiscardOptions(1.0, 1.0, loud))
    assert down(layer, [message(A, "hi!"), message(A, "hi")]) == [message(A, "hi")]


# --- the switch -----------------------------------------------------------------------------------


def test_a_test_turns_the_harm_up_off_and_on_while_the_stack_runs() -> None:  # I1
    faults = Faults()
    layer = discard(faults, down=1.0)
    assert down(layer, numbered(1)) == []
    faults.discard = DiscardOptions()
    assert len(down(layer, numbered(1))) == 1
    faults.discard = DiscardOptions(down=1.0)
    faults.on = False
    assert len(down(layer, numbered(1))) == 1
    faults.on = True
    assert down(layer, numbered(1)) == []
    faults.discard = None
    assert down(layer, numbered(1)) == []


@pytest.mark.parametrize(
    "make",
    [
        lambda random, faults: Discard(random, faults, DiscardOptions(0.5, 0.5)),
        lambda random, faults: Delay(random, faults, DelayOptions(0.1, 0.1, 0.5)),
        lambda random, faults: Shuffle(random, faults, ShuffleOptions(5)),
        lambda random, faults: Duplicate(random, faults, DuplicateOptions(0.5, 0.5)),
    ],
)
def test_the_same_seed_does_the_same_harm(make: object) -> None:  # I6
    assert callable(make)

    def run() -> list[Effect]:
        layer = make(Random(99), Faults(random=Random(5)))
        effects = [e for batch in numbered(50) for e in layer.on_down(batch, 0.0)]
        return effects + [e for batch in numbered(50) for e in layer.on_pass(batch, 0.0)]

    assert run() == run()


# --- DELAY ----------------------------------------------------------------------------------------


def test_a_batch_is_held_for_its_time_and_the_order_stays() -> None:  # I3
    layer = Delay(Random(1), Faults(), DelayOptions(down_s=1.0, up_s=2.0))
    first, second = layer.on_down(message(A, "1"), 0.0), layer.on_down(message(A, "2"), 0.5)
    assert timers(first) == {"release": 1.0}
    assert timers(second) == {"release": 0.5}
    layer.on_pass(message(B, "3"), 0.6)
    effects = layer.on_timer("release", 1.0)
    assert downs(effects) == [message(A, "1")]
    assert timers(effects) == {"release": 0.5}
    assert downs(layer.on_timer("release", 1.5)) == [message(A, "2")]
    assert ups(layer.on_timer("release", 2.6)) == [message(B, "3")]
    assert layer.counters() == {"delayed": 3}


def test_jitter_lets_batches_overtake_each_other() -> None:  # I3
    layer = Delay(Random(1), Faults(), DelayOptions(jitter_s=1.0))
    sent = numbered(20)
    down(layer, sent)
    arrived = downs(layer.on_timer("release", 1.0))
    assert arrived != sent
    assert sorted(texts(arrived)) == sorted(texts(sent))


def test_what_is_held_goes_on_at_its_time_also_when_switched_off() -> None:  # I1
    faults = Faults()
    layer = Delay(Random(1), faults, DelayOptions(down_s=1.0))
    layer.on_down(message(A, "1"), 0.0)
    faults.on = False
    assert down(layer, [message(A, "2")]) == [message(A, "2")]
    assert downs(layer.on_timer("release", 1.0)) == [message(A, "1")]


# --- SHUFFLE --------------------------------------------------------------------------------------


def test_a_full_window_goes_on_in_another_order() -> None:  # I4
    layer = Shuffle(Random(1), Faults(), ShuffleOptions(window=10))
    sent = numbered(20)
    arrived = down(layer, sent)
    assert arrived != sent
    for window in (slice(0, 10), slice(10, 20)):
        assert sorted(texts(arrived[window])) == sorted(texts(sent[window]))


def test_a_window_that_does_not_fill_goes_on_after_a_while() -> None:  # I4
    layer = Shuffle(Random(1), Faults(), ShuffleOptions(window=10, wait_s=0.5))
    effects = [e for batch in numbered(3, B) for e in layer.on_pass(batch, 0.0)]
    assert ups(effects) == []
    assert timers(effects) == {"up": 0.5}
    assert sorted(texts(ups(layer.on_timer("up", 0.5)))) == sorted(texts(numbered(3, B)))
    assert layer.on_timer("up", 1.0) == []


@given(st.integers(2, 6), st.integers(0, 40))
def test_nothing_is_lost_and_nothing_doubled(window: int, count: int) -> None:  # I4
    layer = Shuffle(Random(1), Faults(), ShuffleOptions(window))
    sent = numbered(count)
    arrived = down(layer, sent) + downs(layer.on_timer("down", 1.0))
    assert sorted(texts(arrived)) == sorted(texts(sent))


# --- DUPLICATE ------------------------------------------------------------------------------------


def test_a_share_goes_on_twice() -> None:  # I5
    layer = Duplicate(Random(1), Faults(), DuplicateOptions(down=0.5, up=1.0))
    arrived = down(layer, numbered())
    assert len(arrived) == COUNT + layer.harmed
    assert 0 < layer.harmed < COUNT
    assert up(layer, [message(B)]) == [message(B), message(B)]


# --- in a stack -----------------------------------------------------------------------------------


def test_they_stand_anywhere_in_a_stack_with_options_in_the_string() -> None:
    spec = DEFAULT_STACK.replace(
        ":PING:", ":DISCARD(up=0.5):DELAY(down_s=0.1,jitter_s=0.2):PING:"
    ).replace(":FRAG:", ":SHUFFLE(window=3):FRAG:")
    stack = compose(spec + ":DUPLICATE(up=0.25)", A, Random(1), StackOptions(faults=Faults()))
    layers = {layer.name: layer for layer in stack.layers}
    assert isinstance(layers["DISCARD"], Discard)
    assert layers["DISCARD"].options.up == 0.5
    assert isinstance(layers["DUPLICATE"], Duplicate)
    assert layers["DUPLICATE"].options == DuplicateOptions(up=0.25)
    assert stack.layers[-1].name == "DUPLICATE"
