"""What the nodes of the simulator write in a schedule, as rows of the raw tables."""

from __future__ import annotations

import json
from collections import defaultdict

from groupcore.sim.jobs import Job, work
from groupcore.trace import REACHES, TABLES
from tests.pipeline.cluster import Row


def simulated(profile: str, seed: int, index: int, plant: str = "") -> dict[str, list[Row]]:
    """One schedule of the simulator, with a planted bug or without."""
    rows: dict[str, list[Row]] = defaultdict(list)
    for line in work(Job(profile, seed, index, plant, records=True)).records:
        row = json.loads(line)
        kind = row.pop("kind")
        full: Row = {}
        for column in TABLES[kind].columns:
            value = row.get(column.name)
            if column.kind == REACHES:
                value = [{"sequencer": name, "frame": frame} for name, frame in value]
            full[column.name] = value
        rows[kind].append(full)
    return rows
