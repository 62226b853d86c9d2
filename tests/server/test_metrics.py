"""What a node exports for Prometheus: all that is promised, with numbers of what it has done."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.server.support import Cluster, create, eventually, get

pytestmark = pytest.mark.slow

PROMISED = (
    "operations_submitted_total",
    "operations_ordered_total{sequencer}",
    "operations_rejected_total{code}",
    "order_latency_seconds{sequencer}",
    "delivery_latency_seconds",
    "apply_latency_seconds",
    "sequencer_queue_operations{sequencer}",
    "sequencer_groups{sequencer}",
    "cross_sequencer_operations_total{from,to}",
    "migrations_total{outcome}",
    "migration_pause_seconds",
    "connections{transport}",
    "connection_lag_operations",
    "connection_outbox_bytes",
    "catchup_total{how}",
    "log_append_seconds",
    "log_bytes",
    "snapshot_age_seconds",
    "management_refused_total{reason}",
    "state_hash_mismatches_total",
    "build_info{version}",
)
"""Without hooks, which a server has none of."""
HISTOGRAMS = [
    *(name for name in PROMISED if "latency" in name),
    *("migration_pause_seconds", "log_append_seconds"),
    *("connection_lag_operations", "connection_outbox_bytes"),
]
GUIDE = (Path(__file__).resolve().parents[2] / "docs" / "operations.md").read_text("utf-8")


@pytest_asyncio.fixture
async def cluster(tmp_path: Path) -> AsyncIterator[Cluster]:
    cluster = Cluster(tmp_path)
    yield cluster
    await cluster.close()


async def asked(url: str) -> str:
    status, text = await get(f"{url}/metrics")
    assert status == 200
    return str(text)


@pytest.mark.parametrize("name", PROMISED)
def test_what_is_promised_stands_in_the_guide(name: str) -> None:
    assert f"| `groupcore_{name}` |" in GUIDE


async def test_all_that_is_promised_is_exported(cluster: Cluster) -> None:
    node = await cluster.start("a")
    text = await asked(node.admin_url)
    kinds = dict(re.findall(r"^# TYPE groupcore_(\S+) (\w+)$", text, re.MULTILINE))
    for name in PROMISED:
        bare = name.partition("{")[0]
        assert bare in kinds, name
        assert (kinds[bare] == "counter") == bare.endswith("_total"), name
    assert {"histogram"} == {kinds[name.partition("{")[0]] for name in HISTOGRAMS}
    rows = re.findall(r"^\| `groupcore_(\w+)(?:\{[\w,]+\})?` \| (\w+) \|", GUIDE, re.MULTILINE)
    for bare, kind in rows:
        assert kinds.get(bare, kind) == kind, bare
    unknown = {one for one in kinds if not one.startswith("channel_")} - {bare for bare, _ in rows}
    assert {one for one in unknown if not one.endswith("_created")} == set()


def counts(text: str) -> dict[str, float]:
    """How often each histogram was told something."""
    found = re.findall(r"^groupcore_(\w+)_count(?:\{.*\})? (\S+)$", text, re.MULTILINE)
    return {name: float(count) for name, count in found}


async def test_what_a_node_does_is_timed(cluster: Cluster) -> None:
    node = await cluster.start("a")
    before = counts(await asked(node.admin_url))
    await create(node)

    async def are_there() -> bool:
        now = counts(await asked(node.admin_url))
        names = ("order_latency", "delivery_latency", "apply_latency", "log_append")
        return all(now[f"{name}_seconds"] > before[f"{name}_seconds"] for name in names)

    await eventually(are_there, "its document was numbered, delivered, applied and logged")
    text = await asked(node.admin_url)
    ordered = re.search(r'^groupcore_operations_ordered_total\{sequencer="a"\} (\S+)$', text, re.M)
    assert ordered is not None
    assert float(ordered[1]) > 0
    assert re.search(r'^groupcore_sequencer_groups\{sequencer="a"\} [1-9]', text, re.M)
    assert re.search(r'^groupcore_connections\{transport="websocket"\} 0.0$', text, re.M)
    assert re.search(r"^groupcore_log_bytes [1-9]", text, re.M)
