"""The audit on a standalone Spark cluster: a master and two workers, processes on loopback."""

from __future__ import annotations

import copy
import json
import os
import random
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.java import ensure_java
from tests.pipeline.cluster import Cluster
from tests.pipeline.faults import double
from tests.pipeline.segments import write_segments

pytestmark = pytest.mark.cluster

ROOT = Path(__file__).resolve().parents[2]
START_S = 120.0


class Daemon:
    """A process of the cluster, and what it has logged."""

    def __init__(self, folder: Path, name: str, words: list[str]) -> None:
        import pyspark

        self.log = folder / f"{name}.log"
        home = Path(pyspark.__file__).parent
        environment = {
            **os.environ,
            "JAVA_HOME": str(ensure_java()),
            "SPARK_HOME": str(home),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_WORKER_DIR": str(folder / name),
            "SPARK_DAEMON_MEMORY": "512m",
        }
        command = [str(home / "bin" / "spark-class"), *words, "--host", "127.0.0.1"]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                command, env=environment, stdout=log, stderr=subprocess.STDOUT
            )

    def says(self, pattern: str) -> str:
        """What the first group of the pattern is in the log, once it stands there."""
        deadline = time.monotonic() + START_S
        while True:
            found = re.search(pattern, self.log.read_text(encoding="utf-8", errors="replace"))
            if found is not None:
                return found.group(1)
            assert self.process.poll() is None, self.log.read_text(encoding="utf-8")
            assert time.monotonic() < deadline, f"not within {START_S:g} s: {pattern}"
            try:
                self.process.wait(0.1)
            except subprocess.TimeoutExpired:
                continue

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()


@pytest.fixture(scope="module")
def master(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a cluster's master."""
    folder, package = tmp_path_factory.mktemp("spark"), "org.apache.spark.deploy"
    any_port = ["--port", "0", "--webui-port", "0"]
    daemons = [Daemon(folder, "master", [f"{package}.master.Master", *any_port])]
    try:
        url = daemons[0].says(r"Starting Spark master at (spark://\S+)")
        for number in (1, 2):
            of_worker = [f"{package}.worker.Worker", *any_port, "--cores", "1", "--memory", "1g"]
            daemons.append(Daemon(folder, f"worker{number}", [*of_worker, url]))
        for worker in daemons[1:]:
            worker.says(r"(Successfully registered) with master")
        yield url
    finally:
        for daemon in reversed(daemons):
            daemon.stop()


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Counter[str]]:
    """A trace in order, another with messages that came twice, and what is wrong with that one."""
    folder, cluster = tmp_path_factory.mktemp("traces"), Cluster(0)
    cluster.run(300)
    write_segments(folder / "clean", cluster.rows)
    rows = copy.deepcopy(dict(cluster.rows))
    expected = double(rows, random.Random(0))
    write_segments(folder / "broken", rows)
    return folder / "clean", folder / "broken", expected


def audit(master: str, trace: Path, store: Path) -> tuple[int, list[dict[str, object]]]:
    """Exit code, and the lines on stdout."""
    words = ["--trace", str(trace), "--out", str(store), "--master", master, "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "pipeline", "audit", *words, "--memory", "1g"],
        cwd=ROOT,
        env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()]


def test_the_audit_says_the_same_on_a_cluster(
    master: str, traces: tuple[Path, Path, Counter[str]], tmp_path: Path
) -> None:
    clean, broken, expected = traces
    code, (result,) = audit(master, clean, tmp_path / "clean")
    assert (code, result["result"], result["violations"]) == (0, "kept", 0)
    code, (*found, result) = audit(master, broken, tmp_path / "broken")
    assert (code, result["result"]) == (1, "broken")
    assert Counter(str(one["rule"]) for one in found) == expected
