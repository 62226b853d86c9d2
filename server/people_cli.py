"""`python -m server user|token|audit ...`: accounts from a shell, by a management address.

Exit codes: 0 done, 1 refused or no node there, 2 wrong use.
"""

from __future__ import annotations

import argparse
import asyncio
import getpass
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from server.accounts.audit_file import KIND, compare, verify
from server.accounts.audit_key import NAME as AUDIT_KEY
from server.accounts.audit_key import read_any
from server.accounts.erasing import FATES, HAND_OVER
from server.accounts.tokens import SCOPES
from server.command_line import (
    OneLineParser,
    Verbs,
    add_list,
    add_verbs,
    aside_of,
    common_options,
)
from server.errors import ServerError, SettingsProblem
from server.management.finding import Way, way_to
from server.management_client import (
    ManagementClient,
    Shown,
    asked_at,
    credentials_of,
    managed,
)
from server.rest import sealed_by


def make_parser() -> argparse.ArgumentParser:
    """What the command line takes."""
    parser = OneLineParser(
        prog="python -m server", description="Accounts, tokens and the audit log."
    )
    topics = parser.add_subparsers(dest="topic", required=True, parser_class=OneLineParser)
    common = common_options()
    user = add_verbs(topics.add_parser("user", help="accounts"))
    user.add_parser("owner-link", parents=[common], help="the first owner's one-time link, anew")
    add_list(user, [common], "all accounts")
    add = user.add_parser("add", parents=[common], help="make an account")
    add.add_argument("email")
    add.add_argument("name")
    for verb, text in (
        ("disable", "switch an account off: it is signed out everywhere"),
        ("enable", "switch it on again"),
        ("sign-out", "sign it out everywhere"),
        ("password", "a new password for who has lost it"),
        ("reset-factors", "ask for no second factor any more, for who has lost it"),
    ):
        user.add_parser(verb, parents=[common], help=text).add_argument("email")
    for verb in ("add", "password"):
        user.choices[verb].add_argument(
            "--password-stdin", action="store_true", help="read it from the first line of the input"
        )
    confirm = user.add_parser(
        "confirm", parents=[common], help="say that an address is its person's: what waits for it"
    )
    whom = confirm.add_mutually_exclusive_group(required=True)
    whom.add_argument("email", nargs="?")
    whom.add_argument("--all", action="store_true", help="all accounts that there are now")
    confirm.add_argument(
        "--hand-over",
        action="store_true",
        help="end the password, sign-ins, tokens and second factor of who has used it until now",
    )
    _add_data_verbs(user, common)
    token = add_verbs(topics.add_parser("token", help="API tokens"))
    add_list(token, [common], "all tokens")
    create = token.add_parser("create", parents=[common], help="make one; it is printed once")
    create.add_argument("email")
    create.add_argument("name", help="what it is for")
    create.add_argument("--scope", action="append", choices=SCOPES, required=True)
    create.add_argument("--days", type=int, default=90)
    token.add_parser("revoke", parents=[common], help="revoke one").add_argument("id")
    audit = add_verbs(topics.add_parser("audit", help="the audit log"))
    audit.add_parser("tail", parents=[common], help="the last entries")
    check = audit.add_parser("verify", parents=[common], help="check a node's audit.jsonl")
    check.add_argument("file", type=Path)
    check.add_argument(
        "--key",
        type=Path,
        metavar="FILE",
        help="the cluster key or a node's audit.key; without it audit.key beside the file",
    )
    check.add_argument(
        "--against",
        action="append",
        default=[],
        metavar="URL",
        help="management address of a node whose state it is compared with; may be repeated",
    )
    return parser


def _add_data_verbs(user: Verbs, common: OneLineParser) -> None:
    """What a person may ask an operator for: all that is held of them, and its end."""
    export = user.add_parser("export", parents=[common], help="all that is held of a person: a zip")
    export.add_argument("email")
    export.add_argument("file", type=Path, help="the zip; nothing is overwritten")
    erase = user.add_parser("erase", parents=[common], help="erase an account for good")
    erase.add_argument("email")
    erase.add_argument(
        "--documents",
        choices=FATES,
        required=True,
        help="what becomes of those that nobody else owns; hand_over needs --to",
    )
    erase.add_argument("--to", default="", metavar="EMAIL", help="who takes them over")
    erase.add_argument("--yes", action="store_true", help="do not ask")


def run_people_command(arguments: Sequence[str]) -> None:
    """Do it and print what came of it; ServerError says what is wrong."""
    given = make_parser().parse_args(list(arguments))
    if given.topic == "audit" and given.verb == "verify":
        found = _verified(given.file, given.key)
        for url in given.against:
            box = sealed_by(given.file.parent).box(KIND)
            held = asyncio.run(_held(way_to(url, credentials_of(given))))
            compare(given.file, held, url, box)
        _print(found | ({"compared_with": given.against} if given.against else {}), given.json)
        return
    if (given.topic, given.verb) == ("user", "erase"):
        _check_sure(given)
    _print(asyncio.run(_asked(given)), given.json)


def _check_sure(given: argparse.Namespace) -> None:
    """Ask once more, where there is somebody to ask; ServerError where they are not sure."""
    if (given.documents == HAND_OVER) != bool(given.to):
        raise SettingsProblem("--documents hand_over and --to belong together")
    if given.yes:
        return
    if not sys.stdin.isatty():
        raise SettingsProblem("this cannot be taken back; say --yes without a terminal")
    if input(f"erase {given.email} for good? type the address again: ") != given.email:
        raise ServerError("nothing was erased")


