"""Rows 32 to 34 of the fault matrix: a state that is taken while the group goes on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest

from groupcore.batch import Header
from groupcore.effects import Effect
from groupcore.events import Event
from groupcore.layers.state_transfer import StateTransfer
from groupcore.sim import states
from groupcore.sim.clock import SECOND
from groupcore.sim.fault import Fault
from groupcore.sim.scenario import Scenario
from groupcore.transfer.events import TAKEN, GetStateOk
from groupcore.transfer.giving import Giver
from groupcore.transfer.headers import Chunk
from groupcore.transfer.options import StateTransferOptions
from groupcore.transfer.sources import StateSource
from groupcore.view import Address
from tests.groupcore.sim.rows.playing import (
    BYTES,
    Play,
    fault,
    longest_silence_s,
    names,
    scenario,
    sends,
    taken_by,
    views_between,
)
from tests.groupcore.thorough import THOROUGH

JOINS_S = 3.0
QUICK_MS, ALL_MS = (360, 400), (380, 440, 500)
KINDS = {
    "coordinator dies": ("crash", 0),
    "member pauses": ("pause", 1),
    "member leaves": ("leave", 1),
    "joiner dies": ("crash", 3),
}
GOES = [
    pytest.param(kind, who, after_ms, id=f"{name}-{after_ms}", marks=marks)
    for place, (name, (kind, who)) in enumerate(KINDS.items())
    for moments, marks in (
        (QUICK_MS, ()),
        (ALL_MS if THOROUGH else ALL_MS[place % 3 :][:1], (pytest.mark.slow,)),
    )
    for after_ms in moments
]
"""Who goes in the transfer, and when, in milliseconds after the joiner has started."""


def joining(
    *faults: Fault,
    chunk_bytes: int = 256,
    trouble: float = 0.0,
    every_s: float = 0.005,
    length_s: float = 6.5,
    size_bytes: int = BYTES,
    members: int = 3,
) -> Scenario:
    """Members that send all the time, and one more node that starts after them."""
    traffic = sends(1, length_s, every_s, *range(members))
    given = scenario(
        *faults,
        nodes=members + 1,
        length_s=length_s,
        traffic=[replace(send, sizes=(size_bytes,)) for send in traffic],
        starts_s={members: JOINS_S},
    )
    return replace(given, state_chunk_bytes=chunk_bytes, state_trouble=trouble)


def test_row_32_nobody_stops_sending_while_a_state_is_taken() -> None:
    verdict = Play(joining()).run()  # 17 judges the state, 5 that nothing is lost or doubled
    assert taken_by(verdict.trace, "d", JOINS_S)
    for name in "abc":
        assert longest_silence_s(verdict.trace, name, JOINS_S, 6) <= 0.1


@pytest.mark.parametrize(("kind", "who", "after_ms"), GOES)
def test_row_32_a_transfer_in_which_somebody_goes_ends_with_the_right_state(
    kind: str, who: int, after_ms: int
) -> None:
    verdict = Play(joining(fault(JOINS_S + after_ms / 1000, kind, who, for_s=1.5))).run()
    assert taken_by(verdict.trace, "d", JOINS_S)


PAD_BYTES = 1 << 20
"""What is added to the state where it has to be large: eight seconds on 1 Mbit/s."""
CHUNK_BYTES = StateTransferOptions().chunk_bytes


class Donors:
    """While it runs: what the givers hold of copies beyond what the takers have taken."""

    def __init__(self, running: Play) -> None:
        self.most_bytes = 0
        self.cluster = running.cluster
        self.cluster.clock.at(0, self.look)

    def look(self) -> None:
        for node in self.cluster.nodes:
            layers = () if node.endpoint is None else node.endpoint.stack.layers
            for layer in layers:
                if isinstance(layer, StateTransfer):
                    self.note(layer.giver)
        self.cluster.clock.after(SECOND // 100, self.look)

    def note(self, giver: Giver) -> None:
        for copy in giver.copies.values():
            for stream in copy.streams.values():
                self.most_bytes = max(self.most_bytes, stream.offset - stream.taken)


def pad_states(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every state have `PAD_BYTES` more, and be waited for as long as it takes."""
    encode, decode = states.encode_state, states.decode_state
    pad = Random(33).randbytes(PAD_BYTES)
    monkeypatch.setattr(states, "encode_state", lambda entries: pad + encode(entries))
    monkeypatch.setattr(states, "decode_state", lambda state: decode(state[PAD_BYTES:]))
    monkeypatch.setattr(states, "TIMEOUTS_S", (300.0,))


