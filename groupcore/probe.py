"""`python -m groupcore.probe`: the nodes of a running cluster, their layers and their counters.

It asks with the cluster's name and key, joins nothing and changes nothing. One block a node; with
`--json` one object for machines. Exit code 1 when nobody answers, 2 for wrong settings.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from groupcore.aio.identity import (
    NODE_CERTIFICATE,
    NodeIdentity,
    certificate_in,
    node_identity,
)
from groupcore.aio.key_file import read_key_file
from groupcore.aio.prober import Found, probe
from groupcore.errors import GroupcoreError, SettingsError
from groupcore.layers.probe import Report

CLOSED = ("forged", "unknown_key_epoch", "no_certificate", "has_certificate", "foreign_certificate")
"""Why what nodes send is dropped where their key or operator is another."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Ask, print, and say by the exit code whether anybody has answered."""
    given = make_parser().parse_args(arguments)
    try:
        found = asyncio.run(_probe(given))
    except GroupcoreError as error:
        print(error, file=sys.stderr)
        return 2
    if given.json:
        print(json.dumps([as_json(report) for report in found.reports], indent=2))
    else:
        print("\n\n".join(as_text(report) for report in found.reports))
    if found.reports:
        return 0
    print(nobody_answers(given.cluster, given.timeout, found), file=sys.stderr)
    return 1


def make_parser() -> argparse.ArgumentParser:
    """The options, with their defaults."""
    parser = argparse.ArgumentParser(
        prog="python -m groupcore.probe", description=(__doc__ or "").partition("\n\n")[2]
    )
    parser.add_argument("--cluster", default="groupcore", help="the cluster's name [groupcore]")
    parser.add_argument("--key-file", type=Path, help="its key; may miss on loopback only")
    parser.add_argument("--operator-key", type=Path, help="the operator's public key, if any")
    parser.add_argument("--data", type=Path, help="folder of a node, whose certificate is shown")
    parser.add_argument("--bind", default="127.0.0.1", help="interface to the nodes [127.0.0.1]")
    parser.add_argument(
        "--multicast", default="228.8.8.8:45588", help="their group, or none [228.8.8.8:45588]"
    )
    parser.add_argument(
        "--host", action="append", default=[], help="host:port of a node, without multicast"
    )
    parser.add_argument("--ttl", type=int, default=0, help="how far multicast goes [0]")
    parser.add_argument("--timeout", type=float, default=2.0, help="seconds to wait at most [2]")
    parser.add_argument("--json", action="store_true", help="one JSON array, nothing else")
    return parser


async def _probe(given: argparse.Namespace) -> Found:
    without_multicast = bool(given.host) or given.multicast == "none"
    return await probe(
        given.cluster,
        key=None if given.key_file is None else read_key_file(given.key_file),
        bind=given.bind,
        multicast=None if without_multicast else given.multicast,
        hosts=given.host,
        ttl=given.ttl,
        timeout_s=given.timeout,
        identity=_identity(given),
    )


def _identity(given: argparse.Namespace) -> NodeIdentity | None:
    """What is shown where nodes have certificates of an operator; KeyFileError, SettingsError."""
    if given.operator_key is None:
        return None
    if given.data is None:
        raise SettingsError("--operator-key needs --data, the folder of a node")
    name = certificate_in(given.data / NODE_CERTIFICATE).name
    return node_identity(given.data, given.operator_key, given.cluster, name)


def as_json(report: Report) -> dict[str, object]:
    """A report as it is printed for machines."""
    view = report.view
    return {
        "node": report.address.name,
        "incarnation": report.address.incarnation,
        "primary": report.primary,
        "view": None
        if view is None
        else {
            "number": view.number,
            "epoch": view.epoch,
            "lineage": view.lineage,
            "coordinator": view.coordinator.name,
            "members": list(view.names),
        },
        "layers": [{"name": layer.name, "counters": layer.counters} for layer in report.layers],
    }


def as_text(report: Report) -> str:
    """A report as it is printed for people: a head line, then one line a layer."""
    view = report.view
    where = (
        "in no view"
        if view is None
        else f"view {view.epoch}.{view.number}, coordinator {view.coordinator.name}, "
        f"members {' '.join(view.names)}{'' if report.primary else ', not primary'}"
    )
    width = max((len(layer.name) for layer in report.layers), default=0)
    lines = [f"{report.address.name} (incarnation {report.address.incarnation}): {where}"]
    for layer in report.layers:
        counters = "  ".join(f"{name} {number}" for name, number in layer.counters.items())
        lines.append(f"  {layer.name:{width}}  {counters}".rstrip())
    return "\n".join(lines)


def nobody_answers(cluster: str, timeout_s: float, found: Found) -> str:
    """Why that may be, and what to do."""
    closed = sum(found.drops.get(reason, 0) for reason in CLOSED)
    if closed:
        return (
            f"nobody of cluster {cluster!r} has answered, but {closed} datagrams came that do not "
            "open: give the nodes' own --cluster, --key-file and --operator-key, if they have these"
        )
    return (
        f"nobody of cluster {cluster!r} has answered within {timeout_s:g} s: check that the nodes "
        "run with PROBE in their stack, and give their --multicast and --bind, or a --host of "
        "theirs where there is no multicast; `make run` says at its start what reaches its nodes"
    )


if __name__ == "__main__":
    sys.exit(main())
