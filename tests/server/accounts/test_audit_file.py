"""The audit log as a file: whole, verified by itself, found out when somebody has altered it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from server.accounts.audit import FIRST, Note, chained
from server.accounts.audit_file import AuditFile, Verified, verify
from server.errors import DamagedStoreError


def entries(count: int) -> list[Note]:
    made: list[Note] = []
    chain = FIRST
    for number in range(1, count + 1):
        words = ("user:1", "signed_in", f"about {number}", "127.0.0.1")
        chain = chained(chain, number, number * 1000, words)
        made.append(Note(number, number * 1000, *words, chain))
    return made


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "node" / "audit.jsonl"


def test_a_file_verifies_on_its_own_and_goes_on_after_a_restart(path: Path) -> None:
    notes = entries(10)
    assert AuditFile(path).append(notes[:4]) == 4
    file = AuditFile(path)
    assert file.agrees(notes)
    assert file.append(notes) == 6
    assert verify(path) == Verified(10, 10, 0, notes[-1].chain)
    assert path.stat().st_mode & 0o077 == 0


def test_what_a_node_has_missed_is_said(path: Path) -> None:
    notes = entries(10)
    file = AuditFile(path)
    file.append(notes[:2])
    file.append(notes[6:])
    assert verify(path) == Verified(6, 10, 4, notes[-1].chain)


def test_a_line_that_a_crash_cut_short_is_written_again(path: Path) -> None:
    notes = entries(3)
    AuditFile(path).append(notes)
    path.write_bytes(path.read_bytes()[:-5])
    assert AuditFile(path).append(notes) == 1
    assert verify(path).entries == 3


def test_a_file_of_another_log_is_noticed(path: Path) -> None:
    AuditFile(path).append(entries(3))
    other = Note(3, 1, "user:9", "signed_in", "", "", "0" * 64)
    assert not AuditFile(path).agrees([other])


def changed(lines: list[str]) -> list[str]:
    return [lines[0], lines[1].replace("user:1", "user:2"), *lines[2:]]


def with_new_hash(lines: list[str]) -> list[str]:
    note = json.loads(lines[1])
    note["by"] = "user:2"
    words = (note["by"], note["what"], note["about"], note["origin"])
    note["chain"] = chained(json.loads(lines[0])["chain"], 2, note["at_ms"], words)
    return [lines[0], json.dumps(note), *lines[2:]]


@pytest.mark.parametrize(
    "alter",
    [
        changed,
        with_new_hash,
        lambda lines: [lines[0], *lines[2:]],
        lambda lines: [lines[1], lines[0], *lines[2:]],
        lambda lines: [*lines[:2], lines[1], *lines[2:]],
        lambda lines: ["{}", *lines],
        lambda lines: [lines[0], "garbage", *lines[1:]],
        lambda lines: lines[1:],
    ],
)
def test_a_broken_chain_is_found(path: Path, alter: Callable[[list[str]], list[str]]) -> None:
    AuditFile(path).append(entries(4))
    lines = path.read_text().splitlines()
    path.write_text("\n".join(alter(lines)) + "\n")
    with pytest.raises(DamagedStoreError, match="altered"):
        verify(path)
    with pytest.raises(DamagedStoreError):
        AuditFile(path)
