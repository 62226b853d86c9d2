"""When a node may say who reads what: not behind a pause or a silence, until the order answers."""

from __future__ import annotations

import asyncio

import pytest

from groupcore.shared.errors import OutcomeUnknownError
from server.accounts import standing as standings
from server.accounts.standing import LATE_S, LOOK_S, SILENT_S, Standing
from server.errors import BadMessageError


class Scene:
    """A clock, ears, and an order that answers when it is told to."""

    def __init__(self) -> None:
        self.now_s = 100.0
        self.silent_s = 0.0
        self.asked = 0
        self.answers: asyncio.Queue[bool] = asyncio.Queue()
        self.standing = Standing(lambda: self.now_s, lambda: self.silent_s, self.ask)

    async def ask(self) -> None:
        self.asked += 1
        if not await self.answers.get():
            raise OutcomeUnknownError("the cluster went on without this node meanwhile")

    def look(self, after_s: float = LOOK_S) -> bool:
        self.now_s += after_s
        return self.standing.is_sure()


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(standings, "RETRY_S", 0.0)
    monkeypatch.setattr(standings, "LONGER_S", 0.05)


async def settled() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def test_a_node_that_hears_the_others_asks_nothing() -> None:
    scene = Scene()
    assert all(scene.look() for _ in range(100))
    await scene.standing.sure()
    assert scene.asked == 0


@pytest.mark.parametrize("reason", ["paused", "silent"])
async def test_behind_a_doubt_nobody_is_served_before_the_order_has_answered(reason: str) -> None:
    scene = Scene()
    assert scene.look()
    scene.silent_s = 2 * SILENT_S if reason == "silent" else 0.0
    assert not scene.look(2 * LATE_S if reason == "paused" else LOOK_S)
    scene.silent_s = 0.0
    with pytest.raises(BadMessageError) as refused:
        await scene.standing.sure(0.05)
    assert refused.value.code == "not_primary"
    scene.answers.put_nowait(True)
    await scene.standing.sure()
    assert scene.look()
    assert scene.asked == 1


async def test_the_first_who_asks_behind_a_pause_is_not_served_by_what_was_before_it() -> None:
    """Also before the loop has looked by itself."""
    scene = Scene()
    assert scene.look()
    scene.now_s += 10.0
    waiting = asyncio.create_task(scene.standing.sure())
    await settled()
    assert not waiting.done()
    scene.answers.put_nowait(True)
    await waiting


async def test_who_hears_the_others_is_waited_for_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(standings, "LONGER_S", 10.0)
    scene = Scene()
    scene.look()
    scene.look(2 * LATE_S)
    waiting = asyncio.create_task(scene.standing.sure(0.0))
    await asyncio.wait([waiting], timeout=0.05)
    assert not waiting.done()
    scene.answers.put_nowait(True)
    await waiting


async def test_an_answer_to_a_question_from_before_the_doubt_is_none() -> None:
    scene = Scene()
    scene.look()
    scene.look(2 * LATE_S)
    await settled()
    scene.look(2 * LATE_S)  # paused again while the question was under way
    scene.answers.put_nowait(True)
    await settled()
    assert not scene.look()
    scene.answers.put_nowait(True)
    await settled()
    assert scene.look()
    assert (scene.asked, scene.standing.doubts) == (2, 1)


async def test_a_node_that_was_excluded_asks_again_in_its_next_life() -> None:
    scene = Scene()
    scene.look()
    scene.look(2 * LATE_S)
    scene.answers.put_nowait(False)
    scene.answers.put_nowait(True)
    await settled()
    assert scene.look()
    assert scene.asked == 2
