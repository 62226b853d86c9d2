"""Settings for all tests."""

import gc
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.chromium import chromium

# A deadline judges by the wall clock, and so does the check for slow generation: on a busy
# machine both would fail a correct program.
settings.register_profile(
    "groupcore", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("groupcore")

COLLECT_AFTER = 50_000
"""New objects before the collector looks for cycles among them."""

# Reading four thousand tests makes many objects, which stay: looking for cycles among them took a
# third of the time.
gc.disable()


def pytest_collection_finish(session: pytest.Session) -> None:
    """What is there before the first test stays: the collector need not look at it each time.

    Simulations make many objects and few cycles; looking for them took a fifth of their time. Where
    real nodes run it looks as often as ever: it finds what tests have left open while they can be
    named.
    """
    gc.collect()
    gc.freeze()
    gc.enable()
    if not any(item.get_closest_marker("process") for item in session.items):
        gc.set_threshold(COLLECT_AFTER)


@pytest.fixture(scope="session")
def chromium_path() -> Path:
    """The browser for tests marked `browser`; without it they fail, they are never skipped."""
    try:
        return chromium()
    except FileNotFoundError as error:
        pytest.fail(str(error), pytrace=False)
