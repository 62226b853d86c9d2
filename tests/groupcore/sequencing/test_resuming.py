"""A new node whose giver dies takes from the next one what it has not got yet, and no more."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest
from msgpack import packb, unpackb

from groupcore.sequencing import archive, arriving, node_packing, resuming
from groupcore.sequencing import headers as h
from groupcore.sequencing.archive import Archived
from groupcore.sequencing.archive import Kept as Run
from groupcore.sequencing.names import GroupId, Process
from groupcore.sequencing.node_packing import pack_whole
from groupcore.sequencing.options import ServiceOptions
from groupcore.sequencing.resuming import NOTHING, Held, Kept, completed, read_beginning
from groupcore.sequencing.service import Service
from groupcore.sequencing.shelf import MemoryShelf
from groupcore.sequencing.states import GIVEN_A_TURN
from groupcore.view import Address
from tests.groupcore.sequencing.durable_world import DurableWorld
from tests.groupcore.sequencing.test_telling import header_of
from tests.groupcore.sequencing.world import Packet

GROUPS = 40
PAYLOAD_BYTES = 900


def archived(service: Service) -> dict[GroupId, list[tuple[object, ...]]]:
    """What a node keeps of each group, message by message."""
    kept = service.plane.archive
    assert kept is not None
    found: dict[GroupId, list[tuple[object, ...]]] = {}
    for group, one in kept.groups.items():
        runs = found[group] = [(one.state,)]
        for seqno, process, first, size, payloads in one.runs():
            runs += [(seqno, process, first, size)] if size == 0 else []
            for at in range(size):
                runs.append((seqno + at, process, first + at, payloads[at]))
    return found


class Cluster:
    """Three nodes with groups of a kilobyte each; what each gives of its state is counted."""

    def __init__(self, seed: int = 0, groups: int = GROUPS) -> None:
        self.random = Random(seed)
        options = ServiceOptions(durable=True, state_chunk_bytes=500, archive_part_bytes=4_000)
        self.world = DurableWorld("abc", seed, options)
        self.groups = [self.world.create(f"g{at}", at="abc"[at % 3]) for at in range(groups)]
        self.process = self.world.open("c")
        for group in self.groups:
            self.world.join(self.process, group)
            self.say(group)
        self.world.run(60)
        self.given: dict[str, int] = {}
        self.silent: set[str] = set()
        self.world.lost = self._note

    def _note(self, packet: Packet) -> bool:
        source, target, _ = packet
        header = header_of(packet)
        if isinstance(header, h.StatePiece):
            self.given[source.name] = self.given.get(source.name, 0) + len(header.data)
        return bool(self.silent & {source.name, target.name})

    def say(self, group: GroupId) -> None:
        """Another message."""
        self.world.send(self.process, group, self.random.randbytes(PAYLOAD_BYTES))

    @property
    def whole_bytes(self) -> int:
        """The size of a node's whole state."""
        a = self.world["b"].service
        return len(pack_whole(a.plane, a.conductor.place()))

    def until_given(self, share: float) -> str:
        """Add d, and let so much of the state come to it; who gives it."""
        self.world.add("d")
        most = share * self.whole_bytes
        for _ in range(2_000):
            self.world.run(1)
            if sum(self.given.values()) >= most:
                return max(self.given, key=lambda name: self.given[name])
        raise AssertionError("no state comes")

    def ends(self) -> None:
        """All that is left comes, and d is what b is."""
        for _ in range(3_000):
            if self.world["d"].service.plane.ready:
                break
            self.world.run(1)
        self.world.run(100)
        b, d = self.world["b"].service, self.world["d"].service
        assert d.plane.ready
        assert archived(d) == archived(b)
        assert {g: r.seqno for g, r in d.plane.records.items()} == {
            g: r.seqno for g, r in b.plane.records.items()
        }


def test_what_a_giver_has_given_is_not_given_again_by_the_next() -> None:
    cluster = Cluster()
    whole = cluster.whole_bytes
    giver = cluster.until_given(0.7)
    assert giver == "a"
    cluster.world.crash("a")
    cluster.ends()
    assert cluster.given["b"] < 0.55 * whole
    assert cluster.world["d"].service.plane.counters["bad_resumption"] == 0


def test_what_is_written_meanwhile_comes_from_the_next_giver() -> None:  # I1
    cluster = Cluster()
    whole = cluster.whole_bytes
    cluster.until_given(0.7)
    for group in cluster.groups[:3]:
        cluster.say(group)
    cluster.world.run(2)
    cluster.world.crash("a")
    for group in cluster.groups[3:6]:
        cluster.say(group)
    cluster.ends()
    assert cluster.given["b"] < 0.8 * whole


def test_a_giver_that_is_silent_is_left_and_serves_all_the_same() -> None:
    cluster = Cluster()
    whole = cluster.whole_bytes
    cluster.until_given(0.6)
    cluster.world.lose(h.StatePiece, of="a")
    cluster.ends()
    assert cluster.given["b"] < 0.65 * whole


