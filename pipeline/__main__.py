"""`python -m pipeline JOB …`: the jobs' command line. `JOB --help` says what each takes."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Final

from pipeline import second_opinion, verifying
from pipeline.errors import PipelineError, damaged_error
from pipeline.java import ensure_java, java_version

JOBS: Final = {
    "ingest": "take the segments of a trace into a store of tables",
    "audit": "was the order kept? exit 1 if not; a signed certificate",
    "load": "what sequencers and groups carry in each minute, and how long messages wait",
    "overlap": "which strict groups need one sequencer, and whose leaving would part them",
    "plan": "which node should sequence what, as a plan to approve; what if there were others",
    "what-if": "what the load of the last days would have been with another placement",
    "activity": "who writes how much in which document, and who edits together; a page",
    "rebuild": "objects at any number or time, out of exported logs, held against live copies",
    "compact": "make one part of many small ones, and remove what nobody needs",
}
"""Modules of `pipeline.jobs`, each with `add_arguments(parser)` and `run(arguments)`."""

VERIFY: Final = "verify-certificate"
SECOND: Final = "second-opinion"

PACKAGES: Final = frozenset({"pyspark", "py4j", "pyarrow", "numpy", "duckdb"})
"""What the jobs rest on and a cluster runs without, apart from Java."""

PRIVATE: Final = 0o077
"""The umask of jobs: stores name people, and hold what they wrote where objects are rebuilt."""

FAILED: Final = 2
"""Exit code of a job that could not do its work."""


def main(words: Sequence[str]) -> int:
    """Run one job; the exit code."""
    chooser = argparse.ArgumentParser(
        prog="python -m pipeline",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="jobs:\n"
        + "\n".join(f"  {name:10} {says}" for name, says in JOBS.items())
        + f"\n  {'java':10} which Java the jobs use"
        + "\n  second-opinion --trace DIR: was the order kept? By DuckDB, without Spark"
        + "\n  verify-certificate FILE: is it as it was signed, and by whom?",
    )
    chooser.add_argument("job", choices=[*JOBS, "java", SECOND, VERIFY], metavar="JOB")
    name = chooser.parse_args(words[:1]).job
    if name == "java":
        return _show_java()
    if name == VERIFY:
        return _verify(words[1:])
    try:
        return _second(words[1:]) if name == SECOND else _run(name, words[1:])
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in PACKAGES:
            raise
        return _say(_missing(package), as_json="--json" in words)


def _run(name: str, words: Sequence[str]) -> int:
    """Raises ModuleNotFoundError where not all is installed that the job rests on."""
    arguments = parser_of(name).parse_args(words)
    try:
        return int(import_module(module_of(name)).run(arguments))
    except PipelineError as error:
        return _say(error, as_json=arguments.json)
    except ModuleNotFoundError:
        raise
    except Exception as error:
        if arguments.debug:
            raise
        return _say(_explained(error, arguments.memory), as_json=arguments.json)


def parser_of(name: str) -> argparse.ArgumentParser:
    """The parser of a job's words. Raises ModuleNotFoundError."""
    module = import_module(module_of(name))
    parser = argparse.ArgumentParser(
        prog=f"python -m pipeline {name}",
        description=module.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _add_common(parser)
    module.add_arguments(parser)
    return parser


def module_of(job: str) -> str:
    """The module of a job."""
    return f"pipeline.jobs.{job.replace('-', '_')}"


def _add_common(parser: argparse.ArgumentParser) -> None:
    """What every job takes."""
    parser.add_argument(
        "--out", "--store", dest="store", required=True, help="folder or URI of the store of tables"
    )
    parser.add_argument(
        "--trace", help="folder or URI that the nodes write to: what is new there is taken in first"
    )
    parser.add_argument(
        "--skip-damaged", action="store_true", help="name damaged segments and pass them over"
    )
    parser.add_argument("--master", default="local[*]", help="Spark's master (%(default)s)")
    parser.add_argument("--memory", default="2g", help="the driver's memory (%(default)s)")
    parser.add_argument("--partitions", type=int, default=8, help="of a shuffle (%(default)s)")
    parser.add_argument("--json", action="store_true", help="one JSON object a line, for programs")
    parser.add_argument("--debug", action="store_true", help="the whole trace of an error")


def _show_java() -> int:
    try:
        home = ensure_java()
    except PipelineError as error:
        return _say(error, as_json=False)
    print(f"Java {java_version(home / 'bin' / 'java')} in {home}")
    return 0


def _missing(package: str) -> PipelineError:
    return PipelineError(
        "not_installed",
        f"The Spark jobs are not installed: Python finds no {package}.",
        "Install them: make pipeline",
    )


def _verify(words: Sequence[str]) -> int:
    arguments = verifying.make_parser().parse_args(words)
    try:
        return verifying.verify_certificate(arguments)
    except PipelineError as error:
        said = _say(error, as_json=arguments.json)
        return verifying.NOT_GOOD if error.code in verifying.FINDINGS else said


def _second(words: Sequence[str]) -> int:
    """Raises ModuleNotFoundError where not all is installed that it rests on."""
    arguments = second_opinion.make_parser().parse_args(words)
    try:
        return second_opinion.second_opinion(arguments)
    except PipelineError as error:
        return _say(error, as_json=arguments.json)


def _explained(error: Exception, memory: str) -> PipelineError:
    """What Spark, or a task of it, has raised, in one sentence."""
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]

    from pipeline.session import ran_out_of_memory

    if isinstance(error, Py4JError | OSError) and ran_out_of_memory():
        return PipelineError(
            "out_of_memory",
            f"Spark has used up its memory, {memory}.",
            "Give it more with --memory, or spread the work over a cluster with --master.",
        )
    text = str(error)
    if "DamagedSegment: " in text:
        what = text.partition("DamagedSegment: ")[2].splitlines()[0]
        return damaged_error(what)
    condition = getattr(error, "getCondition", lambda: None)()
    first = text.strip().splitlines()[0] if text.strip() else type(error).__name__
    return PipelineError(
        "spark_failed" if condition else "failed",
        f"{condition or type(error).__name__}: {first[:300]}",
        "Start it again with --debug for all that is known.",
    )


def _say(error: PipelineError, *, as_json: bool) -> int:
    if as_json:
        value = {"error": error.code, "problem": error.problem, "remedy": error.remedy}
        print(json.dumps(value), file=sys.stderr)
    else:
        print(f"{error.problem}\n{error.remedy}", file=sys.stderr)
    return FAILED


if __name__ == "__main__":
    os.umask(PRIVATE)
    sys.exit(main(sys.argv[1:]))
