"""Files that others may read at any time: they see the former text or the new one, whole."""

from __future__ import annotations

import os
from pathlib import Path


def put(path: Path, text: str) -> None:
    """Write a file beside its place, then rename it there. What is no file, say a pipe, is written
    to as it is. Raises OSError; the former text stays then.
    """
    if path.exists() and not path.is_file():
        path.write_text(text, encoding="utf-8")
        return
    fresh = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        fresh.write_text(text, encoding="utf-8")
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)
