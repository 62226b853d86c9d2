"""`python -m server rebuild DIR`: objects at any number or time, out of a stopped node's log.

Each is a JSON line: name, class, position, the order's time there, hash, fields. `agreed` says how
often a live replica had the same hash at the same place; `differed` who had another. Exit codes: 0
done, 1 something differs or is not whole, 2 wrong use, 4 the log is damaged, 5 another version.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path

from groupcore.errors import GroupcoreError
from groupcore.shared.rebuilding import Rebuilt, rebuild, time_ms_of
from server.command_line import OneLineParser
from server.dump import LogReader
from server.errors import DamagedStoreError, ServerError
from server.logs import opened, read_parts
from server.rebuilding import kind_of


def make_parser() -> argparse.ArgumentParser:
    """What the command line takes."""
    parser = OneLineParser(prog="python -m server rebuild", description=__doc__)
    parser.add_argument("folder", type=Path, help="the --data folder of a node that is stopped")
    parser.add_argument(
        "--name",
        action="append",
        default=[],
        help="objects, e.g. 'doc/3f0c…' or 'doc/3f0c…/*'; several times; all if left out",
    )
    until = parser.add_mutually_exclusive_group()
    until.add_argument("--at-seq", type=int, metavar="N", help="as of this number of the group")
    until.add_argument("--at-time", type=time_ms_of, metavar="TIME", help="as of 2026-11-22T07:00Z")
    parser.add_argument("--no-fields", action="store_true", help="leave out what is in them")
    return parser


def run_rebuild_command(arguments: Sequence[str]) -> None:
    """Print the objects; ServerError says what is wrong."""
    given = make_parser().parse_args(list(arguments[1:]))
    names = given.name or ["*"]
    count = wrong = 0
    with opened(given.folder) as store:
        parts = read_parts(store)
        try:
            for made in rebuild(
                LogReader().entries(parts),
                kind_of,
                lambda name: any(fnmatchcase(name, wanted) for wanted in names),
                position_max=given.at_seq,
                time_ms_max=given.at_time,
            ):
                count += 1
                wrong += bool(made.problem or made.differed)
                print(
                    json.dumps(shown(made, not given.no_fields), ensure_ascii=False, default=repr)
                )
        except (GroupcoreError, ValueError, TypeError, KeyError) as error:
            raise DamagedStoreError(
                f"the log {store.path} does not say what it should: {error!r}"
            ) from None
    sys.stdout.flush()
    if wrong:
        raise ServerError(
            f"{wrong} of {count} objects are not what live replicas had, or not whole"
        )
    if not count:
        raise ServerError("the log holds no object of that name")


def shown(made: Rebuilt, with_fields: bool) -> dict[str, object]:
    """One object, as it is printed."""
    machine = made.machine
    time = datetime.fromtimestamp(machine.time_ms / 1000, UTC).isoformat(timespec="milliseconds")
    said: dict[str, object] = {
        "name": made.name,
        "class": type(machine.target).__name__,
        "position": machine.position,
        "time": time if machine.time_ms else None,
        "hash": made.digest,
        "agreed": made.agreed,
    }
    if made.differed:
        said["differed"] = [{"process": one, "position": at} for one, at in made.differed]
    if made.problem:
        said["problem"] = made.problem
    if with_fields:
        said["fields"] = made.fields()
    return said
