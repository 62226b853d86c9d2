"""Words are marked by keys, buttons and signs, pasted and copied with their marks, on two nodes."""

from __future__ import annotations

import pytest
from playwright.async_api import Route, expect

from tests.end_to_end.browser import BrowserTab, Tabs, converged, together
from tests.end_to_end.cluster import Cluster, eventually
from tests.end_to_end.test_browser_reload import wait_kept

pytestmark = [
    pytest.mark.browser,
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.asyncio(loop_scope="session"),
]

LINK = '<a href="{}" target="_blank" rel="noopener noreferrer nofollow">{}</a>'

ASKS_TO_STAY = """() => !dispatchEvent(new Event("beforeunload", { cancelable: true }))"""
"""Whether the browser would ask before the tab is closed."""

PASTE_HTML = """([html, plain]) => {
  const data = new DataTransfer();
  data.setData("text/html", html);
  data.setData("text/plain", plain);
  document.querySelector("[data-testid=editor]").dispatchEvent(
    new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
}"""

COPIED = """async () => {
  const [item] = await navigator.clipboard.read();
  const parts = await Promise.all(["text/html", "text/plain"].map((type) =>
    item.getType(type).then((blob) => blob.text())));
  return parts;
}"""

WORD = """<p class=MsoNormal><b style='mso-bidi-font-weight:normal'>Bold</b> and
<span style='font-style:italic'>slanted</span><o:p></o:p></p>
<p class=MsoListParagraph style='mso-list:l0 level1 lfo1'><span style='mso-list:Ignore'>\u00b7
</span>first point</p><p class=MsoNormal>The <a href="https://example.org/">end</a></p>"""


async def open_two(cluster: Cluster, tabs: Tabs, doc: str) -> tuple[BrowserTab, BrowserTab]:
    """A tab on node a and one on node b."""
    one = await tabs.document(cluster.nodes["a"].url, doc, "One")
    two = await tabs.document(cluster.nodes["b"].url, doc, "Two")
    return one, two


async def same_html(one: BrowserTab, two: BrowserTab, number: int, html: str) -> None:
    """Wait until both show this in a block."""

    async def have_it() -> bool:
        return [await tab.html(number) for tab in (one, two)] == [html, html]

    try:
        await eventually(have_it, html)
    except AssertionError:
        assert [await tab.html(number) for tab in (one, two)] == [html, html]


async def test_keys_buttons_and_signs_mark_words_on_both_nodes(
    cluster: Cluster, tabs: Tabs
) -> None:
    doc = await cluster.create("a", "bold\n\nslanted\n\nsigns")
    one, two = await open_two(cluster, tabs, doc)
    await one.put_caret(0)
    await one.select(4)
    await one.press("Control+b")
    await same_html(one, two, 0, "<strong>bold</strong>")
    await two.put_caret(1)
    await two.select(4)
    button = two.page.get_by_role("button", name="Italic")
    await button.click()
    await expect(button).to_have_attribute("aria-pressed", "true")
    await same_html(one, two, 1, "sla<em>nted</em>")
    await one.put_caret(2)
    await one.type(" **now** `x` ")
    await same_html(one, two, 2, "signs <strong>now</strong> <code>x</code> ")
    await one.put_caret(0)
    await one.type("er")
    await same_html(one, two, 0, "<strong>bolder</strong>")
    await converged(cluster, doc, [one, two])


async def test_two_mark_and_write_the_same_words_at_once(cluster: Cluster, tabs: Tabs) -> None:
    doc = await cluster.create("a", "one two three")
    one, two = await open_two(cluster, tabs, doc)
    await one.put_caret(0)
    await one.select(13)
    await two.put_caret(0, "Home")
    await two.press(*["ArrowRight"] * 4)
    await together(one.press("Control+b"), two.type("1 2 "))
    await converged(cluster, doc, [one, two])
    await same_html(one, two, 0, "<strong>one 1 2 two three</strong>")


