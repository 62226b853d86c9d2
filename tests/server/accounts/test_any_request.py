"""Whatever is asked of the API is answered by what it says of itself, never by a failure."""

from __future__ import annotations

import json
import random
from typing import Any

import aiohttp
import pytest

from tests.server.accounts.people import Browser, hire
from tests.server.support import get

pytestmark = pytest.mark.slow

ODD: list[object] = [
    None,
    True,
    0,
    -1,
    2**70,
    1.5,
    "",
    "x" * 10_000,
    "\x00\u202e'\"><svg onload=1>",
    "../../etc",
    [],
    ["x"] * 200,
    {"__proto__": {"a": 1}},
    "viewer",
    "owner",
    "ann@example.org",
    "home",
]


def odd_body(draw: random.Random, schema: dict[str, Any]) -> object:
    """Something near a body: fields left out, of other types, too many."""
    names = list(schema.get("properties", {}))
    body: dict[str, object] = {}
    for name in names:
        if draw.random() < 0.85:
            kind = schema["properties"][name]
            fits = draw.random() < 0.5
            body[name] = (
                draw.choice(kind.get("enum", ["gct_x", "Ann"])) if fits else draw.choice(ODD)
            )
    if draw.random() < 0.1:
        body["more"] = 1
    return draw.choice([body, body, body, body, draw.choice(ODD)])


async def ask(ann: Browser, method: str, path: str, data: bytes | None) -> tuple[int, bytes, str]:
    headers = {"X-Groupcore-CSRF": ann.csrf, "Content-Type": "application/json"}
    url = f"{ann.node.url}/api/v1{path}"
    async with ann.http.request(
        method, url, data=data, headers=headers, allow_redirects=False
    ) as answer:
        return answer.status, await answer.read(), answer.headers.get("Content-Type", "")


@pytest.mark.parametrize("seed", range(3))
async def test_no_request_makes_the_server_fail(ann: Browser, seed: int) -> None:
    draw = random.Random(seed)
    bob = await hire(ann, "bob")
    doc = await ann.create()
    _, described = await get(f"{ann.node.url}/api/v1/openapi.json")
    stay = {("delete", "/session"), ("delete", "/me/sessions"), ("put", "/me/password")}
    for _ in range(3):
        for path, verbs in described["paths"].items():
            for verb, operation in verbs.items():
                if (verb, path) in stay:
                    continue
                filled = path
                for parameter in operation["parameters"]:
                    value = draw.choice(
                        [bob, doc, "home", "x" * 300, "%00", "a%2Fb", "%F0%9F%98%80"]
                    )
                    filled = filled.replace("{" + parameter["name"] + "}", value)
                media = operation.get("requestBody", {}).get("content", {})
                schema = media.get("application/json", {}).get("schema", {})
                data = json.dumps(odd_body(draw, schema)).encode() if schema else None
                status, body, kind = await ask(ann, verb.upper(), filled, data)
                assert status < 500 or status == 503, (verb, filled, data, body)
                if status >= 400:
                    assert kind == "application/problem+json", (verb, filled, body)
                    problem = json.loads(body)
                    assert problem["code"], problem
                    assert "Traceback" not in problem["detail"]
    assert (await ann.ask("GET", "/me"))[0] == 200


async def test_bytes_that_are_no_json_are_refused(ann: Browser) -> None:
    for data in (b"", b"\xff\xfe", b"[" * 50_000, b"{" * 10, b'{"name": NaN}', b'{"a":1}{}'):
        status, body, _ = await ask(ann, "PATCH", "/me", data)
        assert (status, json.loads(body)["code"]) == (400, "bad_request"), data


async def test_a_form_of_a_foreign_page_is_no_body(ann: Browser) -> None:
    form = aiohttp.FormData({"name": "Eve"})
    headers = {"X-Groupcore-CSRF": ann.csrf}
    url = f"{ann.node.url}/api/v1/me"
    async with ann.http.patch(url, data=form, headers=headers) as answer:
        assert (answer.status, (await answer.json())["code"]) == (400, "bad_request")
