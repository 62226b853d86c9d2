"""The programs of docs/shared print what their pages say; every page has what a page must have."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any

import pytest
from starlette.applications import Starlette

from tests.groupcore.aio.pages import DOCS, Program, programs, set_apart

PAGES = sorted(f"shared/{path.name}" for path in (DOCS / "shared").glob("*.md"))
IN_STARLETTE = "In a Starlette application"
PROGRAMS = [
    program
    for page in PAGES
    for program in programs(page).values()
    if program.heading != IN_STARLETTE
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.page)
def test_a_program_prints_what_its_page_says(
    program: Program, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    set_apart(monkeypatch)
    assert program.printed is not None, f"{program.page} does not say what its program prints"
    program.run()
    assert capsys.readouterr().out == program.printed


@pytest.mark.parametrize("page", PAGES)
def test_a_page_says_what_for_when_not_how_and_what_can_go_wrong(page: str) -> None:
    text = (DOCS / page).read_text(encoding="utf-8").replace("**Do not\n", "**Do not ")
    for part in ("**Use ", "**Do not ", "\n```python\n", "\n## API\n", "\n## Errors\n"):
        assert part in text, f"{page} lacks {part.strip()!r}"


async def get(app: Starlette, path: str) -> str:
    """What the application answers to a GET."""
    body = b""

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b""}

    async def send(message: MutableMapping[str, Any]) -> None:
        nonlocal body
        body += message.get("body", b"")

    scope = {
        "type": "http",
        "method": "GET",
        "path": path,
        "query_string": b"",
        "headers": [],
        "root_path": "",
        "app": app,
    }
    await app(scope, receive, send)
    return body.decode()


async def test_two_web_applications_count_together(monkeypatch: pytest.MonkeyPatch) -> None:
    set_apart(monkeypatch)
    program = programs("shared/node.md")[IN_STARLETTE]
    first, second = (program.run()["app"] for _ in range(2))
    monkeypatch.setenv("NODE_ID", "web-1")
    async with first.router.lifespan_context(first):
        monkeypatch.setenv("NODE_ID", "web-2")
        async with second.router.lifespan_context(second):
            assert await get(first, "/") == "visit 1"
            assert await get(second, "/") == "visit 2"
