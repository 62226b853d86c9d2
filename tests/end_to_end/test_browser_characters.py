"""Characters outside the basic plane, input methods, large pastes, and those that are too large."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from tests.end_to_end.browser import Tabs, converged, node_texts, together
from tests.end_to_end.cluster import Cluster
from tests.end_to_end.test_browser_marks import PASTE_HTML

pytestmark = [
    pytest.mark.browser,
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.asyncio(loop_scope="session"),
]

SMILE, FAMILY, CLEF, FLAG = (
    "\U0001f600",
    "\U0001f469\u200d\U0001f469\u200d\U0001f467",
    "\U0001d11e",
    "\U0001f1e8\U0001f1ed",
)
BLOCK_MAX = 10_000
LINES = 1_000


async def test_astral_characters_keep_their_places_on_all_nodes(
    cluster: Cluster, tabs: Tabs
) -> None:
    doc = await cluster.create("a", f"{SMILE}{CLEF} middle {FLAG}")
    one = await tabs.document(cluster.nodes["a"].url, doc, "One")
    two = await tabs.document(cluster.nodes["b"].url, doc, "Two")
    await one.put_caret(0, "Home")
    await two.put_caret(0)
    await together(one.type("a"), two.type(f"{SMILE}z{CLEF}"))
    # At once, as a keyboard gives it: no caret can stand inside it.
    await one.page.keyboard.insert_text(FAMILY)
    await one.type("b")
    text = f"a{FAMILY}b{SMILE}{CLEF} middle {FLAG}{SMILE}z{CLEF}"
    assert await converged(cluster, doc, [one, two]) == [text]

    await two.press("Backspace", "Backspace", "Backspace")
    await one.press("Delete")
    text = f"a{FAMILY}b{CLEF} middle {FLAG}"
    assert await converged(cluster, doc, [one, two]) == [text]


SPLIT = """() => {
  const walker = document.createTreeWalker(
    document.querySelector("[data-block-id]"), NodeFilter.SHOW_TEXT);
  getSelection().collapse(walker.nextNode(), 1);
}"""


async def test_a_pair_that_is_cut_in_two_never_travels(cluster: Cluster, tabs: Tabs) -> None:
    doc = await cluster.create("a", f"{SMILE}end")
    one = await tabs.document(cluster.nodes["a"].url, doc, "One")
    two = await tabs.document(cluster.nodes["b"].url, doc, "Two")
    await one.put_caret(0)
    await one.page.evaluate(SPLIT)  # the caret stands between the halves
    await one.page.keyboard.insert_text("x")
    texts = await converged(cluster, doc, [one, two])
    assert "x" in texts[0]
    assert texts[0].endswith("end")
    for name in cluster.nodes:
        text = (await node_texts(cluster, name, doc))[0]
        assert not any("\ud800" <= character <= "\udfff" for character in text)


COMPOSED = {
    "kana": (
        ["\u306b", "\u306b\u307b", "\u306b\u307b\u3093", "\u65e5\u672c"],
        "\u65e5\u672c\u8a9e",
    ),
    # Letters and the spaces that the method puts between syllables stand there first.
    "pinyin": (["z", "zh", "zhong", "zhong g", "zhong guo", "\u4e2d guo"], "\u4e2d\u56fd"),
}
"""What an input method shows one after the other, and what one chooses at last."""


@pytest.mark.parametrize("method", COMPOSED)
async def test_text_of_an_input_method_comes_whole(
    cluster: Cluster, tabs: Tabs, method: str
) -> None:
    parts, chosen = COMPOSED[method]
    doc = await cluster.create("a", "()")
    one = await tabs.document(cluster.nodes["a"].url, doc, "One")
    two = await tabs.document(cluster.nodes["b"].url, doc, "Two")
    await one.put_caret(0)
    await two.put_caret(0, "Home")
    await one.press("ArrowLeft")
    session = await one.page.context.new_cdp_session(one.page)
    for part in parts:
        composed = {"text": part, "selectionStart": len(part), "selectionEnd": len(part)}
        await session.send("Input.imeSetComposition", composed)
        # Somebody writes into the same block meanwhile.
        await two.type("y")
    await one.page.keyboard.insert_text(chosen)
    await one.page.keyboard.insert_text("\ud55c\uad6d\uc5b4")
    text = f"{'y' * len(parts)}({chosen}\ud55c\uad6d\uc5b4)"
    assert await converged(cluster, doc, [one, two]) == [text]


async def test_copied_blocks_stay_what_they_are(cluster: Cluster, tabs: Tabs) -> None:
    doc = await cluster.create("a", "## heading\n\n- [x] done\n\ntext")
    tab = await tabs.document(cluster.nodes["a"].url, doc, "One")
    await tab.put_caret(0)
    await tab.press("Control+a", "Control+c")
    await tab.put_caret(2)
    await tab.press("Enter", "Control+v")
    await tab.shows("heading", "done", "text", "heading", "done", "text")
    await converged(cluster, doc, [tab])
    blocks = (await cluster.document("b", doc))["blocks"]
    types = [block["type"] for block in blocks]
    assert types == ["heading", "todo", "paragraph"] * 2
    assert len({block["id"] for block in blocks}) == len(blocks)


async def test_a_thousand_lines_are_pasted(cluster: Cluster, tabs: Tabs) -> None:
    doc = await cluster.create("a", "start")
    one = await tabs.document(cluster.nodes["a"].url, doc, "One")
    two = await tabs.document(cluster.nodes["b"].url, doc, "Two")
    await one.put_caret(0)
    await one.press("Enter")
    lines = [f"line {number} of a paste" for number in range(LINES)]
    await one.paste("\n".join(lines))
    assert await converged(cluster, doc, [one, two]) == ["start", *lines]
    await one.press("Control+z", "Control+z")
    assert await converged(cluster, doc, [one, two]) == ["start"]

    # Code that is longer than a block goes on in further ones, line by line.
    await one.press("Enter")
    await one.type("/code")
    await one.press("Enter")
    code = [f"    value_{number} = {number}  # \N{SNOWMAN}" for number in range(2 * LINES)]
    await one.paste("\n".join(code))
    texts = await converged(cluster, doc, [one, two])
    assert "\n".join(texts[1:]) == "\n".join(code)
    assert max(len(text) for text in texts) <= BLOCK_MAX
    types = {block["type"] for block in (await cluster.document("b", doc))["blocks"][1:]}
    assert types == {"code"}


async def test_a_paste_above_the_limits_is_refused_and_kept(cluster: Cluster, tabs: Tabs) -> None:
    doc = await cluster.create("a", "start")
    one = await tabs.document(cluster.nodes["a"].url, doc, "One")
    two = await tabs.document(cluster.nodes["b"].url, doc, "Two")
    await one.put_caret(0)
    await one.press("Enter")
    link = f'<a href="https://example.org/{"x" * 1_800}">'
    large = "".join(f"{link}0123456789</a>!" for _ in range(40))
    await one.page.evaluate(PASTE_HTML, [large, ""])
    draft = one.page.get_by_test_id("draft")
    await expect(draft).to_contain_text("larger than a document may hold")
    await expect(draft.locator(".draft-text")).to_contain_text("0123456789!")
    await one.screenshot("document-refused")
    assert "0123456789!" not in "".join(await converged(cluster, doc, [one, two]))

    # What was refused is not in the way of anything else, and outlives a reload.
    await two.put_caret(0)
    await two.type(" goes on")
    await one.block(0).click()
    await one.press("Home")
    await one.type("it ")
    texts = await converged(cluster, doc, [one, two])
    assert texts[0] == "it start goes on"
    await one.page.reload()
    await one.loaded()
    await expect(draft.locator(".draft-text")).to_contain_text("0123456789!")
    await draft.get_by_role("button", name="Discard").click()
    await expect(draft).to_have_count(0)
