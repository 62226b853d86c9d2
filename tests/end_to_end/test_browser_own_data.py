"""One's own data in browsers: failed sign-ins are shown, a zip is had, the account is erased."""

from __future__ import annotations

import zipfile
from typing import Any

import pytest
from playwright.async_api import expect

from tests.end_to_end.browser import Tabs
from tests.end_to_end.cluster import Cluster
from tests.end_to_end.test_browser_proofs import look
from tests.end_to_end.townspeople import PASSWORD, REFUSED, button, fill, made, newcomer, owner

pytestmark = [
    pytest.mark.browser,
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.asyncio(loop_scope="session"),
]

FAILED = 3


async def test_a_person_sees_who_tried_has_the_data_and_erases_the_account(
    town: Cluster, tabs: Tabs, ann_cookies: list[dict[str, Any]]
) -> None:
    ann = await owner(town, tabs, ann_cookies)
    gus = await newcomer(ann, tabs, town, "Gus", "editor")
    node = town.nodes["b"].url
    await made(gus)
    await gus.put_caret(0)
    await gus.type("The diary of Gus. ")
    await gus.saved()

    eve = await tabs.open(f"{node}/sign-in", "not used")
    eve.expect_complaints(*REFUSED)
    for number in range(FAILED):
        await fill(eve.page, email="gus@example.org", password=f"a wrong guess {number}")
        await button(eve, "Sign in").first.click()
        await expect(eve.page.get_by_role("alert")).to_be_visible()

    await gus.page.goto(f"{node}/account")
    attempts = gus.page.get_by_test_id("attempts")
    await expect(attempts).to_contain_text(f"{FAILED} times")
    await look(gus, "account-attempts", attempts)

    async with gus.page.expect_download() as told:
        await gus.page.get_by_test_id("download-own").press("Enter")
    download = await told.value
    assert download.suggested_filename == "my-data.zip"
    with zipfile.ZipFile(await download.path()) as packed:
        texts = [packed.read(name).decode() for name in packed.namelist() if name.endswith(".md")]
    assert any("The diary of Gus." in text for text in texts)
    await expect(gus.page.get_by_text("Your data is in")).to_be_visible()

    begin, form = gus.page.get_by_test_id("begin-erasing"), gus.page.get_by_test_id("erase-form")
    await begin.press("Enter")
    await expect(form).to_be_visible()
    await expect(form.get_by_role("heading", name="What goes")).to_be_focused()
    await button(gus, "Keep my account").press("Enter")
    await expect(begin).to_be_focused()
    await begin.press("Enter")
    await form.get_by_label("Hand over to somebody").check()
    await look(gus, "account-erase", form)
    await fill(gus.page, heir="nobody@example.org", erase_password=PASSWORD)
    await gus.page.get_by_test_id("erase").click()
    await expect(form.get_by_role("alert")).to_be_visible()
    await look(gus, "account-erase-refused", form.get_by_role("alert"))
    await form.get_by_label("Leave to the owners").check()
    await gus.page.get_by_test_id("erase").press("Enter")
    await expect(button(gus, "Sign in").first).to_be_visible()
    await fill(gus.page, email="gus@example.org", password=PASSWORD)
    await button(gus, "Sign in").first.click()
    await expect(gus.page.get_by_role("alert")).to_be_visible()

    await ann.page.goto(town.nodes["a"].url)
    row = ann.page.get_by_text("by a deleted account").first
    await look(ann, "files-by-deleted-account", row)
    await ann.page.goto(f"{town.nodes['a'].url}/account")
    await ann.page.get_by_test_id("begin-erasing").press("Enter")
    await look(ann, "account-last-owner", ann.page.get_by_test_id("last-owner"))


async def test_the_same_in_german(
    town: Cluster, tabs: Tabs, ann_cookies: list[dict[str, Any]]
) -> None:
    ann = await owner(town, tabs, ann_cookies)
    ida = await newcomer(ann, tabs, town, "Ida", "editor")
    await made(ida)
    await ida.page.goto(f"{town.nodes['b'].url}/account")
    await ida.page.get_by_role("contentinfo").get_by_role("combobox").select_option("de")
    begin = ida.page.get_by_test_id("begin-erasing")
    await expect(begin).to_have_text("Konto löschen…")
    await begin.press("Enter")
    await look(ida, "account-erase-german", ida.page.get_by_test_id("erase-form"))
