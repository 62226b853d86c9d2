"""The rules of key files: private, 32 bytes, and errors that never show the key."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from groupcore.aio.key_file import KEYS_MAX, KeyFile, read_key_file, read_keys
from groupcore.errors import KeyFileError
from groupcore.seal import key_epoch

KEY = bytes(range(200, 232))


def written(tmp_path: Path, text: bytes, mode: int = 0o600) -> Path:
    path = tmp_path / "key"
    path.write_bytes(text)
    path.chmod(mode)
    return path


@pytest.mark.parametrize("mode", [0o600, 0o400])
@pytest.mark.parametrize(
    "text", [KEY.hex().encode() + b"\n", KEY.hex().upper().encode(), base64.b64encode(KEY) + b"\n"]
)
def test_a_key_in_hexadecimal_or_base64_is_read(tmp_path: Path, text: bytes, mode: int) -> None:
    assert read_key_file(written(tmp_path, text, mode)) == KEY


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o610])
def test_a_key_that_others_can_reach_is_refused(tmp_path: Path, mode: int) -> None:  # T25
    with pytest.raises(KeyFileError, match="chmod 600"):
        read_key_file(written(tmp_path, KEY.hex().encode(), mode))


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"secret",
        KEY,
        KEY.hex().encode()[:-2],
        b"z" * 64,
        base64.b64encode(KEY[:-1]),
        b"\xff" * 64,
    ],
)
def test_what_is_no_key_is_refused_without_being_shown(tmp_path: Path, text: bytes) -> None:
    with pytest.raises(KeyFileError, match="openssl rand") as caught:
        read_key_file(written(tmp_path, text))
    assert not text or repr(text) not in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_missing_file_is_named_with_the_command_that_makes_one(tmp_path: Path) -> None:
    with pytest.raises(KeyFileError, match="openssl rand"):
        read_key_file(tmp_path / "missing")


def other_key(same_epoch: bool) -> bytes:
    """A key beside KEY, of its epoch or of another."""
    keys = (bytes((byte,)) * 16 + bytes((more,)) * 16 for byte in range(256) for more in range(256))
    return next(key for key in keys if (key_epoch(key) == key_epoch(KEY)) is same_epoch)


def test_a_new_key_stands_on_a_line_behind_the_present_one(tmp_path: Path) -> None:
    new = other_key(same_epoch=False)
    path = written(tmp_path, f"{KEY.hex()}\n\n{base64.b64encode(new).decode()}\n".encode())
    assert read_keys(path) == (KEY, new)
    assert read_key_file(path) == KEY


def test_the_same_key_twice_is_one(tmp_path: Path) -> None:
    assert read_keys(written(tmp_path, f"{KEY.hex()}\n{KEY.hex()}".encode())) == (KEY,)


def test_keys_of_one_epoch_are_refused_with_the_remedy(tmp_path: Path) -> None:
    path = written(tmp_path, f"{KEY.hex()}\n{other_key(same_epoch=True).hex()}".encode())
    with pytest.raises(KeyFileError, match="make the last one anew"):
        read_keys(path)


def test_a_file_with_a_line_that_is_no_key_or_with_too_many_is_refused(tmp_path: Path) -> None:
    with pytest.raises(KeyFileError, match="one key on a line"):
        read_keys(written(tmp_path, KEY.hex().encode() + b"\nnot a key\n"))
    many = b"\n".join(bytes((byte,)).hex().encode() * 32 for byte in range(KEYS_MAX + 1))
    with pytest.raises(KeyFileError, match="at most"):
        read_keys(written(tmp_path, many))


def test_a_file_that_keeps_one_key_is_as_private_as_before(tmp_path: Path) -> None:  # T25
    new = other_key(same_epoch=False)
    file = KeyFile(written(tmp_path, f"{KEY.hex()}\n{new.hex()}\n".encode()))
    file.keep(new)
    assert file.read() == (new,)
    assert file.path.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["key"]
