"""Texts that try to be programs, on boards and in chats, and in files that are taken out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from playwright.async_api import expect

from tests.end_to_end.browser import BrowserTab, Tabs
from tests.end_to_end.cluster import Cluster
from tests.end_to_end.payloads import PAYLOADS, RUN
from tests.end_to_end.test_browser_board import create_place, open_board, show_list, stage
from tests.end_to_end.test_browser_hostile import nothing_ran
from tests.end_to_end.test_browser_talk import remarks, say

pytestmark = [
    pytest.mark.browser,
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.asyncio(loop_scope="session"),
]

ELSEWHERE = "https://elsewhere.example/taken"
"""A page without any policy of its own, as a program that somebody opens a file with may be."""


async def opened_elsewhere(tabs: Tabs, body: str, kind: str) -> object:
    """What has run where a file that was taken out is opened without any protection."""
    context = await tabs.context("Elsewhere")
    page = await context.new_page()
    await page.route(
        "**/*",
        lambda route: (
            route.fulfill(body=body, content_type=kind)
            if route.request.url == ELSEWHERE
            else route.abort()
        ),
    )
    await page.goto(ELSEWHERE, wait_until="load")
    await page.evaluate("() => new Promise((done) => requestAnimationFrame(() => done()))")
    return await page.evaluate("() => window.ran ?? null")


def drawing(folder: Path) -> Path:
    """All payloads as texts of a drawing: alone, and as labels of shapes with their addresses."""
    elements: list[dict[str, object]] = []
    for at, payload in enumerate(PAYLOADS):
        x, y = 400 * (at % 15), 300 * (at // 15)
        frame = {"x": x, "y": y, "width": 300, "height": 200}
        shape = {**frame, "type": "rectangle", "id": f"r{at}", "link": f"javascript:{RUN}"}
        words = {**frame, "type": "text", "id": f"t{at}", "text": payload}
        elements += [words] if at % 2 else [shape, {**words, "containerId": f"r{at}"}]
    path = folder / "hostile.excalidraw"
    path.write_text(json.dumps({"type": "excalidraw", "elements": elements}), encoding="utf-8")
    return path


async def test_hostile_texts_on_a_board_are_drawn_and_listed_as_texts_and_leave_it_as_texts(
    cluster: Cluster, tabs: Tabs, tmp_path: Path
) -> None:
    a, b = cluster.nodes["a"].url, cluster.nodes["b"].url
    ann = await tabs.open("about:blank", "Ann")
    place = await create_place(ann, a, PAYLOADS[0])
    await ann.page.goto(f"{a}/p/{place}")
    await expect(stage(ann)).to_be_visible()
    await ann.page.get_by_test_id("import-board").set_input_files(drawing(tmp_path))
    count = len(PAYLOADS)
    await expect(ann.page.get_by_test_id("notice")).to_contain_text(f"{count} things imported")
    await ann.saved()
    bob = await open_board(tabs, b, place, "Bob")
    for tab in (ann, bob):
        await tab.page.get_by_test_id("fit").click()
        await expect(stage(tab)).to_have_attribute("data-things", str(count))
        await nothing_ran(tab)
    await show_list(bob)
    await expect(bob.page.get_by_test_id("thing")).to_have_count(count)
    await nothing_ran(bob)
    await taken_out(ann, tabs, tmp_path)


async def taken_out(tab: BrowserTab, tabs: Tabs, folder: Path) -> None:
    """The board's SVG, alone and within a page, runs nothing; the other files hold the texts."""
    for kind in ("svg", "excalidraw", "json"):
        await tab.page.get_by_test_id("board-menu").click()
        async with tab.page.expect_download() as coming:
            await tab.page.get_by_test_id(f"export-{kind}").click()
        path = folder / f"out.{kind}"
        await (await coming.value).save_as(path)
        body = path.read_text(encoding="utf-8")
        if kind != "svg":
            assert json.dumps(PAYLOADS[1], ensure_ascii=False)[1:-1] in body
            continue
        assert await opened_elsewhere(tabs, body, "image/svg+xml") is None
        assert await opened_elsewhere(tabs, f"<!doctype html>{body}", "text/html") is None


async def test_hostile_remarks_are_shown_as_what_was_said(cluster: Cluster, tabs: Tabs) -> None:
    a, b = cluster.nodes["a"].url, cluster.nodes["b"].url
    ann = await tabs.open("about:blank", "Ann")
    place = await create_place(ann, a, "Talk")
    await ann.page.goto(f"{a}/p/{place}")
    bob = await open_board(tabs, b, place, "Bob")
    for tab in (ann, bob):
        await stage(tab).focus()
        await tab.press("c")
    lines = [" ".join(one.split()) for one in PAYLOADS]
    said = ["\n".join(lines[at : at + 20]) for at in range(0, len(lines), 20)]
    await say(ann, *said)
    await expect(remarks(bob)).to_have_count(len(said))
    for remark, text in zip(await remarks(bob).all_inner_texts(), said, strict=True):
        assert text.split("\n")[0] in remark
    for tab in (ann, bob):
        await nothing_ran(tab)


async def test_markdown_that_is_taken_out_runs_nothing_where_html_is_let_through(
    cluster: Cluster, tabs: Tabs
) -> None:
    """Many programs show HTML in Markdown as HTML: what was a text here is a text there."""
    doc = await cluster.create("a", "start")
    one = await tabs.document(cluster.nodes["a"].url, doc, "One")
    await one.put_caret(0)
    await one.press("Enter")
    await one.paste("\n".join(PAYLOADS))
    await one.saved()
    answer = await one.page.request.get(f"{cluster.nodes['b'].url}/api/v1/documents/{doc}/markdown")
    assert answer.status == 200
    assert answer.headers["content-type"].startswith("text/markdown")
    assert answer.headers["x-content-type-options"] == "nosniff"
    html = MarkdownIt("commonmark", {"html": True}).render(await answer.text())
    assert await opened_elsewhere(tabs, f"<!doctype html>{html}", "text/html") is None
