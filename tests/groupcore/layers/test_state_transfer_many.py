"""The rules of STATE_TRANSFER for several providers, pushed states and connections of their own."""

from __future__ import annotations

from groupcore.transfer import events
from groupcore.transfer.events import (
    PushState,
    ServeState,
    StateOffered,
)
from groupcore.transfer.version import StateVersion
from tests.groupcore.layers.building import STRANGER
from tests.groupcore.layers.transfers import SMALL, World, behind

# --- many -----------------------------------------------------------------------------------------


def test_the_states_of_all_members_are_returned_except_the_initiators() -> None:
    w = behind("abcd")
    w["b"].state = [b"other"]
    w.tell("c", ServeState(False))
    w.get_state("d", many=True)
    w.settle()
    (state,) = w["d"].states
    assert state.states == {
        w["a"].address: b"one two three ",
        w["b"].address: b"other",
        w["c"].address: None,
    }
    assert state.state is None
    assert w["d"].outcome == events.TAKEN


def test_the_states_of_chosen_members_are_returned() -> None:
    w = behind("abcd")
    w.get_state("d", many=True, providers=(w["b"].address, w["c"].address))
    w.settle()
    assert set(w["d"].states[0].states) == {w["b"].address, w["c"].address}
    assert w["a"].number("copies") == 0


def test_many_states_are_false_when_all_are_null() -> None:
    w = behind()
    for name in "ab":
        w.tell(name, ServeState(False))
    w.get_state("c", many=True)
    w.settle()
    assert w["c"].outcome == events.NO_STATE


def test_many_states_come_without_that_of_a_member_that_dies() -> None:
    w = behind("abcd")
    w.get_state("d", many=True)
    for name in "abcd":
        w.deliver(name)
    w.crash("b")
    w.wait(3 * SMALL.silence_s)
    assert [state is None for state in w["d"].states[0].states.values()] == [False, True, False]


def test_the_state_of_the_majority_is_taken_and_dissenters_are_reported() -> None:
    w = behind("abcd")
    w["a"].state = [b"wrong"]
    w.get_state("d", many=True, quorum=True)
    w.wait(1.0)
    (result,) = w["d"].results
    assert (result.outcome, result.dissenters) == (events.TAKEN, (w["a"].address,))
    assert w["d"].states[0].state == b"one two three "
    assert w["d"].states[0].provider == w["b"].address


def test_another_of_the_majority_goes_on_when_one_dies() -> None:
    w = behind("abcd")
    w.get_state("d", many=True, quorum=True)
    while not w.chunks("a", "d") or w["d"].transfer.taker.current.electing:
        w.wait(0.0002)
        for name in "abcd":
            w.deliver(name)
        if not w["d"].transfer.taker.transfer:
            break
    w.crash("a")
    w.wait(3 * SMALL.silence_s)
    assert w["d"].outcome == events.TAKEN
    assert w.whole("d") == b"one two three "


def test_without_a_majority_no_state_is_taken() -> None:
    w = behind("abcd")
    for name, text in zip("abc", (b"1", b"2", b"3"), strict=True):
        w[name].state = [text]
    w.get_state("d", many=True, quorum=True)
    w.wait(1.0)
    assert w["d"].outcome == events.NO_QUORUM
    assert len(w["d"].results[0].dissenters) == 3
    assert not w["d"].states


def test_a_null_state_has_no_vote_and_a_silent_member_has_one() -> None:
    w = behind("abcde")
    w["a"].state = [b"wrong"]
    for name in "bc":
        w.tell(name, ServeState(False))
    w.get_state("e", many=True, quorum=True)
    w.wait(1.0)
    assert w["e"].outcome == events.NO_QUORUM  # a against d: no majority of the two
    w = behind("abc")
    w.get_state("c", many=True, quorum=True)
    w.crash("b")
    w.wait(5 * SMALL.silence_s)
    assert w["c"].outcome == events.NO_QUORUM  # a alone is no majority of a and b


# --- pushing --------------------------------------------------------------------------------------


def test_a_pushed_state_is_of_the_place_of_the_push() -> None:
    # I1
    w = behind("abc")
    w.send("b", b"four ")
    w.tell("a", PushState((w["c"].address,)))
    w.send("b", b"five ")
    w.settle()
    (state,) = w["c"].states
    assert (state.state, state.position) == (b"one two three four ", 4)
    assert w.whole("c") == w.whole("a") == b"one two three four five "
    assert w["a"].pushes[0].taken == (w["c"].address,)
    assert not w["b"].states


