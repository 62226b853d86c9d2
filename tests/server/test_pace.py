"""Who asks the API too fast is told when to come again; others are not in the way."""

from __future__ import annotations

import aiohttp

from server.routes import pace
from server.routes.pace import Pace
from tests.server.support import Cluster


def test_p1_an_asker_gets_its_burst_and_then_its_rate() -> None:
    asked, now_s, answered = Pace(5.0), 100.0, 0
    for _ in range(2000):
        answered += asked.take("ann", now_s) == 0
        now_s += 0.01
    assert 5 * (20 + pace.BURST_S) - 1 <= answered <= 5 * (20 + pace.BURST_S)


def test_who_is_refused_may_ask_again_when_it_is_told() -> None:
    asked = Pace(0.5)
    while not (wait_s := asked.take("ann", 0.0)):
        pass
    assert wait_s == 2
    assert asked.take("ann", 0.0 + wait_s) == 0
    assert asked.take("bob", 0.0) == 0


def test_p2_no_more_askers_are_known_than_there_may_be() -> None:
    asked = Pace(1.0)
    for number in range(pace.ASKERS_MAX + 10):
        asked.take(str(number), 0.0)
    assert len(asked) == pace.ASKERS_MAX


async def test_an_api_that_is_asked_too_fast_says_when_to_come_again(cluster: Cluster) -> None:
    node = await cluster.start("a", api_rate=1)
    async with aiohttp.ClientSession() as session:
        for _ in range(30):
            async with session.get(f"{node.url}/api/v1/nodes") as answer:
                if answer.status == 429:
                    assert (await answer.json())["code"] == "too_fast"
                    assert int(answer.headers["Retry-After"]) == 1
                    return
    raise AssertionError("never refused")
