"""A shelf in a file: what is put there is there, whatever becomes of the disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from groupcore.aio.errors import StorageError
from groupcore.aio.file_shelf import FileShelf

LARGE = bytes(50_000)


def test_what_is_put_is_there_until_it_is_dropped(tmp_path: Path) -> None:
    shelf = FileShelf(tmp_path / "shelf")
    one, other = shelf.put(b"one"), shelf.put(LARGE)
    assert one != other
    assert min(one, other) > 0
    assert (shelf.get(one), shelf.get(other)) == (b"one", LARGE)
    shelf.drop(one)
    assert shelf.get(other) == LARGE
    with pytest.raises(StorageError, match="has lost"):
        shelf.get(one)


def test_room_is_used_again(tmp_path: Path) -> None:
    shelf = FileShelf(tmp_path / "shelf")
    for _ in range(100):
        shelf.drop(shelf.put(LARGE))
    assert (tmp_path / "shelf").stat().st_size < 4 * len(LARGE)


def test_what_the_disk_has_no_room_for_stays_in_memory(tmp_path: Path) -> None:
    shelf = FileShelf(tmp_path / "shelf")
    before = shelf.put(b"before")
    shelf._file.execute("PRAGMA max_page_count = 4")
    numbers = [shelf.put(LARGE + b"%d" % at) for at in range(3)]
    assert all(number < 0 for number in numbers)
    assert [shelf.get(number)[len(LARGE) :] for number in numbers] == [b"0", b"1", b"2"]
    assert shelf.get(before) == b"before"
    for number in numbers:
        shelf.drop(number)
    shelf._file.execute("PRAGMA max_page_count = 1000")
    assert shelf.get(shelf.put(LARGE)) == LARGE


def test_each_life_begins_with_an_empty_one(tmp_path: Path) -> None:
    first = FileShelf(tmp_path / "shelf")
    first.put(LARGE)
    first._file.close()  # as if the process had been killed
    (tmp_path / "shelf").write_bytes(b"damaged")
    second = FileShelf(tmp_path / "shelf")
    assert second.get(second.put(b"new")) == b"new"
    second.close()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_used_is_an_error_in_words(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="cannot be used"):
        FileShelf(tmp_path / "no such folder" / "shelf")
