"""How a job shows what it does: phases with their seconds, and what came of it."""

from __future__ import annotations

import json
import sys
import time
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pipeline.session import FEW_BYTES, SessionOptions, suit

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from pipeline.store import Store


class Report:
    """Says on stderr what is being done, and on stdout what came of it."""

    def __init__(self, *, as_json: bool) -> None:
        self._json = as_json
        self.seconds: dict[str, float] = {}
        self._open: tuple[str, float] | None = None

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """A phase; its seconds are kept and shown when it ends."""
        started = time.monotonic()
        if sys.stderr.isatty():
            print(f"{name} …", end="\r", file=sys.stderr, flush=True)
        yield
        self.seconds[name] = round(time.monotonic() - started, 2)
        self._tell({"phase": name, "seconds": self.seconds[name]})

    def steps(self) -> Callable[[str], None]:
        """To be told the name of each phase as it begins, which ends the one before."""

        def begin(name: str) -> None:
            self.end()
            self._open = (name, time.monotonic())

        return begin

    def end(self) -> None:
        """The phase that was begun by `steps` is over."""
        if self._open is not None:
            name, started = self._open
            self._open = None
            self.seconds[name] = round(time.monotonic() - started, 2)
            self._tell({"phase": name, "seconds": self.seconds[name]})

    def result(self, values: Mapping[str, Any]) -> None:
        """What came of the job, the last thing that it says."""
        if self._json:
            print(json.dumps(values, default=str), flush=True)
        else:
            for name, value in values.items():
                print(f"{name.replace('_', ' ')}: {value}", flush=True)

    def _tell(self, values: Mapping[str, Any]) -> None:
        if self._json:
            print(json.dumps(values), file=sys.stderr)
        else:
            print(f"{values['phase']}: {values['seconds']} s", file=sys.stderr)


def open_store(spark: SparkSession, arguments: Namespace, report: Report) -> Store:
    """The store that the command line names, with what is new in the trace that it names; and the
    session as it suits what is in there.

    Raises PipelineError as `ingest`.
    """
    from pipeline.ingest import ingest
    from pipeline.store import Store

    store = Store(arguments.store)
    if arguments.trace:
        with report.phase("ingest"):
            ingest(spark, store, arguments.trace, skip_damaged=arguments.skip_damaged)
    suit(spark, few=store.is_small(store.snapshot(), FEW_BYTES))
    return store


def session_options(arguments: Namespace) -> SessionOptions:
    """What the command line says of the session."""
    return SessionOptions(arguments.master, arguments.memory, arguments.partitions)
