"""Each place in a document into which people write, with each text that tries to be a program."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.async_api import expect

from tests.end_to_end.browser import Tabs, converged, node_texts
from tests.end_to_end.cluster import Cluster
from tests.end_to_end.payloads import PAYLOADS
from tests.end_to_end.test_browser_hostile import LINKS, PASTE_HTML, nothing_ran

pytestmark = [
    pytest.mark.browser,
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.asyncio(loop_scope="session"),
]

LINES = [" ".join(one.split()) for one in PAYLOADS]
QUOTES = str.maketrans({"&": "&amp;", '"': "&quot;", "<": "&lt;", ">": "&gt;"})


def attribute(text: str) -> str:
    """A text as the value of an attribute of HTML."""
    return text.translate(QUOTES)


MARKDOWN: dict[str, Callable[[str], str]] = {
    "cell of a table": lambda one: f"| head |\n| --- |\n| {one.replace('|', '/')} |",
    "address of a link": lambda one: f"[word](<{one.replace('<', '%3C').replace('>', '%3E')}>)",
    "words of a link": lambda one: f"[{one}](https://example.org)",
    "language of code": lambda one: f"~~~ {one}\ncode\n~~~",
    "words of code": lambda one: f"~~~ html\n{one}\n~~~",
    "description of a picture": lambda one: f"![{one}](https://example.org/x.png)",
    "heading": lambda one: f"## {one}",
    "item of a list": lambda one: f"- [ ] {one}",
}
"""What is imported, by the place in which the payload then is."""

HTML: dict[str, Callable[[str], str]] = {
    "address of a link": lambda one: f'<p>word <a href="{attribute(one)}">link</a></p>',
    "description of a picture": lambda one: f'<p>word</p><img alt="{attribute(one)}" src="/no">',
    "cell of a table": lambda one: f"<table><tr><td>word {attribute(one)}</td></tr></table>",
    "language of code": lambda one: f'<pre data-language="{attribute(one)}">word</pre>',
    "class of code": lambda one: f'<pre><code class="language-{attribute(one)}">word</code></pre>',
    "kind of a block": lambda one: f'<p data-type="{attribute(one)}">word</p>',
    "style": lambda one: f'<p style="{attribute(one)}">word</p>',
}
"""What is pasted, likewise."""


@pytest.mark.parametrize("place", MARKDOWN)
async def test_a_hostile_text_in_an_imported_place_runs_nothing(
    cluster: Cluster, tabs: Tabs, place: str
) -> None:
    doc = await cluster.create("a", "\n\n".join(MARKDOWN[place](one) for one in LINES))
    tab = await tabs.document(cluster.nodes["a"].url, doc, "One")
    assert len(await node_texts(cluster, "a", doc)) >= len(LINES) // 2
    await tab.page.get_by_role("button", name="Contents").click()
    await expect(tab.page.get_by_test_id("contents")).to_be_visible()
    for number in range(0, len(LINES), len(LINES) // 8):
        block = tab.block(number)  # so that each part of the document is drawn once
        await block.evaluate("(block) => block.scrollIntoView()")
        await expect(block).not_to_have_attribute("data-away", "true")
    assert await tab.page.evaluate(LINKS) == []
    await nothing_ran(tab)


@pytest.mark.parametrize("place", HTML)
async def test_a_hostile_text_in_a_pasted_place_runs_nothing(
    cluster: Cluster, tabs: Tabs, place: str
) -> None:
    doc = await cluster.create("a", "start ")
    tab = await tabs.document(cluster.nodes["a"].url, doc, "One")
    tab.expect_complaints("404", "415", "422")
    await tab.put_caret(0)
    await tab.page.evaluate(PASTE_HTML, [HTML[place](one) for one in LINES])
    await expect(tab.page.locator("[data-block-id]").filter(has_text="word").first).to_be_visible()
    assert any("word" in text for text in await converged(cluster, doc, [tab]))
    assert await tab.page.evaluate(LINKS) == []
    await nothing_ran(tab)
    await tab.page.reload()
    await tab.loaded()
    await nothing_ran(tab)


UPLOAD = """(names) => {
  for (const name of names) {
    const data = new DataTransfer();
    data.items.add(new File(["no picture"], name, { type: "image/png" }));
    document.querySelector("[data-testid=editor]").dispatchEvent(
      new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
  }
}"""
AT_ONCE = 20


async def test_hostile_names_of_files_are_shown_as_text(cluster: Cluster, tabs: Tabs) -> None:
    doc = await cluster.create("a", "start")
    tab = await tabs.document(cluster.nodes["a"].url, doc, "One")
    tab.expect_complaints("415", "422", "429")
    await tab.put_caret(0)
    cards = tab.page.get_by_test_id("picture-upload")
    for first in range(0, len(LINES), AT_ONCE):
        names = LINES[first : first + AT_ONCE]
        await tab.page.evaluate(UPLOAD, names)
        await expect(cards).to_have_count(len(names))
        await expect(cards.filter(has_text=names[0]).first).to_be_visible()
        await nothing_ran(tab)
        buttons = cards.get_by_role("button", name="Remove")
        await expect(buttons).to_have_count(len(names))
        await buttons.evaluate_all("(all) => all.forEach((one) => one.click())")
        await expect(cards).to_have_count(0)
