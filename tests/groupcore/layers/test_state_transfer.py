"""The rules of STATE_TRANSFER, as the paper gives them: who copies what, where, and for whom.

Those of lost providers and bad input (I5, I7, I8) are in `test_state_transfer_trouble`, several
providers, pushes and connections in `test_state_transfer_many`.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from groupcore.events import Synced, ViewInstalled
from groupcore.transfer import events
from groupcore.transfer.events import (
    GetApplicationState,
    ServeState,
)
from groupcore.transfer.headers import MakeCopy, Push
from groupcore.transfer.sources import BytesSource, MemorySink
from groupcore.transfer.version import StateVersion
from tests.groupcore.layers.transfers import SMALL, World, behind

# --- the algorithm --------------------------------------------------------------------------------


def test_all_make_the_copy_and_begin_to_queue_at_the_place_of_make_copy() -> None:
    # I1
    w = behind()
    w.get_state("c")
    w.send("b", b"four ")
    w.deliver("a")
    w.deliver("b")
    assert w.whole("a") == b"one two three four "
    w.settle()
    (state,) = w["c"].states
    assert (state.state, state.position, state.epoch) == (b"one two three ", 3, 1)
    assert w.whole("c") == w.whole("a") == b"one two three four "
    assert w["c"].outcome == events.TAKEN


def test_queued_messages_are_delivered_before_regular_ones_again() -> None:
    w = behind()
    w.get_state("c")
    w.deliver("c")
    for number in range(4):
        w.send("a", b"%d " % number)
        w.deliver("c")
    assert w["c"].seen[:3] == [b"one ", b"two ", b"three "]
    assert w["c"].queue.queueing
    w.settle()
    w.send("a", b"after ")
    w.settle()
    assert w.whole("c") == b"one two three 0 1 2 3 after "


def test_nobody_else_is_held_up_while_a_state_is_taken() -> None:
    w = behind()
    w.get_state("c")
    w.deliver("a")
    w.send("b", b"x ")
    w.deliver("a")
    w.deliver("b")
    assert w.whole("a") == w.whole("b") == b"one two three x "
    assert not w["a"].queue.queueing


def test_the_default_provider_is_the_oldest_member() -> None:
    w = behind()
    w.get_state("c")
    w.settle()
    assert w["c"].states[0].provider == w["a"].address


def test_members_that_are_not_asked_make_no_copy_and_are_not_disturbed() -> None:
    # I3
    w = behind()
    w.get_state("c")
    w.settle()
    assert [w[name].number("copies") for name in "abc"] == [1, 0, 0]
    assert not any(isinstance(item, GetApplicationState) for item in w["b"].seen)


def test_a_chosen_provider_is_asked_and_nobody_else() -> None:
    w = behind()
    w.get_state("c", providers=(w["b"].address,))
    w.settle()
    assert w["c"].states[0].provider == w["b"].address
    assert w["a"].number("copies") == 0


def test_the_state_is_never_taken_from_oneself() -> None:
    # I2
    w = behind()
    w.get_state("c", providers=(w["c"].address,))
    w.settle()
    assert w["c"].outcome == events.NO_STATE


def test_get_state_is_false_for_a_singleton() -> None:
    w = World("a")
    w.get_state("a")
    assert w["a"].outcome == events.ALONE


def test_only_one_transfer_of_a_member_at_a_time() -> None:
    # I2
    w = behind()
    w.get_state("c")
    w.get_state("c")
    assert w["c"].outcome == events.BUSY
    w.settle()
    assert w["c"].outcome == events.TAKEN


def test_versions_keep_the_transfers_of_different_initiators_apart() -> None:
    w = World("abcd")
    w.send("a", b"one ")
    w.deliver("a")
    w.get_state("c")
    w.send("a", b"two ")
    w.get_state("d")
    w.settle()
    assert [w[name].states[0].state for name in "cd"] == [b"one ", b"one two "]
    assert w.whole("c") == w.whole("d") == w.whole("a")


def test_a_state_can_be_taken_again_at_any_time() -> None:
    w = behind()
    for _ in range(3):
        w.get_state("c")
        w.settle()
        w.send("b", b"more ")
        w.settle()
    assert len(w["c"].states) == 3
    assert w.whole("c") == w.whole("a")


def test_gc_drops_the_copies() -> None:
    # I4
    w = behind()
    w.get_state("c")
    w.deliver("a")
    assert w["a"].number("kept") == 1
    w.settle()
    assert w["a"].number("kept") == 0


def test_copies_of_an_initiator_that_left_the_view_are_dropped() -> None:
    # I4
    w = behind()
    w.get_state("c")
    w.deliver("a")
    w.crash("c")
    w.install("ab")
    assert w["a"].number("kept") == 0


# --- who has a state ------------------------------------------------------------------------------


def test_members_that_do_not_serve_return_a_null_state_at_once() -> None:
    # I3
    w = behind()
    w.tell("a", ServeState(False))
    w.get_state("c")
    w.settle()
    assert w["c"].states[0].provider == w["b"].address
    assert w["c"].results[-1].nulls == (w["a"].address,)
    assert w["a"].number("copies") == 0


def test_providers_opt_in_and_out_at_run_time() -> None:
    w = behind()
    for on, provider in ((False, "b"), (True, "a"), (False, "b")):
        w.tell("a", ServeState(on))
        w.get_state("c")
        w.settle()
        assert w["c"].states[-1].provider == w[provider].address


def test_get_state_is_false_when_everybody_has_a_null_state() -> None:
    w = behind("abcde")
    for name in "abcd":
        w.tell(name, ServeState(False))
    w.get_state("e")
    w.settle()
    assert w["e"].outcome == events.NO_STATE
    assert len(w["e"].results[-1].nulls) == 4
    assert w.whole("e") == w.whole("a")
    assert not w["e"].queue.queueing


def test_an_application_may_answer_null_itself() -> None:
    w = behind()
    w["a"].copies = False
    w.get_state("c")
    w.settle()
    assert w["c"].states[0].provider == w["b"].address


def test_ever_more_members_are_asked_at_once_when_they_have_no_state() -> None:
    w = behind("abcdefgh")
    for name in "abcdef":
        w.tell(name, ServeState(False))
    w.get_state("h")
    w.settle()
    asked = [b.headers[0] for b in w.order if b.headers]
    assert [len(header.providers) for header in asked if isinstance(header, MakeCopy)] == [1, 2, 4]
    assert w["h"].states[0].provider == w["g"].address


def test_a_member_that_lacks_the_state_itself_provides_none() -> None:
    # I3
    w = behind()
    fresh = ViewInstalled(w.view, fresh=True, holders=(w["b"].address,), position=3)
    w.tell("a", fresh)
    w.get_state("c")
    w.settle()
    assert w["c"].states[0].provider == w["b"].address
    w.tell("a", Synced(1, 3))
    w.get_state("c")
    w.settle()
    assert w["c"].states[1].provider == w["a"].address


def test_who_opts_in_as_a_member_has_a_state_wherever_it_has_it_from() -> None:
    # I3
    w = behind()
    w.tell("a", ViewInstalled(w.view, fresh=True, holders=(w["b"].address,), position=3))
    w.tell("a", ServeState(True))
    w.get_state("c")
    w.settle()
    assert w["c"].states[0].provider == w["a"].address


def test_who_opts_in_as_a_member_says_that_it_has_a_state() -> None:
    w = behind()
    w.tell("a", ViewInstalled(w.view, fresh=True, holders=(w["b"].address,), position=3))
    w.tell("a", ServeState(True))
    w.get_state("c")
    w.settle()
    assert w["c"].states[0].provider == w["a"].address


def test_who_has_taken_the_state_becomes_a_provider() -> None:
    w = behind()
    w.tell("c", ViewInstalled(w.view, fresh=True, holders=(w["a"].address,), position=3))
    w.get_state("c")
    w.settle()
    w.get_state("b", providers=(w["c"].address,))
    w.settle()
    assert w["b"].outcome == events.TAKEN


# --- chunks ---------------------------------------------------------------------------------------


def test_a_window_of_chunks_is_on_its_way_and_no_more() -> None:
    # I6
    w = behind()
    w.send("a", bytes(100))
    w.get_state("c")
    w.deliver("a")
    w.deliver("c")
    w.pass_on("c", "a")
    assert len(w.chunks("a", "c")) == 2
    w.pass_on("a", "c", 1)
    assert len(w.chunks("a", "c")) == 1
    w.pass_on("c", "a")
    assert len(w.chunks("a", "c")) == 2


@pytest.mark.parametrize("size", [0, 1, 3, 4, 5, 8, 101])
@pytest.mark.parametrize("chunk_bytes", [1, 4, 1000])
def test_states_of_all_sizes_arrive_whole(size: int, chunk_bytes: int) -> None:
    w = World("ab", replace(SMALL, chunk_bytes=chunk_bytes))
    w["a"].state = [bytes(range(size))]
    w.get_state("b")
    w.settle()
    assert w["b"].states[0].state == bytes(range(size))
    assert w["b"].results[-1].size_bytes == size


def test_a_sink_that_is_full_stops_the_provider() -> None:
    # I6
    class Slow(MemorySink):
        def write(self, data: bytes) -> bool:
            super().write(data)
            return False

    sink = Slow()
    w = behind()
    w.get_state("c", sink=sink)
    w.wait(3 * SMALL.silence_s)
    assert w["a"].number("chunks") == 2
    while not w["c"].results:
        w.tell("c", events.SinkReady())
        w.wait(0.01)
    assert sink.state() == b"one two three "
    assert w["c"].states[0].state is None


def test_a_source_that_has_nothing_yet_is_read_when_it_is_ready() -> None:
    class Slow(BytesSource):
        ready = False

        def read(self, offset: int, size: int) -> bytes:
            return super().read(offset, size) if self.ready else None  # type: ignore[return-value]

    source = Slow(b"slow")
    w = behind()
    w["a"].source = lambda: source  # type: ignore[method-assign]
    w.get_state("c")
    w.wait(0.5)
    assert not w["c"].results
    source.ready = True
    w.tell("a", events.SourceReady(StateVersion(1, 1, w["c"].address)))
    w.settle()
    assert w["c"].states[0].state == b"slow"


@pytest.mark.parametrize(
    ("fresh", "holders", "lacks"),
    [(True, "b", True), (True, "ab", False), (True, "", False), (False, "b", False)],
)
def test_who_comes_new_into_a_view_lacks_the_state_if_others_have_it(
    fresh: bool, holders: str, lacks: bool
) -> None:
    w = World("ab")
    having = tuple(w[name].address for name in holders)
    w.tell("a", ViewInstalled(w.view, fresh=fresh, holders=having, position=3))
    layer = w["a"].transfer
    assert layer.giver.lacking is lacks
    push = Push(StateVersion(1, 1, w["a"].address), (w["b"].address,))
    assert layer.on_own_push(push) == [], "it was given up before its turn came"
