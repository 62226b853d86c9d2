"""As `places`, with 10,000 and 1,000,000 things: making the larger one takes minutes."""

from __future__ import annotations

import asyncio

from bench.measuring import load_average
from bench.places import QUICK, Size, measure

LARGE = Size((10_000, 1_000_000))


def run(quick: bool) -> dict[str, object]:
    """All cases of `places`; far less when it is to be quick."""
    rows = asyncio.run(measure(QUICK if quick else LARGE))
    return {"places": rows, "load_average": load_average()}
