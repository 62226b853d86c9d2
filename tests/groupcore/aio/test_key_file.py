"""The rules of key files: private, 32 bytes, and errors that never show the key."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from groupcore.aio.key_file import read_key_file
from groupcore.errors import KeyFileError

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
