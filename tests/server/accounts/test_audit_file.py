"""The audit log as a file: whole, verified by itself, found out when somebody has altered it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from server.accounts.audit import FIRST, Note, chained
from server.accounts.audit_file import AuditFile, verify
from server.accounts.audit_key import AuditKey, derived, read_audit_key
from server.errors import DamagedStoreError, KeyProblem


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


def keys(path: Path) -> tuple[bytes, ...]:
    return (read_audit_key(path.with_name("audit.key")),)


def counted(path: Path) -> tuple[int, int, int, str, int]:
    found = verify(path, keys(path))
    return found.entries, found.last, found.missing, found.chain, found.unkeyed


def test_a_file_verifies_on_its_own_and_goes_on_after_a_restart(path: Path) -> None:
    notes = entries(10)
    assert AuditFile(path).append(notes[:4]) == 4
    file = AuditFile(path)
    assert file.agrees(notes)
    assert file.append(notes) == 6
    assert counted(path) == (10, 10, 0, notes[-1].chain, 0)
    assert path.stat().st_mode & 0o077 == 0


def test_what_a_node_has_missed_is_said(path: Path) -> None:
    notes = entries(10)
    file = AuditFile(path)
    file.append(notes[:2])
    file.append(notes[6:])
    assert counted(path) == (6, 10, 4, notes[-1].chain, 0)


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


def test_a_new_cluster_key_begins_behind_an_anchor_that_vouches_for_the_former_lines(
    path: Path,
) -> None:
    notes, former, later = entries(9), b"a" * 32, b"b" * 32
    AuditFile(path, (former,)).append(notes[:3])
    AuditFile(path, (later,)).append(notes[:6])
    AuditFile(path, (later,)).append(notes)
    lines = path.read_text().splitlines()
    assert len(lines) == 10
    assert verify(path, (derived(later),)).unkeyed == 3
    assert verify(path, (derived(former), derived(later))).key == derived(later)
    with pytest.raises(DamagedStoreError, match="line 4"):
        verify(path, (derived(former),))
    path.write_text("\n".join([*lines[:2], lines[2].replace("about 3", "about 9"), *lines[3:]]))
    with pytest.raises(DamagedStoreError):
        verify(path, (derived(later),))


def test_where_nodes_have_certificates_the_audit_key_is_the_nodes_own(path: Path) -> None:
    notes, cluster = entries(9), b"a" * 32
    AuditFile(path, (cluster,)).append(notes[:3])
    AuditFile(path, (cluster,), own_key=True).append(notes[:6])
    (own,) = keys(path)
    assert own != derived(cluster)
    AuditFile(path, (cluster,), own_key=True).append(notes)
    assert keys(path) == (own,), "it is kept"
    assert verify(path, (own,)).unkeyed == 3
    with pytest.raises(DamagedStoreError, match="line 4"):
        verify(path, (derived(cluster),))


def test_an_anchor_is_not_forged(path: Path) -> None:
    AuditFile(path).append(entries(4))
    known, lines = keys(path), path.read_text().splitlines()
    bare = [line.partition(', "mac"')[0] + "}" for line in lines]
    before = "".join(f"{line}\n" for line in bare)
    anchor = json.dumps({"anchor": sha256(before.encode()).hexdigest(), "mac": "0" * 64})
    for altered in ([*bare, anchor], [*lines, anchor], [anchor, *lines], bare):
        path.write_text("".join(f"{line}\n" for line in altered))
        with pytest.raises(DamagedStoreError):
            verify(path, known)
        with pytest.raises(DamagedStoreError):
            AuditFile(path)


def test_a_start_that_a_crash_cut_short_is_done_again(path: Path) -> None:
    AuditFile(path).append(entries(2))
    key = path.with_name("audit.key")
    whole, kept = path.read_bytes(), keys(path)
    key.replace(path.with_name(".audit.key.new"))
    AuditFile(path).append(entries(3))
    assert keys(path) == kept
    assert path.read_bytes().startswith(whole)
    assert counted(path)[0] == 3
    key.unlink()
    path.with_name(".audit.key.new").write_text("audit:12")
    path.with_name(".audit.key.new").chmod(0o600)
    AuditFile(path)
    assert counted(path)[4] == 3


def test_a_disk_that_is_full_takes_no_half_of_an_entry(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, write = AuditFile(path), os.write
    file.append(entries(2))
    with monkeypatch.context() as full:
        full.setattr(os, "write", lambda handle, data: write(handle, data[:7]))
        with pytest.raises(OSError, match="space"):
            file.append(entries(3))
    file.append(entries(3))
    assert counted(path)[0] == 3


def test_a_key_that_others_may_read_is_refused(path: Path) -> None:
    AuditFile(path)
    path.with_name("audit.key").chmod(0o640)
    with pytest.raises(KeyProblem, match="chmod 600"):
        AuditKey(path.parent)
