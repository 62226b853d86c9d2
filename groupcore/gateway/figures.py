"""What a gateway has done so far, as plain numbers for whoever publishes them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from groupcore.histogram import Histogram


@dataclass(slots=True)
class Figures:
    """Since the gateway began.

    `sessions` and `connections` are those of now; `refused` counts by code of `error`, and of HTTP
    refusals; `cut` by close code; `fell_behind`: connections that became congested; `slowed`: how
    often pages were asked to keep a pause; `caught_up`:
    how often a page that had missed something got it, as `stream` (the changes) or `snapshot` (the
    state); `latency`: from a call to its answer, s.
    """

    sessions: int = 0
    connections: int = 0
    frames_in: int = 0
    messages_in: int = 0
    frames_out: int = 0
    calls: int = 0
    fell_behind: int = 0
    slowed: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    cut: Counter[int] = field(default_factory=Counter)
    caught_up: Counter[str] = field(default_factory=Counter)
    latency: Histogram = field(default_factory=Histogram)
