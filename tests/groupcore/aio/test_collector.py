"""Collections that take long are not repeated."""

from __future__ import annotations

import gc

from groupcore.aio.collector import LONG_S, Collections, keep_collections_short


class Clock:
    """Says the next of these times."""

    def __init__(self, *times_s: float) -> None:
        self._times_s = iter(times_s)

    def __call__(self) -> float:
        return next(self._times_s)


def watch(generation: int, took_s: float) -> Collections:
    """After one collection; nothing is put aside in truth."""
    collections = Collections(Clock(5.0, 5.0 + took_s), lambda: None)
    collections("start", {"generation": generation})
    collections("stop", {"generation": generation})
    return collections


def test_what_has_survived_a_long_full_collection_is_put_aside() -> None:
    assert watch(2, 2 * LONG_S).frozen == 1


def test_after_a_short_one_or_one_of_young_objects_nothing_is_put_aside() -> None:
    assert watch(2, LONG_S / 2).frozen == 0
    assert watch(1, 2 * LONG_S).frozen == 0


def test_a_process_that_asks_for_it_is_watched() -> None:
    watching = keep_collections_short()
    try:
        assert watching in gc.callbacks
        gc.collect(0)
    finally:
        gc.callbacks.remove(watching)
