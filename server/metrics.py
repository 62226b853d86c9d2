"""The node's metrics, under the names that `docs/operations.md` lists.

No user, document or group is ever a label.
"""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from server import VERSION

LATENCY_S = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5)


class Metrics:
    """One registry a node; tests run several nodes in one process."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.drops: dict[str, int] = {}
        self.submitted = self._counter("operations_submitted", "Operations taken from sessions")
        self.ordered = self._counter("operations_ordered", "Operations delivered in the order")
        self.rejected = self._counter("operations_rejected", "Operations refused", "code")
        self.catchup = self._counter("catchup", "States taken from other nodes", "how")
        self.frames_in = self._counter("frames_received", "Frames from browsers")
        self.dropped = self._counter("drops", "What was dropped, by reason", "reason")
        self.order_latency = Histogram(
            "groupcore_order_latency_seconds",
            "From taking an operation to its own delivery",
            registry=self.registry,
            buckets=LATENCY_S,
        )
        build = Gauge("groupcore_build_info", "Always 1", ["version"], registry=self.registry)
        build.labels(VERSION).set(1)
        self._gauges: dict[str, Gauge] = {}

    def _counter(self, name: str, text: str, *labels: str) -> Counter:
        return Counter(f"groupcore_{name}", text, labels, registry=self.registry)

    def drop(self, reason: str) -> None:
        """Something was dropped for this reason."""
        self.drops[reason] = self.drops.get(reason, 0) + 1
        self.dropped.labels(reason).inc()

    def gauge(self, name: str, text: str, value: float) -> None:
        """Set a gauge that is read at the moment of the scrape."""
        if name not in self._gauges:
            self._gauges[name] = Gauge(f"groupcore_{name}", text, registry=self.registry)
        self._gauges[name].set(value)

    def expose(self) -> bytes:
        """The text format of Prometheus."""
        return generate_latest(self.registry)