@pytest.mark.parametrize(
    "faults",
    [
        pytest.param((), id="one provider"),
        pytest.param(
            (fault(7, "crash", 0, for_s=3),),
            id="the provider dies half-way",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_row_33_a_large_state_comes_over_a_narrow_link_in_two_chunks_at_a_time(
    faults: tuple[Fault, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """100 MB on 1 Mbit/s in small: 1 MB, while the group goes on.

    Four members: a joiner has no vote before it has the state, so of three none may die.
    """
    pad_states(monkeypatch)
    narrow = fault(JOINS_S, "narrow", 4, for_s=21, factor=1_000)
    given = joining(narrow, *faults, chunk_bytes=CHUNK_BYTES, every_s=0.02, length_s=22, members=4)
    running = Play(replace(given, state_copies=2, datagram_bytes_max=1_400))
    donors = Donors(running)
    trace = running.run().trace
    took = taken_by(trace, "e", JOINS_S)[0].t / SECOND
    rate = PAD_BYTES / 125_000
    assert rate <= took - JOINS_S <= 1.8 * rate
    assert 0 < donors.most_bytes <= 2 * CHUNK_BYTES
    assert running.counters["e"]["STATE_TRANSFER.resumes"] == len(faults)
    given_bytes = running.total("STATE_TRANSFER.given_bytes")
    assert given_bytes <= 1.1 * PAD_BYTES * (1 + len(faults))  # who comes back takes it, too
    for name in "bcd":
        assert longest_silence_s(trace, name, JOINS_S, 20) <= (0.2 if not faults else 2.0)


@pytest.mark.parametrize("size_bytes", [40, pytest.param(200, marks=pytest.mark.slow)])
def test_row_33_where_the_log_grows_faster_than_the_link_the_joiner_waits_outside(
    size_bytes: int,
) -> None:
    """The orders of a second do not fit through the link of a second: nobody can keep up."""
    narrow = fault(JOINS_S, "narrow", 3, for_s=20, factor=32)
    given = joining(narrow, chunk_bytes=512, every_s=0.01, length_s=25, size_bytes=size_bytes)
    running = Play(given)
    donors = Donors(running)
    trace = running.run().trace
    changes = [names(view) for view in views_between(trace, JOINS_S, 22.9)]
    assert changes == ["abcd", "abc"]  # tried once, left behind once: no flapping
    for name in "abc":
        assert longest_silence_s(trace, name, JOINS_S, 23) <= 0.1
    assert donors.most_bytes <= 2 * 512
    assert taken_by(trace, "d", 23)


def spoil_a_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    """What `a` gives is not what it has hashed."""
    send = Giver.send

    def spoilt(self: Giver, taker: Address, header: Header, body: bytes = b"") -> Effect:
        if self.me.name == "a" and type(header) is Chunk and header.offset:
            body = bytes(byte ^ 1 for byte in body)
        return send(self, taker, header, body)

    monkeypatch.setattr(Giver, "send", spoilt)


def spoil_the_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    """The hashes of `a` are wrong."""
    send = Giver.send

    def spoilt(self: Giver, taker: Address, header: Header, body: bytes = b"") -> Effect:
        if self.me.name == "a" and type(header) is Chunk:
            header = replace(header, digest=bytes(len(header.digest)))
        return send(self, taker, header, body)

    monkeypatch.setattr(Giver, "send", spoilt)


def spoil_the_store(monkeypatch: pytest.MonkeyPatch) -> None:
    """The store of `a` cannot be read to its end."""
    copy = states.States._copy

    def torn(self: states.States) -> StateSource:
        source = copy(self)
        if self._node.name != "a":
            return source
        return states.TornSource(source.read(0, 1 << 20) or b"", 300)

    monkeypatch.setattr(states.States, "_copy", torn)


@pytest.mark.parametrize("spoil", [spoil_a_chunk, spoil_the_hash, spoil_the_store])
def test_row_34_a_damaged_copy_is_noticed_named_and_another_member_asked(
    spoil: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    reports: list[GetStateOk] = []
    on_event = states.States.on_event

    def note(self: states.States, event: Event) -> None:
        if isinstance(event, GetStateOk):
            reports.append(event)
        on_event(self, event)

    monkeypatch.setattr(states, "UNREADABLE", 0.0)
    monkeypatch.setattr(states.States, "on_event", note)
    spoil(monkeypatch)
    trace = Play(joining()).run().trace  # 17: never a wrong state
    [took] = taken_by(trace, "d", JOINS_S)
    assert took.source != "a"
    [report] = reports
    assert report.outcome == TAKEN
    assert [member.name for member in report.damaged] == ["a"]


def test_row_34_where_transfers_stumble_the_state_is_the_right_one() -> None:
    verdict = Play(joining(trouble=1.0)).run()  # 17: never a wrong state
    assert taken_by(verdict.trace, "d", JOINS_S)
