"""Pages are asked to slow down while a node does not keep up, within bounds."""

from __future__ import annotations

import asyncio
from random import Random
from types import SimpleNamespace

import pytest

from groupcore.gateway import brake
from groupcore.gateway.brake import PAUSE_LEAST_MS, PAUSE_MAX_MS, SAY_AGAIN_S, Brake
from groupcore.gateway.gateway import Gateway
from groupcore.sequencing.events import Congestion
from groupcore.shared.tasks import Schedule
from tests.groupcore.web.gateways import Site, node_of, pages, tab

NO_TIME = Schedule(Random(1))


def looks(*behind: bool, late_s: float = 0.0) -> tuple[list[int], list[int]]:
    """The pauses behind looks a second apart, and what was told."""
    told: list[int] = []
    answers = iter(behind)
    made = Brake(NO_TIME, lambda: next(answers), told.append)
    pauses = []
    for second in range(len(behind)):
        made.look(late_s, float(second))
        pauses.append(made.pause_ms)
    return pauses, told


def test_the_pause_doubles_while_the_node_is_behind_and_shrinks_slowly_behind_that() -> None:  # B1
    pauses, told = looks(*[True] * 7, *[False] * 13)
    assert pauses[:7] == [100, 200, 400, 800, 1600, 2000, 2000]
    assert pauses[7:] == [1500, 1125, 843, 632, 474, 355, 266, 199, 149, 111, 0, 0, 0]
    assert min(one for one in pauses if one) >= PAUSE_LEAST_MS
    assert max(pauses) == PAUSE_MAX_MS
    assert told[:6] == pauses[:6]
    assert told[-1] == 0


def test_pages_are_told_again_as_long_as_there_is_a_pause_and_not_else() -> None:  # B2
    _, told = looks(*[True] * 12)
    assert told.count(PAUSE_MAX_MS) == 1 + int(6 / SAY_AGAIN_S)
    assert looks(*[False] * 5) == ([0] * 5, [])


def test_a_pause_stays_until_the_node_has_kept_up_for_a_while() -> None:
    behind = True
    made = Brake(NO_TIME, lambda: behind, lambda pause_ms: None)
    made.look(0.0, 10.0)
    behind = False
    for after_s, pause_ms in ((0.25, 100), (0.75, 100), (1.0, 0)):
        made.look(0.0, 10.0 + after_s)
        assert made.pause_ms == pause_ms


def test_a_loop_that_turns_late_is_behind() -> None:
    made = Brake(NO_TIME, lambda: False, lambda pause_ms: None)
    made.look(brake.LATE_S + 0.01, 0.0)
    assert made.pause_ms == PAUSE_LEAST_MS


async def test_pages_hear_of_it_those_that_come_too_and_when_it_is_over(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(brake, "TICK_S", 0.01)
    monkeypatch.setattr(brake, "RELAX_S", 0.01)
    monkeypatch.setattr(brake, "LATE_S", 60.0)
    behind = True
    monkeypatch.setattr(Gateway, "is_behind", lambda self: behind)
    (gateway,) = await site.start("a")
    ann, _ = await pages(gateway, 2)
    await ann.hears("slow", pause_ms=PAUSE_LEAST_MS)
    await ann.hears("slow", pause_ms=PAUSE_MAX_MS)
    late = tab(7)
    await late.connect(gateway)
    assert (await late.hears("slow"))["pause_ms"] == PAUSE_MAX_MS
    behind = False
    for one in (ann, late):
        await one.hears("slow", pause_ms=0)
    assert gateway.figures.slowed > 0


async def test_a_node_is_behind_with_the_order_or_with_its_disk(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    (gateway,) = await site.start("a")
    assert not gateway.is_behind()
    groups = node_of(gateway).groups
    groups.requests.settle(Congestion(True))
    assert gateway.is_behind()
    groups.requests.settle(Congestion(False))
    for queued, is_behind in ((0, False), (brake.QUEUED_BYTES_MOST + 1, True)):
        monkeypatch.setattr(groups, "storage", SimpleNamespace(queued_bytes=queued))
        assert gateway.is_behind() is is_behind
    monkeypatch.undo()


async def test_without_pages_nobody_looks(site: Site) -> None:
    (gateway,) = await site.start("a")
    ann, bob = await pages(gateway, 2)
    assert gateway.brake._call_off is not None
    for one in (ann, bob):
        assert one.page is not None
        await asyncio.wait_for(one.page.end(), 5)
    assert gateway.brake._call_off is None
