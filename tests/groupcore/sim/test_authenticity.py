"""Invariant 23: what nobody sealed, or what was taken before, counts for nothing."""

from __future__ import annotations

import pytest

from groupcore.replay_window import ReplayWindow
from groupcore.seal import HEADER
from groupcore.sim.checkers import Violation
from groupcore.sim.clock import MILLISECOND, SECOND, Clock
from groupcore.sim.fault import Fault, Send
from groupcore.sim.jobs import Job
from groupcore.sim.network import NetworkOptions
from groupcore.sim.notary import Notary
from groupcore.sim.profiles import PROFILES
from groupcore.sim.randomness import stream
from groupcore.sim.run import Verdict, run_scenario
from groupcore.sim.scenario import Scenario
from groupcore.sim.trace import Suspect, Trace
from tests.groupcore.sim.stories import A, begun

FORGED = Scenario(
    seed=1,
    nodes=3,
    starts_ns=(0, 0, 0),
    safety_ns=4 * SECOND,
    network=NetworkOptions(duplicate=0.2),
    faults=(
        Fault(SECOND, "forger", (), 3 * SECOND, 5),
        Fault(2 * SECOND, "crash", (2,), SECOND // 10),
    ),
    sends=tuple(Send(SECOND + n * 20 * MILLISECOND, n % 3, (40,)) for n in range(140)),
)
"""A forger is at work from the first view on, and a node comes back with a new life."""


def play() -> Verdict:
    return run_scenario(FORGED, PROFILES["stack"].make_stack)


def harms(verdict: Verdict) -> set[str]:
    """What kinds of suspect datagrams did harm."""
    return {record.what for record in verdict.trace.of(Suspect) if record.harm}


def of_23(verdict: Verdict) -> list[Violation]:
    return [violation for violation in verdict.violations if violation.number == 23]


# --- the checker ----------------------------------------------------------------------------------


def test_a_forged_datagram_that_changes_nothing_keeps_authenticity() -> None:
    assert begun().add(Suspect(1, *A, "forged", "")).breached() == []


@pytest.mark.parametrize("what", ["forged", "stale", "replayed", "resealed"])
def test_a_datagram_that_must_not_count_and_does_breaks_authenticity(what: str) -> None:
    assert begun().add(Suspect(1, *A, what, "passed on 1 of a.b")).breached() == [23]


# --- the world ------------------------------------------------------------------------------------


def test_a_forger_without_the_key_changes_nothing() -> None:
    verdict = play()
    assert verdict.violations == []
    assert len(verdict.trace.of(Suspect)) > 100
    assert harms(verdict) == set()
    for reason in ("forged", "replayed", "bad_clear_header", "unknown_key_epoch"):
        assert verdict.counters[f"transport.drops.{reason}"] > 0


def test_a_replay_window_that_forgets_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ReplayWindow, "refusal", lambda self, counter: "")
    verdict = play()
    assert of_23(verdict)
    assert "replayed" in harms(verdict)


def test_a_window_that_does_not_begin_at_the_proof_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begin = ReplayWindow.__init__
    monkeypatch.setattr(ReplayWindow, "__init__", lambda self, floor: begin(self, 0))
    verdict = play()
    assert of_23(verdict)
    assert "stale" in harms(verdict)


def test_a_key_and_a_nonce_that_seal_two_things_are_found() -> None:
    trace = Trace()
    notary = Notary(trace, Clock(stream(1, "ties")))
    header = bytes(HEADER.size)
    notary.seal(A, header + b"one")
    notary.seal(A, header + b"one")  # a copy for another receiver
    assert trace.of(Suspect) == []
    notary.seal(A, header + b"two")
    (record,) = trace.of(Suspect)
    assert (record.what, record.n) == ("resealed", "a")
    assert record.harm


# --- groups ---------------------------------------------------------------------------------------

CHURNED_AND_FORGED = (0, 10, 26)
"""Schedules of profile `strict-churn`, seed 9, in which a forger is at work while a node hears late
of the order and strict groups are churned."""


@pytest.mark.slow
@pytest.mark.parametrize("index", CHURNED_AND_FORGED)
def test_a_forger_changes_nothing_where_strict_groups_are_churned(index: int) -> None:
    job = Job("strict-churn", 9, index, "")
    assert {"forger", "late-order"} <= {fault.kind for fault in job.scenario.faults}
    verdict = job.verdict()
    assert verdict.violations == []
    assert len(verdict.trace.of(Suspect)) > 40
    assert harms(verdict) == set()


@pytest.mark.slow
@pytest.mark.parametrize("plant", ["window-before-seal", "nonces-again"])
def test_planted_what_a_forger_brings_about_among_churned_groups_is_found(plant: str) -> None:
    assert of_23(Job("strict-churn", 9, CHURNED_AND_FORGED[0], plant).verdict())
