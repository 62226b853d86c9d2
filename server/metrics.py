"""The node's metrics, under the names that `docs/operations.md` lists.

They are read from the node when they are asked for. No user, document or group is ever a label.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)

from groupcore.errors import ChannelClosedError
from groupcore.histogram import Histogram
from groupcore.sequencing.status import GroupStatus
from groupcore.web import SharedObjects
from server import VERSION
from server.console.series import Series
from server.node import Node
from server.state import State

GAUGES: Final = {
    "sessions": "Sessions, those that wait for their page included",
    "sessions_max": "Most sessions that this node takes",
    "ready": "1 when sessions may be sent here",
    "primary": "1 in the primary view",
    "view_members": "Members of the view",
    "documents": "Documents in the list",
    "documents_held": "Documents that this node keeps open now",
    "places_held": "Places that this node keeps open now",
    "cells_held": "Cells of places that are open at this node now",
    "groups": "Groups of the cluster",
    "groups_held": "Groups that this node delivers",
    "messages_known": "Ordered messages of all groups that this node knows of",
    "log_queue_bytes": "Waiting for the log",
    "log_bytes": "What the log takes on the disk",
    "disk_full": "1 while there is no room for the log",
    "pictures": "Pictures of all documents",
    "pictures_bytes": "Room that all pictures take on each node's disk",
    "pictures_missing": "Pictures that this node has not got yet",
    "backup_last_success_timestamp_seconds": "When this node took its last whole backup; 0: none",
    "certificate_end_timestamp_seconds": "Until when its certificate is good; 0: it has none",
    "erasures_pending": "Documents, deleted for good, that some node has still to erase",
    "erasures_pending_here": "Of these, documents that this node has still to erase",
    "work_running": "Imports, exports and pictures that workers work on now",
    "work_queued": "Imports, exports and pictures that wait for a worker",
    "sessions_behind": "Sessions that read too slowly now",
    "queue_wait_seconds": "Longest wait of a message for its number here, in the last 10 s",
}
COUNTERS: Final[dict[str, tuple[str, Callable[[Node, SharedObjects], float]]]] = {
    "operations_submitted": (
        "Operations that pages have called here",
        lambda node, pages: pages.figures.calls,
    ),
    "bytes_ordered": (
        "Bytes that this node has numbered as a sequencer",
        lambda node, pages: node.objects.groups.watch.size_bytes,
    ),
    "views": (
        "Views that this node has been in",
        lambda node, pages: node.objects.groups.watch.views_seen,
    ),
    "exclusions": (
        "Times that the others have gone on without this node",
        lambda node, pages: node.objects.groups.channel.counters()["rejoins.exclusions"],
    ),
    "slept_seconds": (
        "How long this process was not scheduled, or stood in one turn",
        lambda node, pages: node.objects.groups.channel.awake.slept_s,
    ),
    "read_doubts": (
        "Times that this node did not know who may read, and asked the order first",
        lambda node, pages: node.accounts.doubts if node.accounts is not None else 0,
    ),
    "cpu_seconds": ("Processor time of the process", lambda node, pages: time.process_time()),
    "frames_received": ("Frames from pages", lambda node, pages: pages.figures.frames_in),
    "frames_sent": ("Frames to pages", lambda node, pages: pages.figures.frames_out),
    "connections_behind": (
        "Times that a page fell behind and was left out for a while",
        lambda node, pages: pages.figures.fell_behind,
    ),
    "pages_slowed": (
        "Times that pages were asked for a pause between calls, as the node did not keep up",
        lambda node, pages: pages.figures.slowed,
    ),
    "pictures_fetched": (
        "Pictures that this node has got from others",
        lambda node, pages: node.pictures.taken,
    ),
    "pictures_refused": (
        "Uploads that were no pictures, or too large",
        lambda node, pages: node.pictures.refused,
    ),
    "state_hash_mismatches": (
        "Times that replicas of an object were found to differ",
        lambda node, pages: node.objects.parted,
    ),
    "log_commits": ("Groups committed to the log", lambda node, pages: _log(node, "log.commits")),
    "log_written_bytes": ("Written to the log", lambda node, pages: _log(node, "log.bytes")),
}
LAGS: Final = (0.0, 1.0, 10.0, 100.0, 1_000.0, 10_000.0)
"""Bounds for how many changes a page has not been sent."""
ORDERLY: Final = frozenset({1000, 1001, 4001})
"""Closed by the node, and nothing is dropped: its page is sent to another one."""
OUTBOXES: Final = (0.0, 1_024.0, 16_384.0, 65_536.0, 262_144.0, 1_048_576.0)
"""Bounds for what waits in a connection; bytes."""


class Metrics:
    """One registry a node; tests run several nodes in one process."""

    def __init__(
        self, node: Node, pages: SharedObjects, series: Series, refused: Mapping[str, int]
    ) -> None:
        self.registry = CollectorRegistry(auto_describe=False)
        self.registry.register(Collector(node, pages, series, refused))

    def expose(self) -> bytes:
        """The text format of Prometheus."""
        return generate_latest(self.registry)


class Collector:
    """Asked by the registry. Each time it is, it looks once at each connection, too.

    `refused`: requests at the management address, by reason.
    """

    def __init__(
        self, node: Node, pages: SharedObjects, series: Series, refused: Mapping[str, int]
    ) -> None:
        self._node = node
        self._pages = pages
        self._series = series
        self._refused = refused
        self._lags = Histogram(LAGS)
        self._outboxes = Histogram(OUTBOXES)

    def describe(self) -> list[Metric]:
        """Nothing is known before it is asked."""
        return []

    def collect(self) -> Iterator[Metric]:
        """All metrics as of now."""
        for name, value in self._gauges().items():
            yield GaugeMetricFamily(f"groupcore_{name}", GAUGES[name], value)
        for name, (text, read) in COUNTERS.items():
            yield CounterMetricFamily(f"groupcore_{name}", text, read(self._node, self._pages))
        yield from self._of_pages()
        yield from self._of_sequencer()
        yield from self._of_disk()
        yield from self._of_work()
        text = "Requests that the management address has refused, by reason"
        yield _labelled("management_refused", text, "reason", self._refused)
        build = GaugeMetricFamily("groupcore_build_info", "Always 1", labels=["version"])
        build.add_metric([VERSION], 1)
        yield build
        for name, number in self._node.objects.groups.counters().items():
            clean = "".join(c if c.isalnum() else "_" for c in name.lower())
            yield GaugeMetricFamily(f"groupcore_channel_{clean}", "Of the channel", number)

    def _gauges(self) -> dict[str, float]:
        node = self._node
        groups = groups_of(node)
        pictures, erasures, me = node.pictures, node.erasures, node.settings.node_id
        storage = node.objects.groups.storage
        pages = self._pages.gateway.pages.values()
        return {
            "sessions": self._pages.figures.sessions,
            "sessions_max": node.settings.sessions_max,
            "ready": int(node.ready),
            "primary": int(node.primary),
            "view_members": 0 if node.view is None else len(node.view.members),
            "documents": 0 if node.catalogue is None else len(node.catalogue),
            "documents_held": len(node.keeper),
            "places_held": len(node.keepers.places),
            "cells_held": sum(len(one.place.cells) for one in node.keepers.places.kept.values()),
            "groups": len(groups),
            "groups_held": sum(group.held for group in groups),
            "messages_known": sum(group.head for group in groups),
            "log_queue_bytes": _log(node, "log.queued_bytes"),
            "log_bytes": 0 if storage is None else storage.disk_bytes(),
            "disk_full": int(node.state is State.READONLY),
            "pictures": pictures.count,
            "pictures_bytes": pictures.bytes_kept,
            "pictures_missing": pictures.missing,
            "backup_last_success_timestamp_seconds": node.last_backup.at_s or 0,
            "certificate_end_timestamp_seconds": node.objects.groups.revocations.ends_at_s or 0,
            "erasures_pending": 0 if erasures is None else len(erasures.awaited),
            "erasures_pending_here": 0 if erasures is None else len(erasures.of(me)),
            "work_running": node.work.running,
            "work_queued": node.work.queued,
            "sessions_behind": sum(bool(one.withheld) for one in pages),
            "queue_wait_seconds": self._series.longest_wait_ms(10) / 1000,
        }

    def _of_pages(self) -> Iterator[Metric]:
        figures = self._pages.figures
        connections = GaugeMetricFamily(
            "groupcore_connections", "Sessions that are connected", labels=["transport"]
        )
        connections.add_metric(["websocket"], figures.connections)
        yield connections
        cut = {str(code): count for code, count in figures.cut.items()}
        yield _labelled("operations_rejected", "Refused, by code", "code", figures.refused)
        yield _labelled("connections_cut", "Closed by the node, by code", "code", cut)
        yield _labelled("drops", "Dropped, by reason", "reason", drops_of(self._node, self._pages))
        text = "Times that a page got what it had missed, by the way of it"
        yield _labelled("catchup", text, "how", figures.caught_up)
        for page in self._pages.gateway.pages.values():
            self._lags.observe(page.lag)
            self._outboxes.observe(page.buffered_bytes)
        yield _histogram("connection_lag_operations", "Changes not sent, by connection", self._lags)
        yield _histogram("connection_outbox_bytes", "Unsent, by connection", self._outboxes)
        text = "From a page's call to its answer"
        yield _histogram("call_latency_seconds", text, figures.latency)
        text = "Applying what a turn has delivered to the objects"
        yield _histogram("apply_latency_seconds", text, self._node.objects.applied_s)

    def _of_sequencer(self) -> Iterator[Metric]:
        name, groups = self._node.settings.node_id, self._node.objects.groups
        watch = groups.watch
        by = {"sequencer": name}
        text = "From the coming of a frame's oldest request to its numbers"
        yield _histogram("order_latency_seconds", text, watch.order_s, by)
        text = "From a frame's numbers to its delivery, at its sequencer"
        yield _histogram("delivery_latency_seconds", text, watch.deliver_s)
        text = "Messages that this node has numbered"
        yield _labelled("operations_ordered", text, "sequencer", {name: watch.messages})
        text = "Messages that rest on a frame of another sequencer"
        crossing = CounterMetricFamily(
            "groupcore_cross_sequencer_operations", text, labels=["from", "to"]
        )
        crossed: dict[str, int] = {}
        for other, count in watch.crossed.items():
            crossed[other.name] = crossed.get(other.name, 0) + count
        for other_name, count in sorted(crossed.items()):
            crossing.add_metric([name, other_name], count)
        yield crossing
        yield _labelled("migrations", "Groups moved here, by outcome", "outcome", watch.outcomes)
        text = "How long a move to this node has left its groups without numbers"
        yield _histogram("migration_pause_seconds", text, watch.pauses_s)
        sequenced = sum(group.sequencer == name for group in groups_of(self._node))
        for what, help_text, value in (
            ("sequencer_groups", "Groups that this node sequences", sequenced),
            ("sequencer_queue_operations", "Runs that wait here for numbers", waiting(self._node)),
        ):
            gauge = GaugeMetricFamily(f"groupcore_{what}", help_text, labels=["sequencer"])
            gauge.add_metric([name], value)
            yield gauge

    def _of_disk(self) -> Iterator[Metric]:
        storage, trace = self._node.objects.groups.storage, self._node.trace
        if storage is not None and storage.took_s is not None:
            yield _histogram("log_append_seconds", "Committing to the log", storage.took_s)
        age_s = None if storage is None else storage.checkpoint_age_s
        if age_s is not None:
            text = "Since the log's last checkpoint, or since it was opened"
            yield GaugeMetricFamily("groupcore_snapshot_age_seconds", text, age_s)
        text = "Rows of the trace that were dropped, by reason"
        yield _labelled("trace_rows_lost", text, "reason", {} if trace is None else trace.lost)

    def _of_work(self) -> Iterator[Metric]:
        figures = self._node.work.figures
        pieces = CounterMetricFamily(
            "groupcore_work", "Pieces of work, by kind and outcome", labels=["kind", "outcome"]
        )
        for (kind, outcome), count in sorted(figures.done.items()):
            pieces.add_metric([kind, outcome], count)
        yield pieces
        text = "Pieces of work that were refused before they began, by code"
        yield _labelled("work_refused", text, "code", figures.refused)
        text = "Worker processes that were ended, by reason"
        yield _labelled("workers_killed", text, "reason", figures.killed)
        text = "From the asking for a piece of work to its end"
        yield _histogram("work_seconds", text, figures.took_s)


def _log(node: Node, name: str) -> int:
    storage = node.objects.groups.storage
    return 0 if storage is None else storage.counters()[name]


def _histogram(
    name: str, text: str, found: Histogram, labels: Mapping[str, str] | None = None
) -> HistogramMetricFamily:
    given = labels or {}
    family = HistogramMetricFamily(f"groupcore_{name}", text, labels=list(given))
    buckets = [
        ("+Inf" if bound == float("inf") else str(bound), count)
        for bound, count in found.cumulative()
    ]
    family.add_metric(list(given.values()), buckets, found.sum)
    return family


def _labelled(name: str, text: str, label: str, counts: Mapping[str, int]) -> CounterMetricFamily:
    family = CounterMetricFamily(f"groupcore_{name}", text, labels=[label])
    for value, count in sorted(counts.items()):
        family.add_metric([value], count)
    return family


def groups_of(node: Node) -> list[GroupStatus]:
    """All groups as this node knows them; none while it is outside the cluster."""
    try:
        return list(node.objects.groups.service.groups())
    except ChannelClosedError:
        return []


def waiting(node: Node) -> int:
    """Runs that wait at this node for their numbers."""
    try:
        return node.objects.groups.service.waiting()
    except ChannelClosedError:
        return 0


def drops_of(node: Node, pages: SharedObjects) -> dict[str, int]:
    """What was dropped, by reason: by the layers, by the service, and connections of pages."""
    cut = pages.figures.cut.items()
    found = {f"session_{code}": count for code, count in cut if code not in ORDERLY}
    for name, number in node.objects.groups.counters().items():
        layer, drops, reason = name.partition("drop")
        reason = reason.removeprefix("ped").removeprefix("s").removeprefix(".")
        if drops:
            what = reason or layer.strip(".").lower()
            found[what] = found.get(what, 0) + number
    return dict(sorted(found.items()))