async def test_an_address_that_is_typed_before_its_form_is_loaded_stands_in_it(
    cluster: Cluster, tabs: Tabs
) -> None:
    doc = await cluster.create("a", "see here")
    tab = await tabs.document(cluster.nodes["a"].url, doc, "One")
    may_come = await tab.hold_back("**/assets/LinkForm-*.js")
    await tab.put_caret(0)
    await tab.select(4)
    await tab.press("Control+k")
    await tab.page.keyboard.type("example")
    may_come.set()
    await expect(tab.page.get_by_test_id("link-address")).to_be_focused()
    await tab.page.keyboard.type(".org")
    await tab.press("Enter")
    await expect(tab.editor.locator("a")).to_have_attribute("href", "https://example.org")
    await expect(tab.block(0)).to_have_text("see here")


async def test_an_address_stays_as_it_is_typed_while_others_write(
    cluster: Cluster, tabs: Tabs
) -> None:
    doc = await cluster.create("a", "see here")
    one, two = await open_two(cluster, tabs, doc)
    await one.put_caret(0)
    await one.select(4)
    await one.press("Control+k")
    await expect(one.page.get_by_test_id("link-address")).to_be_focused()
    await one.page.keyboard.type("https")
    await two.put_caret(0, "Home")
    await two.type("Please ")
    await one.shows("Please see here")
    await one.page.keyboard.type("://example.org")
    await one.press("Enter")
    await same_html(one, two, 0, "Please see " + LINK.format("https://example.org", "here"))


async def test_a_link_is_made_opened_changed_and_taken_away(cluster: Cluster, tabs: Tabs) -> None:
    doc = await cluster.create("a", "see here")
    one, two = await open_two(cluster, tabs, doc)
    await one.put_caret(0)
    await one.select(4)
    await one.press("Control+k")
    address = one.page.get_by_test_id("link-address")
    await address.fill("javascript:alert(1)")
    await address.press("Enter")
    await expect(one.page.get_by_role("alert")).to_contain_text("This is no address")
    await address.fill("example.org")
    await address.press("Enter")
    await same_html(one, two, 0, "see " + LINK.format("https://example.org", "here"))
    await two.put_caret(0)
    await two.press("ArrowLeft", "Control+k")
    field = two.page.get_by_test_id("link-address")
    await expect(field).to_have_value("https://example.org")
    await field.press("Escape")
    await expect(two.editor).to_be_focused()
    await two.press("Control+k")
    await two.page.get_by_role("button", name="Remove").click()
    await same_html(one, two, 0, "see here")


async def test_text_from_word_is_pasted_with_its_marks_and_copied_as_both(
    cluster: Cluster, tabs: Tabs
) -> None:
    doc = await cluster.create("a", "start")
    one, two = await open_two(cluster, tabs, doc)
    await one.put_caret(0)
    await one.press("Enter")
    await one.page.evaluate(PASTE_HTML, [WORD, "plain"])
    texts = ["start", "Bold and slanted", "first point", "The end"]
    assert await converged(cluster, doc, [one, two]) == texts
    await same_html(one, two, 1, "<strong>Bold</strong> and <em>slanted</em>")
    await expect(two.block(2)).to_have_attribute("data-type", "bullet")
    await one.press("Control+a", "Control+c")
    html, plain = await one.page.evaluate(COPIED)
    assert "<strong>Bold</strong>" in html
    assert plain.startswith("start\n\n**Bold** and *slanted*\n\n- first point")
    await two.put_caret(3)
    await two.press("Enter", "Control+v")
    assert await converged(cluster, doc, [one, two]) == [*texts, *texts]
    await same_html(one, two, 5, "<strong>Bold</strong> and <em>slanted</em>")


