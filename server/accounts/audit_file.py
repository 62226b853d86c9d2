"""The audit log as a file of a node: one JSON line an entry, verified by `verify` alone.

What a node missed, as it was away while more entries came than the object keeps, is said in a line
of its own (`{"gap": [first, last]}`), and the first entry behind it is taken as it is.

Each line ends with `mac`: HMAC-SHA-256 of the former line's code and this line, under the node's
audit key (`server.accounts.audit_key`). So nobody without the key inserts a gap line, rewrites the
entry behind one, or chains the log anew. Where a key begins in a file that has lines already, a
line `{"anchor": HASH}` carries the SHA-256 of all bytes before it: they are vouched for as of then.

Where the node's folder is sealed, each line is, at its number (`server.sealed_lines`); codes,
hashes and anchors are those of the lines as they are without.

Invariants.
  F1  From the line on with which the key begins, each line has the code that follows the former's.
  F2  A file whose folder has kept a key has a line of it, unless it is empty.
"""

from __future__ import annotations

import errno
import hmac
import json
import logging
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from groupcore.aio.box import Box
from groupcore.aio.errors import BrokenSealError, RestKeyError
from groupcore.aio.private import make_folder
from server.accounts.audit import FIRST, Note, follows
from server.accounts.audit_key import AuditKey
from server.errors import DamagedStoreError, KeyProblem
from server.rest import FLAG, Seals
from server.sealed_lines import has_plain, open_line, plain_lines, seal_line, write_lines

logger = logging.getLogger("server")

KIND = "audit"
"""Of what is sealed here."""
CODED = re.compile(r'(\{.*), "mac": "([0-9a-f]{64})"\}', re.DOTALL)
"""A line: what its code covers, and the code."""


@dataclass(frozen=True, slots=True)
class Verified:
    """What a file has: entries, up to which number, and how many are missing.

    `chain` is the hash of the last entry; `unkeyed` counts the lines before that with which the
    key begins, all where none does; `key` is the key that wrote the last line, `mac` its code.
    """

    entries: int
    last: int
    missing: int
    chain: str
    unkeyed: int = 0
    key: bytes | None = None
    mac: str = ""
    lines: int = 0


def code_of(key: bytes, before: str, text: str) -> str:
    """The code of a line behind one with the code `before`; `text` is the line up to its code."""
    return hmac.new(key, (before + text).encode(), "sha256").hexdigest()


class AuditFile:
    """Appends entries; DamagedStoreError when what is there is not whole, KeyProblem.

    `cluster` are the keys of the cluster, that in use first. `takes_over`: the file was put here
    from elsewhere, and may be of another key. `seals`: of its folder, if it has any.
    """

    def __init__(
        self,
        path: Path,
        cluster: Sequence[bytes] = (),
        *,
        takes_over: bool = False,
        seals: Seals | None = None,
        own_key: bool = False,
    ) -> None:
        self._path = path
        self._box = None if seals is None else seals.box(KIND)
        make_folder(path.parent)
        _cut_torn_line(path)
        key = AuditKey(path.parent, cluster, seals, own_key)
        found = Verified(0, 0, 0, FIRST)
        if path.exists():
            may_lack = key.is_first or takes_over
            found = verify(path, key.known, may_lack_key=may_lack, box=self._box)
            if self._box is not None and has_plain(path):
                write_lines(path, list(plain_lines(path, self._box)), self._box)
        if seals is not None:
            seals.later(KIND, _all_sealed)
        self._lines = found.lines
        self.last, self._chain, self._key = found.last, found.chain, key.current
        self.unkeyed, self._mac = found.unkeyed, found.mac
        if found.key != key.current:
            self._begin_key()
        key.keep()

    def _begin_key(self) -> None:
        """Vouch for the lines that are there, which were written without this key."""
        self._mac = ""
        there = plain_lines(self._path, self._box) if self._path.exists() else ()
        before = b"".join(there)
        if before:
            self.unkeyed = before.count(b"\n")
            logger.info("%s: the audit key begins behind line %d", self._path, self.unkeyed)
            self._write([self._coded({"anchor": sha256(before).hexdigest()})])

    def append(self, notes: Iterable[Note]) -> int:
        """Write those that are not there yet; gives how many."""
        lines: list[str] = []
        count, last, chain, mac = 0, self.last, self._chain, self._mac
        try:
            for note in notes:
                if note.number <= last:
                    continue
                if note.number > last + 1:
                    lines.append(self._coded({"gap": [last + 1, note.number - 1]}))
                lines.append(self._coded(asdict(note)))
                last, chain, count = note.number, note.chain, count + 1
            self._write(lines)
        except OSError:
            self._mac = mac
            raise
        self.last, self._chain = last, chain
        return count

    def _coded(self, line: dict[str, object]) -> str:
        text = json.dumps(line, ensure_ascii=True)[:-1]
        self._mac = code_of(self._key, self._mac, text)
        return f'{text}, "mac": "{self._mac}"}}'

    def _write(self, lines: list[str]) -> None:
        if not lines:
            return
        numbered = enumerate(lines, self._lines)
        sealed = (seal_line(self._box, at, line.encode("ascii")) for at, line in numbered)
        data = b"".join(line + b"\n" for line in sealed)
        descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            size = os.fstat(descriptor).st_size
            if os.write(descriptor, data) < len(data):  # the disk is full: all or nothing
                os.ftruncate(descriptor, size)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        finally:
            os.close(descriptor)
        self._lines += len(lines)

    def agrees(self, notes: Iterable[Note]) -> bool:
        """Whether the file is of the same log as these entries."""
        return all(note.chain == self._chain for note in notes if note.number == self.last)


