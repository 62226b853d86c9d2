"""The session suits what is in the store, and is as it was made where that is much."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
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


NEEDS_MORE = """
import sys
from pipeline.__main__ import main
from pipeline.jobs import overlap
from pipeline.running import session_options
from pipeline.session import spark_session

def run(arguments):
    with spark_session(session_options(arguments), "needs more") as spark:
        spark.sparkContext._gateway.new_array(spark._jvm.byte, 1 << 30)
    return 0

overlap.run = run
sys.exit(main(["overlap", "--memory", "512m", "--json", "--out", sys.argv[1]]))
"""


def test_a_job_without_memory_ends_and_says_what_helps(tmp_path: Path) -> None:
    """Without the option that ends it, a job waited for ever when a thread of Spark had none."""
    words = [sys.executable, "-c", NEEDS_MORE, str(tmp_path)]
    ended = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
    assert ended.returncode == 2, ended.stderr
    said = json.loads(ended.stderr.splitlines()[-1])
    assert (said["error"], "--memory" in said["remedy"]) == ("out_of_memory", True)
    assert "512m" in said["problem"]
