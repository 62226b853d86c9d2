"""Workspaces, what is shared, and the trash in real tabs; and what axe says of dialogs."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.async_api import expect

from tests.end_to_end.browser import BrowserTab, Scheme, Tabs
from tests.end_to_end.cluster import Cluster
from tests.end_to_end.test_browser_axe import violations
from tests.end_to_end.test_browser_files import row
from tests.end_to_end.test_browser_looks import fits
from tests.end_to_end.townspeople import REFUSED, button, fill, made, newcomer, owner

pytestmark = [
    pytest.mark.browser,
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.asyncio(loop_scope="session"),
]

LOOKS: tuple[tuple[str, int, Scheme], ...] = (
    ("en-GB", 1280, "light"),
    ("de-DE", 390, "dark"),
)


async def looked_at(tab: BrowserTab, name: str) -> None:
    """No violation, and nothing wider than the page, as it is shown now, narrow and dark, too."""
    for width, scheme in ((1280, "light"), (390, "dark")):
        await tab.page.set_viewport_size({"width": width, "height": 800})
        await tab.page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        await tab.screenshot(f"{name}-{width}")
        assert await violations(tab) == "", f"{name} at {width}"
        await fits(tab)
    await tab.page.set_viewport_size({"width": 1280, "height": 800})
    await tab.page.emulate_media(color_scheme="light")


async def test_a_workspace_is_made_renamed_thrown_away_and_had_back_and_a_document_of_it_shared(
    town: Cluster, tabs: Tabs, ann_cookies: list[dict[str, Any]]
) -> None:
    ann = await owner(town, tabs, ann_cookies)
    kit = await newcomer(ann, tabs, town, "Kit", "viewer")
    await ann.page.goto(town.nodes["a"].url)
    await ann.page.get_by_test_id("new-workspace").click()
    await expect(ann.page.get_by_role("dialog")).to_be_visible()
    await looked_at(ann, "workspace-new")
    await ann.page.get_by_test_id("new-name").fill("Band")
    await ann.press("Enter")
    await ann.page.get_by_role("link", name="Band").click()
    await expect(ann.page.get_by_role("heading", name="Band")).to_be_visible()
    doc = await made(ann)
    await ann.page.get_by_test_id("title").fill("Set list")
    await ann.saved()
    await ann.page.get_by_test_id("share").click()
    # What was said of an address is not said of the next one.
    ann.expect_complaints("status of 4")
    await fill(ann.page, share_email="nobody@example.org")
    await ann.press("Enter")
    await expect(ann.page.get_by_role("alert")).to_be_visible()
    await fill(ann.page, share_email="kit@example.org")
    await expect(ann.page.get_by_role("alert")).to_have_count(0)
    await ann.page.get_by_role("dialog").get_by_role("button", name="Share", exact=True).click()
    await expect(ann.page.get_by_test_id("member").filter(has_text="Kit")).to_be_visible()
    await looked_at(ann, "share-people")
    await button(ann, "Close").click()

    # Who is not in the workspace finds it among what is shared, by its name.
    await kit.page.goto(f"{town.nodes['b'].url}/shared")
    await expect(row(kit, "Set list")).to_be_visible()
    await looked_at(kit, "shared")
    await row(kit, "Set list").get_by_test_id("document-link").click()
    await kit.loaded()

    await ann.page.goto(town.nodes["a"].url)
    await ann.page.get_by_role("link", name="Band").click()
    menu = ann.page.get_by_test_id("space-menu")
    await menu.click()
    await expect(ann.page.get_by_role("menu")).to_be_visible()
    await ann.screenshot("workspace-menu")
    assert await violations(ann) == ""
    await ann.page.get_by_test_id("do-rename").click()
    await ann.page.get_by_test_id("new-name").fill("The band")
    await ann.press("Enter")
    await expect(ann.page.get_by_role("heading", name="The band")).to_be_visible()
    await menu.click()
    await ann.page.get_by_test_id("do-delete-workspace").click()
    await expect(ann.page.get_by_role("dialog")).to_contain_text("The band")
    await looked_at(ann, "workspace-delete")
    await ann.page.get_by_test_id("confirm").click()
    await expect(kit.page.get_by_test_id("trashed")).to_be_visible()
    await ann.page.goto(f"{town.nodes['a'].url}/trash")
    band = ann.page.get_by_role("listitem").filter(has_text="The band")
    await expect(band).to_be_visible()
    await looked_at(ann, "trash")

    # By keys it comes back, with what was in it.
    await band.get_by_role("button", name="Restore").focus()
    await ann.press("Enter")
    await expect(band.get_by_role("button", name="Restore")).to_have_count(0)
    await expect(kit.page.get_by_test_id("trashed")).to_have_count(0)
    await ann.page.goto(f"{town.nodes['a'].url}/doc/{doc}")
    await ann.loaded()
    await expect(ann.page.get_by_test_id("title")).to_be_editable()


@pytest.mark.parametrize(("locale", "width", "scheme"), LOOKS)
async def test_axe_finds_nothing_in_tables_code_dialogs_and_where_nothing_is_any_more(
    town: Cluster,
    tabs: Tabs,
    ann_cookies: list[dict[str, Any]],
    locale: str,
    width: int,
    scheme: Scheme,
) -> None:
    await owner(town, tabs, ann_cookies)
    context = await tabs.context("x", width=width, scheme=scheme, locale=locale)
    await context.add_cookies(ann_cookies)  # type: ignore[arg-type]
    ann = await tabs.open_in(context, town.nodes["a"].url)
    ann.expect_complaints(*REFUSED)
    await made(ann)
    await ann.put_caret(0)
    await ann.type("/tab")
    await ann.press("Enter")
    await expect(ann.page.locator(".table-tools")).to_be_visible()
    for word in ("Name", "Size", "Who"):
        await ann.type(word)
        await ann.press("Tab")
    await ann.press("Control+Enter")
    await ann.type("```python ")
    await ann.type("def one(): return 1")
    await expect(ann.editor.locator("pre [class^=hljs]").first).to_be_visible()
    await ann.press("Control+Enter")

    async def sound(name: str) -> None:
        await ann.screenshot(f"{name}-{locale}-{width}")
        assert await violations(ann) == "", name

    await sound("table-and-code")
    await ann.press("Control+k")
    await expect(ann.page.get_by_test_id("link-address")).to_be_visible()
    await sound("link-form")
    await ann.press("Escape")
    for keys, part in (("Control+/", "dialog"), ("Control+Alt+i", ".inspector")):
        await ann.press(keys)
        await expect(ann.page.locator(part).first).to_be_visible()
        await sound(f"keys-{part[-6:]}")
        await ann.press("Escape" if part == "dialog" else keys)
        await expect(ann.page.locator(part)).to_have_count(0)
    await ann.page.get_by_test_id("document-menu").click()
    await sound("document-menu")
    await ann.page.get_by_test_id("do-move").click()
    await sound("move-dialog")
    await ann.press("Escape")
    await ann.page.goto(f"{town.nodes['a'].url}/doc/nothing-here")
    await expect(ann.page.get_by_role("alert")).to_be_visible()
    await sound("nothing-here")
