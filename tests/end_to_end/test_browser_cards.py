"""Documents on boards: live cards, read and written in place, and frames shown as slides."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.async_api import Locator, expect

from tests.end_to_end.browser import BrowserTab, Tabs
from tests.end_to_end.cluster import Cluster, eventually
from tests.end_to_end.test_browser_axe import violations
from tests.end_to_end.test_browser_board import create_place, open_board, show_list, stage
from tests.end_to_end.test_browser_board_acting import Fields, deed, put_things, row, state, thing
from tests.end_to_end.test_browser_looks import MOVING, SIZES, fits
from tests.end_to_end.townspeople import REFUSED, made, newcomer, owner

pytestmark = [
    pytest.mark.browser,
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.asyncio(loop_scope="session"),
]

TEXT = """# Agenda

Who comes, and when.

- Tea
- [x] Minutes of the last time

| Who | What |
|---|---|
| Ann | Cups |
"""
PIXELS = """() => document.querySelector("[data-testid=stage] canvas").toDataURL()"""
DROP = """(href) => {
  const stage = document.querySelector("[data-testid=stage]");
  const data = new DataTransfer();
  data.setData("text/uri-list", href);
  for (const name of ["dragover", "drop"]) {
    const how = { bubbles: true, cancelable: true, dataTransfer: data, clientX: 640, clientY: 400 };
    stage.dispatchEvent(new DragEvent(name, how));
  }
}"""


def card(id_: str, doc: str, x: int = 0, y: int = 0) -> Fields:
    """A card as the API takes it."""
    return thing(id_, "card", x, y, 320, 400, props={"document": doc})


def panel(tab: BrowserTab) -> Locator:
    """The document that is open over the place."""
    return tab.page.get_by_test_id("card-panel")


async def drawn(tab: BrowserTab) -> str:
    """What the board shows, as it is painted."""
    return str(await tab.page.evaluate(PIXELS))


async def test_a_document_on_a_board_is_the_document_of_its_page(
    cluster: Cluster, tabs: Tabs
) -> None:
    a, b = cluster.nodes["a"].url, cluster.nodes["b"].url
    doc = await cluster.create("a", TEXT)
    ann = await tabs.open("about:blank", "Ann")
    place = await create_place(ann, a, "With a card")
    await put_things(ann, a, place, [card("card", doc)])
    await ann.page.goto(f"{a}/p/{place}")
    await show_list(ann)
    await expect(row(ann, "card")).to_contain_text("Plan")
    await expect(state(ann, "card")).to_contain_text("Who comes, and when.")
    await ann.page.get_by_test_id("face-board").click()
    await expect(stage(ann)).to_have_attribute("data-things", "1")

    bob = await tabs.document(b, doc, "Bob")
    before = await drawn(ann)
    await bob.put_caret(1)
    await bob.type(" Bring cake.")
    await bob.saved()

    async def is_painted() -> bool:
        return await drawn(ann) != before

    await eventually(is_painted, "the card is drawn anew")
    await ann.screenshot("card-live")
    await show_list(ann)
    await expect(state(ann, "card")).to_contain_text("Bring cake.")

    # The other way round, by keys: Tab selects it, Enter opens it over the board.
    await ann.page.get_by_test_id("face-board").click()
    await stage(ann).focus()
    await ann.press("Enter", "Enter")
    await expect(panel(ann).get_by_test_id("editor")).to_have_attribute("contenteditable", "true")
    await ann.put_caret(1)
    await ann.type(" And cups.")
    await expect(panel(ann).get_by_test_id("save-state")).to_have_attribute("data-state", "saved")
    await expect(bob.editor).to_contain_text("Bring cake. And cups.")
    await ann.screenshot("card-open")
    assert await violations(ann) == ""
    await ann.press("Escape", "Escape")
    await expect(panel(ann)).to_have_count(0)
    await expect(stage(ann)).to_be_focused()
    await show_list(ann)
    await expect(state(ann, "card")).to_contain_text("And cups.")

    # In the list Enter opens it, and the focus comes back to its row.
    await row(ann, "card").locator(".thing-row").focus()
    await ann.press("Enter")
    await expect(panel(ann).get_by_test_id("editor")).to_be_visible()
    await panel(ann).get_by_test_id("close-card").click()
    await expect(row(ann, "card").locator(".thing-row")).to_be_focused()
    await expect(deed(ann, "card", 1)).to_have_attribute("href", f"/doc/{doc}")


async def test_a_card_is_chosen_by_a_search_or_pasted_or_dropped_as_a_link(
    cluster: Cluster, tabs: Tabs
) -> None:
    a = cluster.nodes["a"].url
    doc = await cluster.create("a", "Found by its name.")
    ann = await tabs.open("about:blank", "Ann")
    place = await create_place(ann, a, "To be filled")
    answer = await ann.page.request.patch(
        f"{a}/api/v1/documents/{doc}", data={"title": "Ship's log"}, headers={"Origin": a}
    )
    assert answer.ok, await answer.text()
    await ann.page.goto(f"{a}/p/{place}")
    await expect(stage(ann)).to_be_visible()
    await stage(ann).focus()
    await ann.press("m")
    await ann.page.get_by_test_id("make-document").click()
    await ann.page.mouse.click(500, 400)
    await ann.page.get_by_test_id("document-search").fill("log ship")
    found = ann.page.get_by_test_id("documents-found").get_by_role("radio")
    await expect(found).to_have_count(1)
    await ann.press("Enter")
    await expect(found.first).to_be_checked()
    await ann.screenshot("card-picker")
    assert await violations(ann) == ""
    await ann.press("Enter")
    await ann.saved()

    await ann.page.evaluate(DROP, f"{a}/doc/{doc}")
    await expect(stage(ann)).to_have_attribute("data-things", "2")
    await ann.page.evaluate(DROP, "https://example.org/")
    await expect(stage(ann)).to_have_attribute("data-things", "3")
    await ann.saved()
    await show_list(ann)
    cards = ann.page.locator("[data-kind=card]")
    await expect(cards).to_have_count(2)
    for number in range(2):
        await expect(cards.nth(number)).to_contain_text("Ship's log")
    await expect(ann.page.locator("[data-kind=link]")).to_have_count(1)


async def test_who_may_not_read_a_document_sees_that_and_not_its_name(
    town: Cluster, tabs: Tabs, ann_cookies: list[dict[str, Any]]
) -> None:
    ann = await owner(town, tabs, ann_cookies)
    lea = await newcomer(ann, tabs, town, "Lea", "editor")
    lea.expect_complaints(*REFUSED)
    await ann.page.goto(town.nodes["a"].url)
    await ann.page.get_by_test_id("new-workspace").click()
    await ann.page.get_by_test_id("new-name").fill("Vault")
    await ann.press("Enter")
    await ann.page.get_by_role("link", name="Vault").click()
    await expect(ann.page.get_by_role("heading", name="Vault")).to_be_visible()
    doc = await made(ann)
    await ann.page.get_by_test_id("title").fill("Secret plan")
    await ann.put_caret(0)
    await ann.type("Nobody knows.")
    await ann.saved()

    await ann.page.goto(town.nodes["a"].url)
    await ann.page.get_by_role("link", name="Choir", exact=True).click()
    await ann.page.get_by_test_id("new-board").click()
    await expect(stage(ann)).to_be_visible()
    place = ann.page.url.rpartition("/")[2]
    await ann.page.evaluate(DROP, f"{town.nodes['a'].url}/doc/{doc}")
    await ann.saved()
    await show_list(ann)
    await expect(ann.page.locator("[data-kind=card]")).to_contain_text("Secret plan")
    await expect(ann.page.get_by_test_id("thing-state")).to_contain_text("Nobody knows.")

    await lea.page.goto(f"{town.nodes['b'].url}/p/{place}")
    await show_list(lea)
    refused = lea.page.locator("[data-kind=card]")
    await expect(refused.get_by_test_id("thing-state")).to_contain_text("may not read")
    await expect(refused).not_to_contain_text("Secret plan")
    await lea.page.get_by_test_id("deed").first.click()
    await expect(lea.page.get_by_test_id("card-refused")).to_be_visible()
    await lea.screenshot("card-refused")
    assert "Secret plan" not in await lea.page.content()
    assert await violations(lea) == ""
    await lea.press("Escape")
    await lea.page.get_by_test_id("face-board").click()
    await expect(stage(lea)).to_have_attribute("data-things", "1")
    await lea.screenshot("card-refused-board")


FRAMES = [
    thing("second", "frame", 900, 0, 640, 360, text="Second"),
    thing("first", "frame", 0, 0, 640, 360, text="First"),
    thing("third", "frame", 0, 600, 640, 360),
    thing("note", "sticky", 0, 0, 200, 200, text="Hello"),
]


async def test_frames_are_slides_and_others_follow(cluster: Cluster, tabs: Tabs) -> None:
    a, b = cluster.nodes["a"].url, cluster.nodes["b"].url
    ann = await tabs.open("about:blank", "Ann")
    empty = await create_place(ann, a, "No frames")
    await ann.page.goto(f"{a}/p/{empty}")
    await ann.page.get_by_test_id("present").click()
    await expect(ann.page.get_by_test_id("no-slides")).to_contain_text("tool Frame")
    assert await violations(ann) == ""
    await ann.press("Escape")
    await expect(stage(ann)).to_be_focused()

    place = await create_place(ann, a, "Talk")
    await put_things(ann, a, place, FRAMES)
    await ann.page.goto(f"{a}/p/{place}")
    await expect(stage(ann)).to_have_attribute("data-things", str(len(FRAMES)))
    bob = await open_board(tabs, b, place, "Bob")
    await ann.page.get_by_test_id("present").click()
    slides = ann.page.get_by_test_id("presenting")
    await expect(slides).to_have_attribute("data-slide", "first")
    count = ann.page.get_by_test_id("slide-count")
    await expect(count).to_have_text("1 / 3")
    await ann.press("ArrowRight")
    await expect(slides).to_have_attribute("data-slide", "second")
    await expect(ann.page.get_by_test_id("slide-said")).to_have_text("Slide 2 of 3: Second")
    await ann.press("PageDown", "PageDown")
    await expect(slides).to_have_attribute("data-slide", "third")
    await ann.press("PageUp")
    await expect(slides).to_have_attribute("data-slide", "second")
    await ann.page.get_by_test_id("slide-press").click(position={"x": 300, "y": 300})
    await expect(slides).to_have_attribute("data-slide", "third")

    # The list is walked by keys; who follows sees what is shown.
    await ann.press("l", "Home", "Enter")
    await expect(slides).to_have_attribute("data-slide", "first")
    await bob.page.get_by_test_id("people-button").click()
    await bob.page.get_by_role("button", name="Follow Ann").click()
    followed = await drawn(bob)
    await ann.press("End")
    await expect(slides).to_have_attribute("data-slide", "third")

    async def goes_along() -> bool:
        return await drawn(bob) != followed

    await eventually(goes_along, "Bob's board goes along")
    await ann.press("Escape")
    await expect(slides).to_have_count(0)
    await expect(stage(ann)).to_be_focused()


async def test_cards_and_slides_fit_the_screen_and_axe_finds_nothing(
    cluster: Cluster, tabs: Tabs
) -> None:
    a = cluster.nodes["a"].url
    doc = await cluster.create("a", TEXT)
    ann = await tabs.open("about:blank", "Ann")
    ann.expect_complaints("status of 404")
    place = await create_place(ann, a, "Gallery of cards")
    things = [
        card("card", doc),
        card("gone", "no-such-document", 360),
        thing("none", "card", 720, 0, 320, 400),
        thing("frame", "frame", 300, 0, 1_200, 520, text="All of them"),
    ]
    await put_things(ann, a, place, things)
    for width, scheme in SIZES:
        await ann.resize(width, scheme)
        await ann.page.goto(f"{a}/p/{place}")
        await show_list(ann)
        await expect(state(ann, "card")).to_contain_text("Who comes")
        await expect(state(ann, "gone")).to_contain_text("deleted")
        await ann.screenshot(f"cards-list-{width}-{scheme}")
        assert await violations(ann) == ""
        await deed(ann, "card").click()
        await expect(panel(ann).get_by_test_id("editor")).to_be_visible()
        await ann.screenshot(f"cards-open-{width}-{scheme}")
        await fits(ann)
        assert await violations(ann) == ""
        await panel(ann).get_by_test_id("close-card").click()
        await ann.page.get_by_test_id("face-board").click()
        await expect(stage(ann)).to_have_attribute("data-things", str(len(things)))
        await ann.page.get_by_test_id("fit").click()
        await ann.screenshot(f"cards-board-{width}-{scheme}")
        await ann.page.get_by_test_id("present").click()
        await expect(ann.page.get_by_test_id("slide-count")).to_have_text("1 / 1")
        await ann.screenshot(f"cards-slide-{width}-{scheme}")
        await fits(ann)
        assert await violations(ann) == ""
        assert await ann.page.evaluate(MOVING) == 0
        await ann.press("Escape")
