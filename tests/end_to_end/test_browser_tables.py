"""Tables are written by two people on two nodes, by keys, tools and the clipboard."""

from __future__ import annotations

import pytest
from playwright.async_api import Locator, expect

from tests.end_to_end.browser import BrowserTab, Tabs, together
from tests.end_to_end.cluster import Cluster, eventually
from tests.end_to_end.scrolling import TWO_FRAMES

pytestmark = [
    pytest.mark.browser,
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.asyncio(loop_scope="session"),
]

CELLS = """() => [...document.querySelectorAll("[data-testid=editor] tr")].map((row) =>
  [...row.cells].map((cell) => {
    const copy = cell.cloneNode(true);
    for (const caret of copy.querySelectorAll(".remote-caret")) caret.remove();
    return copy.textContent;
  }))"""

SHEET = """() => {
  const data = new DataTransfer();
  const rows = "<tr><td>1</td><td>2</td></tr><tr><td>3</td><td>4</td></tr>";
  data.setData("text/html", `<table>${rows}</table>`);
  data.setData("text/plain", "1\\t2\\n3\\t4");
  document.querySelector("[data-testid=editor]").dispatchEvent(
    new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
}"""


async def show(tabs: list[BrowserTab], *rows: list[str]) -> None:
    """Wait until all tabs show this table."""

    async def have_it() -> bool:
        return all([await tab.page.evaluate(CELLS) == list(rows) for tab in tabs])

    try:
        await eventually(have_it, "this table")
    except AssertionError:
        assert [await tab.page.evaluate(CELLS) for tab in tabs] == [list(rows)] * len(tabs)


async def click(tools: Locator, *names: str) -> None:
    """Click on tools, one after the other."""
    for name in names:
        await tools.get_by_role("button", name=name).click()


async def test_two_people_write_one_table(cluster: Cluster, tabs: Tabs) -> None:
    doc = await cluster.create("a", "before\n\nbehind")
    one = await tabs.document(cluster.nodes["a"].url, doc, "One")
    two = await tabs.document(cluster.nodes["b"].url, doc, "Two")
    both = [one, two]
    # A slash makes it, Tab goes through its cells and makes a row at the end.
    await one.put_caret(0)
    await one.press("Enter")
    await one.type("/tab")
    await one.press("Enter")
    await show(both, *[["", "", ""]] * 3)
    for word in ["Name", "Size", "Who", "fox", "1", "Ann", "owl", "2", "Bob", "eel"]:
        await one.type(word, delay_ms=1)
        await one.press("Tab")
    head = ["Name", "Size", "Who"]
    fox, owl = ["fox", "1", "Ann"], ["owl", "2", "Bob"]
    await show(both, head, fox, owl, ["eel", "", ""])
    await expect(two.page.get_by_role("columnheader", name="Size")).to_be_visible()
    # One types in a cell while the other puts a column beside it and takes a row out above it.
    cell = two.editor.locator("td", has_text="fox")
    await cell.click()
    tools = two.page.get_by_role("toolbar", name="Table tools")
    await expect(tools).to_be_visible()
    await one.editor.locator("td", has_text="Bob").click()
    await one.press("End")
    await together(
        one.type("by and his brother"),
        click(tools, "Column right", "Delete row"),
    )
    owl = ["owl", "", "2", "Bobby and his brother"]
    await show(both, ["Name", "", "Size", "Who"], owl, ["eel", "", "", ""])
    await expect(two.caret_of("One")).to_have_count(1)
    await expect(two.editor.locator("td", has_text="Bobby").locator(".remote-caret")).to_have_count(
        1
    )
    # Cells of a spreadsheet go into cells; the table grows as it must.
    await one.editor.locator("td", has_text="eel").click()
    await one.press("End")
    await one.page.evaluate(SHEET)
    await show(both, ["Name", "", "Size", "Who"], owl, ["1", "2", "", ""], ["3", "4", "", ""])
    await one.press("Control+z")
    await show(both, ["Name", "", "Size", "Who"], owl, ["eel", "", "", ""])
    # Out of it by a key, and back into it.
    await one.press("Control+Enter")
    await one.type("!")
    await expect(one.block(2)).to_have_text("!behind")
    await one.press("Home", "Backspace")
    await one.type("?")
    await show(both, ["Name", "", "Size", "Who"], owl, ["eel", "", "", "?"])
    # What is found in cells is replaced in them.
    await one.press("Control+f")
    await one.page.get_by_test_id("find").fill("brother")
    await expect(one.page.locator(".found.current")).to_have_text("brother")
    await one.screenshot("table")
    await two.page.set_viewport_size({"width": 390, "height": 800})
    await two.page.emulate_media(color_scheme="dark")
    # On a phone the tools of the table are over no text.
    await two.editor.locator("td", has_text="eel").click()
    await two.page.evaluate("scrollTo(0, 0)")
    await two.page.evaluate(TWO_FRAMES)
    title, bar = await two.page.get_by_test_id("title").bounding_box(), await tools.bounding_box()
    assert title is not None
    assert bar is not None
    assert bar["y"] + bar["height"] <= title["y"]
    await two.screenshot("table-narrow-dark")
    for tab in both:
        await tab.saved()
