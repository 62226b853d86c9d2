"""The trace of three nodes, one of which is killed and comes back: audited as it is, and with rows
of that node taken out or exchanged before and behind the crash. Both checkers agree on all of it.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import AsyncExitStack
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from groupcore.trace import CHECKSUM_BYTES, CHECKSUM_MARK, CONTENT, Segment, parse_path
from pipeline.second_opinion import BROKEN, judge, read_trace
from tests.end_to_end.cluster import NAMES, ROOT, Cluster, running_cluster
from tests.end_to_end.page import Tab
from tests.pipeline.logs import apart

pytestmark = [pytest.mark.process, pytest.mark.slow]

VICTIM = "b"
Rows = list[dict[str, Any]]
Edit = Callable[[Rows], None]


async def typed(cluster: Cluster, doc: str, count: int, **places: str) -> None:
    """These people, each called by a letter, type so many tokens at these nodes, all saved."""
    async with AsyncExitStack() as stack:
        tabs = []
        for letter, name in places.items():

            def urls(name: str = name) -> list[str]:
                return [cluster.nodes[name].url]

            tabs.append(await stack.enter_async_context(Tab(letter, doc, urls)))
        for tab in tabs:
            tab.start_typing()
        for tab in tabs:
            await tab.typed_more(count)
        for tab in tabs:
            await tab.stop_typing()
            await tab.all_saved()


async def trace_with_a_crash(folder: Path) -> Path:
    """Three people type, one node is killed with SIGKILL and comes back, all leave; the trace."""
    trace = folder / "trace"
    async with running_cluster(folder, *NAMES, trace=str(trace), trace_segment=1) as cluster:
        doc = await cluster.create("a")
        await typed(cluster, doc, 20, x="a", y="b", z="c")
        await cluster.nodes[VICTIM].kill()
        await typed(cluster, doc, 5, u="a", v="c")
        await cluster.start(VICTIM)
        await cluster.view_of("a", *NAMES)
        await typed(cluster, doc, 20, r="a", s="b", t="c")
        for name in NAMES:
            assert (await cluster.admin(name, "leave"))[0] == 202
        for node in cluster.nodes.values():
            assert await node.exit_code() == 0
    return trace


def take_out(rows: Rows) -> None:
    """One delivery of a message is not there any more."""
    rows.remove([row for row in rows if row["what"] == CONTENT][-2])


def exchange(rows: Rows) -> None:
    """Two deliveries to one group, one behind the other, change places."""
    content = [row for row in rows if row["what"] == CONTENT]
    one, two = next(
        (one, two)
        for one, two in pairwise(content)
        if one["gid"] == two["gid"] and one["seq"] != two["seq"]
    )
    one["dno"], two["dno"] = two["dno"], one["dno"]


CASES: dict[str, tuple[int, Edit | None, set[str]]] = {
    "asitis": (0, None, set()),
    "removedbefore": (0, take_out, {"gap", "delivery_numbers", "missing_records"}),
    "swappedbefore": (0, exchange, {"late"}),
    "removedbehind": (1, take_out, {"gap", "delivery_numbers", "missing_records"}),
    "swappedbehind": (1, exchange, {"late"}),
}
"""By name: in which life of the victim rows are edited, how, and which rules that breaks."""


def segments_of(trace: Path) -> dict[Segment, Path]:
    """All complete segments of a trace."""
    found = {
        parse_path(path.relative_to(trace).as_posix()): path for path in trace.rglob("*.arrows")
    }
    return {segment: path for segment, path in found.items() if segment is not None}


def edited(trace: Path) -> dict[int, Segment]:
    """The first segment of the victim's deliveries in each of its two lives.

    What a crash takes is at a life's end.
    """
    own = [one for one in segments_of(trace) if (one.node, one.kind) == (VICTIM, "delivery")]
    lives = sorted({one.epoch for one in own})
    assert len(lives) == 2, own
    return {at: min(s for s in own if s.epoch == life) for at, life in enumerate(lives)}


def doctor(trace: Path, to: Path, case: str) -> None:
    """A copy of the trace, under names of its own, with the edit of this case: rows and checksum
    are changed alike, as who has the files can.
    """
    life, edit, _ = CASES[case]
    target, number = edited(trace)[life], list(CASES).index(case)
    for segment, path in segments_of(trace).items():
        data = path.read_bytes()[: -(CHECKSUM_BYTES + len(CHECKSUM_MARK))]
        with pa.ipc.open_stream(data) as stream:
            schema, rows = stream.schema, stream.read_all().to_pylist()
        if edit is not None and segment == target:
            edit(rows)
        (rows,) = apart({segment.kind: rows}, case, number).values()
        renamed = segment._replace(node=f"{case}-{segment.node}")
        schema = schema.with_metadata({**schema.metadata, b"groupcore.node": renamed.node.encode()})
        out = pa.BufferOutputStream()
        with pa.ipc.new_stream(out, schema) as writer:
            writer.write_batch(pa.RecordBatch.from_pylist(rows, schema))
        body = out.getvalue().to_pybytes()
        (to / renamed.path).parent.mkdir(parents=True, exist_ok=True)
        (to / renamed.path).write_bytes(body + CHECKSUM_MARK + sha256(body).digest())


async def audited(trace: Path) -> tuple[list[dict[str, Any]], dict[str, Any], dict[str, Any]]:
    """The violations that the audit prints, its result, and its certificate."""
    certificate = trace / "order.json"
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "pipeline", "audit", "--trace", str(trace), "--json"),
        *("--out", str(trace.with_suffix(".store")), "--certificate", str(certificate)),
        *("--master", "local[2]", "--memory", "1g", "--partitions", "2"),
        cwd=ROOT,
        # Compiling well takes longer than the few rows of a test.
        env={**os.environ, "JDK_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1"},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, errors = await process.communicate()
    assert process.returncode == BROKEN, errors.decode()[-3000:]
    *found, said = map(json.loads, out.splitlines())
    return found, said, json.loads(certificate.read_text(encoding="utf-8"))["certificate"]


async def test_a_real_crash_excuses_no_row_removed_or_exchanged_before_or_behind_it(
    tmp_path: Path,
) -> None:
    trace, all_cases = await trace_with_a_crash(tmp_path), tmp_path / "cases"
    opinions = {}
    for case, (_, edit, rules) in CASES.items():
        doctor(trace, tmp_path / case, case)
        shutil.copytree(tmp_path / case, all_cases, dirs_exist_ok=True)
        opinion = opinions[case] = judge(read_trace(tmp_path / case))
        assert opinion.result == ("kept_in_part" if edit is None else "broken")
        assert {one.rule for one in opinion.broken} >= rules, case

    found, said, certificate = await audited(all_cases)
    assert (said["result"], certificate["whole"]) == ("broken", False)
    ours = Counter((one["rule"], one["node"]) for one in found if "rule" in one)
    theirs = Counter(
        (one.rule, one.node) for opinion in opinions.values() for one in opinion.broken
    )
    assert ours == theirs
    for case, (life, edit, _) in CASES.items():
        shares = {
            node.partition("-")[2]: one["share_proved"]
            for node, one in certificate["nodes"].items()
            if node.startswith(f"{case}-")
        }
        print(f"{case}: {opinions[case].lost} ranges lost, proved {shares}")
        assert len(shares) == len(NAMES) + 1
        # A row that is missing is no proof at this node, in this life, and nowhere else.
        victim = sorted(node for node in shares if node.startswith(VICTIM))[life]
        lacks = edit is take_out
        assert (shares[victim] < 1) == lacks
