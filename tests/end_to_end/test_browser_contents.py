"""The headings of a document beside its text: all of them, to go to, loaded or not."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from playwright.async_api import expect

from tests.end_to_end.browser import Tabs
from tests.end_to_end.cluster import Cluster

pytestmark = [
    pytest.mark.browser,
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.asyncio(loop_scope="session"),
]

CHAPTERS = 12
LINES = 25


async def test_all_headings_are_listed_followed_and_gone_to(cluster: Cluster, tabs: Tabs) -> None:
    chapters = [
        "\n\n".join([f"## Chapter {number}", *(f"line {number}.{line}" for line in range(LINES))])
        for number in range(CHAPTERS)
    ]
    doc = await cluster.create("a", "\n\n".join(["# Whole", *chapters]))
    one = await tabs.document(cluster.nodes["a"].url, doc, "One")
    two = await tabs.document(cluster.nodes["b"].url, doc, "Two")
    asked: list[str] = []
    one.page.on("request", lambda request: asked.append(urlsplit(request.url).path))
    await one.put_caret(0)
    await one.press("Control+Alt+o")
    contents = one.page.get_by_role("navigation", name="Contents")
    entries = contents.get_by_role("listitem")
    await expect(entries).to_have_text(
        ["Whole", *(f"Chapter {number}" for number in range(CHAPTERS))]
    )
    await one.screenshot("contents")

    last = contents.get_by_role("button", name=f"Chapter {CHAPTERS - 1}")
    await last.click()
    heading = one.editor.get_by_role("heading", name=f"Chapter {CHAPTERS - 1}")
    await expect(heading).to_be_in_viewport()
    await expect(last).to_have_attribute("aria-current", "location")

    await two.put_caret(1)
    await two.type(" begins")
    await expect(entries.nth(1)).to_have_text("Chapter 0 begins")  # which is far away by now

    await contents.get_by_role("button", name="Whole").focus()
    await one.press("ArrowDown")
    await one.press("Enter")
    await expect(one.editor.get_by_role("heading", name="Chapter 0 begins")).to_be_in_viewport()
    await one.press("Escape")
    await expect(contents).to_have_count(0)
    whole = f"/api/v1/documents/{doc}"
    assert f"{whole}/headings" in asked
    assert whole not in asked


async def test_a_document_without_headings_says_how_to_make_one(
    cluster: Cluster, tabs: Tabs
) -> None:
    doc = await cluster.create("a", "only words")
    one = await tabs.document(cluster.nodes["a"].url, doc, "One")
    await one.page.set_viewport_size({"width": 390, "height": 800})
    await one.page.get_by_role("button", name="Contents").click()
    contents = one.page.get_by_role("navigation", name="Contents")
    await expect(contents).to_contain_text("There are no headings yet")
    await one.put_caret(0)
    await one.press("Home")
    await one.type("# ")
    await expect(contents.get_by_role("listitem")).to_have_text(["only words"])
    await one.screenshot("contents-narrow")
    await contents.get_by_role("button", name="only words").click()
    await expect(contents).to_have_count(0)  # it covers the text there