async def test_parts_of_two_blocks_are_cut_while_somebody_writes_and_pasted_elsewhere(
    cluster: Cluster, tabs: Tabs
) -> None:
    doc = await cluster.create("a", "keep **bold**\n\ncut stays\n\nend")
    one, two = await open_two(cluster, tabs, doc)
    await one.put_caret(1, "Home")
    await one.press(*["ArrowRight"] * len("cut"))
    await one.select(len("cut") + 1 + len("bold"))
    await two.put_caret(2, "Home")
    await together(one.press("Control+x"), two.type("the "))
    assert await converged(cluster, doc, [one, two]) == ["keep  stays", "the end"]
    await one.put_caret(1)
    await one.press("Control+v")
    assert await converged(cluster, doc, [one, two]) == ["keep  stays", "the endbold", "cut"]
    await same_html(one, two, 1, "the end<strong>bold</strong>")
    await one.press("Control+z", "Control+z")
    texts = ["keep bold", "cut stays", "the end"]
    assert await converged(cluster, doc, [one, two]) == texts
    await same_html(one, two, 0, "keep <strong>bold</strong>")


async def test_markdown_that_is_pasted_becomes_blocks_and_one_undo_gives_its_text(
    cluster: Cluster, tabs: Tabs
) -> None:
    doc = await cluster.create("a", "first")
    one = await tabs.document(cluster.nodes["a"].url, doc, "One")
    two = await tabs.document(cluster.nodes["b"].url, doc, "Two")
    await one.put_caret(0)
    await one.press("Enter")
    lines = ["# Notes", "- one", "- [x] **two**", "| a | b |", "| --- | --- |", "| c | d |"]
    await one.paste(
        "\n\n".join(["\n".join(lines[:1]), "\n".join(lines[1:3]), "\n".join(lines[3:])])
    )
    await two.shows("first", "Notes", "one", "two", "abcd")
    await expect(two.block(1)).to_have_attribute("data-type", "heading")
    await expect(two.block(3).locator("strong")).to_have_text("two")
    await expect(two.editor.locator("td")).to_have_count(2)
    await one.saved()
    await one.screenshot("markdown-pasted")
    await one.press("Control+z")
    await two.shows("first", *lines)
    await one.press("Control+z")
    await two.shows("first", "")
    # A script has its comments, and stays one.
    script = ["# list them", "ls -la", "# and go"]
    await one.paste("\n".join(script))
    assert await converged(cluster, doc, [one, two]) == ["first", *script]


async def test_what_is_pasted_before_its_reader_is_here_stands_before_what_is_typed_then(
    cluster: Cluster, tabs: Tabs
) -> None:
    doc = await cluster.create("a", "first")
    one = await tabs.open(cluster.nodes["a"].url, "One")
    may_come = await one.hold_back("**/assets/reading-*.js")
    await one.page.goto(f"{cluster.nodes['a'].url}/doc/{doc}")
    await one.loaded()
    two = await tabs.document(cluster.nodes["b"].url, doc, "Two")
    await one.put_caret(0)
    await one.page.evaluate(PASTE_HTML, ["<b>bold</b>", "bold"])
    await expect(one.badge).to_have_attribute("data-state", "saving")
    await one.type(" typed")
    await one.press("Enter")
    await one.paste("- one\n- two")
    await one.type(" more")
    await two.put_caret(0, "Home")
    await two.type("At ")
    await one.shows("At first typed", " more")
    await two.shows("At first typed", " more")
    await expect(one.badge).to_have_attribute("data-state", "saving")
    may_come.set()
    texts = ["At firstbold typed", "one", "two more"]
    assert await converged(cluster, doc, [one, two]) == texts
    await expect(two.block(2)).to_have_attribute("data-type", "bullet")
    await expect(two.block(0).locator("strong")).to_have_text("bold")
    await one.type("!")
    await two.shows("At firstbold typed", "one", "two more!")


