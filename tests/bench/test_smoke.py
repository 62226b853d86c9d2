"""Each benchmark runs once with the smallest sizes, so that a broken one is found.

What is many cases and long measurements in `run` is one case here, as short as it goes. Nothing is
judged by how long it takes.
"""

from __future__ import annotations

import asyncio
import multiprocessing
from collections.abc import Callable
from multiprocessing.context import BaseContext
from pathlib import Path

import pytest

from bench import (
    anatomy,
    at_rest,
    attending,
    contexts,
    crowd,
    document,
    durable,
    editor,
    failover,
    fanout,
    floor,
    group_failover,
    group_join,
    group_latency,
    groups,
    join,
    keystroke,
    latency,
    many_groups,
    memory,
    merge,
    migration,
    node_join,
    objects,
    order,
    order_oracle,
    ordering,
    pipeline,
    pipeline_cases,
    place_sizes,
    places,
    places_million,
    scroll,
    sequencers,
    slowing,
    synthetic_trace,
    trace,
    view_change,
    waking,
)
from bench.__main__ import NAMES, commit, machine
from bench.crew import Crew
from groupcore.stacks import DEFAULT_STACK, StackOptions

SHORT_S = 0.2
Smoke = Callable[[pytest.MonkeyPatch, Path], object]

get_context = multiprocessing.get_context
FORKING = get_context("forkserver")
FORKING.set_forkserver_preload(["bench.crew_member", "bench.ordering", "server.main"])


