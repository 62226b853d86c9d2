"""The shared suite of order tests: what a channel's users may rely on, whichever protocol orders.

Every test runs whole clusters on virtual time, once with SEQUENCER and once with TOTAL. `run`
judges each by all checkers of the simulator (no duplicates, one order, no gaps, FIFO, views,
self-delivery, liveness); the tests say what must be true beyond that.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import pytest

from groupcore.sim.clock import MILLISECOND, SECOND
from groupcore.sim.fault import COORDINATOR, Fault, Send
from groupcore.sim.network import CALM, NetworkOptions
from groupcore.sim.profiles import PROFILES
from groupcore.sim.run import Verdict, run_scenario
from groupcore.sim.scenario import Scenario
from groupcore.sim.trace import Delivered, Mid
from groupcore.stacks import DEFAULT_STACK, TOTAL_STACK
from tests.groupcore.sim.merging import alone, assert_one_view, partitionable, scenario_of

PROTOCOLS = {"SEQUENCER": "stack", "TOTAL": "total"}
"""The profile in which each protocol runs."""
SAFETY_S = 4


@pytest.fixture(params=list(PROTOCOLS))
def protocol(request: pytest.FixtureRequest) -> str:
    """Each test runs once for each protocol."""
    name: str = request.param
    return name


def ms(milliseconds: int) -> int:
    return milliseconds * MILLISECOND


def by_turns(nodes: int, *sizes: int) -> list[Send]:
    """The nodes send one after the other, every 40 ms from 1 s to 3 s."""
    return [Send(ms(1_000 + 40 * n), n % nodes, sizes or (24, 60)) for n in range(50)]


def run(
    protocol: str,
    *faults: Fault,
    sends: Iterable[Send] | None = None,
    nodes: int = 3,
    starts_ms: tuple[int, ...] = (),
    network: NetworkOptions = CALM,
    datagram_bytes_max: int = 60_000,
) -> Verdict:
    """A cluster's verdict, without violations."""
    starts = starts_ms or (0,) * nodes
    scenario = Scenario(
        seed=5,
        nodes=nodes,
        starts_ns=tuple(map(ms, starts)),
        safety_ns=SAFETY_S * SECOND,
        network=network,
        datagram_bytes_max=datagram_bytes_max,
        faults=faults,
        sends=tuple(by_turns(nodes) if sends is None else sends),
    )
    profile = PROFILES[PROTOCOLS[protocol]]
    verdict = run_scenario(scenario, profile.make_stack, profile.checkers)
    assert verdict.violations == []
    return verdict


def deliveries(verdict: Verdict) -> dict[str, list[Delivered]]:
    """What each node has delivered in order, life after life."""
    result: dict[str, list[Delivered]] = {}
    for record in verdict.trace.records:
        if isinstance(record, Delivered) and record.position:
            result.setdefault(record.n, []).append(record)
    return result


def order(verdict: Verdict) -> list[Mid]:
    """The one order: at each place the message that everybody delivers there."""
    places: dict[tuple[int, int], Mid] = {}
    for records in deliveries(verdict).values():
        for record in records:
            place = (record.epoch, record.position)
            assert places.setdefault(place, record.mid) == record.mid
    return [places[place] for place in sorted(places)]


def sent(verdict: Verdict) -> set[Mid]:
    return {record.mid for record in verdict.trace.sent}


# --- what users may rely on -----------------------------------------------------------------------


@pytest.mark.parametrize("nodes", [1, 2, 3, 5])
def test_everybody_delivers_everything_in_the_same_order(protocol: str, nodes: int) -> None:
    verdict = run(protocol, nodes=nodes)
    one = order(verdict)
    assert len(one) == len(sent(verdict)) == 100 + nodes
    for records in deliveries(verdict).values():
        assert [record.mid for record in records] == one


def test_messages_of_one_sender_come_in_the_order_of_sending(protocol: str) -> None:
    of_b = [mid.lseq for mid in order(run(protocol)) if mid.origin == "b"]
    assert of_b == sorted(of_b)
    assert len(of_b) > 30


def test_senders_deliver_their_own_messages(protocol: str) -> None:
    verdict = run(protocol)
    for name, records in deliveries(verdict).items():
        own = {record.mid for record in records if record.mid.origin == name}
        assert own == {mid for mid in sent(verdict) if mid.origin == name}


def test_concurrent_senders_get_one_order(protocol: str) -> None:
    bursts = [Send(ms(1_000 + 100 * n), node, (30,) * 20) for n in range(10) for node in range(5)]
    verdict = run(protocol, sends=bursts, nodes=5)
    one = order(verdict)
    assert len(one) == 10 * 5 * 20 + 5
    changes = sum(x.origin != y.origin for x, y in pairwise(one))
    assert changes > 20  # they did get mixed


def test_unicasts_are_not_ordered_and_disturb_nothing(protocol: str) -> None:
    beside = [Send(ms(1_000 + 30 * n), n % 3, (40,), to=(n + 1) % 3) for n in range(30)]
    verdict = run(protocol, sends=[*by_turns(3), *beside])
    assert len(order(verdict)) == 103


