"""What is made in between shows nothing on the disk, and reads as it was written."""

from __future__ import annotations

import io
import os
import zipfile
from random import Random
from typing import IO

import pytest

from server.documents import scratch
from server.documents.scratch import Scratch
from server.documents.zipped import Zipped
from server.paged_file import PAGE_BYTES

TEXT = b"what people wrote "


def test_it_reads_as_a_file_in_memory_does_wherever_it_is_written() -> None:
    chance, mine, other = Random(7), Scratch(2 * PAGE_BYTES), io.BytesIO()
    for _ in range(400):
        place = chance.randrange(8 * PAGE_BYTES)
        data = chance.randbytes(chance.choice((1, 100, PAGE_BYTES, 3 * PAGE_BYTES)))
        if chance.random() < 0.6:
            assert mine.seek(place) == other.seek(place)
            assert mine.write(data) == other.write(data) == len(data)
        assert mine.seek(place) == other.seek(place)
        assert mine.read(10) == other.read(min(10, PAGE_BYTES - place % PAGE_BYTES))
    assert mine.seek(0, os.SEEK_END) == other.seek(0, os.SEEK_END)
    mine.seek(0)
    assert mine.readall() == other.getvalue()


def test_what_goes_by_the_disk_is_sealed_and_small_files_do_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[IO[bytes]] = []

    def kept(buffering: int) -> IO[bytes]:
        assert buffering == 0
        made.append(io.BytesIO())
        return made[-1]

    monkeypatch.setattr(scratch, "TemporaryFile", kept)
    small = Scratch(4 * PAGE_BYTES)
    small.write(TEXT * 1_000)
    assert made == []
    large = Scratch(PAGE_BYTES)
    large.write(TEXT * 20_000)
    large.seek(0)
    assert large.readall() == TEXT * 20_000
    stored = made[0]
    assert isinstance(stored, io.BytesIO)
    assert len(stored.getvalue()) > 3 * PAGE_BYTES
    assert TEXT not in stored.getvalue()


def test_a_large_export_is_whole() -> None:
    zipped = Zipped()
    parts = {f"p{at}": Random(at).randbytes(3 << 20) for at in range(5)}
    for name, data in parts.items():
        zipped.add(name, data)
    zipped.add("text.md", TEXT * 100, packed=True)
    with zipfile.ZipFile(io.BytesIO(b"".join(zipped.end()))) as again:
        assert again.testzip() is None
        assert {name: again.read(name) for name in parts} == parts
        assert again.read("text.md") == TEXT * 100
