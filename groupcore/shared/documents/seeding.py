"""Seeds in runs that fit into one message each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from groupcore.objects.rich_parsing import size_bytes
from groupcore.shared.documents.parts import Seed

SEEDS_BYTES_MAX = 40_000
"""About what the seeds of one message may take."""
SEED_BYTES = 100
"""What a seed takes beside its text, about."""


def runs_of(seeds: Iterable[Seed]) -> Iterator[list[Seed]]:
    """The seeds in their order, as many at a time as a message takes; a large one alone."""
    run: list[Seed] = []
    size = 0
    for seed in seeds:
        taken = size_bytes(seed.content) + SEED_BYTES
        if run and size + taken > SEEDS_BYTES_MAX:
            yield run
            run, size = [], 0
        run.append(seed)
        size += taken
    if run:
        yield run
