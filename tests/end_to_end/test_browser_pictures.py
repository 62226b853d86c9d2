"""Pictures in documents: put in by all ways, shown on both nodes, kept while no node is there."""

from __future__ import annotations

import base64
import random
from io import BytesIO

import pytest
from PIL import Image
from playwright.async_api import FilePayload, Locator, Route, expect

from tests.end_to_end.browser import BrowserTab, Tabs
from tests.end_to_end.cluster import Cluster, eventually
from tests.end_to_end.test_browser_axe import violations
from tests.end_to_end.test_browser_marks import PASTE_HTML

pytestmark = [
    pytest.mark.browser,
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.asyncio(loop_scope="session"),
]

PUT_FILE = """([how, name, type, data]) => {
  const bytes = Uint8Array.from(atob(data), (sign) => sign.charCodeAt(0));
  const files = new DataTransfer();
  files.items.add(new File([bytes], name, { type }));
  const editor = document.querySelector("[data-testid=editor]");
  const { left, bottom } = editor.lastElementChild.getBoundingClientRect();
  const at = { clientX: left + 5, clientY: bottom - 3, bubbles: true, cancelable: true };
  editor.dispatchEvent(how === "drop"
    ? new DragEvent("drop", { dataTransfer: files, ...at })
    : new ClipboardEvent("paste", { clipboardData: files, bubbles: true, cancelable: true }));
}"""
WIDTHS = """() => [...document.querySelectorAll("figure[data-type=image] img")].map((image) =>
  image.complete ? image.naturalWidth : 0)"""
HEIGHT = "() => document.querySelector('[data-testid=editor]').getBoundingClientRect().height"


def picture(seed: int, size: tuple[int, int] = (640, 360)) -> bytes:
    """A picture that is like no other: a sky and some hills."""
    chance = random.Random(seed)
    made = Image.new("RGB", size)
    for x in range(size[0]):
        hill = int(size[1] * (0.6 + 0.2 * chance.random() / (1 + x % 7)))
        made.paste((90, 150, 220 - seed), (x, 0, x + 1, hill))
        made.paste((40, 110 + seed, 70), (x, hill, x + 1, size[1]))
    out = BytesIO()
    made.save(out, "PNG")
    return out.getvalue()


def images(tab: BrowserTab) -> Locator:
    return tab.editor.locator("figure[data-type=image]")


async def widths(tab: BrowserTab) -> list[int]:
    found: list[int] = await tab.page.evaluate(WIDTHS)
    return found


async def shows(tab: BrowserTab, *wanted: int) -> None:
    """Wait until these pictures, by their widths, are drawn."""

    async def has_them() -> bool:
        return await widths(tab) == list(wanted)

    await eventually(has_them, f"pictures {wanted}")


async def put(tab: BrowserTab, how: str, name: str, kind: str, data: bytes) -> None:
    """A file by the clipboard, or dropped below the last block."""
    await tab.page.evaluate(PUT_FILE, [how, name, kind, base64.b64encode(data).decode()])


async def test_a_description_takes_what_is_typed_before_its_form_is_loaded(
    cluster: Cluster, tabs: Tabs
) -> None:
    doc = await cluster.create("a", "first")
    tab = await tabs.document(cluster.nodes["a"].url, doc, "One")
    may_come = await tab.hold_back("**/assets/describing-*.js")
    await put(tab, "drop", "hills.png", "image/png", picture(4))
    await shows(tab, 640)
    await images(tab).get_by_role("button").click()
    await tab.page.keyboard.type("Green")
    may_come.set()
    await expect(images(tab).get_by_role("button", name="Save")).to_be_visible()
    await tab.page.keyboard.type(" hills")
    await tab.press("Enter")
    await expect(images(tab).get_by_role("img")).to_have_attribute("alt", "Green hills")
    await expect(images(tab).get_by_role("button")).to_be_focused()


async def test_a_picture_is_put_in_by_keys_described_and_read_on_both_nodes(
    cluster: Cluster, tabs: Tabs
) -> None:
    doc = await cluster.create("a", "first\n\nlast")
    one = await tabs.document(cluster.nodes["a"].url, doc, "One")
    two = await tabs.document(cluster.nodes["b"].url, doc, "Two")
    await one.put_caret(0)
    async with one.page.expect_file_chooser() as chosen:
        await one.type(" /image")
        await one.press("Enter")
    file: FilePayload = {
        "name": "hills.png",
        "mimeType": "image/png",
        "buffer": picture(1, (1200, 500)),
    }
    await (await chosen.value).set_files(file)
    await shows(one, 1200)
    await shows(two, 1200)
    # Its caption is a text like any other; Tab goes on to its description.
    await images(one).locator("figcaption").click()
    await one.type("Our hills")
    await one.press("Tab")
    await expect(images(one).get_by_role("button")).to_be_focused()
    await one.press("Enter")
    await one.page.keyboard.type("Green hills under a blue sky")
    await one.press("Enter")
    for tab in (one, two):
        await expect(images(tab).get_by_role("img")).to_have_attribute(
            "alt", "Green hills under a blue sky"
        )
        await expect(images(tab).locator("figcaption")).to_have_text("Our hills")
    # Enter behind the caption goes on below; what was written is text.
    await images(one).locator("figcaption").click()
    await one.press("End", "Enter")
    await one.type("below")
    await one.saved()
    assert await violations(one) == ""
    await two.shows("first ", "Our hills", "below", "last")
    height = float(await two.page.evaluate(HEIGHT))
    await two.page.reload()
    await two.loaded()
    await shows(two, 1200)

    async def is_as_high() -> bool:
        return abs(float(await two.page.evaluate(HEIGHT)) - height) < 1

    await eventually(is_as_high, "all that was loaded anew is as high as before")
    for name, scheme, width in (
        ("light", "light", 1280),
        ("dark", "dark", 1280),
        ("phone", "light", 390),
    ):
        await two.page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        await two.page.set_viewport_size({"width": width, "height": 800})
        await two.screenshot(f"picture-{name}")
        assert not await two.page.evaluate("document.documentElement.scrollWidth > innerWidth")


