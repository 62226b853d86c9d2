"""The session suits what is in the store, and is as it was made where that is much."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from pipeline.session import FOR_FEW_ROWS, suit


def session(made: dict[str, str]) -> tuple[Any, dict[str, str]]:
    """As much of one as settings take; and its settings."""
    settings = dict(made)
    conf = SimpleNamespace(set=settings.__setitem__, unset=lambda name: settings.pop(name, None))
    context = SimpleNamespace(getConf=lambda: made)
    return SimpleNamespace(conf=conf, sparkContext=context), settings


def test_few_rows_have_settings_of_their_own_until_there_are_more() -> None:
    made = {"spark.sql.shuffle.partitions": "8", "spark.driver.memory": "2g"}
    spark, settings = session(made)
    suit(spark, few=True)
    assert settings == {**made, **FOR_FEW_ROWS}
    suit(spark, few=False)
    assert settings == made