@pytest.fixture(autouse=True)
def forked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes that need not load everything each, as they must where one measures."""

    def context(method: str | None = None) -> BaseContext:
        return FORKING if method == "spawn" else get_context(method)

    monkeypatch.setattr(multiprocessing, "get_context", context)


def quiet(patch: pytest.MonkeyPatch) -> None:
    """A crew runs for a moment where the benchmark lets it run for seconds."""
    run_for = Crew.run_for
    patch.setattr(Crew, "run_for", lambda crew, seconds: run_for(crew, min(seconds, SHORT_S)))


def run_order(patch: pytest.MonkeyPatch, folder: Path) -> object:
    load = ordering.Load(2, 1, 100, warm_up_s=SHORT_S, measure_s=SHORT_S, stack=DEFAULT_STACK)
    return order.case("SEQUENCER", load, 1.0), floor.measure(SHORT_S)


def run_latency(patch: pytest.MonkeyPatch, folder: Path) -> object:
    return latency.case(2, False, 20, 1.0), group_latency.case(2, True, 20, 1.0)


def run_view_change(patch: pytest.MonkeyPatch, folder: Path) -> object:
    quiet(patch)
    patch.setattr(view_change, "MEMBERS", 2)
    return view_change.run(quick=True)


def run_failover(patch: pytest.MonkeyPatch, folder: Path) -> object:
    quiet(patch)
    return failover.measure(False, StackOptions(), 1), group_failover.measure(1)


def run_attending(patch: pytest.MonkeyPatch, folder: Path) -> object:
    return asyncio.run(attending.measure(True, 1, 2))


def run_places(patch: pytest.MonkeyPatch, folder: Path) -> object:
    patch.setattr(places, "SETTLED_S", 0.3)
    size = places.Size((500,), looks=1, cells=2, grabs=2, people=3, shown_s=0.2)
    rows = asyncio.run(places.measure(size))
    assert [row["case"] for row in rows] == ["sight", "sizes", "walk", "grabs", "people"]
    assert rows[0]["outline_bytes"] < rows[0]["bytes_in_sight"]
    assert rows[3]["winners"] == [1]
    return rows


def run_places_million(patch: pytest.MonkeyPatch, folder: Path) -> object:
    patch.setattr(places, "SETTLED_S", 0.3)
    small = places.Size((400, 500), looks=1, cells=2, grabs=1, people=2, shown_s=0.1)
    patch.setattr(places_million, "LARGE", small)
    rows = places_million.run(quick=False)["places"]
    assert isinstance(rows, list)
    assert [row["things"] for row in rows if row["case"] == "sight"] == [400, 500]
    return rows


def run_place_sizes(patch: pytest.MonkeyPatch, folder: Path) -> object:
    rows = place_sizes.measure((10_000, 40_000), 20)
    assert rows[-1]["bytes_in_sight_times"] < 1.2
    assert rows[-1]["whole_bytes_times"] > rows[-1]["bytes_in_sight_times"]
    return rows


def run_merge(patch: pytest.MonkeyPatch, folder: Path) -> object:
    quiet(patch)
    patch.setattr(merge, "MEMBERS", 3)
    patch.setattr(merge, "MINORITY", 1)
    return merge.run(quick=True)


def run_keystroke(patch: pytest.MonkeyPatch, folder: Path) -> object:
    return asyncio.run(keystroke.measure(3))


def run_anatomy(patch: pytest.MonkeyPatch, folder: Path) -> object:
    figures = anatomy.run(quick=True)
    assert {"all", "until_read", *anatomy.ROLES} <= figures.keys()
    return figures


def run_fanout(patch: pytest.MonkeyPatch, folder: Path) -> object:
    return asyncio.run(fanout.measure(5, 4))


def run_join(patch: pytest.MonkeyPatch, folder: Path) -> object:
    patch.setattr(group_join, "LOCAL", 2)
    return join.run_round(1, "group", SHORT_S), group_join.measure_round({1_000: 2})


def run_contexts(patch: pytest.MonkeyPatch, folder: Path) -> object:
    one = contexts.Run(10, contexts.LOADS[1], seed=1)
    one.go(SHORT_S)
    return one.figures()


def run_groups(patch: pytest.MonkeyPatch, folder: Path) -> object:
    patch.setattr(groups, "NODES", 2)
    patch.setattr(groups, "GROUPS", 4)
    return groups.case("runs of 10", 1, SHORT_S)


def run_many_groups(patch: pytest.MonkeyPatch, folder: Path) -> object:
    patch.setattr(many_groups, "JOINS", 2)
    return many_groups.measure(many_groups.Crowd(60, 6, SHORT_S))


def run_sequencers(patch: pytest.MonkeyPatch, folder: Path) -> object:
    return sequencers.case(2, "overlapping", SHORT_S)


def run_migration(patch: pytest.MonkeyPatch, folder: Path) -> object:
    return migration.measure(3)


def run_slowing(patch: pytest.MonkeyPatch, folder: Path) -> object:
    size = slowing.Size(pages=5, keys=5, call_ms=20.0)
    return asyncio.run(slowing.round_of(size, is_asked=True))


def run_waking(patch: pytest.MonkeyPatch, folder: Path) -> object:
    return waking.measure(20)


def run_memory(patch: pytest.MonkeyPatch, folder: Path) -> object:
    return memory.weights(20), memory.cluster_of(20)


def run_at_rest(patch: pytest.MonkeyPatch, folder: Path) -> object:
    return [at_rest.case(20, 100, sealed) for sealed in (False, True)], at_rest.sealing(20, 100)


def run_durable(patch: pytest.MonkeyPatch, folder: Path) -> object:
    load = durable.Load(str(folder), 3, 1, SHORT_S, 5)
    return durable.round_of(load), durable.restart(3, 60)


def run_objects(patch: pytest.MonkeyPatch, folder: Path) -> object:
    patch.setattr(objects, "ALONE", 5)
    return [objects.case(kind, 20) for kind in ("raw", "text")]


def run_scroll(patch: pytest.MonkeyPatch, folder: Path) -> object:
    return asyncio.run(scroll.measure(3, held=False))


def run_editor(patch: pytest.MonkeyPatch, folder: Path) -> object:
    patch.setattr(editor, "SIZES", (1,))
    patch.setattr(editor, "QUICK_KEYS", 2)
    return editor.run(quick=True)


def run_document(patch: pytest.MonkeyPatch, folder: Path) -> object:
    size = document.Size(
        opened=(1,),
        openings=1,
        typed_in=(),  # the crowd's browsers type
        edits=12,
        typed=2,
        edited_blocks=2,
        large_bytes=1_000,
        documents=1,
    )
    return asyncio.run(document.measure(size))


def run_pipeline(patch: pytest.MonkeyPatch, folder: Path) -> object:
    # Without Spark, which the pipeline's own tests start.
    assert synthetic_trace.write_trace(folder, 2_000, groups=20) == 2_000
    files = {name: folder / f"{name}.parquet" for name in order_oracle.TABLES}
    assert order_oracle.judge(files) == set()
    assert pipeline_cases.ingest_duckdb(folder, 100_000)["rows"] == 100_000
    assert pipeline_cases.overlap_duckdb(folder, 1_000, 64)["components"]
    return pipeline.measure("placement", "python", [100])


def run_trace(patch: pytest.MonkeyPatch, folder: Path) -> object:
    patch.setattr(trace, "TIMES", 1)
    return trace.case(1, 2)


def run_crowd(patch: pytest.MonkeyPatch, folder: Path) -> object:
    patch.setattr(crowd, "PAUSE_S", 0.0)
    size = crowd.Size(bots=3, blocks=5, view=4, keys=2, settle_s=0.0)
    return asyncio.run(crowd.measure(size, ("typing",)))


def run_node_join(patch: pytest.MonkeyPatch, folder: Path) -> object:
    patch.setattr(node_join, "BEFORE_S", 0.5)
    return asyncio.run(node_join.join(0.5, 1.0, kills=False))


SMOKES: dict[str, Smoke] = {
    "order": run_order,
    "latency": run_latency,
    "view-change": run_view_change,
    "failover": run_failover,
    "merge": run_merge,
    "keystroke": run_keystroke,
    "anatomy": run_anatomy,
    "fanout": run_fanout,
    "join": run_join,
    "node-join": run_node_join,
    "contexts": run_contexts,
    "groups": run_groups,
    "many-groups": run_many_groups,
    "sequencers": run_sequencers,
    "migration": run_migration,
    "memory": run_memory,
    "slowing": run_slowing,
    "waking": run_waking,
    "durable": run_durable,
    "at-rest": run_at_rest,
    "objects": run_objects,
    "scroll": run_scroll,
    "editor": run_editor,
    "document": run_document,
    "crowd": run_crowd,
    "pipeline": run_pipeline,
    "trace": run_trace,
    "attending": run_attending,
    "places": run_places,
    "places-million": run_places_million,
    "place-sizes": run_place_sizes,
}


def test_every_benchmark_is_run_here() -> None:
    assert set(SMOKES) == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_the_benchmark_runs(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert SMOKES[name](monkeypatch, tmp_path)


def test_figures_say_what_they_were_measured_on() -> None:
    assert {"cores", "processor", "system", "python"} <= set(machine())
    assert commit()
