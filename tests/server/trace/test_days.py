"""What a trace's folder holds, while another node that writes there removes what is old."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest

from groupcore.trace import Segment
from server.trace.days import listed, pruned
from server.trace.segments import segments_of

NAME = Segment("2020-01-01", "a", "delivery", 1, 1).name
AFTER = date(2021, 1, 1)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Segments of two nodes of two days."""
    for day in ("2020-01-01", "2020-01-02"):
        for node in "ab":
            inside = tmp_path / f"date={day}" / f"node={node}"
            inside.mkdir(parents=True)
            (inside / NAME).write_bytes(b"x")
    return tmp_path


def removing(monkeypatch: pytest.MonkeyPatch, when: str, gone: Path) -> None:
    """Another node removes a folder as soon as one whose name begins so has been listed."""
    original: Callable[[Path], list[str]] = os.listdir

    def listdir(path: Path) -> list[str]:
        names = original(path)
        if any(name.startswith(when) for name in names):
            shutil.rmtree(gone, ignore_errors=True)
        return names

    monkeypatch.setattr("server.trace.days.os.listdir", listdir)


@pytest.mark.parametrize("when", ["date=", "node="])
def test_what_another_node_removes_meanwhile_is_left_out(
    folder: Path, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    gone = folder / "date=2020-01-02" if when == "date=" else folder / "date=2020-01-01" / "node=b"
    removing(monkeypatch, when, gone)
    assert {row["node"] for row in listed(folder)} == {"a", "b"}
    assert len(list(segments_of(folder))) == (2 if when == "date=" else 3)


def test_two_nodes_remove_their_own_from_one_folder(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    removing(monkeypatch, "date=", folder / "date=2020-01-01" / "node=b")
    assert len(pruned(folder, AFTER, True, "a")) == 2, "of two days"
    monkeypatch.undo()
    assert [path.parent.name for path in folder.glob("date=*/node=*/*")] == ["node=b"]
    assert pruned(folder, AFTER, False, "c") == []
