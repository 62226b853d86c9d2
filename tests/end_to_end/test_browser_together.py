"""Several browsers on several nodes write into one document at once."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from tests.end_to_end.browser import BrowserTab, Tabs, converged, together
from tests.end_to_end.cluster import Cluster, eventually

pytestmark = [
    pytest.mark.browser,
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.asyncio(loop_scope="session"),
]


async def open_two(cluster: Cluster, tabs: Tabs, doc: str) -> tuple[BrowserTab, BrowserTab]:
    """A tab on node a and one on node b."""
    one = await tabs.document(cluster.nodes["a"].url, doc, "One")
    two = await tabs.document(cluster.nodes["b"].url, doc, "Two")
    return one, two


async def exported(cluster: Cluster, name: str, doc: str) -> str:
    """The document as Markdown from a node."""
    code, source = await cluster.get(f"{cluster.nodes[name].url}/api/v1/documents/{doc}/markdown")
    assert code == 200
    return str(source)


async def test_two_type_at_once_and_a_third_that_comes_late_sees_it_too(
    cluster: Cluster, tabs: Tabs
) -> None:
    doc = await cluster.create("a", "same: \n\nleft: \n\nright: ")
    one, two = await open_two(cluster, tabs, doc)
    await together(one.put_caret(0), two.put_caret(0))
    await together(one.type("abcdefghijklmnop"), two.type("0123456789012345"))
    same = (await converged(cluster, doc, [one, two]))[0]
    assert same.startswith("same:")
    typed = same.removeprefix("same:")
    assert "".join(filter(str.isalpha, typed)) == "abcdefghijklmnop"
    assert "".join(filter(str.isdigit, typed)) == "0123456789012345"

    await together(one.put_caret(1), two.put_caret(2))
    await together(one.type(" one wrote this"), two.type(" two wrote that"))
    texts = [same, "left: one wrote this", "right: two wrote that"]
    assert await converged(cluster, doc, [one, two]) == texts
    await one.caret_of("Two").wait_for()
    await two.caret_of("One").wait_for()
    await one.screenshot("document-two-carets")

    late = await tabs.document(cluster.nodes["c"].url, doc, "Late")
    assert await converged(cluster, doc, [one, two, late]) == texts
    assert await exported(cluster, "c", doc) == "\n\n".join(["# Plan", *texts]) + "\n"


LOADED_LAST = """() => performance.getEntriesByType("resource").some(({ name }) =>
  name.includes("/assets/register-"))"""
"""What has the browser keep the page comes some seconds behind it."""


async def has_all(tab: BrowserTab) -> None:
    """Wait for what comes by itself once the page stands."""

    async def is_there() -> bool:
        return bool(await tab.page.evaluate(LOADED_LAST))

    await eventually(is_there, "the page's last part")


async def test_pages_ask_for_nothing_by_http_while_people_type(
    cluster: Cluster, tabs: Tabs
) -> None:
    one, two = await open_two(cluster, tabs, await cluster.create("a", "first."))
    await one.put_caret(0)  # what reads what is pasted comes with the first one
    for tab in (one, two):
        await has_all(tab)
        await expect(tab.page.get_by_test_id("people")).to_be_visible()  # it comes with the others
    await one.page.wait_for_load_state("networkidle")
    await two.page.wait_for_load_state("networkidle")
    asked: list[str] = []
    for tab in (one, two):
        tab.page.on("request", lambda request: asked.append(request.url))
    await one.type(" and more")
    await two.shows("first. and more")
    assert asked == []


async def test_enter_divides_a_block_and_backspace_joins_it_under_the_others_hands(
    cluster: Cluster, tabs: Tabs
) -> None:
    doc = await cluster.create("a", "before\n\nbehind")
    one, two = await open_two(cluster, tabs, doc)
    await one.put_caret(0)
    await two.put_caret(1)
    await together(one.type("|"), two.type("|"))
    await one.press(*["ArrowLeft"] * 3)
    await together(one.press("Enter"), two.type("more"))
    assert await converged(cluster, doc, [one, two]) == ["befo", "re|", "behind|more"]

    await two.put_caret(1, "Home")
    await together(two.press("Backspace"), one.type("new "))
    assert await converged(cluster, doc, [one, two]) == ["befonew re|", "behind|more"]


MOVE_AND_PRESS = """(block) => {
  getSelection().collapse(block, 0);
  const key = { key: "Backspace", code: "Backspace", keyCode: 8, bubbles: true, cancelable: true };
  block.dispatchEvent(new KeyboardEvent("keydown", key));
}"""


async def test_a_key_acts_where_the_caret_is_though_the_browser_has_not_told_yet(
    cluster: Cluster, tabs: Tabs
) -> None:
    doc = await cluster.create("a", "first\n\nsecond")
    one, two = await open_two(cluster, tabs, doc)
    await one.put_caret(1)
    await one.block(1).evaluate(MOVE_AND_PRESS)
    assert await converged(cluster, doc, [one, two]) == ["firstsecond"]


async def test_the_name_at_a_caret_is_no_text_of_the_page(cluster: Cluster, tabs: Tabs) -> None:
    doc = await cluster.create("a", "first\n\nsecond")
    one, two = await open_two(cluster, tabs, doc)
    await one.put_caret(1)
    await two.shows("first", "second")
    await two.caret_of("One").wait_for()
    assert await two.editor.text_content() == "firstsecond"


LEFT_OF_CARETS = """(name) => {
  const carets = document.querySelectorAll(`[data-testid=remote-caret][data-name="${name}"]`);
  return [...carets].map((caret) => {
    const range = document.createRange();
    range.setStart(caret.closest("[data-block-id]"), 0);
    range.setEndBefore(caret);
    return range.toString();
  });
}"""


async def stands_behind(tab: BrowserTab, name: str, words: str) -> None:
    """Waits until another's caret is drawn right behind these words, from the start of the line."""
    found: list[str] = []

    async def is_there() -> bool:
        # In one step: a caret that is drawn anew between two of them stands nowhere.
        found[:] = await tab.page.evaluate(LEFT_OF_CARETS, name)
        return found == [words]

    try:
        await eventually(is_there, f"the caret of {name} behind {words!r}")
    except AssertionError as error:
        raise AssertionError(f"{error}; it is behind {found}") from None


