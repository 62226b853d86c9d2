"""A node whose key is not the others' ends and says so; one that has peers or a view does not."""

from __future__ import annotations

import pytest

from server.key_watch import CLOSED_LEAST, PATIENCE_S, KeyWatch

STRANGERS = {"transport.drops.forged": CLOSED_LEAST, "transport.peers": 0}


def looks(counters: dict[str, int], in_view: bool = False) -> bool:
    watch = KeyWatch()
    return watch.look(counters, in_view, 0.0) or watch.look(counters, in_view, PATIENCE_S)


def test_who_hears_only_what_does_not_open_ends_after_a_while() -> None:
    watch = KeyWatch()
    assert not watch.look(STRANGERS, False, 0.0)
    assert not watch.look(STRANGERS, False, PATIENCE_S - 0.1)
    assert watch.look(STRANGERS, False, PATIENCE_S)


@pytest.mark.parametrize(
    "counters",
    [
        {},
        STRANGERS | {"transport.drops.forged": CLOSED_LEAST - 1},
        STRANGERS | {"transport.peers": 1},
    ],
)
def test_a_node_that_knows_another_or_hears_little_goes_on(counters: dict[str, int]) -> None:
    assert not looks(counters)


def test_a_node_in_a_view_says_it_once_and_goes_on(caplog: pytest.LogCaptureFixture) -> None:
    watch = KeyWatch()
    for now in (0.0, PATIENCE_S, PATIENCE_S + 1):
        assert not watch.look(STRANGERS, True, now)
    assert len(caplog.records) == 1
