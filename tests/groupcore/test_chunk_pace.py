"""How large a chunk of a state may be."""

from __future__ import annotations

from groupcore.transfer.pace import FIRST_BYTES, LATE_S, LEAST_BYTES, QUICK_S, ChunkPace

MOST_BYTES = 59_000


def give(pace: ChunkPace, count: int, takes_s: float) -> None:
    """So many chunks, one after the other, each confirmed after that time."""
    for number in range(count):
        end = 1_000_000 * (number + 1) + (pace.sent[-1][0] if pace.sent else 0)
        pace.note_sent(end, 0.0)
        pace.note_taken(end, takes_s)


def test_who_confirms_quickly_gets_larger_chunks_up_to_the_limit() -> None:
    pace = ChunkPace(MOST_BYTES)
    assert pace.size_bytes == FIRST_BYTES
    give(pace, 1, QUICK_S)
    assert pace.size_bytes == 2 * FIRST_BYTES
    give(pace, 9, 0.001)
    assert pace.size_bytes == MOST_BYTES


def test_who_confirms_late_gets_smaller_ones_down_to_the_least() -> None:
    pace = ChunkPace(MOST_BYTES)
    give(pace, 1, LATE_S)
    assert pace.size_bytes == FIRST_BYTES // 2
    give(pace, 9, 5.0)
    assert pace.size_bytes == LEAST_BYTES


def test_between_the_two_the_size_stays() -> None:
    pace = ChunkPace(MOST_BYTES)
    give(pace, 9, (QUICK_S + LATE_S) / 2)
    assert pace.size_bytes == FIRST_BYTES


def test_no_chunk_is_above_the_limit_however_small_that_is() -> None:
    pace = ChunkPace(4)
    give(pace, 3, 0.0)
    assert pace.size_bytes == 4
    give(pace, 3, 5.0)
    assert pace.size_bytes == 4


def test_the_newest_chunk_that_is_confirmed_says_how_long_it_takes() -> None:
    pace = ChunkPace(MOST_BYTES)
    pace.note_sent(10, 0.0)
    pace.note_sent(20, 1.0)
    pace.note_taken(20, 1.05)
    assert pace.size_bytes == 2 * FIRST_BYTES
    pace.note_taken(20, 9.0)  # no news
    assert pace.size_bytes == 2 * FIRST_BYTES
