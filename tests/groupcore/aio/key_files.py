"""Key files for tests."""

from __future__ import annotations

from pathlib import Path

FORMER, LATER = bytes(range(32)), bytes(range(100, 132))


def key_file(folder: Path, *keys: bytes) -> Path:
    """A file with these keys, one a line, in place of the former one."""
    path = folder / "rest-key"
    path.touch(0o600)
    path.write_text("".join(f"{key.hex()}\n" for key in keys))
    return path


def bytes_below(folder: Path) -> bytes:
    """All that all files of a folder hold."""
    return b"\0".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())