def _verified(path: Path, key: Path | None) -> Shown:
    if not path.is_file():
        raise SettingsProblem(f"{path} is no file; a node has audit.jsonl in its --data folder")
    beside = path.with_name(AUDIT_KEY)
    if key is None and beside.exists():
        key = beside
    seals = sealed_by(path.parent)
    keys = () if key is None else read_any(key, seals)
    found = verify(path, keys, box=seals.box(KIND))
    return {
        "entries": found.entries,
        "last": found.last,
        "missing": found.missing,
        "unkeyed_up_to_line": found.unkeyed,
    }


async def _held(way: Way) -> list[tuple[int, str]]:
    """Number and hash of the entries that a node holds in its state, the last thousand or so."""
    async with asked_at(way, "this node has no accounts") as node:
        found = (await node.ask("GET", "/audit/chains"))["chains"]
    assert isinstance(found, list), "as the API says"
    return [(number, chain) for number, chain in found]


async def _asked(given: argparse.Namespace) -> object:
    async with managed(given, "this node has no accounts; start it with --accounts on") as node:
        match given.topic, given.verb:
            case "user", "owner-link":
                return await node.ask("POST", "/owner-link")
            case "user", "ls":
                return (await node.ask("GET", "/users"))["users"]
            case "user", "add":
                body = {"email": given.email, "name": given.name, "password": _password(given)}
                return await node.ask("POST", "/users", body)
            case "user", "disable" | "enable":
                body = {"disabled": given.verb == "disable"}
                return await node.ask("PATCH", f"/users/{await _user(node, given.email)}", body)
            case "user", "sign-out":
                path = f"/users/{await _user(node, given.email)}/sessions"
                return await node.ask("DELETE", path)
            case "user", "password":
                path = f"/users/{await _user(node, given.email)}/password"
                return await node.ask("PUT", path, {"password": _password(given)})
            case "user", "confirm":
                return await _confirmed(node, given)
            case "user", "reset-factors":
                path = f"/users/{await _user(node, given.email)}/factors"
                return await node.ask("DELETE", path)
            case "user", "export":
                return await _exported(node, given)
            case "user", "erase":
                return await _erased(node, given)
            case "token", "ls":
                return (await node.ask("GET", "/tokens"))["tokens"]
            case "token", "create":
                body = {"email": given.email, "name": given.name, "scopes": given.scope}
                return await node.ask("POST", "/tokens", {**body, "valid_days": given.days})
            case "token", "revoke":
                return await node.ask("DELETE", f"/tokens/{quote(given.id, safe='')}")
            case _:
                return (await node.ask("GET", "/audit"))["entries"]


async def _confirmed(node: ManagementClient, given: argparse.Namespace) -> object:
    """The account, or with --all those that were not confirmed."""
    if not given.all:
        path = f"/users/{await _user(node, given.email)}/confirm"
        return await node.ask("POST", path, {"hand_over": given.hand_over})
    if given.hand_over:
        raise SettingsProblem("--hand-over is for one account: name its address")
    users = (await node.ask("GET", "/users"))["users"]
    assert isinstance(users, list), "as the API says"
    claimed = [user["id"] for user in users if not user["proved"]]
    return [await node.ask("POST", f"/users/{user}/confirm", {}) for user in claimed]


async def _exported(node: ManagementClient, given: argparse.Namespace) -> Shown:
    """Into a file of mode 0600, which is there only when it is whole."""
    aside = aside_of(given.file, "a file of a person's data")
    path = f"/users/{await _user(node, given.email)}/export.zip"
    try:
        descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            size = await node.take(path, file)
        aside.rename(given.file)
    except OSError as error:
        raise ServerError(f"{aside} cannot be written: {error.strerror}") from None
    finally:
        aside.unlink(missing_ok=True)
    return {"file": str(given.file), "bytes": size}


async def _erased(node: ManagementClient, given: argparse.Namespace) -> Shown:
    """For good; whoever asked has been asked again (`_check_sure`)."""
    user = await _user(node, given.email)
    body = {"fate": given.documents, **({"heir": given.to} if given.to else {})}
    return await node.ask("POST", f"/users/{user}/erase", body)


async def _user(node: ManagementClient, email: str) -> str:
    """The id of the account with this address."""
    users = (await node.ask("GET", "/users"))["users"]
    assert isinstance(users, list), "as the API says"
    for user in users:
        if user["email"] == email.strip().casefold():
            return str(user["id"])
    raise ServerError(f"there is no account {email}")


def _password(given: argparse.Namespace) -> str:
    if given.password_stdin:
        return sys.stdin.readline().rstrip("\n")
    if not sys.stdin.isatty():
        raise SettingsProblem("this asks for a password; use --password-stdin without a terminal")
    return getpass.getpass("password: ")


def _print(found: object, as_json: bool) -> None:
    if as_json:
        print(json.dumps(found, ensure_ascii=False))
        return
    rows = found if isinstance(found, list) else [found]
    for row in rows:
        assert isinstance(row, dict), "as the API says"
        print("  ".join(f"{name}={_word(value)}" for name, value in row.items()) or "done")


def _word(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)
