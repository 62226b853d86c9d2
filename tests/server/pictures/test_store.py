"""Pictures on a disk."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from server.pictures.naming import hash_of, is_hash
from server.pictures.store import Store


def test_what_is_written_is_there_under_its_hash_and_once(tmp_path: Path) -> None:
    store = Store(tmp_path)
    name = store.write(b"one")
    assert name == hash_of(b"one")
    assert store.write(b"one") == name
    assert store.read(name) == b"one"
    assert list(store.names()) == [name]
    assert [path for path in store.folder.rglob("*") if path.is_file()] == [store.path(name)]


def test_a_file_that_the_disk_has_damaged_is_not_given(tmp_path: Path) -> None:
    store = Store(tmp_path)
    name = store.write(b"one")
    store.path(name).write_bytes(b"two")
    assert store.read(name) is None
    assert list(store.names()) == []
    assert store.write(b"one") == name
    assert store.read(name) == b"one"


def test_a_disk_that_is_full_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    store = Store(tmp_path)
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        store.write(b"one")
    assert not [path for path in store.folder.rglob("*") if path.is_file()]


def test_only_old_files_that_nobody_wants_go(tmp_path: Path) -> None:
    store = Store(tmp_path)
    old, wanted, fresh = store.write(b"old"), store.write(b"wanted"), store.write(b"fresh")
    for name in (old, wanted):
        os.utime(store.path(name), (1, 1))
    left = store.path(old).with_name("0123456789abcdef.part")
    left.write_bytes(b"half")
    os.utime(left, (1, 1))
    assert store.sweep(frozenset({wanted}), 3600) == 2
    assert set(store.names()) == {wanted, fresh}
    assert not left.exists()


def test_a_picture_that_is_written_anew_is_not_swept(tmp_path: Path) -> None:
    store = Store(tmp_path)
    name = store.write(b"one")
    os.utime(store.path(name), (1, 1))
    store.write(b"one")
    assert store.sweep(frozenset(), 3600) == 0


@pytest.mark.parametrize("text", ["", "..", "A" * 64, "a" * 63, "/" * 64, "a" * 64 + "\n"])
def test_nothing_but_a_hash_becomes_a_path(text: str) -> None:
    assert not is_hash(text)