def test_i3_the_state_that_was_put_together_is_in_the_log_and_can_be_given_on() -> None:
    cluster = Cluster()
    cluster.until_given(0.7)
    cluster.world.crash("a")
    cluster.ends()
    d = cluster.world.host("d")
    restored = Service(Address("d", 9), cluster.world.options, Random(0), list(d.disk.stored))
    before = archived(d.service)
    assert {g: runs for g, runs in archived(restored).items() if g in before} == before
    cluster.world.crash("b")
    cluster.world.add("e")
    cluster.world.run(600)
    assert archived(cluster.world["e"].service) == archived(d.service)


def test_two_givers_that_die_one_after_the_other_leave_what_the_better_one_gave() -> None:
    cluster = Cluster()
    whole = cluster.whole_bytes
    cluster.until_given(0.6)
    cluster.world.lose(h.StatePiece, of="a")
    for _ in range(2_000):
        cluster.world.run(1)
        if cluster.given.get("b", 0) > 0.1 * whole:
            break
    cluster.world.lose(h.StatePiece, of="b")
    cluster.ends()
    assert cluster.given["c"] < 0.65 * whole


def play(seed: int) -> None:
    """The giver dies, or is silent, at any time, while groups are written to and deleted."""
    cluster = Cluster(seed, groups=16)
    random = cluster.random
    cluster.until_given(random.uniform(0.05, 0.95))
    for _ in range(random.randrange(4)):
        cluster.say(random.choice(cluster.groups))
        cluster.world.run(random.randrange(3))
    if random.random() < 0.3:
        cluster.world["c"].service.delete(random.choice(cluster.groups), cluster.world.now)
    if random.random() < 0.5:
        cluster.world.lose(h.StatePiece, of="a")
    else:
        cluster.world.crash("a")
    for _ in range(random.randrange(6)):
        live = [g for g in cluster.groups if g in cluster.world["c"].service.plane.records]
        cluster.say(random.choice(live))
        cluster.world.run(random.randrange(3))
    cluster.ends()


