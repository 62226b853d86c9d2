"""The node's metrics, under the names that `docs/operations.md` lists.

They are read from the node when they are asked for. No user, document or group is ever a label.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)

from groupcore.errors import ChannelClosedError
from groupcore.sequencing.status import GroupStatus
from groupcore.web import SharedObjects
from server import VERSION
from server.console.series import Series
from server.node import Node
from server.state import State

GAUGES = {
    "connections": "Sessions that are connected",
    "sessions": "Sessions, those that wait for their page included",
    "ready": "1 when sessions may be sent here",
    "primary": "1 in the primary view",
    "view_members": "Members of the view",
    "documents": "Documents in the list",
    "documents_held": "Documents that this node keeps open now",
    "groups": "Groups of the cluster",
    "groups_held": "Groups that this node delivers",
    "groups_sequenced": "Groups that this node sequences",
    "messages_known": "Ordered messages of all groups that this node knows of",
    "log_queue_bytes": "Waiting for the log",
    "log_commits": "Groups committed to the log",
    "log_bytes": "Written to the log since the node began",
    "disk_full": "1 while there is no room for the log",
    "pictures": "Pictures of all documents",
    "pictures_bytes": "Room that all pictures take on each node's disk",
    "pictures_missing": "Pictures that this node has not got yet",
    "sessions_behind": "Sessions that read too slowly now",
    "queue_wait_seconds": "Longest wait of a message for its number here, in the last 10 s",
}
COUNTERS = {
    "messages_numbered": "Messages that this node has numbered as a sequencer",
    "bytes_numbered": "Bytes of these",
    "cpu_seconds": "Processor time of the node's process",
    "calls": "Calls of pages",
    "frames_received": "Frames from pages",
    "frames_sent": "Frames to pages",
    "connections_behind": "Times that a page fell behind and was left out for a while",
    "pictures_fetched": "Pictures that this node has got from others",
    "pictures_refused": "Uploads that were no pictures, or too large",
}


class Metrics:
    """One registry a node; tests run several nodes in one process."""

    def __init__(self, node: Node, pages: SharedObjects, series: Series) -> None:
        self.registry = CollectorRegistry(auto_describe=False)
        self.registry.register(Collector(node, pages, series))

    def expose(self) -> bytes:
        """The text format of Prometheus."""
        return generate_latest(self.registry)


class Collector:
    """Asked by the registry."""

    def __init__(self, node: Node, pages: SharedObjects, series: Series) -> None:
        self._node = node
        self._pages = pages
        self._series = series

    def describe(self) -> list[Metric]:
        """Nothing is known before it is asked."""
        return []

    def collect(self) -> Iterator[Metric]:
        """All metrics as of now."""
        figures = self._pages.figures
        for name, value in self._gauges().items():
            yield GaugeMetricFamily(f"groupcore_{name}", GAUGES[name], value)
        watch = self._node.objects.groups.watch
        counts = (
            watch.messages,
            watch.size_bytes,
            time.process_time(),
            figures.calls,
            figures.frames_in,
            figures.frames_out,
            figures.fell_behind,
            self._node.pictures.taken,
            self._node.pictures.refused,
        )
        for (name, text), count in zip(COUNTERS.items(), counts, strict=True):
            yield CounterMetricFamily(f"groupcore_{name}", text, count)
        yield _labelled("calls_refused", "Refused, by code", "code", figures.refused)
        cut = {str(code): count for code, count in figures.cut.items()}
        yield _labelled("connections_cut", "Closed by the node, by code", "code", cut)
        yield _labelled("drops", "Dropped, by reason", "reason", drops_of(self._node, self._pages))
        yield _labelled("migrations", "Groups moved here, by outcome", "outcome", watch.outcomes)
        yield self._latency()
        build = GaugeMetricFamily("groupcore_build_info", "Always 1", labels=["version"])
        build.add_metric([VERSION], 1)
        yield build
        for name, number in self._node.objects.groups.counters().items():
            clean = "".join(c if c.isalnum() else "_" for c in name.lower())
            yield GaugeMetricFamily(f"groupcore_channel_{clean}", "Of the channel", number)

    def _gauges(self) -> dict[str, float]:
        node, figures = self._node, self._pages.figures
        groups = groups_of(node)
        storage = node.objects.groups.storage
        log = {} if storage is None else storage.counters()
        pictures = node.pictures
        return {
            "connections": figures.connections,
            "sessions": figures.sessions,
            "ready": int(node.ready),
            "primary": int(node.primary),
            "view_members": 0 if node.view is None else len(node.view.members),
            "documents": 0 if node.catalogue is None else len(node.catalogue),
            "documents_held": len(node.keeper),
            "groups": len(groups),
            "groups_held": sum(group.held for group in groups),
            "groups_sequenced": sum(g.sequencer == node.settings.node_id for g in groups),
            "messages_known": sum(group.head for group in groups),
            "log_queue_bytes": log.get("log.queued_bytes", 0),
            "log_commits": log.get("log.commits", 0),
            "log_bytes": log.get("log.bytes", 0),
            "disk_full": int(node.state is State.READONLY),
            "pictures": pictures.count,
            "pictures_bytes": pictures.bytes_kept,
            "pictures_missing": pictures.missing,
            "sessions_behind": sum(
                bool(one.withheld) for one in self._pages.gateway.pages.values()
            ),
            "queue_wait_seconds": self._series.longest_wait_ms(10) / 1000,
        }

    def _latency(self) -> HistogramMetricFamily:
        latency = self._pages.figures.latency
        buckets: list[tuple[str, float]] = []
        total = 0
        for bound, count in zip((*latency.bounds_s, "+Inf"), latency.counts, strict=True):
            total += count
            buckets.append((str(bound), total))
        return HistogramMetricFamily(
            "groupcore_call_latency_seconds",
            "From a page's call to its answer",
            buckets=buckets,
            sum_value=latency.sum_s,
        )


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


def drops_of(node: Node, pages: SharedObjects) -> dict[str, int]:
    """What was dropped, by reason: by the layers, by the service, and connections of pages."""
    found = {f"session_{code}": count for code, count in pages.figures.cut.items()}
    for name, number in node.objects.groups.counters().items():
        _, drops, reason = name.partition("drop")
        reason = reason.removeprefix("ped").removeprefix("s").removeprefix(".")
        if drops and reason:
            found[reason] = found.get(reason, 0) + number
    return dict(sorted(found.items()))