async def _all_sealed() -> int:
    """The constructor has sealed what was plain."""
    return 0


def _cut_torn_line(path: Path) -> None:
    """A line that a crash has cut short is written again."""
    if not path.exists():
        return
    data = path.read_bytes()
    whole = data.rfind(b"\n") + 1
    if whole < len(data):
        with path.open("r+b") as file:
            file.truncate(whole)


def compare(path: Path, held: Iterable[tuple[int, str]], node: str, box: Box | None = None) -> None:
    """Hold a file that `verify` has read against numbers and hashes that a node has in its state.

    The state is that of all nodes, so it finds what a file by itself cannot show: a tail that was
    cut off, entries that a gap line hides, a log that was chained anew. DamagedStoreError.
    """
    chains: dict[int, str] = {}
    for line in plain_lines(path, box):
        read = json.loads(line)
        if "chain" in read:
            chains[read["number"]] = read["chain"]
    last = 0
    for last, chain in held:
        if chains.get(last) != chain:
            what = "differs from the one" if last in chains else "is missing; it is one"
            raise DamagedStoreError(
                f"{path}: entry {last} {what} that {node} holds in the cluster's state: the audit"
                " log was altered, cut off, or is of another cluster"
            )
    if chains and max(chains) > last:
        raise DamagedStoreError(
            f"{path}: entries behind {last} are unknown to the cluster, as {node} says"
        )


def verify(
    path: Path,
    keys: Sequence[bytes] = (),
    *,
    may_lack_key: bool = False,
    box: Box | None = None,
) -> Verified:
    """Read a file and check every hash, and every code that one of the keys has made.

    KeyProblem where it is sealed and no `box` opens it.
    DamagedStoreError names the first line that is wrong, or says that no line is of these keys,
    which `may_lack_key` allows.
    """
    reading = _Reading(keys)
    with path.open("rb") as file:
        for place, line in enumerate(file, 1):
            try:
                is_right = reading.take(opened_line(box, place - 1, line))
            except (ValueError, TypeError, KeyError, BrokenSealError):
                is_right = False
            if not is_right:
                raise DamagedStoreError(
                    f"{path}, line {place}: the audit log was altered or is damaged here; "
                    "compare it with the file of another node"
                )
    found = reading.found()
    if keys and found.unkeyed and found.key is None and not may_lack_key:
        raise DamagedStoreError(
            f"{path}: no line has a code of this key: the audit log was altered, or written with "
            "another key, or before there were keys"
        )
    return found


def opened_line(box: Box | None, number: int, line: bytes) -> bytes:
    """A line with its end, as it was written; BrokenSealError, KeyProblem."""
    end = b"\n" if line.endswith(b"\n") else b""
    try:
        return open_line(box, number, line.removesuffix(b"\n")) + end
    except RestKeyError as error:
        raise KeyProblem(f"{FLAG}: line {number + 1} of the audit log: {error}") from None


class _Reading:
    """How far a file has been read."""

    def __init__(self, keys: Sequence[bytes]) -> None:
        self._keys = keys
        self._entries, self._last, self._missing, self._chain = 0, 0, 0, FIRST
        self._is_anchored = True
        self._lines, self._unkeyed = 0, 0
        self._key: bytes | None = None
        self._mac = ""
        self._bytes = sha256()

    def found(self) -> Verified:
        """What has been read."""
        unkeyed = self._lines if self._key is None else self._unkeyed
        counted = self._entries, self._last, self._missing, self._chain
        return Verified(*counted, unkeyed, self._key, self._mac, self._lines)

    def take(self, line: bytes) -> bool:
        """Whether the next line is right; ValueError, TypeError, KeyError where it is no line."""
        text = line.decode("utf-8").removesuffix("\n")
        read = json.loads(text)
        is_right = self._take_code(text, read) and self._take_content(read)
        self._bytes.update(line)
        self._lines += 1
        return is_right

    def _take_code(self, text: str, read: dict[str, Any]) -> bool:
        """F1; the key begins at the first line, or at an anchor, that a known key has made."""
        coded = CODED.fullmatch(text)
        covered, said = ("", "") if coded is None else coded.groups()
        if self._key is not None and "anchor" not in read:
            self._mac = code_of(self._key, self._mac, covered)
            return hmac.compare_digest(self._mac, said)
        if said and (self._lines == 0 or "anchor" in read):
            for key in self._keys:
                if hmac.compare_digest(code_of(key, "", covered), said):
                    self._key, self._mac, self._unkeyed = key, said, self._lines
                    return True
        return self._key is None  # a key that is known is not followed by one that is not

    def _take_content(self, read: dict[str, Any]) -> bool:
        read.pop("mac", None)
        if "anchor" in read:
            return set(read) == {"anchor"} and read["anchor"] == self._bytes.hexdigest()
        if "gap" in read:
            first, until = read["gap"]
            is_right = bool(first == self._last + 1 and until >= first)
            self._missing, self._last = self._missing + until - self._last, until
            self._is_anchored = False
            return is_right
        note = Note(**read)
        is_right = note.number == self._last + 1
        is_right = is_right and (not self._is_anchored or follows(note, self._chain))
        self._entries, self._last, self._chain = self._entries + 1, note.number, note.chain
        self._is_anchored = True
        return is_right
