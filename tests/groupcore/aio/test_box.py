"""Sealed records: opened where they were sealed, and nowhere else."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupcore.aio.box import MAGIC, OVERHEAD_BYTES, Box, is_sealed
from groupcore.aio.errors import BrokenSealError

KEY = bytes(range(32))


@given(st.binary(max_size=300), st.binary(max_size=20))
def test_what_was_sealed_is_opened_by_another_box_of_the_same_key_and_kind(
    data: bytes, place: bytes
) -> None:
    stored = Box(KEY, "log").seal(data, place)
    assert is_sealed(stored)
    assert len(stored) == len(data) + OVERHEAD_BYTES
    assert Box(KEY, "log").open(stored, place) == data


@pytest.mark.parametrize("moved", ["place", "kind", "key"])
def test_b2_a_record_opens_only_where_it_was_sealed(moved: str) -> None:
    stored = Box(KEY, "log").seal(b"text", b"1")
    box = Box(KEY[::-1] if moved == "key" else KEY, "other" if moved == "kind" else "log")
    with pytest.raises(BrokenSealError, match="not what was sealed for this place"):
        box.open(stored, b"2" if moved == "place" else b"1")


def test_every_altered_byte_and_every_cut_is_found() -> None:
    box = Box(KEY, "log")
    stored = box.seal(b"some text", b"1")
    for at in range(len(stored)):
        altered = bytearray(stored)
        altered[at] ^= 1
        with pytest.raises(BrokenSealError):
            box.open(bytes(altered), b"1")
        with pytest.raises(BrokenSealError):
            box.open(stored[:at], b"1")


def test_b3_plain_records_are_taken_only_while_not_all_was_sealed() -> None:
    takes = True
    box = Box(KEY, "log", lambda: takes)
    assert box.open(b"\x93plain") == b"\x93plain"
    takes = False
    with pytest.raises(BrokenSealError, match="not sealed, where all was"):
        box.open(b"\x93plain")


def test_b1_no_nonce_comes_twice_even_where_chance_gives_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One box counts; boxes of other lives have other lanes, and so other keys."""
    boxes = [Box(KEY, "log") for _ in range(3)]
    monkeypatch.setattr(os, "urandom", bytes)
    heads = [box.seal(b"x")[len(MAGIC) : len(MAGIC) + 28] for box in boxes for _ in range(100)]
    assert len(set(heads)) == 300
    assert len({head[:16] for head in heads}) == 3


def test_a_machine_that_is_cloned_seals_with_other_nonces() -> None:
    """Lane and counter are the same there: what is drawn for each record is not."""
    box = Box(KEY, "log")
    counter = box._count
    box._count = iter([7, 7])  # type: ignore[assignment]  # the same count, in two machines
    assert box.seal(b"x") != box.seal(b"x")
    box._count = counter


def test_many_lanes_are_read_one_after_the_other() -> None:
    stored = [Box(KEY, "log").seal(b"%d" % at) for at in range(600)]
    box = Box(KEY, "log")
    assert [box.open(one) for one in stored] == [b"%d" % at for at in range(600)]
