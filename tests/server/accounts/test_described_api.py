"""The API does what its OpenAPI description says, as a tester finds that knows nothing else of it.

Schemathesis asks every operation for what the description allows, and for what it forbids: no
answer may be a failure of the server, none one that is not described; what is forbidden is refused,
and nobody gets through without signing in. `make fuzz-api` draws more.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
from asyncio.subprocess import PIPE, STDOUT
from pathlib import Path

import pytest

from server.accounts.tokens import TOKENS_MAX
from tests.server.accounts.people import Browser
from tests.server.support import Cluster, create

pytestmark = pytest.mark.slow

PHASES = os.environ.get("API_PHASES", "coverage")
EXAMPLES = os.environ.get("API_EXAMPLES", "1")
LIMIT_S = int(os.environ.get("API_LIMIT_S", "600"))
SEED = os.environ.get("SEED", "1")
ENDS_THE_SIGN_IN = (
    *("delete_session", "delete_me_sessions", "put_me_password"),
    "post_admin_nodes_node_leave",  # ends more than that
)

CONFIG = """
[cache]
enabled = false
{signed_in}
[parameters]
"path.doc" = "{doc}"
"path.workspace" = "home"
[checks]
positive_data_acceptance.expected-statuses = {may}
negative_data_rejection.expected-statuses = {must}
"""
MAY = ["2xx", "3xx", 401, 403, 404, 409, 410, 415, 422, 429, "5xx"]
"""Of what is described as right: used up, no picture after all, easily guessed."""
MUST = [400, 401, 403, 404, 405, 406, 409, 410, 413, 415, 422, 428, 429, "5xx"]


@pytest.fixture(autouse=True)
def no_pace(cluster: Cluster) -> None:
    """The tester is not told that it asks too fast: it would wait."""
    cluster.flags["api_rate"] = 1_000_000


async def ask_everything(url: str, folder: Path, signed_in: str, doc: str) -> None:
    """AssertionError with what the tester says when it finds something."""
    config = folder / "schemathesis.toml"
    config.write_text(CONFIG.format(signed_in=signed_in, doc=doc, may=MAY, must=MUST))
    left_out = [f"--exclude-operation-id={name}" for name in ENDS_THE_SIGN_IN if signed_in]
    tester = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "schemathesis.cli", f"--config-file={config}", "run"),
        *(f"--phases={PHASES}", f"--max-examples={EXAMPLES}", f"--seed={SEED}"),
        *(*left_out, "--continue-on-failure", f"{url}/api/v1/openapi.json"),
        stdout=PIPE,
        stderr=STDOUT,
        cwd=folder,
    )
    try:
        async with asyncio.timeout(LIMIT_S):
            said, _ = await tester.communicate()
    finally:
        if tester.returncode is None:
            tester.kill()
    assert tester.returncode == 0, said.decode()


@pytest.mark.parametrize(
    ("path", "field", "text"),
    [
        ("/documents", "title", "a\0b"),
        ("/documents", "title", "a\rb"),
        ("/folders", "name", "a\u0085b"),
        ("/folders", "name", " "),
    ],
)
async def test_a_name_that_is_refused_is_none_by_the_description(
    ann: Browser, path: str, field: str, text: str
) -> None:
    _, described = await ann.ask("GET", "/openapi.json")
    body = described["paths"][path]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert re.search(body["properties"][field]["pattern"], text) is None
    status, problem = await ann.ask("POST", path, {field: text, "workspace": "home"})
    assert (status, problem["code"]) == (400, "bad_request")


async def test_that_there_are_too_many_is_described(ann: Browser) -> None:
    _, described = await ann.ask("GET", "/openapi.json")
    token = {"name": "one", "scopes": ["documents:read"]}
    found = [await ann.ask("POST", "/tokens", token) for _ in range(TOKENS_MAX + 1)]
    assert [status for status, _ in found] == TOKENS_MAX * [201] + [409]
    assert "too_many" in described["paths"]["/tokens"]["post"]["responses"]["409"]["description"]


async def test_the_api_is_as_described_where_people_sign_in(ann: Browser, tmp_path: Path) -> None:
    cookie = ann.cookies["groupcore"]
    signed_in = (
        f'[auth.openapi.cookie]\napi_key = "{cookie}"\n'
        f'[auth.openapi.csrf]\napi_key = "{ann.csrf}"\n'
    )
    await ask_everything(ann.node.url, tmp_path, signed_in, await ann.create())


async def test_the_api_is_as_described_without_accounts(cluster: Cluster, tmp_path: Path) -> None:
    node = await cluster.start("a", accounts="off")
    await ask_everything(node.url, tmp_path, "", await create(node))
