"""The audit file where the node's folder is sealed: the same chain, in lines that show nothing."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from groupcore.aio.data_key import DataKey
from groupcore.aio.rest_key import RestKey
from server.accounts.audit_file import KIND, AuditFile, compare, verify
from server.accounts.audit_key import read_audit_key
from server.errors import DamagedStoreError, KeyProblem
from server.rest import Seals
from server.sealed_lines import MARK
from tests.groupcore.aio.key_files import FORMER, bytes_below, key_file
from tests.server.accounts.test_audit_file import entries


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "node" / "audit.jsonl"


@pytest.fixture
def seals(tmp_path: Path, path: Path) -> Seals:
    rest = RestKey(key_file(tmp_path, FORMER))
    DataKey(path.parent, rest)
    return Seals(path.parent, rest)


def keys(path: Path, seals: Seals) -> tuple[bytes, ...]:
    return (read_audit_key(path.with_name("audit.key"), seals),)


def test_it_verifies_goes_on_and_shows_nothing(path: Path, seals: Seals) -> None:
    notes = entries(10)
    AuditFile(path, seals=seals).append(notes[:4])
    file = AuditFile(path, seals=seals)
    assert file.agrees(notes)
    file.append(notes[6:])
    found = verify(path, keys(path, seals), box=seals.box(KIND))
    assert (found.entries, found.last, found.missing, found.unkeyed) == (8, 10, 2, 0)
    shown = bytes_below(path.parent)
    assert b"signed_in" not in shown
    assert b"audit:" not in shown
    assert all(line.startswith(MARK) for line in path.read_bytes().splitlines())


@pytest.mark.parametrize("is_keyed", [False, True])
def test_a_file_of_before_is_sealed_with_its_codes_and_anchors(
    path: Path, seals: Seals, is_keyed: bool
) -> None:
    notes = entries(10)
    former, later = (bytes([1]) * 32,), (bytes([2]) * 32,)
    AuditFile(path, former if is_keyed else ()).append(notes[:3])
    AuditFile(path, later).append(notes[:6])  # begins behind an anchor
    before = verify(path, keys(path, seals))
    AuditFile(path, later, seals=seals).append(notes)
    found = verify(path, keys(path, seals), box=seals.box(KIND))
    assert (found.entries, found.chain) == (10, notes[-1].chain)
    assert found.unkeyed == before.unkeyed
    assert b"signed_in" not in bytes_below(path.parent)


def test_a_key_that_begins_in_a_sealed_file_vouches_for_its_lines(path: Path, seals: Seals) -> None:
    notes = entries(6)
    AuditFile(path, (bytes([1]) * 32,), seals=seals).append(notes[:3])
    AuditFile(path, (bytes([2]) * 32,), seals=seals).append(notes)
    found = verify(path, keys(path, seals), box=seals.box(KIND))
    assert (found.entries, found.unkeyed) == (6, 3)


def test_a_line_that_a_crash_cut_short_is_written_again(path: Path, seals: Seals) -> None:
    notes = entries(3)
    AuditFile(path, seals=seals).append(notes)
    path.write_bytes(path.read_bytes()[:-5])
    assert AuditFile(path, seals=seals).append(notes) == 1
    assert verify(path, keys(path, seals), box=seals.box(KIND)).entries == 3


def exchanged(lines: list[bytes]) -> list[bytes]:
    return [lines[0], lines[2], lines[1], *lines[3:]]


def altered(lines: list[bytes]) -> list[bytes]:
    return [lines[0], lines[1][:-9] + b"AAAAAAAA\n", *lines[2:]]


def left_out(lines: list[bytes]) -> list[bytes]:
    return [lines[0], *lines[2:]]


def put_in(lines: list[bytes]) -> list[bytes]:
    return [lines[0], b'{"gap": [2, 2]}\n', *lines[2:]]


@pytest.mark.parametrize("change", [exchanged, altered, left_out, put_in])
def test_a_changed_file_is_refused_at_the_line(
    path: Path, seals: Seals, change: Callable[[list[bytes]], list[bytes]]
) -> None:
    AuditFile(path, seals=seals).append(entries(4))
    path.write_bytes(b"".join(change(path.read_bytes().splitlines(keepends=True))))
    with pytest.raises(DamagedStoreError, match="line 2: the audit log was altered"):
        verify(path, keys(path, seals), box=seals.box(KIND))


def test_without_the_key_of_the_folder_it_is_not_said_to_be_altered(
    path: Path, seals: Seals, tmp_path: Path
) -> None:
    AuditFile(path, seals=seals).append(entries(2))
    elsewhere = tmp_path / "elsewhere.jsonl"
    shutil.copyfile(path, elsewhere)
    with pytest.raises(KeyProblem, match="--data-key-file: line 1 of the audit log: it is sealed"):
        verify(elsewhere)
    with pytest.raises(KeyProblem, match="--data-key-file"):
        read_audit_key(path.with_name("audit.key"))


def test_it_is_held_against_what_nodes_have(path: Path, seals: Seals) -> None:
    notes = entries(4)
    AuditFile(path, seals=seals).append(notes)
    held = [(note.number, note.chain) for note in notes]
    compare(path, held, "a", seals.box(KIND))
    with pytest.raises(DamagedStoreError, match="entry 4 differs"):
        compare(path, [*held[:3], (4, "0" * 64)], "a", seals.box(KIND))
