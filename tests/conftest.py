"""Settings for all tests."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# A deadline judges by the wall clock, and so does the check for slow generation: on a busy
# machine both would fail a correct program.
settings.register_profile(
    "groupcore", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("groupcore")

CHROMIUM = Path("/usr/bin/chromium")


@pytest.fixture(scope="session")
def chromium_path() -> Path:
    """The browser for tests marked `browser`; without it they fail, they are never skipped."""
    if not CHROMIUM.exists():
        pytest.fail(f"{CHROMIUM} is not installed. Run: make chromium", pytrace=False)
    return CHROMIUM