@pytest.fixture
def short_tails(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of all groups that are known only the last run is packed."""
    monkeypatch.setattr(archive, "TAIL_OF_BYTES", 500)
    monkeypatch.setattr(archive, "TAIL_BYTES", 500)


@pytest.mark.usefixtures("short_tails")
@pytest.mark.parametrize("seed", range(12))
def test_the_same_where_of_what_has_changed_only_the_end_is_given(seed: int) -> None:
    play(seed)


@pytest.mark.usefixtures("short_tails")
def test_members_that_leave_with_their_node_do_not_make_all_groups_come_again() -> None:
    cluster = Cluster()
    theirs = cluster.world.open("a")
    for group in cluster.groups:
        cluster.world.join(theirs, group)
    whole = cluster.whole_bytes
    cluster.until_given(0.7)
    cluster.world.crash("a")
    cluster.ends()
    assert cluster.given["b"] < 0.75 * whole
    assert cluster.world["d"].service.plane.counters["states_given"] == 0


@pytest.mark.usefixtures("short_tails")
def test_where_more_has_changed_than_the_end_that_is_given_all_is_asked_for_again() -> None:
    cluster = Cluster(groups=16)
    cluster.until_given(0.9)
    cluster.world.lose(h.StatePiece, of="a")
    for _ in range(4):
        cluster.say(cluster.groups[0])
        cluster.world.run(3)
    cluster.ends()


def run_of(seqno: int, size: int) -> Run:
    """So many messages from a number on."""
    payloads = [b"%d" % (seqno + at) for at in range(size)]
    return Run(seqno, Process(Address("a", 1), 1), seqno, size, payloads)


def test_runs_go_on_with_later_ones_that_overlap_and_not_behind_a_gap() -> None:
    one, later = Archived(MemoryShelf()), Archived(MemoryShelf())
    for run in (run_of(1, 3), run_of(4, 4)):
        one.keep(run)
    assert not one.go_on(later, [run_of(9, 2)])
    assert one.go_on(later, [run_of(6, 1), run_of(7, 0), run_of(8, 2)])
    assert [(run.seqno, run.size) for run in one.runs()] == [(1, 3), (4, 2), (6, 1), (7, 0), (8, 2)]
    assert [payload for run in one.runs() for payload in run.payloads] == [
        b"%d" % number for number in (1, 2, 3, 4, 5, 6, 8, 9)
    ]


@pytest.mark.parametrize("seed", range(12))
def test_whenever_the_giver_dies_and_whatever_is_written_all_have_the_same(seed: int) -> None:
    play(seed)


PLANTS: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "all that the taker names is left out, whatever has happened to it": lambda patch: (
        patch.setattr(node_packing, "is_unchanged", lambda one, begun: True)
    ),
    "what was left out is not put together with the rest": lambda patch: patch.setattr(
        arriving, "completed", lambda state, kept: packb(unpackb(state, strict_map_key=False)[:8])
    ),
    "what is kept comes in the place of what is given": lambda patch: patch.setattr(
        arriving, "completed", kept_last
    ),
}


def kept_last(state: bytes, kept: Kept | None) -> bytes:
    """All that is kept, behind what was given."""
    items = unpackb(state, strict_map_key=False)[:8]
    items[resuming.ARCHIVE_AT] += [part.packed for part in (kept.parts if kept else ())]
    whole: bytes = packb(items)
    return whole


def play_all() -> None:
    """All of them."""
    for seed in range(12):
        play(seed)


@pytest.mark.parametrize("plant", PLANTS)
def test_a_planted_bug_is_found(plant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    PLANTS[plant](monkeypatch)
    with pytest.raises(AssertionError):
        play_all()


# --- what is kept, and what is left out -----------------------------------------------------------


def beginning(share: float) -> tuple[Cluster, bytes, Kept]:
    """A cluster, a's state, and what is kept of so much of it."""
    cluster = Cluster()
    a = cluster.world["a"].service
    state = pack_whole(a.plane, a.conductor.place())
    kept = read_beginning(state[: int(share * len(state))])
    assert kept is not None
    return cluster, state, kept


def test_the_beginning_of_a_state_is_read_wherever_it_ends() -> None:
    _, state, kept = beginning(0.8)
    ends = range(0, len(state), len(state) // 97)
    found = [read_beginning(state[:end]) for end in ends]
    sizes = [0 if one is None else one.size_bytes for one in found]
    assert sizes == sorted(sizes)
    assert sizes[-1] > 0.8 * len(state)
    assert kept.held.to in kept.parts[-1].groups


def test_a_state_that_leaves_groups_out_is_completed_and_none_is_where_they_are_not_kept() -> None:
    cluster, _, kept = beginning(0.8)
    b = cluster.world["b"].service
    packing = node_packing.Packing(b.plane, kept.held)
    state = None
    while state is None:
        state = packing.step(b.conductor.place())
    assert len(state) < 0.5 * cluster.whole_bytes
    assert completed(state, None) is None  # I2
    fewer = Kept(kept.held, kept.parts[:-1])
    assert completed(state, fewer) is None
    whole = completed(state, kept)
    assert whole is not None
    assert len(whole) > 0.95 * cluster.whole_bytes
    assert completed(whole, None) == whole
    assert read_beginning(state) is None, "its parts are no beginning"


def test_i1_who_has_not_recorded_what_the_former_giver_had_leaves_nothing_out() -> None:
    cluster, _, kept = beginning(0.8)
    plane = cluster.world["b"].service.plane
    assert resuming.is_contained(plane, kept.held)
    first, *others = kept.held.reaches
    for wrong in (
        first._replace(received=first.received + 1_000),
        h.Reach(Address("x", 7), 3, 3),
    ):
        assert not resuming.is_contained(plane, Held((wrong, *others), kept.held.to))
    over = h.Reach(Address("x", 7), 3, 3, 1)
    assert resuming.is_contained(plane, Held((over, *others), kept.held.to))


def test_i1_a_group_is_unchanged_if_all_that_it_rests_on_is_before_the_cut() -> None:
    cluster, _, kept = beginning(0.8)
    mine = cluster.world["b"].service.plane.archive
    assert mine is not None
    one = mine.groups[cluster.groups[0]]
    assert resuming.is_unchanged(one, kept.held.begun)
    assert not resuming.is_unchanged(one, {})
    assert not resuming.is_unchanged(Archived(mine.shelf), kept.held.begun)
    later = {address: frame - 1 for address, frame in one.context.items()}
    assert not resuming.is_unchanged(one, kept.held.begun | later)


def test_a_state_without_an_archive_has_nothing_to_keep() -> None:
    assert read_beginning(b"") is None
    assert read_beginning(packb([[1, 1, 1, 1, []], b"", [], [], [], [], None, []])) is None
    assert NOTHING.begun == {}


def test_i6_a_giver_gives_few_pieces_in_a_turn_and_the_rest_in_the_next() -> None:
    cluster = Cluster()
    cluster.until_given(0.1)
    a = cluster.world["a"].service
    given: list[int] = []
    states = a.joining.states
    ((key, _),) = states._given.items()
    for first in (0, 5):
        states.on_request(key[0], h.StateRequest(key[1], GroupId(0), 0, first, (), first + 5))
    while states.next_wake() == 0.0:
        a.end_turn(cluster.world.now)
        sends = [one.headers[-1] for one in a.take().sends]
        given.append(sum(isinstance(one, h.StatePiece) for one in sends))
    assert sum(given) >= 10
    assert max(given) == GIVEN_A_TURN
    cluster.ends()


def test_what_is_asked_again_before_its_turn_is_given_once() -> None:
    cluster = Cluster()
    cluster.until_given(0.1)
    a = cluster.world["a"].service
    states = a.joining.states
    ((key, _),) = states._given.items()
    before = len(states._owed)
    for first, until in ((0, 5), (0, 5), (1, 3), (4, 6)):
        states.on_request(key[0], h.StateRequest(key[1], GroupId(0), 0, first, (), until))
    owed = [(first, until) for _, _, first, until in states._owed][before:]
    assert owed == [(0, 5), (4, 6)]
    cluster.ends()