async def test_anothers_caret_stays_with_its_letter_while_a_third_person_writes_there(
    cluster: Cluster, tabs: Tabs
) -> None:
    doc = await cluster.create("a", "one two three\n\nlast")
    one, two = await open_two(cluster, tabs, doc)
    third = await tabs.document(cluster.nodes["c"].url, doc, "Third")
    for tab in (one, third):  # at one place
        await tab.put_caret(0, "Home")
        await tab.press(*["ArrowRight"] * len("one two"))
    await stands_behind(two, "One", "one two")
    await third.type(" and more")
    for tab in (one, two):  # what One types is behind that in the order
        await tab.shows("one two and more three", "last")
    await stands_behind(two, "One", "one two")
    await stands_behind(two, "Third", "one two and more")
    await one.type("!")
    await stands_behind(two, "One", "one two!")
    await two.put_caret(0, "Home")
    await two.press("ArrowRight", "ArrowRight", "ArrowRight", "Enter")
    await stands_behind(two, "One", " two!")
    await stands_behind(third, "One", " two!")
    await two.press("Backspace")
    await stands_behind(two, "One", "one two!")
    await one.screenshot("document-anchored-carets")
    late = await tabs.document(cluster.nodes["b"].url, doc, "Late")
    await stands_behind(late, "One", "one two!")
    assert await converged(cluster, doc, [one, two]) == ["one two! and more three", "last"]


async def test_pasted_lines_become_blocks(cluster: Cluster, tabs: Tabs) -> None:
    doc = await cluster.create("a", "start end\n\nlast")
    one, two = await open_two(cluster, tabs, doc)
    await one.put_caret(0)
    await one.press(*["ArrowLeft"] * 4)
    await one.paste(" 1\nline 2\r\n\n<b>line 3</b>")
    texts = ["start 1", "line 2", "<b>line 3</b> end", "last"]
    assert await converged(cluster, doc, [one, two]) == texts


async def test_undo_takes_back_own_edits_only(cluster: Cluster, tabs: Tabs) -> None:
    doc = await cluster.create("a", "text")
    one, two = await open_two(cluster, tabs, doc)
    await one.put_caret(0)
    await one.type(" mine")
    await two.shows("text mine")
    await two.put_caret(0, "Home")
    await two.type("theirs ")
    await one.shows("theirs text mine")
    await one.press("Control+z")
    assert await converged(cluster, doc, [one, two]) == ["theirs text"]
    await one.press("Control+z", "Control+z")
    assert await converged(cluster, doc, [one, two]) == ["theirs text"]
    await one.press("Control+Shift+z")
    assert await converged(cluster, doc, [one, two]) == ["theirs text mine"]
    await two.press("Control+z")
    assert await converged(cluster, doc, [one, two]) == ["text mine"]


async def test_undo_leaves_what_another_person_has_written_into_ones_words(
    cluster: Cluster, tabs: Tabs
) -> None:
    doc = await cluster.create("a", "text")
    one, two = await open_two(cluster, tabs, doc)
    await one.put_caret(0)
    await one.type(" hello world")
    await two.shows("text hello world")
    await two.put_caret(0)
    await two.press(*["ArrowLeft"] * len(" world"))
    await two.type(" dear")
    await one.shows("text hello dear world")
    # On a slow machine what is typed may be several steps: there are no more than these.
    await one.press(*["Control+z"] * 4)
    assert await converged(cluster, doc, [one, two]) == ["text dear"]
    await one.press(*["Control+Shift+z"] * 4)
    assert await converged(cluster, doc, [one, two]) == ["text hello dear world"]
    await two.press(*["Control+z"] * 4)
    assert await converged(cluster, doc, [one, two]) == ["text hello world"]
