"""`python -m server doc list|show|export|import|trash ...`: documents from a shell, over the API.

Exit codes: 0 done, 1 refused or no node there, 2 wrong use.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import secrets
import sys
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

import aiohttp

from groupcore.aio.private import open_file
from server.command_line import OneLineParser, add_json, add_list, add_verbs
from server.errors import ServerError, SettingsProblem
from server.management_client import LIMIT_S

URL = "http://127.0.0.1:8000"
TOKEN = "DOC_TOKEN"
"""The environment variable with the API token."""
TOKEN_MAX = 1000
Shown = dict[str, object]


def make_parser() -> argparse.ArgumentParser:
    """What the command line takes."""
    parser = OneLineParser(prog="python -m server doc", description="Documents, over the API.")
    verbs = add_verbs(parser)
    common = OneLineParser(add_help=False)
    common.add_argument("--url", default=URL, help="a node's public address")
    common.add_argument("--token-file", type=Path, help=f"file with an API token; else {TOKEN}")
    add_json(common)
    add_list(verbs, [common], "the documents that one may read")
    for verb, text in (
        ("show", "title and blocks"),
        ("export", "as Markdown"),
        ("trash", "put into the trash"),
    ):
        verbs.add_parser(verb, parents=[common], help=text).add_argument("id")
    verbs.choices["export"].add_argument(
        "--out", type=Path, help="into this file, which there must not be yet; .zip: with pictures"
    )
    made = verbs.add_parser("import", parents=[common], help="make one from a Markdown file")
    made.add_argument("file", type=Path, help="the file; - for the input")
    made.add_argument("--title", default="", help="else the first heading")
    made.add_argument("--workspace", default="", help="else the first in which one may edit")
    return parser


def run_doc_command(arguments: Sequence[str]) -> None:
    """Do it and print what came of it; ServerError says what is wrong."""
    given = make_parser().parse_args(list(arguments[1:]))
    out: Path | None = getattr(given, "out", None)
    if out is not None and out.exists():
        raise SettingsProblem(f"--out {out} is there already; nothing is overwritten")
    source = source_of(given.file) if given.verb == "import" else b""
    found = asyncio.run(_asked(given, token_of(given.token_file), source))
    if isinstance(found, bytes):
        write(found, out)
        found = {"id": given.id, "bytes": len(found)} if out is not None else None
    if found is not None:
        show(found, given.json)


def token_of(path: Path | None) -> str:
    """The API token; empty where there is none, for a node without accounts."""
    if path is None:
        return os.environ.get(TOKEN, "").strip()
    try:
        token = path.read_text("utf-8").strip()
    except (OSError, ValueError) as error:
        raise SettingsProblem(f"--token-file {path} cannot be read: {error}") from None
    if not token.isascii() or not 0 < len(token) <= TOKEN_MAX or len(token.split()) != 1:
        raise SettingsProblem(f"--token-file {path} holds no token: one word, and nothing else")
    return token


def source_of(path: Path) -> bytes:
    """What is to be imported."""
    try:
        return sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
    except OSError as error:
        raise SettingsProblem(f"{path} cannot be read: {error.strerror}") from None


async def _asked(given: argparse.Namespace, token: str, source: bytes) -> object:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    timeout = aiohttp.ClientTimeout(total=LIMIT_S)
    async with aiohttp.ClientSession(timeout=timeout, headers=headers) as http:
        api = _Api(http, given.url.rstrip("/"))
        at = f"/documents/{quote(given.id, safe='')}" if "id" in given else "/documents"
        match given.verb:
            case "ls":
                listed = json.loads(await api.ask("GET", at))
                return listed["documents"]
            case "show":
                return json.loads(await api.ask("GET", at))
            case "export":
                zipped = given.out is not None and given.out.suffix == ".zip"
                return await api.ask("GET", at + ("/export.zip" if zipped else "/markdown"))
            case "trash":
                await api.ask("POST", "/files/trash", {"items": [given.id]})
                return {"id": given.id, "trashed": True}
            case _:
                query = f"title={quote(given.title)}&workspace={quote(given.workspace)}"
                return json.loads(await api.ask("POST", f"{at}/import?{query}", source))


class _Api:
    """A node's public address."""

    def __init__(self, http: aiohttp.ClientSession, url: str) -> None:
        self._http = http
        self._url = url

    async def ask(self, method: str, path: str, body: bytes | Shown | None = None) -> bytes:
        """The answer; ServerError with the node's words when it refuses."""
        # One key for all attempts: the client asks again where a connection breaks off.
        headers = {"Idempotency-Key": secrets.token_hex(8)} if method == "POST" else {}
        data = body if isinstance(body, bytes) else None if body is None else json.dumps(body)
        if body is not None:
            kind = "text/markdown" if isinstance(body, bytes) else "application/json"
            headers["Content-Type"] = kind
        url = f"{self._url}/api/v1{path}"
        try:
            async with self._http.request(method, url, data=data, headers=headers) as answer:
                found = await answer.read()
                status = answer.status
        except (aiohttp.ClientError, TimeoutError, ValueError) as error:
            raise ServerError(f"no node answers at {self._url}: {error}; see --url") from None
        if status >= 400:
            raise ServerError(problem_of(found, status))
        return found


def problem_of(body: bytes, status: int) -> str:
    """What a node has said, with its code."""
    try:
        problem = json.loads(body)
        return f"{problem['detail']} ({problem['code']})"
    except (ValueError, TypeError, KeyError):
        return f"the node has answered {status}"


def write(data: bytes, out: Path | None) -> None:
    """Into a file, or to the output."""
    if out is None:
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
        return
    try:
        with open_file(out, "xb") as file:
            file.write(data)
    except OSError as error:
        raise ServerError(f"--out {out} cannot be written: {error.strerror}") from None


def show(found: object, as_json: bool) -> None:
    """JSON, or a line for each."""
    if as_json:
        print(json.dumps(found, ensure_ascii=False))
        return
    rows = found if isinstance(found, list) else [found]
    for row in rows:
        assert isinstance(row, dict), "as the API says"
        if "blocks" in row:
            print(row["title"])
            for block in row["blocks"]:
                print(f"  {block.get('type', 'paragraph'):<10} {' '.join(block['text'].split())}")
        else:
            print("  ".join(f"{name}={value}" for name, value in row.items()))
