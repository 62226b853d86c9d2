"""The one place that makes Spark sessions."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import TimeoutExpired
from typing import TYPE_CHECKING, Final

from pipeline.java import ensure_java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class SessionOptions:
    """How Spark runs; the defaults suit one machine.

    `master`: `local[*]`, `local[2]`, or a cluster's URL. `memory` is the driver's, which in local
    mode does all the work. `partitions`: of a shuffle; a few for each core. `extra`: any setting
    of Spark, over all others.
    """

    master: str = "local[*]"
    memory: str = "2g"
    partitions: int = 8
    extra: Mapping[str, str] = field(default_factory=dict)

    @property
    def local(self) -> bool:
        """Whether the work is done in this process's own Java machine."""
        return self.master.startswith("local")


NO_MEMORY: Final = (3, 52)
"""Exit codes of a Java that has no memory left: its own, and Spark's."""
CONNECTING_S: Final = 120
"""A process that Spark has started may wait for a core of a busy machine longer than 15 s."""
JAVA_ENDS_S: Final = 2.0
"""How long a Java may take that ends."""
FEW_BYTES: Final = 8 << 20
"""Up to so many bytes in a store its rows are few: some hundred thousand."""
FOR_FEW_ROWS: Final = {
    # Making programs of plans, and looking at them again between stages, takes longer than doing
    # what they say with few rows; so does deriving more filters from filters.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.constraintPropagation.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    # What a task is told takes longer than what it does with few rows.
    "spark.sql.leafNodeDefaultParallelism": "1",
}
"""Settings of a session, which may be made at any time."""


def suit(spark: SparkSession, *, few: bool) -> None:
    """Have the session as it suits few rows, or as it was made."""
    made = spark.sparkContext.getConf()
    for name, value in FOR_FEW_ROWS.items():
        wanted = value if few else made.get(name)
        if wanted is None:
            spark.conf.unset(name)
        else:
            spark.conf.set(name, wanted)


def adapts(spark: SparkSession) -> bool:
    """Whether Spark looks at a plan again whenever a part of it is done, which few rows do not pay.

    It looks at all of it, so a plan of many parts is better done part by part.
    """
    return spark.conf.get("spark.sql.adaptive.enabled") == "true"


@contextmanager
def spark_session(options: SessionOptions, name: str) -> Iterator[SparkSession]:
    """A session that ends with the block. `name` is what a cluster's page shows.

    Raises PipelineError if no Java is here (`ensure_java`).
    """
    spark = make_session(options, name)
    try:
        yield spark
    finally:
        spark.stop()


def ran_out_of_memory() -> bool:
    """Whether that is why this process's Java has ended."""
    from pyspark import SparkContext

    gateway = SparkContext._gateway
    java = getattr(gateway, "proc", None)
    if java is None:
        return False
    try:
        return java.wait(JAVA_ENDS_S) in NO_MEMORY
    except TimeoutExpired:
        return False


def make_session(options: SessionOptions, name: str) -> SparkSession:
    """A session that the caller stops. Workers run the Python that this process runs."""
    os.environ["JAVA_HOME"] = str(ensure_java())
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    # Spark starts what reads a stream's source without the setting below that says the same.
    os.environ.setdefault("SPARK_AUTH_SOCKET_TIMEOUT", str(CONNECTING_S))
    if options.local:
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(options.master).appName(name)
    for key, value in {**_settings(options), **options.extra}.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def _settings(options: SessionOptions) -> dict[str, str]:
    """What holds for every session; see Spark's configuration page for each."""
    settings = {
        "spark.driver.memory": options.memory,
        "spark.sql.shuffle.partitions": str(options.partitions),
        # What is rebuilt has what people wrote: it is for the owner alone. Hadoop has a umask of
        # its own beside that of the process.
        "spark.hadoop.fs.permissions.umask-mode": "077",
        # Times in the trace are UTC, wherever a job runs.
        "spark.sql.session.timeZone": "UTC",
        "spark.python.authenticate.socketTimeout": f"{CONNECTING_S}s",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": str(sys.stderr.isatty()).lower(),
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        # Batches of the trace's segments are some 100,000 rows; larger ones cost memory only.
        "spark.sql.execution.arrow.maxRecordsPerBatch": "65536",
        "spark.sql.adaptive.coalescePartitions.parallelismFirst": "false",
        "spark.sql.parquet.compression.codec": "zstd",
        "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
    }
    # Where a thread of Spark's own has no memory left, the others would wait for it for ever.
    java = "-XX:+ExitOnOutOfMemoryError"
    # Workers need this package and the record schemas as the driver has them.
    root = str(Path(__file__).parent.parent)
    if options.local:
        settings |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
        # Nobody waits for an answer within milliseconds here: all cores to the work, none to
        # collecting beside it.
        java += " -XX:+UseParallelGC"
    else:
        settings["spark.executorEnv.PYTHONPATH"] = root
    settings["spark.driver.extraJavaOptions"] = java
    known = os.environ.get("PYTHONPATH", "")
    if root not in known.split(os.pathsep):
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (root, known)))
    return settings
