"""The rules of the tables of what is thrown away."""

from __future__ import annotations

from groupcore.drops import OTHERS, RECENT_MAX, SOURCES_MAX, Drops, DropsBySource


def test_all_is_counted_and_only_bad_input_is_remembered() -> None:
    drops = Drops()
    for reason in ("replayed", "forged", "unproven", "malformed", "forged"):
        drops[reason] += 1
    assert drops == {"replayed": 1, "forged": 2, "unproven": 1, "malformed": 1}
    assert drops.recent == ["forged", "malformed", "forged"]


def test_what_is_remembered_is_bounded() -> None:
    drops = Drops()
    for _ in range(2 * RECENT_MAX):
        drops["forged"] += 1
    assert len(drops.recent) == RECENT_MAX
    assert drops["forged"] == 2 * RECENT_MAX


def test_numbers_by_source_and_reason_are_taken_once() -> None:
    table = DropsBySource()
    assert not table
    table.note("here", ["forged", "forged"])
    table.note("there", ["malformed"])
    assert table.take() == {"here": {"forged": 2}, "there": {"malformed": 1}}
    assert table.take() == {}


def test_invented_sources_take_no_memory() -> None:
    table = DropsBySource()
    for number in range(10 * SOURCES_MAX):
        table.note(str(number), ["forged"])
    taken = table.take()
    assert len(taken) == SOURCES_MAX + 1
    assert taken[OTHERS]["forged"] == 9 * SOURCES_MAX
