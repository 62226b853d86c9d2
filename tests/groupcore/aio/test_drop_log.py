"""The rules of bad input in the log: who, what, one line a source and minute."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import AsyncIterator

import pytest

from groupcore.aio.drop_log import LINES_MAX, PERIOD_S, SOURCES_MAX, DropLog
from tests.groupcore.aio.cluster import LIMIT_S, Cluster, close_all


@pytest.fixture
async def cluster() -> AsyncIterator[Cluster]:
    made = Cluster(with_multicast=False)
    yield made
    await close_all(made)


def test_one_line_a_source_and_minute_with_all_that_came_since(
    caplog: pytest.LogCaptureFixture,
) -> None:
    log = DropLog("a")
    for second in range(int(2 * PERIOD_S) + 1):
        log.tell({"10.0.0.9:9": {"forged": 2, "malformed": 1}}, 1_000.0 + second)
    assert [record.getMessage() for record in caplog.records] == [
        "a has dropped bad input of 10.0.0.9:9 (forged 2, malformed 1): "
        "another key or cluster name, altered on the way, or a node that speaks for another",
        "a has dropped bad input of 10.0.0.9:9 (forged 120, malformed 60): "
        "another key or cluster name, altered on the way, or a node that speaks for another",
        "a has dropped bad input of 10.0.0.9:9 (forged 120, malformed 60): "
        "another key or cluster name, altered on the way, or a node that speaks for another",
    ]


def test_who_listens_is_told_whenever_a_line_is_written() -> None:
    log = DropLog("a")
    heard: list[tuple[str, dict[str, int]]] = []
    log.listener = lambda source, reasons: heard.append((source, dict(reasons)))
    for second in range(int(PERIOD_S) + 1):
        log.tell({"10.0.0.9:9": {"forged": 2}}, 1_000.0 + second)
    assert heard == [("10.0.0.9:9", {"forged": 2}), ("10.0.0.9:9", {"forged": 120})]


def test_every_source_has_a_line_of_its_own(caplog: pytest.LogCaptureFixture) -> None:
    log = DropLog("a")
    log.tell({"x:1": {"bad_header": 1}, "y:2": {"bad_header": 1}}, 5.0)
    assert [record.getMessage() for record in caplog.records] == [
        "a has dropped bad input of x:1 (bad_header 1)",
        "a has dropped bad input of y:2 (bad_header 1)",
    ]


def test_whoever_invents_sources_does_not_fill_the_log_or_the_memory(
    caplog: pytest.LogCaptureFixture,
) -> None:
    log = DropLog("a")
    for number in range(10 * SOURCES_MAX):
        log.tell({f"x:{number}": {"forged": 1}}, 5.0)
    assert len(caplog.records) == LINES_MAX
    assert len(log._quiet_until) + len(log._unsaid) <= 2 * SOURCES_MAX


@pytest.mark.slow
async def test_a_node_names_in_its_log_who_sends_it_rubbish(
    cluster: Cluster, caplog: pytest.LogCaptureFixture
) -> None:
    a = await cluster.connected("a")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
        stranger.bind(("127.0.0.1", 0))
        for _ in range(3):
            stranger.sendto(b"rubbish", a.socket_address)
        source = "{}:{}".format(*stranger.getsockname())
        async with asyncio.timeout(LIMIT_S):
            dropped = 0
            while dropped < 3:
                await asyncio.sleep(0)
                dropped = a.counters().get("transport.drops.bad_size", 0)
    lines = [r for r in caplog.records if r.name == "groupcore.aio.drop_log"]
    assert len(lines) == 1
    assert lines[0].levelno == logging.WARNING
    assert f"a has dropped bad input of {source} (bad_size" in lines[0].getMessage()