@pytest.mark.parametrize("datagram_bytes_max", [60_000, 1_400])
def test_a_large_message_has_one_place_like_a_small_one(
    protocol: str, datagram_bytes_max: int
) -> None:
    large = [Send(ms(1_200 + 300 * n), n % 3, (30, 200_000, 30)) for n in range(5)]
    sends = [*by_turns(3), *large]
    verdict = run(protocol, sends=sends, datagram_bytes_max=datagram_bytes_max)
    assert len(order(verdict)) == 103 + 15


# --- bad links ------------------------------------------------------------------------------------

BAD_LINKS = {
    "losing": NetworkOptions(loss=0.25),
    "losing runs": NetworkOptions(correlated_loss=0.15),
    "duplicating": NetworkOptions(duplicate=0.5),
    "reordering": NetworkOptions(delay_mean_us=20_000),
    "all of it": NetworkOptions(loss=0.15, duplicate=0.3, delay_mean_us=5_000, tail=0.05,
                                tail_mean_ms=50),
}  # fmt: skip


@pytest.mark.parametrize("links", list(BAD_LINKS))
def test_bad_links_change_nothing(protocol: str, links: str) -> None:
    verdict = run(protocol, network=BAD_LINKS[links])
    assert len(order(verdict)) == len(sent(verdict)) >= 103


def test_the_last_message_is_delivered_though_all_its_datagrams_are_lost(protocol: str) -> None:
    storm = Fault(ms(1_990), "storm", (), ms(60), factor=100)
    verdict = run(protocol, storm, sends=[Send(ms(1_500), 1, (30,)), Send(ms(2_000), 1, (30,))])
    for records in deliveries(verdict).values():
        last = [record for record in records if record.mid.origin == "b"][1]
        assert last.t < ms(2_600)  # nothing else was sent that would have shown the gap


# --- views ----------------------------------------------------------------------------------------


def test_who_joins_in_the_middle_goes_on_from_there(protocol: str) -> None:
    verdict = run(protocol, starts_ms=(0, 0, 2_000))
    one, late = order(verdict), deliveries(verdict)["c"]
    assert late[0].position > 20
    assert [record.mid for record in late] == one[late[0].position - 1 :]


@pytest.mark.parametrize("fault", ["crash", "crash-keep", "leave", "pause"])
def test_the_order_goes_on_when_the_sequencing_member_goes(protocol: str, fault: str) -> None:
    verdict = run(protocol, Fault(ms(2_000), fault, (COORDINATOR,), ms(1_500)))
    order(verdict)
    others = {record.mid for record in verdict.trace.sent if record.n in "bc"}
    assert others <= set(order(verdict))  # who stayed has lost nothing


def test_two_sequencing_members_die_in_a_row(protocol: str) -> None:
    first = Fault(ms(2_000), "crash", (0,), ms(2_500))
    for later_ms in (0, 750, 850):  # before, in and after the first change of views
        second = Fault(ms(2_000 + later_ms), "crash", (1,), ms(2_500))
        verdict = run(protocol, first, second, nodes=5)
        others = {record.mid for record in verdict.trace.sent if record.n in "cde"}
        assert others <= set(order(verdict))


def test_a_large_message_survives_the_death_of_the_sequencing_member(protocol: str) -> None:
    for later_us in (0, 500, 1_000, 2_000):
        crash = Fault(ms(2_000) + later_us * 1_000, "crash", (0,), ms(1_500))
        large = [Send(ms(2_000), 1, (200_000,)), Send(ms(2_001), 2, (150_000,))]
        verdict = run(protocol, crash, sends=large, datagram_bytes_max=8_000)
        assert {record.mid for record in verdict.trace.sent} <= set(order(verdict))


def test_who_leaves_has_everything_back_that_it_has_sent(protocol: str) -> None:
    leave = Fault(ms(2_001), "leave", (1,), ms(1_500))
    verdict = run(protocol, leave, sends=[Send(ms(2_000), 1, (30,) * 50)])
    records = deliveries(verdict)["b"]
    own = [record.mid.lseq for record in records if record.inc == records[0].inc]
    assert own[:50] == list(range(1, 51))


def test_all_members_crash_and_the_order_goes_on_in_a_new_epoch(protocol: str) -> None:
    verdict = run(protocol, Fault(ms(2_000), "crash-all", (), ms(300)))
    assert {record.epoch for record in deliveries(verdict)["a"]} == {1, 2}


def test_a_minority_orders_nothing(protocol: str) -> None:
    cut = Fault(ms(1_500), "isolate", (0,), ms(2_000))
    verdict = run(protocol, cut)
    during = [r for r in deliveries(verdict)["a"] if ms(2_400) < r.t < ms(3_400)]
    assert during == []


def test_components_that_went_on_alone_come_together_in_a_new_epoch(protocol: str) -> None:
    spec = {"SEQUENCER": DEFAULT_STACK, "TOTAL": TOTAL_STACK}[protocol]
    verdict = run_scenario(scenario_of(5, (3, 4)), partitionable(spec))
    assert alone(verdict) == {("d", "e")}
    merged = assert_one_view(verdict, 5)
    assert merged.recovered
    late = {record.mid for record in verdict.trace.sent if record.t > merged.t}
    for records in deliveries(verdict).values():
        assert late <= {record.mid for record in records}
