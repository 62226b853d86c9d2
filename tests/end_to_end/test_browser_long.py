"""A long document: opened, scrolled through, and edited at its end by two."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from tests.end_to_end.browser import Tabs, node_texts, together
from tests.end_to_end.cluster import Cluster, eventually

pytestmark = [
    pytest.mark.browser,
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.asyncio(loop_scope="session"),
]

BLOCKS = 1_000
IN_SIGHT = """() => [...document.querySelectorAll("[data-testid=editor] [data-block-id]")]
  .filter((block) => {
    const { top, bottom } = block.getBoundingClientRect();
    return bottom > 0 && top < innerHeight;
  }).map((block) => block.dataset.away === undefined)"""

LAST_IS_LAID_OUT = """() => {
  const last = document.querySelector("[data-testid=editor]").lastElementChild;
  return getComputedStyle(last).contentVisibility === "visible";
}"""


async def test_a_long_document_is_opened_scrolled_and_edited_at_its_end_by_two(
    cluster: Cluster, tabs: Tabs
) -> None:
    lines = [f"paragraph {number} of a long document" for number in range(BLOCKS)]
    doc = await cluster.create("a", "\n\n".join(lines))
    one = await tabs.document(cluster.nodes["a"].url, doc, "One")
    two = await tabs.document(cluster.nodes["b"].url, doc, "Two")
    await expect(one.editor.locator("[data-block-id]")).to_have_count(BLOCKS)

    # Everything in sight is loaded, wherever one goes.
    async def is_loaded() -> bool:
        shown = await one.page.evaluate(IN_SIGHT)
        return len(shown) > 5 and all(shown)

    for place in (0.5, 0.9, 0.1, 1.0):
        await one.page.evaluate(f"scrollTo(0, document.documentElement.scrollHeight * {place})")
        await eventually(is_loaded, f"what is in sight at {place} is loaded")

    await together(one.put_caret(BLOCKS - 1), two.put_caret(BLOCKS - 2))
    await together(one.type(" one"), two.type(" two"))
    await one.press("Enter")
    # Else what is typed before the next frame comes out reversed: Chromium leaves the caret.
    assert await one.page.evaluate(LAST_IS_LAID_OUT)
    await one.type("the end")
    end = [f"{lines[-2]} two", f"{lines[-1]} one", "the end"]

    async def have_it() -> bool:
        shown = [(await tab.texts())[-3:] for tab in (one, two)]
        nodes = [(await node_texts(cluster, name, doc))[-3:] for name in cluster.nodes]
        return all(texts == end for texts in shown + nodes)

    await eventually(have_it, "both show the end")
    await one.saved()
    await two.saved()
    await two.screenshot("document-long")

    # What is selected is in all of them, also far away.
    await two.press("Control+Home")
    await two.type("begin ")
    await eventually(
        lambda: starts_with(cluster, doc, f"begin {lines[0]}"), "all have the new start"
    )


async def starts_with(cluster: Cluster, doc: str, text: str) -> bool:
    """Whether all nodes have this as the first block."""
    return all([(await node_texts(cluster, name, doc))[0] == text for name in cluster.nodes])
