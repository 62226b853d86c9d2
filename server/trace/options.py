"""What can be set of the trace, with its defaults."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TraceOptions:
    """`every`: deliveries are kept of groups whose number it divides. `key`: names of people and
    groups are hashed under it. `syncs`: every batch is on disk before the next one, not only
    complete segments. With `telemetry_rows` on their way to the disk telemetry is dropped, with
    `rows_max` (some 200 MB) everything.
    """

    every: int = 1
    key: bytes | None = None
    syncs: bool = False
    segment_s: float = 60.0
    segment_bytes: int = 64 << 20
    telemetry_rows: int = 200_000
    rows_max: int = 2_000_000
