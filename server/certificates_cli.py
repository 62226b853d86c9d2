"""`python -m server node-key DIR` and `node-cert VERB ...`: keys and certificates of nodes.

A node's key is made in its folder and stays there; `node-key` prints its public half. The
operator's key signs for it that the key is that of this node, and takes that back. It belongs on
no node: nodes are given its public half, their certificate and the list of those revoked.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from groupcore.aio.identity import (
    CERTIFICATE,
    LIST,
    SUCCESSION,
    certificate_in,
    node_key,
    operator_key,
    read_list,
    read_operator,
    signed_up,
    write_operator,
    write_record,
)
from groupcore.aio.private import make_folder
from groupcore.errors import KeyFileError
from groupcore.identity.certificate import SERIAL_BYTES, Certificate
from groupcore.identity.revocations import SERIALS_MAX, revoke
from groupcore.identity.signed import PUBLIC_BYTES, public_bytes
from groupcore.identity.succession import succeed
from groupcore.sequencing.names import NAME_MAX
from server.command_line import OneLineParser, add_verbs
from server.errors import KeyProblem, ServerError, SettingsProblem

DAYS = 825
DAYS_MAX = 36_500


def make_parser() -> argparse.ArgumentParser:
    """What `node-cert` takes."""
    parser = OneLineParser(prog="python -m server node-cert", description=__doc__)
    verbs = add_verbs(parser)
    operator = verbs.add_parser("operator", help="make the operator's key, and its public half")
    operator.add_argument("file", type=Path, help="the key; beside it comes FILE.pub for nodes")
    issuing = verbs.add_parser("issue", help="sign that a key is that of a node")
    issuing.add_argument("--operator", type=Path, required=True, help="file with its key")
    issuing.add_argument("--cluster", default="groupcore", help="the cluster's name [groupcore]")
    issuing.add_argument("--node-id", required=True, help="the node that the key is of")
    issuing.add_argument("--public-key", required=True, help="what `node-key DIR` has printed")
    issuing.add_argument("--days", type=int, default=DAYS, help=f"how long it is good [{DAYS}]")
    issuing.add_argument(
        "--orders-only",
        action="store_true",
        help="the node takes part in the order, and may not administer accounts: for programs of "
        "your own; a node of this server needs one without it",
    )
    issuing.add_argument("--out", type=Path, required=True, help="for node.cert of the node")
    revoking = verbs.add_parser("revoke", help="take certificates back, for good")
    revoking.add_argument("--operator", type=Path, required=True, help="file with its key")
    revoking.add_argument("--cluster", default="groupcore", help="the cluster's name [groupcore]")
    revoking.add_argument(
        "--list", type=Path, required=True, help="the list; for `revoked` of one or all nodes"
    )
    revoking.add_argument("serials", nargs="+", metavar="SERIAL", help="as `show` prints them")
    succeeding = verbs.add_parser("succeed", help="have another operator take this one's place")
    succeeding.add_argument("--operator", type=Path, required=True, help="file with its key")
    succeeding.add_argument("--cluster", default="groupcore", help="the cluster's name [groupcore]")
    succeeding.add_argument(
        "--successor", type=Path, required=True, help="public half of the next operator's key"
    )
    succeeding.add_argument(
        "--out", type=Path, required=True, help="for `succession` in the folder of a node"
    )
    showing = verbs.add_parser("show", help="what a certificate or a list says")
    showing.add_argument("file", type=Path)
    return parser


def run_certificates_command(arguments: Sequence[str]) -> None:
    """Do it, and print JSON; ServerError says what is wrong."""
    try:
        if arguments[0] == "node-key":
            said = _node_key(arguments[1:])
        else:
            said = _run(make_parser().parse_args(list(arguments[1:])))
    except KeyFileError as error:
        raise KeyProblem(str(error)) from None
    print(json.dumps(said))
    sys.stdout.flush()


def _node_key(arguments: Sequence[str]) -> dict[str, object]:
    parser = OneLineParser(prog="python -m server node-key", description=__doc__)
    parser.add_argument("data", type=Path, metavar="DIR", help="the node's --data folder")
    folder: Path = parser.parse_args(list(arguments)).data
    _make(folder)
    return {"public_key": public_bytes(node_key(folder)).hex()}


def _run(given: argparse.Namespace) -> dict[str, object]:
    match given.verb:
        case "operator":
            _make(given.file.parent)
            public = public_bytes(operator_key(given.file))
            shown = given.file.with_name(f"{given.file.name}.pub")
            write_operator(shown, public)
            return {"operator": public.hex(), "public_file": str(shown)}
        case "issue":
            return _issue(given)
        case "revoke":
            return _revoke(given)
        case "succeed":
            return _succeed(given)
    return _show(given.file)


def _issue(given: argparse.Namespace) -> dict[str, object]:
    public = _bytes("--public-key", given.public_key, PUBLIC_BYTES)
    for flag, name in (("--cluster", given.cluster), ("--node-id", given.node_id)):
        if not (0 < len(name) <= NAME_MAX and name.isascii() and name.isprintable()):
            raise SettingsProblem(f"{flag} {name!r} is not 1 to {NAME_MAX} printable characters")
    if not 0 < given.days <= DAYS_MAX:
        raise SettingsProblem(f"--days {given.days} is not between 1 and {DAYS_MAX}")
    certificate = signed_up(
        _operator(given.operator),
        public,
        given.cluster,
        given.node_id,
        given.days,
        administers=not given.orders_only,
    )
    write_record(given.out, CERTIFICATE, certificate.packed)
    return _shown(certificate)


def _revoke(given: argparse.Namespace) -> dict[str, object]:
    operator = _operator(given.operator)
    number, serials = 0, set[bytes]()
    if given.list.exists():
        former = read_list(given.list)
        if former.issuer != public_bytes(operator) or former.cluster != given.cluster:
            raise SettingsProblem(f"{given.list} is the list of another operator or cluster")
        if not former.is_genuine:
            raise KeyProblem(f"{given.list} is not signed by this operator; take a good copy")
        number, serials = former.number, set(former.serials)
    serials |= {_bytes("SERIAL", each, SERIAL_BYTES) for each in given.serials}
    if len(serials) > SERIALS_MAX:
        raise SettingsProblem(f"a list holds {SERIALS_MAX} certificates; take a new operator key")
    listed = revoke(operator, given.cluster, max(number + 1, int(time.time())), serials)
    write_record(given.list, LIST, listed.packed)
    return {"number": listed.number, "revoked": sorted(each.hex() for each in serials)}


def _succeed(given: argparse.Namespace) -> dict[str, object]:
    operator, successor = _operator(given.operator), read_operator(given.successor)
    said = succeed(operator, given.cluster, successor)
    write_record(given.out, SUCCESSION, said.packed)
    return {
        "cluster": said.cluster,
        "operator": said.issuer.hex(),
        "successor": said.successor.hex(),
    }


def _show(path: Path) -> dict[str, object]:
    try:
        return _shown(certificate_in(path))
    except KeyFileError as error:
        try:
            listed = read_list(path)
        except KeyFileError:
            raise error from None
    return {
        "cluster": listed.cluster,
        "number": listed.number,
        "revoked": sorted(each.hex() for each in listed.serials),
        "operator": listed.issuer.hex(),
        "genuine": listed.is_genuine,
    }


def _shown(certificate: Certificate) -> dict[str, object]:
    return {
        "cluster": certificate.cluster,
        "node": certificate.name,
        "public_key": certificate.public.hex(),
        "serial": certificate.serial.hex(),
        "not_after": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(certificate.not_after)),
        "administers": certificate.administers,
        "operator": certificate.issuer.hex(),
        "genuine": certificate.is_genuine,
    }


def _operator(path: Path) -> Ed25519PrivateKey:
    if not path.exists():
        raise KeyProblem(f"there is no {path}; make one with: node-cert operator {path}")
    return operator_key(path)


def _bytes(what: str, text: str, size: int) -> bytes:
    try:
        found = bytes.fromhex(text)
    except ValueError:
        found = b""
    if len(found) != size:
        raise SettingsProblem(f"{what} {text!r} is not {2 * size} hexadecimal digits")
    return found


def _make(folder: Path) -> None:
    try:
        make_folder(folder)
    except OSError as error:
        raise ServerError(f"{folder} cannot be made: {error.strerror}") from None
