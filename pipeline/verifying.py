"""`python -m pipeline verify-certificate FILE`: is a certificate as it was signed? Needs no Spark.

Exit code 0: it is, by the key in it or by the one that --key names; 1: it is not, or by another
key; 2: there is no certificate in the file, or no key. Whether the order was kept is what the
certificate says, which is printed.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from pipeline.errors import PipelineError
from pipeline.signing import public_key, verify

NOT_GOOD = 1
"""Exit code where the certificate is not to be relied on."""
FINDINGS = frozenset({"bad_signature", "other_key"})
"""The errors that say so."""


def make_parser() -> argparse.ArgumentParser:
    """What the command takes."""
    parser = argparse.ArgumentParser(
        prog="python -m pipeline verify-certificate",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", type=Path, help="what `audit --certificate` has written")
    parser.add_argument("--key", help="who has to have signed it: a public key, Base64 or a file")
    parser.add_argument("--json", action="store_true", help="one JSON object, for programs")
    return parser


def verify_certificate(arguments: argparse.Namespace) -> int:
    """Look at a certificate and say what it says.

    Raises PipelineError `bad_certificate`, `bad_key`, `bad_signature`, `other_key`.
    """
    document = _read(arguments.file)
    given = None if arguments.key is None else public_key(arguments.key)
    said = verify(document, given)
    names = ("result", "whole", "made", "store", "deliveries", "held", "since", "until")
    found = {name: said.get(name) for name in names}
    found |= {"key": document["key"], "key_compared": given is not None}
    if arguments.json:
        print(json.dumps(found | {"nodes": said.get("nodes"), "lost": said.get("lost")}))
        return 0
    for name, value in found.items():
        print(f"{name.replace('_', ' ')}: {value}")
    for node, one in said.get("nodes", {}).items():
        print(_node_text(node, one))
    for lost in said.get("lost", ()):
        print(_lost_text(lost))
    if found["whole"] is None:
        print("It was made before certificates said what is unproved: audit again with --full.")
    if given is None:
        print("Anybody can sign: compare the key with one from elsewhere, or give --key.")
    return 0


def _node_text(node: str, one: dict[str, Any]) -> str:
    share = one.get("share_proved")
    if share is None:
        return f"{node}: {one.get('deliveries')} deliveries; which share is proved is not known"
    return (
        f"{node}: {100 * share:.2f} % proved; of {one['deliveries']} deliveries"
        f" {one['unproved']} are unproved, {one['missing']} are missing"
    )


def _lost_text(one: dict[str, Any]) -> str:
    until = "the end" if one["to_off"] is None else f"row {one['to_off']}"
    return (
        f"lost: {one['kind']} of {one['node']}, epoch {one['epoch']}, row {one['from_off']}"
        f" to {until} ({one['why']})"
    )


def _read(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(document["certificate"], dict) and isinstance(document, dict):
            return document
    except (OSError, ValueError, KeyError, TypeError):
        pass
    raise PipelineError(
        "bad_certificate",
        f"{path} holds no certificate.",
        "Give the file that `audit --certificate` has written.",
    )
