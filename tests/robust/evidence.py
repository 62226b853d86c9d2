"""What is kept of a run that has found something: what clients saw, and what nodes have written.

A disk of a run is gone when the run ends, and the next run is another one: so whoever reads a
problem needs the logs of exactly this one.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING

from groupcore.sim.checkers import Violation
from groupcore.sim.trace_groups import GroupMid
from tests.robust.disks import FILLER
from tests.robust.history import Line
from tests.robust.spaces import NAMES

if TYPE_CHECKING:
    from tests.robust.run import Run

SHOWN = ("sequence_number", "epoch", "settled", "verdict", "process")
"""Fields of a line of a log that a problem shows."""


def explained(violation: Violation, dumps: Mapping[str, Sequence[Line]]) -> str:
    """The violation, and what each node's log says of the calls that it is about."""
    calls = [mid for mid in violation.messages if isinstance(mid, GroupMid)]
    said = [
        f"{node}: {what}"
        for mid in calls
        for node, lines in sorted(dumps.items())
        for what in _lines_about(mid.process[0], mid.number, lines)
    ]
    return "\n  ".join([str(violation), *said])


def _lines_about(client: str, number: int, lines: Sequence[Line]) -> list[str]:
    """Where a log begins and ends, and each line of it that names a call."""
    if not lines:
        return ["nothing of this group"]
    found = []
    for line in lines:
        if line["verdict"] == "compacted":
            last = line.get("calls", {}).get(client)
            place = line["sequence_number"]
            found.append(f"a state stands for 1 to {place}, with {last} as its last call")
        elif line.get("client_operation_id") == f"{client}:{number}":
            found.append(json.dumps({key: line.get(key) for key in SHOWN}))
    ends = (lines[0]["sequence_number"], lines[-1]["sequence_number"])
    return [*found, f"{len(lines)} lines from {ends[0]} to {ends[1]}"]


def keep(run: Run, folder: Path) -> Path:
    """Copy everything that tells what happened to a folder that stays; where that is.

    `folder` has what the processes have written. While disks are there their files are copied, too.
    """
    kept = Path(mkdtemp(prefix="groupcore-robust-"))
    (kept / "problems.txt").write_text("\n".join(run.problems) + "\n")
    (kept / "faults.json").write_text(json.dumps(run.played))
    for log in folder.glob("*.log"):
        shutil.copy(log, kept)
    for number, chapter in enumerate(run.chapters):
        calls = {"submitted": chapter.calls.submitted, "answered": chapter.calls.answered}
        said = {"group": chapter.group, "calls": calls, "dumps": chapter.dumps}
        (kept / f"chapter{number}.json").write_text(json.dumps(said))
    disks = run.cluster.disks
    for name in run.cluster.nodes if disks is not None else ():
        assert disks is not None
        try:
            ignored = shutil.ignore_patterns(FILLER, "lost+found")
            shutil.copytree(disks.seen(NAMES.index(name)), kept / name, ignore=ignored)
        except (shutil.Error, OSError) as problem:  # a file that goes meanwhile
            print(f"not all of {name}'s disk could be kept: {problem}")
    return kept