async def test_files_are_pasted_and_dropped_and_what_is_no_picture_says_so(
    cluster: Cluster, tabs: Tabs
) -> None:
    doc = await cluster.create("a", "text")
    one = await tabs.document(cluster.nodes["a"].url, doc, "One")
    one.expect_complaints("415", "422")
    await one.put_caret(0)
    await put(one, "paste", "a.png", "image/png", picture(2, (300, 200)))
    await shows(one, 300)
    await put(one, "drop", "b.png", "image/png", picture(3, (310, 200)))
    await shows(one, 300, 310)
    await put(one, "paste", "<b>bad</b>.png", "image/png", b"no picture at all")
    card = one.page.get_by_test_id("picture-upload")
    await expect(card).to_contain_text("<b>bad</b>.png was not taken.")
    await expect(card).to_contain_text("PNG, JPEG, GIF or WebP")
    await one.saved()
    assert await violations(one) == ""
    await one.screenshot("picture-refused")
    await card.get_by_role("button", name="Remove").click()
    await expect(card).to_have_count(0)
    # Out with one by a key, and back by undo.
    await images(one).first.locator("figcaption").click()
    await one.press("Backspace")
    await shows(one, 310)
    await one.press("Control+z")
    await shows(one, 300, 310)
    # Within the HTML of a web page, between words.
    await one.block(0).click()
    await one.press("End")
    inside = base64.b64encode(picture(5, (330, 200))).decode()
    html = f'<p>so <b>bold</b> <img alt="hills" src="data:image/png;base64,{inside}"></p>'
    await one.page.evaluate(PASTE_HTML, [html, "so bold"])
    await shows(one, 330, 300, 310)
    await expect(one.block(0)).to_have_text("textso bold")


async def test_without_a_node_a_picture_waits_and_a_later_tab_sends_it_once(
    cluster: Cluster, tabs: Tabs
) -> None:
    doc = await cluster.create("a", "text")
    context = await tabs.context("One")
    url = f"{cluster.nodes['a'].url}/doc/{doc}"
    one = await tabs.open_in(context, url)
    one.expect_complaints("ERR_INTERNET_DISCONNECTED", "ERR_FAILED")
    await one.loaded()

    async def nobody(route: Route) -> None:
        await route.abort("internetdisconnected")

    await context.route("**/pictures", nobody)
    await one.put_caret(0)
    await put(one, "paste", "hills.png", "image/png", picture(4, (320, 200)))
    card = one.page.get_by_test_id("picture-upload")
    await expect(card).to_contain_text("hills.png is kept here")
    assert (await one.save_state())[0] != "saved"
    await one.screenshot("picture-waiting")
    assert await widths(one) == []
    await one.page.close()
    await context.unroute("**/pictures", nobody)
    again = await tabs.open_in(context, url)
    await again.loaded()
    await shows(again, 320)
    await again.saved()
    await again.page.reload()
    await again.loaded()
    await shows(again, 320)
    await expect(again.page.get_by_test_id("picture-upload")).to_have_count(0)


async def test_a_picture_is_copied_into_another_document_and_lives_on_when_a_node_dies(
    cluster: Cluster, tabs: Tabs
) -> None:
    doc = await cluster.create("a", "text")
    other = await cluster.create("a", "other")
    context = await tabs.context("One")
    await context.grant_permissions(["clipboard-read", "clipboard-write"])
    one = await tabs.open_in(context, f"{cluster.nodes['a'].url}/doc/{doc}")
    await one.loaded()
    await one.put_caret(0)
    await put(one, "paste", "hills.png", "image/png", picture(5, (330, 200)))
    await shows(one, 330)
    await one.press("Control+a", "Control+c")
    two = await tabs.open_in(context, f"{cluster.nodes['a'].url}/doc/{other}")
    two.expect_complaints(
        "404", "ERR_BLOCKED_BY_RESPONSE"
    )  # the page may ask before the node has said yes
    await two.loaded()
    await two.put_caret(0)
    await two.press("Control+v")
    await two.saved()
    await two.page.reload()
    await two.loaded()
    await shows(two, 330)
    three = await tabs.document(cluster.nodes["c"].url, other, "Three")
    await shows(three, 330)
