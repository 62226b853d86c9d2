"""The page on narrow and wide screens, light and dark, with little motion, by keyboard."""

from __future__ import annotations

import itertools

import pytest
from playwright.async_api import expect

from tests.end_to_end.browser import BrowserTab, Scheme, Tabs
from tests.end_to_end.cluster import Cluster

pytestmark = [
    pytest.mark.browser,
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.asyncio(loop_scope="session"),
]

SIZES: tuple[tuple[int, Scheme], ...] = tuple(itertools.product((390, 1280), ("light", "dark")))
LONG = "Averylongwordwithoutanyplacetobreakit" * 6
SAMPLE = f"""## A heading

A paragraph that is long enough to go over the end of the line on the narrow screen and on the wide
one alike, so that it is broken where it should be, and with `code`, **strong** words and a word
that cannot be broken: {LONG}

- bullet
  - deeper
    - deepest
1. one
2. two

- [x] done
- [ ] open

> A quotation.

```python
print("a line of code that is far too long for the narrow screen", "and is broken inside its block")
```

---

The end.
"""

SIDEWAYS = """() => {
  const { scrollWidth, clientWidth } = document.documentElement;
  const outside = [...document.querySelectorAll("#app *")].filter((element) => {
    if (element.closest("[role=toolbar], .console-nav")) return false; // goes sideways by itself
    const { left, right, width } = element.getBoundingClientRect();
    const isHidden = width <= 1 || getComputedStyle(element).visibility === "hidden";
    return !isHidden && (left < -1 || right > clientWidth + 1);
  });
  return [scrollWidth - clientWidth, outside.map((element) => element.outerHTML.slice(0, 120))];
}"""
"""How far the page scrolls sideways, and what stands outside of it."""

CUT_OFF = """() => [...document.querySelectorAll("#app :is(button, a, h1, h2, label, select, p)")]
  .filter((element) => {
    const style = getComputedStyle(element);
    const clips = style.overflowX !== "visible" || style.overflowY !== "visible";
    const isMeant = style.textOverflow === "ellipsis" || element.closest("pre, .visually-hidden");
    const isCut = element.scrollWidth > element.clientWidth + 1;
    return clips && isCut && !isMeant;
  }).map((element) => element.outerHTML.slice(0, 120))"""
"""What hides a part of its own text, and is not made to."""

FOCUSED = """() => {
  const element = document.activeElement;
  const style = getComputedStyle(element);
  const { outlineStyle, outlineWidth, boxShadow } = style;
  const isRinged = outlineStyle !== "none" && parseFloat(outlineWidth) >= 2;
  const isCaret = element.isContentEditable;
  const isSeen = isRinged || isCaret || boxShadow !== "none";
  return [element.outerHTML.slice(0, 120), isSeen, element === document.body];
}"""
"""What has the focus, and whether that can be seen."""

MOVING = """() => document.getAnimations()
  .filter((animation) => animation.playState === "running")
  .filter((animation) => animation.effect.getKeyframes()
    .some((frame) => !frame.easing.startsWith("step"))).length"""


async def fits(tab: BrowserTab) -> None:
    """Nothing goes over the edges, and nothing is cut off."""
    assert await tab.page.evaluate(SIDEWAYS) == [0, []]
    assert await tab.page.evaluate(CUT_OFF) == []


async def test_the_list_fits_the_screen(cluster: Cluster, tabs: Tabs) -> None:
    await cluster.create("a", "text")
    url = f"{cluster.nodes['a'].url}/api/v1/documents"
    tab = await tabs.open(cluster.nodes["a"].url)
    headers = {"Idempotency-Key": "long title", "Origin": cluster.nodes["a"].url}
    body = {"title": f"A title as long as it may be {LONG}"[:200]}
    answer = await tab.page.request.post(url, data=body, headers=headers)
    assert answer.status == 201
    for width, scheme in SIZES:
        await tab.resize(width, scheme)
        await tab.page.reload()
        await expect(tab.page.get_by_test_id("document-link").first).to_be_visible()
        await tab.screenshot(f"home-{width}-{scheme}")
        await fits(tab)
        assert await tab.page.evaluate(MOVING) == 0


async def test_a_document_fits_the_screen(cluster: Cluster, tabs: Tabs) -> None:
    doc = await cluster.create("a", SAMPLE)
    other = await tabs.document(cluster.nodes["b"].url, doc, "Somebody with a long name")
    await other.put_caret(1, "Home")
    await other.press("Shift+End")
    tab = await tabs.document(cluster.nodes["a"].url, doc, "Somebody")
    for width, scheme in SIZES:
        await tab.resize(width, scheme)
        await tab.page.reload()
        await tab.loaded()
        await tab.put_caret(0)
        await expect(tab.page.get_by_test_id("remote-caret")).to_have_count(1)
        await tab.screenshot(f"document-{width}-{scheme}")
        await fits(tab)
        assert await tab.page.evaluate(MOVING) == 0


@pytest.mark.parametrize("width", [390, 1280])
async def test_a_long_title_is_shown_whole_and_stays_one_line_of_text(
    cluster: Cluster, tabs: Tabs, width: int
) -> None:
    doc = await cluster.create("a", "text")
    tab = await tabs.open(f"{cluster.nodes['a'].url}/doc/{doc}", width=width)
    await tab.loaded()
    title = tab.page.get_by_test_id("title")
    await title.fill(f"A title as long\nas it may be {LONG}"[:200])
    await tab.put_caret(0)
    await tab.saved()
    assert await title.input_value() == f"A title as long as it may be {LONG}"[:200]
    hidden = "(title) => title.scrollHeight - title.clientHeight"
    assert await title.evaluate(hidden) <= 1
    await tab.screenshot(f"title-{width}")
    await fits(tab)


@pytest.mark.parametrize("place", ["list", "document"])
async def test_the_focus_is_seen_wherever_the_tab_key_takes_it(
    cluster: Cluster, tabs: Tabs, place: str
) -> None:
    doc = await cluster.create("a", "text")
    node = cluster.nodes["a"].url
    tab = await tabs.open(node if place == "list" else f"{node}/doc/{doc}")
    first = "document-link" if place == "list" else "editor"
    await tab.page.get_by_test_id(first).first.wait_for()
    reached = []
    for _ in range(12):
        await tab.press("Tab")
        element, is_seen, is_body = await tab.page.evaluate(FOCUSED)
        if is_body:
            break
        reached.append(element)
        assert is_seen, f"the focus on {element} is not seen"
    assert len(reached) >= 4
