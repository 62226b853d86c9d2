"""Schedules of nodes that have certificates: handshakes, group keys and codes under faults."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from groupcore.admission import Arrival
from groupcore.identity.group_key import GroupKey
from groupcore.identity.handshake import Handshake
from groupcore.peers import Peer
from groupcore.seal import Cipher
from groupcore.sim.clock import SECOND
from groupcore.sim.fault import Fault, Send
from groupcore.sim.jobs import Job
from groupcore.sim.run import Verdict
from groupcore.sim.scenario import Scenario

APART = Scenario(
    seed=3,
    nodes=3,
    starts_ns=(0, 0, 0),
    safety_ns=9 * SECOND,
    certificates=True,
    # The views on both sides of the cut have keys of their own, and c has never had the others'.
    faults=(
        Fault(2 * SECOND, "isolate", (2,), 3 * SECOND),
        Fault(6 * SECOND, "isolate", (0,), 2 * SECOND),
    ),
    sends=tuple(Send(n * SECOND // 10, n % 3, (40,)) for n in range(10, 85)),
)


def play(scenario: Scenario) -> Verdict:
    return Job("stack", 1, 0, "").verdict(scenario)


@pytest.mark.parametrize("index", range(12))
def test_a_schedule_with_certificates_keeps_all_rules(index: int) -> None:
    job = Job("stack", 2_026, index, "")
    verdict = job.verdict(replace(job.scenario, certificates=True))
    assert verdict.violations == []
    assert verdict.counters["transport.drops.bad_card"] == 0


@pytest.mark.parametrize("index", range(4))
def test_groups_with_certificates_keep_all_rules(index: int) -> None:
    job = Job("sequencing", 2_026, index, "")
    assert job.verdict(replace(job.scenario, certificates=True)).violations == []


def test_a_schedule_with_certificates_is_the_same_each_time() -> None:
    assert play(APART).trace.hash() == play(APART).trace.hash()


def test_sides_of_a_cut_that_have_changed_their_keys_find_each_other() -> None:
    verdict = play(APART)
    assert verdict.violations == []
    assert verdict.counters["transport.group_keys"] >= 4


def _nobody_is_reminded(self: Handshake, arrival: Arrival, peer: Peer) -> None:
    """Who lacks a group key never gets it."""


def _used_at_once(self: GroupKey, now: float, members: set[bytes]) -> set[bytes]:
    """A new key is used before anybody has it, and given to nobody."""
    if self._wanted:
        self._wanted = False
        self.next_ = (self.number + 1) % 256, self._random.randbytes(32)
        self._use()
    return set()


def _unopened_is_answered(
    self: Handshake, arrival: Arrival, ciphers: dict[int, Cipher]
) -> bytes | None:
    """What does not open makes this node say something."""
    cipher = ciphers.get(arrival.epoch)
    peer = self._table.peers.get(arrival.identity)
    if cipher is None and peer is not None:
        self._give(peer, 0, bytes(32))
        return None
    return None if cipher is None else self._decrypted(arrival, cipher)


@pytest.mark.parametrize(
    ("owner", "name", "bug", "scenario", "caught_by"),
    [
        (Handshake, "_remind", _nobody_is_reminded, APART, "liveness"),
        (GroupKey, "due", _used_at_once, replace(APART, faults=()), None),
    ],
)
def test_a_bug_in_the_change_of_keys_is_found(
    monkeypatch: pytest.MonkeyPatch,
    owner: type,
    name: str,
    bug: Callable[..., object],
    scenario: Scenario,
    caught_by: str | None,
) -> None:
    monkeypatch.setattr(owner, name, bug)
    verdict = play(scenario)
    found = {violation.invariant for violation in verdict.violations}
    print(found, [v.text[:200] for v in verdict.violations][:4])
    assert found
