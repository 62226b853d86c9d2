"""One Spark session for all tests: starting one takes longer than most tests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from pipeline.session import FOR_FEW_ROWS, SessionOptions, make_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

IN_TESTS = {
    **FOR_FEW_ROWS,
    # Compiling well takes longer than the few rows of a test.
    # With one compiler there is little room for its code, and without room it stops.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m",
}


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    session = make_session(SessionOptions("local[2]", "1g", 2, IN_TESTS), "groupcore tests")
    yield session
    session.stop()


@pytest.fixture(autouse=True)
def _nothing_is_kept(request: pytest.FixtureRequest) -> Iterator[None]:
    """What a test's jobs keep in memory ends with it: Spark compares each plan with all of that."""
    yield
    if "spark" in request.fixturenames:
        spark: SparkSession = request.getfixturevalue("spark")
        spark.catalog.clearCache()