async def test_what_is_pasted_before_its_reader_is_here_outlives_the_tab(
    cluster: Cluster, tabs: Tabs
) -> None:
    doc = await cluster.create("a", "first")
    one = await tabs.open(cluster.nodes["a"].url, "One")

    async def never(_route: Route) -> None:
        return

    await one.page.route("**/assets/reading-*.js", never)
    await one.page.goto(f"{cluster.nodes['a'].url}/doc/{doc}")
    await one.loaded()
    await one.put_caret(0)
    await one.page.evaluate(PASTE_HTML, ["<b>bold</b> words", "bold words"])
    await expect(one.badge).to_have_attribute("data-state", "saving")
    assert await one.page.evaluate(ASKS_TO_STAY)
    await wait_kept(one, "bold words")
    await one.page.close()
    again = await tabs.open_in(one.page.context, f"{cluster.nodes['a'].url}/doc/{doc}")
    await again.loaded()
    draft = again.page.get_by_test_id("draft")
    await expect(draft).to_contain_text("bold words")
    await expect(again.badge).to_have_attribute("data-state", "kept")
    await again.put_caret(0)
    await draft.get_by_role("button", name="Put it here").click()
    await expect(draft).to_have_count(0)
    assert await converged(cluster, doc, [again]) == ["firstbold words"]


async def test_an_address_that_is_pasted_over_words_links_them(
    cluster: Cluster, tabs: Tabs
) -> None:
    doc = await cluster.create("a", "the page")
    one, two = await open_two(cluster, tabs, doc)
    await one.put_caret(0)
    await one.select(4)
    await one.paste("https://example.org/x")
    await same_html(one, two, 0, "the " + LINK.format("https://example.org/x", "page"))


async def test_a_slash_offers_what_a_block_can_become_by_key_and_by_click(
    cluster: Cluster, tabs: Tabs
) -> None:
    doc = await cluster.create("a", "first\n\nsecond")
    one, two = await open_two(cluster, tabs, doc)
    await one.put_caret(0)
    await one.type(" /")
    menu = one.page.get_by_test_id("slash-menu")
    await expect(menu.get_by_role("option", name="To-do")).to_be_visible()
    await one.screenshot("slash-menu")
    await one.type("quo")
    await expect(menu.get_by_role("option", selected=True)).to_have_text("Quote")
    await one.press("Enter")
    await expect(menu).to_have_count(0)
    await expect(two.block(0)).to_have_attribute("data-type", "quote")
    await one.put_caret(1)
    await one.type(" /")
    await menu.get_by_role("option", name="To-do").click()
    await expect(two.block(1)).to_have_attribute("data-type", "todo")
    await expect(one.editor).to_be_focused()
    assert await converged(cluster, doc, [one, two]) == ["first ", "second "]
    # By its short name; then a line across behind what has words, below which one goes on.
    await one.type("/h2")
    await expect(menu.get_by_role("option")).to_have_text(["Heading 2"])
    await one.press("Enter")
    await expect(two.block(1)).to_have_attribute("data-type", "heading")
    await one.type("/divi")
    await one.press("Enter")
    await one.type("below")
    await expect(two.block(2)).to_have_attribute("data-type", "divider")
    assert await converged(cluster, doc, [one, two]) == ["first ", "second ", "", "below"]


async def test_the_arrows_bring_every_choice_of_a_slash_into_sight(
    cluster: Cluster, tabs: Tabs
) -> None:
    doc = await cluster.create("a", "first")
    one = await tabs.document(cluster.nodes["a"].url, doc, "One")
    await one.page.set_viewport_size({"width": 390, "height": 400})
    await one.put_caret(0)
    await one.type(" /")
    menu = one.page.get_by_test_id("slash-menu")
    await expect(menu).to_be_visible()
    await one.press("ArrowUp")
    last = menu.get_by_role("option").last
    await expect(last).to_have_attribute("aria-selected", "true")
    await expect(last).to_be_in_viewport(ratio=0.95)
    await one.press("ArrowDown")
    await expect(menu.get_by_role("option").first).to_be_in_viewport(ratio=0.95)