def test_a_push_to_several_tells_who_has_taken_it() -> None:
    w = behind("abcd")
    w.tell("a", PushState(tuple(w[name].address for name in "bcd")))
    w.crash("c")
    w.settle()
    assert not w["a"].pushes
    w.install("abd")
    assert sorted(w["a"].pushes[0].taken) == [w["b"].address, w["d"].address]
    assert w["a"].number("kept") == 0


def test_who_is_taking_a_state_takes_no_push() -> None:
    # I2
    w = behind("abc")
    w.get_state("c")
    w.deliver("c")
    w.tell("b", PushState((w["c"].address,)))
    w.settle()
    assert w["b"].pushes[0].taken == ()
    assert w["c"].outcome == events.TAKEN
    assert len(w["c"].states) == 1


def test_a_push_ends_within_its_time_out() -> None:
    # I8
    w = behind("abc")
    w.tell("a", PushState((w["c"].address,), timeout_s=2.0))
    w.crash("c")
    w.wait(3.0)
    assert w["a"].pushes[0].taken == ()
    assert w["a"].number("kept") == 0


def test_a_push_to_nobody_ends_at_once() -> None:
    w = behind("abc")
    w.tell("a", PushState((w["a"].address, STRANGER)))
    assert w["a"].pushes[0].taken == ()


def test_when_a_pusher_dies_its_receivers_go_on_as_they_were() -> None:
    # I8
    w = behind("abc")
    w.tell("a", PushState((w["c"].address,)))
    w.send("b", b"four ")
    w.deliver("c")
    w.crash("a")
    w.install("bc")
    w.settle()
    assert not w["c"].states
    assert w.whole("c") == b"one two three four "


# --- a connection of its own ----------------------------------------------------------------------


def offered(w: World) -> StateVersion:
    """The provider serves the state on a connection; nobody has fetched it yet."""
    version = StateVersion(1, 1, w["c"].address)
    w["a"].offers = True
    w.get_state("c", medium="separate")
    w.settle()
    w.tell("a", StateOffered(version, w["c"].address, "127.0.0.1", 7, b"token"))
    w.settle()
    return version


def test_an_offer_is_fetched_and_the_chunks_stay_out_of_the_group() -> None:
    w = behind()
    version = offered(w)
    (fetch,) = [item for item in w["c"].seen if isinstance(item, events.FetchState)]
    assert (fetch.host, fetch.port, fetch.token) == ("127.0.0.1", 7, b"token")
    w.wait(3 * SMALL.silence_s)
    assert not w["c"].results
    fetch.intake.take(b"one two three ")
    w.tell("c", events.StateFetched(version, complete=True))
    w.settle()
    assert w.whole("c") == b"one two three "
    assert w["a"].number("chunks") == 0


def test_when_the_connection_fails_the_rest_comes_through_the_group() -> None:
    w = behind()
    version = offered(w)
    (fetch,) = [item for item in w["c"].seen if isinstance(item, events.FetchState)]
    fetch.intake.take(b"one two ")
    w.tell("c", events.StateFetched(version, complete=False))
    w.wait(0.5)
    assert w.whole("c") == b"one two three "
    assert w["a"].number("given_bytes") == len(b"three ")


def test_a_provider_that_cannot_serve_a_connection_gives_the_state_through_the_group() -> None:
    w = behind()
    w.get_state("c", medium="separate")
    w.settle()
    assert w["c"].outcome == events.TAKEN
    assert w["a"].number("chunks") > 0


def test_small_states_come_through_the_group_and_large_ones_on_a_connection() -> None:
    w = behind(separate_bytes=10)
    w["a"].offers = True
    w.get_state("c", medium="auto")
    w.settle()
    assert [item for item in w["a"].seen if isinstance(item, events.OfferState)]
    w = behind(separate_bytes=1000)
    w["a"].offers = True
    w.get_state("c", medium="auto")
    w.settle()
    assert w["c"].outcome == events.TAKEN


def test_when_the_provider_of_a_connection_leaves_it_is_given_up() -> None:
    # I7
    w = behind()
    offered(w)
    w.crash("a")
    w.install("bc")
    assert [item for item in w["c"].seen if isinstance(item, events.StopFetching)]
    w["b"].offers = False
    w.settle()
    assert w["c"].states[0].provider == w["b"].address
