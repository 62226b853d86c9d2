"""The rules of NAKACK where nobody acknowledges and stability alone tells what all hold."""

from __future__ import annotations

import pytest

from groupcore.effects import Effect, StartTimer, Up
from groupcore.events import HeldBy, MuchReceived, Stable, WindowFull
from groupcore.layers.nakack import Nakack
from groupcore.layers.nakack_headers import Data, HighWater, NakackOptions, Repair, Request
from tests.groupcore.layers.building import (
    STRANGER,
    A,
    B,
    C,
    bare,
    downs,
    events,
    headed,
    message,
    stopped,
    timers,
    told,
    ups,
)
from tests.groupcore.layers.nakacks import data, hear, member, plain

QUIET = NakackOptions(acknowledge="none")


def stable(layer: Nakack, mine: int, collectable: int | None = None) -> list[Effect]:
    """Stability says that everybody has delivered so many of this member's multicasts."""
    kept = None if collectable is None else {A: collectable}
    return layer.on_event(Stable({A: mine}, {}, kept), 0.0)


def test_a_receiver_acknowledges_nothing() -> None:
    layer = member(options=QUIET)
    effects = hear(layer, data(B, 1), bare(B, HighWater(1, 1)), data(B, 1))
    assert effects == [Up(plain(B, 1))]


def test_the_senders_window_is_opened_by_stability() -> None:
    layer = member(options=NakackOptions(acknowledge="none", window_bytes=1))
    layer.on_down(message(A), 0.0)
    assert told(layer.on_down(message(A), 0.0)) == []
    assert told(stable(layer, 1)) == [Data(1, 2, 1)]


def test_a_lost_suffix_is_found_by_high_water_marks_less_and_less_often() -> None:
    layer = member(options=QUIET)
    layer.on_down(message(A), 0.0)
    delays = []
    for _ in range(7):
        effects = layer.on_timer("high_water", 0.0)
        assert downs(effects) == [bare(A, HighWater(1, 1))]
        delays.append(timers(effects)["high_water"])
    assert delays == sorted(delays)
    assert delays[-1] == pytest.approx(0.5)


def test_there_are_no_marks_when_nothing_is_unstable() -> None:
    layer = member(options=QUIET)
    layer.on_down(message(A), 0.0)
    assert "high_water" in stopped(stable(layer, 1))
    assert layer.on_timer("high_water", 0.0) == []


def test_with_each_mark_it_is_told_that_the_window_is_full() -> None:
    layer = member(options=NakackOptions(acknowledge="none", window_bytes=1))
    layer.on_down(message(A), 0.0)
    assert events(layer.on_timer("high_water", 0.0)) == []
    layer.on_down(message(A), 0.0)
    assert events(layer.on_timer("high_water", 0.0)) == [WindowFull()]


def test_what_is_kept_for_latecomers_holds_up_neither_the_window_nor_the_marks() -> None:
    layer = member(options=QUIET)
    for _ in range(3):
        layer.on_down(message(A), 0.0)
    assert "high_water" in stopped(stable(layer, 3, collectable=1))
    assert sorted(layer.mine.window.batches) == [2, 3]
    assert layer.counters()["in_flight_bytes"] == 0
    stable(layer, 3, collectable=3)
    assert layer.mine.window.batches == {}


def test_a_receiver_keeps_for_latecomers_what_the_sender_has_let_go() -> None:
    layer = member(options=QUIET)
    hear(layer, data(B, 1), data(B, 2), data(B, 3, stable=2))
    assert sorted(layer.windows[B].batches) == [1, 2, 3]
    layer.on_event(Stable({B: 3}, {}, {B: 1}), 0.0)
    assert sorted(layer.windows[B].batches) == [2, 3]


def test_stability_of_what_was_not_sent_opens_nothing() -> None:
    layer = member(options=QUIET)
    assert stable(layer, 9) == []
    layer.on_down(message(A), 0.0)
    assert layer.mine.window.get(1) is not None


def test_what_a_gossip_shows_to_be_missing_is_asked_of_its_sender() -> None:
    layer = member(options=QUIET)
    assert layer.on_event(HeldBy(C, {B: 2, STRANGER: 5}), 0.0) == [StartTimer("repair", 0)]
    assert downs(layer.on_timer("repair", 0.0)) == [bare(A, Request(1, B, (1, 2)), to=C)]


def test_a_gossip_of_what_is_here_makes_no_request() -> None:
    layer = member(options=QUIET)
    hear(layer, data(B, 1))
    assert layer.on_event(HeldBy(C, {A: 4, B: 1, C: 0}), 0.0) == []


def test_after_so_many_bytes_the_layers_that_agree_on_stability_are_told() -> None:
    size_bytes = message(B).size_bytes
    layer = member(options=NakackOptions(much_bytes=3 * size_bytes))
    assert events(hear(layer, data(B, 1))) == []
    assert events(layer.on_down(message(A), 0.0)) == []  # what is sent is delivered, too
    assert events(hear(layer, data(C, 1))) == [MuchReceived()]
    assert events(hear(layer, data(B, 2))) == []


def test_stability_is_spoken_of_before_the_window_is_full() -> None:
    assert NakackOptions(acknowledge="none", window_bytes=400).report_bytes == 100
    assert NakackOptions(window_bytes=400, much_bytes=900).report_bytes == 900


# --- repairs to all -------------------------------------------------------------------------------


def test_what_several_ask_for_in_one_turn_is_multicast_once() -> None:
    layer = member()
    layer.on_down(message(A), 0.0)
    hear(layer, bare(B, Request(1, A, (1, 1))), bare(C, Request(1, A, (1, 1))))
    (repair,) = downs(layer.on_timer("answer", 0.0))
    assert (repair.destination, repair.headers) == (None, (Repair(1, A, 1),))


def test_a_repair_for_others_is_no_duplicate_and_is_not_acknowledged() -> None:
    layer = member()
    hear(layer, data(B, 1))
    assert hear(layer, headed(C, Repair(1, B, 1))) == []
    assert layer.counters()["dropped"] == 0


def test_a_repair_to_all_fills_the_gap_of_one_that_has_not_asked_yet() -> None:
    layer = member()
    hear(layer, data(B, 2))
    assert ups(hear(layer, headed(C, Repair(1, B, 1), text="b1"))) == [plain(B, 1), plain(B, 2)]
