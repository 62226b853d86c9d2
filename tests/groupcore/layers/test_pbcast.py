"""The rules of PBCAST, sentence by sentence of the pbcast design."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from groupcore.batch import Batch
from groupcore.digest import Digest
from groupcore.effects import Notify, StartTimer
from groupcore.errors import WireError
from groupcore.events import (
    Connect,
    FlushStarted,
    HeldBy,
    MuchReceived,
    SeenAlive,
    Stable,
)
from groupcore.layers.pbcast import Gossip, GossipOptions, Pbcast
from groupcore.wire import decode_packet, encode_packet, unpack_packets
from tests.groupcore.layers.building import (
    STRANGER,
    A,
    B,
    C,
    D,
    E,
    bare,
    downs,
    events,
    installed,
    stopped,
    timers,
    told,
)
from tests.groupcore.layers.pbcasts import ALL, gossip, hear, member, stable

ONES = (1, 1, 1)


# --- handling of received gossips -----------------------------------------------------------------


def test_a_gossip_whose_sender_is_null_is_not_even_decoded() -> None:
    packet = encode_packet(gossip(B, (0, 0, 0), (0, 2)))
    (raw,) = unpack_packets(b"\x91" + packet)
    assert decode_packet(raw, B, None).headers == gossip(B, (0, 0, 0), (0, 2)).headers
    raw[0][0][2] = None
    with pytest.raises(WireError, match="bad_header"):
        decode_packet(raw, B, None)


def test_a_gossip_of_a_sender_that_is_not_a_member_is_dropped() -> None:  # I1
    layer = member()
    assert hear(layer, gossip(STRANGER, (9, 9, 9), (0,), relay=B)) == []
    assert hear(layer, gossip(B, (9, 9, 9), (0,), relay=STRANGER)) == []
    assert layer.counters()["dropped"] == 2


def test_a_new_member_is_heard_as_soon_as_the_view_with_it_is_here() -> None:
    layer = member(A, B)
    assert hear(layer, gossip(C, (1, 0, 0), (0,), view=2)) == []
    layer.on_event(installed(A, B, C, number=2), 0.0)
    assert hear(layer, gossip(C, (1, 0, 0), (0,), number=2, view=2)) != []


def test_a_gossip_that_was_received_before_is_discarded() -> None:  # I1
    layer = member()
    assert events(hear(layer, gossip(B, (0, 3, 0), (0, 2))))
    assert hear(layer, gossip(B, (0, 3, 0), (0,), relay=C)) == []
    assert layer.counters()["seen_before"] == 1


def test_the_list_of_gossips_received_is_bounded_and_forgets_the_oldest() -> None:
    layer = member(options=GossipOptions(seen_max=2))
    for number in (1, 2, 3):
        hear(layer, gossip(B, (0, 0, 0), (0,), number=number))
    assert list(layer.seen) == [(B, 2), (B, 3)]
    assert hear(layer, gossip(B, (0, 0, 0), (0,), number=3)) == []


def test_missing_messages_from_any_sender_are_asked_of_the_sender_of_the_gossip() -> None:  # I3
    layer = member(mine={A: 2, B: 1, C: 4})
    effects = hear(layer, gossip(B, (2, 3, 7), (0,), relay=C))
    assert timers(effects)["ask"] == ALL.ask_after_s
    assert events(layer.on_timer("ask", 0.0)) == [HeldBy(B, {A: 2, B: 3, C: 7})]
    assert layer.counters()["requests"] == 1


def test_nothing_is_asked_for_when_nothing_is_missing() -> None:  # I3
    layer = member(mine={A: 2, B: 3, C: 7})
    assert "ask" not in timers(hear(layer, gossip(B, (1, 3, 5), (0,))))


def test_a_gossip_may_overtake_the_messages_that_it_tells_of() -> None:  # I3
    mine: Digest = {A: 2, B: 1}
    layer = member(mine=mine)
    assert "ask" in timers(hear(layer, gossip(B, (0, 3, 0), (0,))))
    mine[B] = 3
    assert layer.on_timer("ask", 0.0) == []


def test_further_gossips_do_not_put_off_the_request() -> None:  # I3
    layer = member()
    hear(layer, gossip(B, (0, 3, 0), (0,)))
    assert "ask" not in timers(hear(layer, gossip(C, (0, 0, 2), (0,))))
    assert [
        event.holder for event in events(layer.on_timer("ask", 0.0)) if type(event) is HeldBy
    ] == [B, C]


def test_what_is_held_and_waits_for_a_gap_is_not_asked_for() -> None:  # I3
    layer = member(mine={B: 1}, held={B: 3})
    assert "ask" not in timers(hear(layer, gossip(B, (0, 3, 0), (0,))))


def test_whoever_has_seen_a_gossip_takes_itself_off_its_list() -> None:
    layer = member()
    (passed,) = told(hear(layer, gossip(B, (0, 0, 0), (0, 2))))
    assert isinstance(passed, Gossip)
    assert passed.not_seen == (2,)
    assert (passed.origin, passed.number) == (B, 1)


def test_a_gossip_that_everybody_has_seen_is_not_sent_again() -> None:
    assert downs(hear(member(), gossip(B, (0, 0, 0), (0,), relay=C))) == []


def test_when_everybody_has_seen_a_gossip_what_it_tells_of_is_garbage() -> None:  # I2
    layer = member(mine={A: 4, B: 4, C: 4})
    effects = hear(layer, gossip(B, (4, 3, 2), (0,), delivered=(4, 3, 2), relay=C))
    everything = {A: 4, B: 3, C: 2}
    assert stable(effects) == [Stable(everything, {}, everything)]
    assert layer.counters()["collections"] == 1


def test_a_gossip_that_somebody_has_not_seen_makes_no_garbage() -> None:  # I2
    layer = member(mine={A: 4, B: 4, C: 4})
    assert stable(hear(layer, gossip(B, (4, 4, 4), (0, 2)))) == []


def test_a_gossip_is_passed_on_to_a_random_subset_of_those_who_have_not_seen_it() -> None:
    chosen = set()
    for seed in range(20):
        layer = member(A, B, C, D, E, seed=seed)
        (batch,) = downs(hear(layer, gossip(B, (0,) * 5, (0, 2, 3, 4))))
        chosen.add(batch.destination)
        assert layer.counters()["gossips_passed_on"] == 1
    assert chosen == {C, D, E}


def test_requests_do_not_multiply_with_the_copies_of_a_gossip() -> None:
    # "This also prevents network flooding by gossips, e.g. caused by spurious retransmission"
    layer = member()
    copies = [gossip(B, (0, 3, 0), (0,), relay=relay) for relay in (B, C, B, C)]
    hear(layer, *copies)
    assert len(events(layer.on_timer("ask", 0.0))) == 1


# --- the bounded buffer ---------------------------------------------------------------------------


def test_gossips_wait_for_the_messages_of_their_turn() -> None:  # I4
    layer = member()
    assert layer.on_up(gossip(B, (0, 1, 0), (0,)), 0.0) == [StartTimer("handle", 0)]
    assert layer.on_up(gossip(C, (0, 1, 0), (0,)), 0.0) == []
    seen = [event for event in events(layer.on_timer("handle", 0.0)) if type(event) is SeenAlive]
    assert [event.members for event in seen] == [(B, C), (B, C)]


def test_when_the_buffer_is_full_gossips_are_discarded_and_counted() -> None:  # I4
    layer = member(options=GossipOptions(buffer_max=2))
    batches = [gossip(B, (0, 0, 0), (0,), number=number) for number in range(1, 6)]
    hear(layer, *batches)
    assert layer.counters()["discarded"] == 3
    assert list(layer.seen) == [(B, 1), (B, 2)]
    hear(layer, batches[4])
    assert (B, 5) in layer.seen


# --- exactly the same view ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "header",
    [
        Gossip(2, B, 1, False, ONES, ONES, ONES, (0,)),
        Gossip(0, B, 1, False, ONES, ONES, ONES, (0,)),
        Gossip(1, B, 1, False, (1, 1), ONES, ONES, (0,)),
        Gossip(1, B, 1, False, ONES, (1, 1, 1, 1), ONES, (0,)),
        Gossip(1, B, 1, False, ONES, ONES, (), (0,)),
        Gossip(1, B, 1, False, ONES, ONES, ONES, (3,)),
        Gossip(1, B, 1, False, ONES, ONES, ONES, (0, 0)),
        Gossip(1, B, 1, False, ONES, ONES, ONES, (0, 1)),
        Gossip(1, A, 1, False, ONES, ONES, ONES, (2,)),
    ],
    ids=[
        "a later view",
        "a former view",
        "too few members",
        "too many members",
        "no members",
        "a rank that there is not",
        "a rank twice",
        "its sender has not seen it",
        "my own",
    ],
)
def test_a_gossip_that_is_not_of_exactly_this_view_causes_nothing(header: Gossip) -> None:  # I1
    layer = member()
    assert hear(layer, bare(B, header)) == []
    assert layer.counters()["dropped"] == 1
    assert layer.seen == {}


@pytest.mark.parametrize("not_seen", [(0, 1), (0, 2)], ids=["its origin", "who passes it on"])
def test_a_gossip_that_its_origin_or_relay_has_not_seen_is_dropped(
    not_seen: tuple[int, ...],
) -> None:  # I1
    assert hear(member(), gossip(B, ONES, not_seen, relay=C)) == []


def test_what_all_members_of_a_smaller_view_had_is_not_stable_in_a_larger_one() -> None:  # I2
    # the text's "unilateral action": C has not agreed on anything
    layer = member(A, B, mine={A: 5, B: 5})
    assert stable(hear(layer, gossip(B, (5, 5), (0,))))
    layer.on_event(installed(A, B, C, number=2), 0.0)
    assert stable(hear(layer, gossip(B, (5, 5, 0), (0, 2), number=2, view=2))) == []
    assert stable(hear(layer, gossip(C, (5, 4, 0), (0,), view=2, relay=B)))


def test_in_a_flush_nothing_is_asked_for_and_nothing_is_stable() -> None:  # I1
    layer = member()
    hear(layer, gossip(C, (9, 9, 9), (0,)))
    assert "gossip" in stopped(layer.on_event(FlushStarted(), 0.0))
    assert hear(layer, gossip(B, (9, 9, 9), (0,))) == []
    assert layer.on_timer("gossip", 0.0) == []
    assert layer.on_timer("ask", 0.0) == []


# --- garbage collection lag-behind ----------------------------------------------------------------


def test_the_lag_is_subtracted_from_what_may_be_collected() -> None:  # I2
    # "[P:25, Q:3, R:100] and the lag is 10 ... lower than P:15, R:90 and none of Q's"
    layer = member(mine={A: 25, B: 3, C: 100}, options=GossipOptions(lag=10))
    effects = hear(layer, gossip(B, (25, 3, 100), (0,), relay=C))
    everything = {A: 25, B: 3, C: 100}
    assert stable(effects) == [Stable(everything, {}, {A: 15, B: 0, C: 90})]


def test_late_join_handlers_keep_more() -> None:  # I2
    digest = {A: 50, B: 50, C: 50}
    kept = []
    for lag in (10, 40):
        layer = member(mine=digest, options=GossipOptions(lag=lag))
        (event,) = stable(hear(layer, gossip(B, (50, 50, 50), (0,), relay=C)))
        kept.append(event.collectable)
    assert kept == [{A: 40, B: 40, C: 40}, {A: 10, B: 10, C: 10}]


def test_having_seen_a_gossip_is_no_proof_of_having_its_messages() -> None:  # I2
    # "the removal from the not-seen list only signals gossip reception": the least counts
    layer = member(mine={A: 9, B: 2, C: 9})
    effects = hear(layer, gossip(B, (9, 9, 9), (0,), delivered=(9, 9, 5), relay=C))
    assert stable(effects)[0].delivered == {A: 9, B: 2, C: 5}


def test_who_passes_a_gossip_on_adds_what_it_has_delivered_itself() -> None:  # I2
    layer = member(mine={A: 9, B: 2, C: 9})
    (passed,) = told(hear(layer, gossip(B, (9, 9, 9), (0, 2), delivered=(9, 8, 5))))
    assert passed == Gossip(1, B, 1, False, (9, 9, 9), (9, 2, 5), (0, 0, 0), (2,))


def test_what_different_gossips_tell_of_different_members_adds_up() -> None:  # I2
    layer = member(mine={A: 9, B: 9, C: 9})
    first = hear(layer, gossip(B, (6, 6, 6), (0, 2)))
    second = hear(layer, gossip(C, (5, 7, 4), (0, 1)))
    assert stable(first) == []
    assert stable(second)[0].delivered == {A: 5, B: 6, C: 4}


def test_what_one_member_knows_to_be_stable_everybody_learns() -> None:  # I2
    layer = member(A, B, C, D)
    (passed,) = told(hear(layer, gossip(B, (7,) * 4, (0, 2), stable=(3, 2, 1, 0))))
    assert isinstance(passed, Gossip)
    assert passed.stable == (3, 2, 1, 0)
    assert layer.reports.stable == (3, 2, 1, 0)
    (mine,) = told(layer.on_timer("gossip", 0.0))
    assert isinstance(mine, Gossip)
    assert mine.stable == (3, 2, 1, 0)
    (later,) = told(hear(layer, gossip(C, (7,) * 4, (0, 1), stable=(1, 1, 1, 1))))
    assert isinstance(later, Gossip)
    assert later.stable == (3, 2, 1, 1)


def test_what_is_stable_is_told_once() -> None:
    layer = member(mine={A: 9, B: 9, C: 9})
    hear(layer, gossip(B, (6, 6, 6), (0,), relay=C))
    assert stable(hear(layer, gossip(B, (6, 6, 6), (0,), number=2, relay=C))) == []


# --- the interval ---------------------------------------------------------------------------------


def test_the_interval_is_drawn_anew_before_each_gossip() -> None:
    layer = member()
    delays = [timers(layer.on_timer("gossip", 0.0))["gossip"] for _ in range(20)]
    assert len(set(delays)) == 20


def test_the_first_gossip_of_a_view_waits_for_its_interval() -> None:
    layer = Pbcast(A, Random(1), dict, dict, GossipOptions(dynamic=False, interval_s=7.0))
    assert timers(layer.on_event(installed(A, B), 0.0)) == {"gossip": 7.0}


def test_the_times_of_all_members_in_the_gossips_path_are_reset() -> None:
    layer = member(A, B, C, D)
    effects = hear(layer, gossip(B, (0,) * 4, (0, 3), relay=C))
    assert effects[0] == Notify(SeenAlive((B, C)))


# --- gossips of one's own -------------------------------------------------------------------------


def test_a_gossip_holds_an_id_a_digest_and_who_has_not_seen_it() -> None:
    layer = member(mine={A: 3, B: 1}, held={A: 3, B: 2})
    first, second = (downs(layer.on_timer("gossip", 0.0)) for _ in range(2))
    assert first == [bare(A, Gossip(1, A, 1, False, (3, 2, 0), (3, 1, 0), (0, 0, 0), (1, 2)))]
    assert second[0].headers == (replace_number(first[0], 2),)
    assert layer.counters()["gossips_sent"] == 2


def replace_number(batch: Batch, number: int) -> Gossip:
    header = batch.headers[-1]
    assert isinstance(header, Gossip)
    return replace(header, number=number)


def test_a_gossip_goes_to_a_subset_where_it_is_not_multicast() -> None:
    layer = member(A, B, C, D, E, options=GossipOptions(multicast=False))
    (batch,) = downs(layer.on_timer("gossip", 0.0))
    assert batch.destination in {B, C, D, E}


def test_numbers_of_gossips_go_on_from_view_to_view() -> None:
    layer = member()
    layer.on_timer("gossip", 0.0)
    layer.on_event(installed(A, B, C, number=2), 0.0)
    (header,) = told(layer.on_timer("gossip", 0.0))
    assert isinstance(header, Gossip)
    assert header.number == 2


def test_who_is_alone_tells_nobody_and_keeps_nothing() -> None:
    layer = member(A, mine={A: 4})
    effects = layer.on_timer("gossip", 0.0)
    assert downs(effects) == []
    assert stable(effects)[0].delivered == {A: 4}


def test_in_no_view_nothing_happens() -> None:
    layer = Pbcast(A, Random(1), dict, dict, ALL)
    assert layer.on_timer("gossip", 0.0) == []
    assert layer.on_event(MuchReceived(), 0.0) == []
    assert hear(layer, gossip(B, (0, 0, 0), (0,))) == []


def test_events_of_others_are_ignored() -> None:
    assert member().on_event(Connect(), 0.0) == []
