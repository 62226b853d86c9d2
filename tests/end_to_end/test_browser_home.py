"""The list of documents: create, import and open by keyboard, and what it says in trouble."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import Route, expect

from tests.end_to_end.browser import BrowserTab, Tabs, converged
from tests.end_to_end.cluster import Cluster

pytestmark = [
    pytest.mark.browser,
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.asyncio(loop_scope="session"),
]

LIST = "**/api/v1/files"
PARTS = ("workspaces", "folders", "documents", "favourites", "recent")
NOTHING: dict[str, list[object]] = {part: [] for part in PARTS}
TABS_MAX = 20


async def tab_to(tab: BrowserTab, selector: str) -> None:
    """Press Tab until the focus is there."""
    target = tab.page.locator(selector).first
    await target.wait_for()
    for _ in range(TABS_MAX):
        await tab.press("Tab")
        if await target.evaluate("(element) => element === document.activeElement"):
            return
    pytest.fail(f"{selector} is not reached by the Tab key")


def document_of(tab: BrowserTab) -> str:
    """The id of the document that is shown."""
    return tab.page.url.rpartition("/")[2]


async def test_a_document_is_made_titled_and_written_by_keyboard_alone(
    cluster: Cluster, tabs: Tabs
) -> None:
    tab = await tabs.open(cluster.nodes["a"].url)
    await tab_to(tab, "[data-testid=new-document]")
    await tab.press("Enter")
    await expect(tab.page.get_by_test_id("title")).to_be_focused()
    await tab.type("By keyboard")
    await tab.press("Enter")
    await tab.type("# Heading")
    await tab.press("Enter")
    await tab.type("- item")
    await tab.press("Enter", "Tab")
    await tab.type("deeper")
    doc = document_of(tab)
    assert await converged(cluster, doc, [tab]) == ["Heading", "item", "deeper"]
    assert (await cluster.document("c", doc))["title"] == "By keyboard"

    await tab.press("Escape")
    await tab_to(tab, "a.brand")
    await tab.press("Enter")
    link = f'[data-testid=document-link][href="/doc/{doc}"]'
    await expect(tab.page.locator(link)).to_contain_text("By keyboard")
    await tab_to(tab, link)
    await tab.press("Enter")
    await tab.loaded()
    await tab.shows("Heading", "item", "deeper")


async def test_a_markdown_file_is_imported_by_keyboard(
    cluster: Cluster, tabs: Tabs, tmp_path: Path
) -> None:
    file = tmp_path / "Notes.md"
    file.write_text("Some *text*.\n\n- [x] done\n- [ ] open\n\n```\ncode\n```\n", encoding="utf-8")
    tab = await tabs.open(cluster.nodes["b"].url)
    async with tab.page.expect_file_chooser() as chooser:
        await tab_to(tab, "button:has-text('Import Markdown')")
        await tab.press("Enter")
    await (await chooser.value).set_files(file)
    await tab.loaded()
    await expect(tab.page.get_by_test_id("title")).to_have_value("Notes")
    await tab.shows("Some text.", "done", "open", "code")
    assert await tab.html(0) == "Some <em>text</em>."


async def test_without_documents_the_list_says_how_to_begin(cluster: Cluster, tabs: Tabs) -> None:
    async def no_documents(route: Route) -> None:
        await route.fulfill(json=NOTHING)

    tab = await tabs.open("about:blank")
    await tab.page.route(LIST, no_documents)
    await tab.page.goto(cluster.nodes["a"].url)
    await expect(tab.page.get_by_role("heading", name="No documents yet")).to_be_visible()
    await tab.screenshot("home-empty")
    await tab.page.unroute(LIST)
    await tab.page.get_by_role("button", name="Write the first document").click()
    await tab.loaded()


async def test_a_list_that_cannot_be_had_is_said_and_tried_again(
    cluster: Cluster, tabs: Tabs
) -> None:
    await cluster.create("a")
    tab = await tabs.open("about:blank")
    tab.expect_complaints("status of 503", "net::ERR_FAILED")

    async def not_now(route: Route) -> None:
        body = {"title": "Service Unavailable", "status": 503, "detail": "not now; try again"}
        await route.fulfill(status=503, json=body, content_type="application/problem+json")

    await tab.page.route(LIST, not_now)
    await tab.page.goto(cluster.nodes["a"].url)
    alert = tab.page.get_by_role("alert")
    await expect(alert).to_contain_text("Not now; try again.")
    await tab.page.route("**/api/v1/documents", not_now)
    await tab.page.get_by_test_id("new-document").click()
    await expect(alert.filter(has_text="Not now")).to_have_count(2)
    await tab.screenshot("home-error")

    await tab.page.unroute(LIST)
    await tab.page.route(LIST, lambda route: route.abort())
    await tab.page.get_by_role("button", name="Try again").click()
    await expect(alert.filter(has_text="cannot be reached")).to_be_visible()
    await tab.page.unroute(LIST)
    await tab.page.get_by_role("button", name="Try again").click()
    await expect(tab.page.get_by_test_id("document-link").first).to_be_visible()
    await expect(alert.filter(has_text="could not be loaded")).to_have_count(0)


async def test_a_page_that_no_node_answered_goes_on_by_itself(cluster: Cluster, tabs: Tabs) -> None:
    context = await tabs.context()
    refused = 0

    async def refuse(route: Route) -> None:
        nonlocal refused
        refused += 1
        await (route.abort() if refused <= 2 else route.continue_())

    await context.route("**/api/v1/session", refuse)
    tab = await tabs.open_in(context, cluster.nodes["a"].url)
    tab.expect_complaints("net::ERR_FAILED")
    await expect(tab.page.get_by_role("alert")).to_contain_text("could not be loaded")
    await expect(tab.page.get_by_role("heading", name="Documents", exact=True)).to_be_visible()
    assert refused == 3


async def test_a_file_over_the_nodes_own_limit_is_not_sent(cluster: Cluster, tabs: Tabs) -> None:
    tab = await tabs.open("about:blank")

    async def at_most_a_kib(route: Route) -> None:
        answer = await (await route.fetch()).json()
        assert answer["import_kib"] == 4096
        await route.fulfill(json=answer | {"import_kib": 1})

    await tab.page.route("**/api/v1/session", at_most_a_kib)
    await tab.page.goto(cluster.nodes["a"].url)
    file = {"name": "long.md", "mimeType": "text/markdown", "buffer": b"x" * 1025}
    field = tab.page.get_by_label("Markdown file to import")
    await field.set_input_files(file)  # type: ignore[arg-type]
    said = "\u201clong.md\u201d is larger than 1 KB."
    await expect(tab.page.get_by_role("alert")).to_contain_text(said)
    await field.set_input_files(file | {"buffer": b"# Short"})  # type: ignore[arg-type]
    await expect(tab.page.get_by_test_id("editor")).to_be_visible()


async def test_an_address_without_a_document_says_so(cluster: Cluster, tabs: Tabs) -> None:
    tab = await tabs.open("about:blank")
    tab.expect_complaints("status of 404")
    await tab.page.goto(f"{cluster.nodes['a'].url}/doc/none")
    await expect(tab.page.get_by_role("alert")).to_contain_text("There is no document")
    await tab.page.get_by_role("link", name="All documents", exact=True).click()
    await expect(tab.page.get_by_role("heading", name="Documents")).to_be_visible()
