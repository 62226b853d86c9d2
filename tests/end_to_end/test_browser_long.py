"""A long document: opened, scrolled through, and edited at its end by two."""

from __future__ import annotations

import pytest
from playwright.async_api import CDPSession, expect

from tests.end_to_end.browser import Tabs, node_texts, together
from tests.end_to_end.cluster import Cluster, eventually
from tests.end_to_end.scrolling import TWO_FRAMES

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

COUNT_KEPT = """() => {
  window.keptBytes = 0;
  const { put } = IDBObjectStore.prototype;
  IDBObjectStore.prototype.put = function (value, ...key) {
    window.keptBytes += JSON.stringify(value).length;
    return put.call(this, value, ...key);
  };
}"""
FOLDED = """() => [...document.querySelectorAll("[data-testid=editor] [data-block-id]")]
  .filter((block) => block.getClientRects().length === 0).length"""

FOLLOW_PLACE = """(block) => {
  window.places = [];
  // What is observed is told when all is laid out, right before it is painted.
  const pulse = document.body.appendChild(document.createElement("div"));
  pulse.style.cssText = "position: fixed; height: 1px; visibility: hidden";
  new ResizeObserver(() => window.places.push(block.getBoundingClientRect().top)).observe(pulse);
  let width = 0;
  const beat = () => requestAnimationFrame(() => {
    pulse.style.width = `${1 + (width = 1 - width)}px`;
    beat();
  });
  beat();
}"""
LOCKED = """() => [...document.querySelectorAll("*")]
  .filter((element) => getComputedStyle(element).contentVisibility !== "visible").length"""
LAYERS = """() => [...document.querySelectorAll("[data-testid=editor] > *")]
  .filter((block) => block.getClientRects().length > 0)
  .filter((block) => getComputedStyle(block).position !== "static").length"""

LAST_IS_LAID_OUT = """() => {
  const last = document.querySelector("[data-testid=editor]").lastElementChild;
  return last.getBoundingClientRect().height > 0
    && getComputedStyle(last).visibility === "visible";
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


async def work_of_a_key(cluster: Cluster, tabs: Tabs, count: int) -> tuple[int, int]:
    """The boxes in the page while one writes in the middle of so many blocks; bytes it writes down.

    What a browser lays out, paints and looks at for a letter goes with the boxes that there are.
    """
    doc = await cluster.create("a", "\n\n".join(f"paragraph {number}" for number in range(count)))
    tab = await tabs.document(cluster.nodes["a"].url, doc, "One")
    await tab.put_caret(count // 2)
    cdp = await tab.page.context.new_cdp_session(tab.page)
    await cdp.send("Performance.enable")
    await tab.type(" before")
    await tab.saved()
    await tab.page.evaluate(COUNT_KEPT)
    kept = []
    # What the outline was still told of the block is in the first one, not in each.
    for letters in ("x", "xx", "xxx"):
        await tab.page.evaluate("() => (window.keptBytes = 0)")
        await tab.type("x")
        await tab.saved()
        await expect(tab.block(count // 2)).to_have_text(f"paragraph {count // 2} before{letters}")
        kept.append(int(await tab.page.evaluate("() => window.keptBytes")))
    # One lock, and Chromium asks of each block it passes whether anything above it is locked; it
    # passes all of them several times for a letter, to tell the system's keyboard what is there.
    assert await tab.page.evaluate(LOCKED) == 0
    # What has a layer of its own is painted, or looked at, by itself.
    assert await tab.page.evaluate(LAYERS) == 0
    answer = await cdp.send("Performance.getMetrics")
    metrics = {one["name"]: int(one["value"]) for one in answer["metrics"]}
    return metrics["LayoutObjects"], min(kept)


async def test_what_a_letter_costs_the_page_does_not_grow_with_the_document(
    cluster: Cluster, tabs: Tabs
) -> None:
    boxes, kept = await work_of_a_key(cluster, tabs, 400)
    more_boxes, more_kept = await work_of_a_key(cluster, tabs, 4_000)
    assert more_boxes < 1.3 * boxes
    assert 0 < more_kept < 1.3 * kept


async def is_numbered(cdp: CDPSession, number: int) -> None:
    """Wait until who hears the page is told this number: CSS draws it, and no text has it."""

    async def is_told() -> bool:
        tree = await cdp.send("Accessibility.getFullAXTree")
        names = {str(one["name"].get("value")).strip() for one in tree["nodes"] if "name" in one}
        return str(number) in names

    await eventually(is_told, f"{number} is told")


async def test_a_block_that_is_not_laid_out_is_scrolled_to_by_whoever_asks_for_it(
    cluster: Cluster, tabs: Tabs
) -> None:
    doc = await cluster.create("a", "\n\n".join(f"line {number}" for number in range(BLOCKS)))
    tab = await tabs.document(cluster.nodes["a"].url, doc, "One")
    for number in (BLOCKS - 1, 500, 250, 750):
        # At once, without a frame in between: the page is told of the scrolling later.
        await tab.block(number).evaluate("(block) => block.scrollIntoView({ block: 'center' })")
        await expect(tab.block(number)).to_be_in_viewport()
        await expect(tab.block(number)).to_have_text(f"line {number}")


async def test_numbers_of_a_list_go_on_over_what_is_not_laid_out(
    cluster: Cluster, tabs: Tabs
) -> None:
    items = [f"{number + 1}. item {number}" for number in range(BLOCKS)]
    doc = await cluster.create("a", "\n".join(items))
    tab = await tabs.document(cluster.nodes["a"].url, doc, "One")
    await expect(tab.editor.locator("[data-block-id]")).to_have_count(BLOCKS)
    cdp = await tab.page.context.new_cdp_session(tab.page)
    for number in (BLOCKS - 1, 500, 2):
        await tab.bring(number, "center")
        await is_numbered(cdp, number + 1)
        assert await tab.page.evaluate(FOLDED) > BLOCKS / 2
        await tab.screenshot(f"list-{number}")


async def test_what_one_reads_stays_where_it_is_while_others_write_above(
    cluster: Cluster, tabs: Tabs
) -> None:
    line = "paragraph {} of a long document, a sentence that fills a good part of its line"
    doc = await cluster.create("a", "\n\n".join(line.format(at) for at in range(BLOCKS)))
    writer = await tabs.document(cluster.nodes["a"].url, doc, "Writer")
    reader = await tabs.document(cluster.nodes["b"].url, doc, "Reader")
    for place in (*range(0, BLOCKS, 60), 500):
        await reader.bring(place, "center")
        await reader.page.evaluate(TWO_FRAMES)
    await reader.block(500).evaluate(FOLLOW_PLACE)
    # Far above, where the reader's page draws nothing, and near.
    for place in (100, 200, 300, 400, 470, 485):
        await writer.put_caret(place)
        await writer.type(" more of it, so that there is a line more" * 3, delay_ms=0)
        await writer.press("Enter")
        await writer.type("and a paragraph", delay_ms=0)
        await writer.saved()
    await expect(reader.block(486)).to_have_text("and a paragraph")
    await reader.page.evaluate(TWO_FRAMES)
    places = await reader.page.evaluate("() => window.places")
    assert len(places) > 20
    assert max(places) - min(places) < 2, (min(places), max(places))
