"""The audit log as a file of a node: one JSON line an entry, verified by `verify` alone.

What a node missed, as it was away while more entries came than the object keeps, is said in a line
of its own (`{"gap": [first, last]}`), and the first entry behind it is taken as it is.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from server.accounts.audit import FIRST, Note, follows
from server.errors import DamagedStoreError


@dataclass(frozen=True, slots=True)
class Verified:
    """What a file has: entries, up to which number, and how many are missing."""

    entries: int
    last: int
    missing: int
    chain: str


class AuditFile:
    """Appends entries; DamagedStoreError when what is there is not whole."""

    def __init__(self, path: Path) -> None:
        self._path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        _cut_torn_line(path)
        found = verify(path) if path.exists() else Verified(0, 0, 0, FIRST)
        self.last, self._chain = found.last, found.chain

    def append(self, notes: Iterable[Note]) -> int:
        """Write those that are not there yet; gives how many."""
        lines: list[str] = []
        count, last, chain = 0, self.last, self._chain
        for note in notes:
            if note.number <= last:
                continue
            if note.number > last + 1:
                lines.append(json.dumps({"gap": [last + 1, note.number - 1]}))
            lines.append(json.dumps(asdict(note), ensure_ascii=True))
            last, chain, count = note.number, note.chain, count + 1
        if lines:
            descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            with os.fdopen(descriptor, "a", encoding="ascii") as file:
                file.write("".join(f"{line}\n" for line in lines))
        self.last, self._chain = last, chain
        return count

    def agrees(self, notes: Iterable[Note]) -> bool:
        """Whether the file is of the same log as these entries."""
        return all(note.chain == self._chain for note in notes if note.number == self.last)


def _cut_torn_line(path: Path) -> None:
    """A line that a crash has cut short is written again."""
    if not path.exists():
        return
    data = path.read_bytes()
    whole = data.rfind(b"\n") + 1
    if whole < len(data):
        with path.open("r+b") as file:
            file.truncate(whole)


def compare(path: Path, held: Iterable[Note], node: str) -> None:
    """Hold a file that `verify` has read against the entries that a node holds in its state.

    The state is that of all nodes, so it finds what a file by itself cannot show: a tail that was
    cut off, entries that a gap line hides, a log that was chained anew. DamagedStoreError.
    """
    chains: dict[int, str] = {}
    with path.open(encoding="utf-8") as file:
        for line in file:
            read = json.loads(line)
            if "gap" not in read:
                chains[read["number"]] = read["chain"]
    last = 0
    for note in held:
        last = note.number
        if chains.get(last) != note.chain:
            what = "differs from the one" if last in chains else "is missing; it is one"
            raise DamagedStoreError(
                f"{path}: entry {last} {what} that {node} holds in the cluster's state: the audit"
                " log was altered, cut off, or is of another cluster"
            )
    if chains and max(chains) > last:
        raise DamagedStoreError(
            f"{path}: entries behind {last} are unknown to the cluster, as {node} says"
        )


def verify(path: Path) -> Verified:
    """Read a file and check every hash; DamagedStoreError names the first line that is wrong."""
    entries, last, missing, chain = 0, 0, 0, FIRST
    is_anchored = True
    with path.open(encoding="utf-8") as file:
        for place, line in enumerate(file, 1):
            try:
                read = json.loads(line)
                if "gap" in read:
                    first, until = read["gap"]
                    is_right = first == last + 1 and until >= first
                    missing, last, is_anchored = missing + until - last, until, False
                else:
                    note = Note(**read)
                    is_right = note.number == last + 1
                    is_right = is_right and (not is_anchored or follows(note, chain))
                    entries, last, chain, is_anchored = entries + 1, note.number, note.chain, True
            except (ValueError, TypeError, KeyError):
                is_right = False
            if not is_right:
                raise DamagedStoreError(
                    f"{path}, line {place}: the audit log was altered or is damaged here; "
                    "compare it with the file of another node"
                )
    return Verified(entries, last, missing, chain)
