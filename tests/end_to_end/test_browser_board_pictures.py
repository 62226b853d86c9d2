"""Pictures on boards: chosen, pasted, dropped and brought along, shown at both nodes."""

from __future__ import annotations

import base64
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image
from playwright.async_api import FilePayload, expect

from tests.end_to_end.browser import BrowserTab, Tabs
from tests.end_to_end.cluster import Cluster, eventually
from tests.end_to_end.test_browser_axe import violations
from tests.end_to_end.test_browser_board import create_place, open_board, show_list, stage

pytestmark = [
    pytest.mark.browser,
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.asyncio(loop_scope="session"),
]

PUT_FILE = """([how, name, type, data, x, y]) => {
  const bytes = Uint8Array.from(atob(data), (sign) => sign.charCodeAt(0));
  const files = new DataTransfer();
  files.items.add(new File([bytes], name, { type }));
  const stage = document.querySelector("[data-testid=stage]");
  const at = { clientX: x, clientY: y, bubbles: true, cancelable: true };
  stage.dispatchEvent(how === "drop"
    ? new DragEvent("drop", { dataTransfer: files, ...at })
    : new ClipboardEvent("paste", { clipboardData: files, bubbles: true, cancelable: true }));
}"""
COLOURS = """() => {
  const canvas = document.querySelector("[data-testid=stage] canvas");
  if (!canvas?.width) return [];
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const found = new Set();
  for (let at = 0; at < data.length; at += 28) {
    found.add([data[at], data[at + 1], data[at + 2]].join());
  }
  return [...found];
}"""

ROSE, MOSS, SKY = (200, 30, 90), (40, 120, 60), (20, 90, 230)


def picture(colour: tuple[int, int, int], size: tuple[int, int] = (320, 200)) -> bytes:
    """A picture of one colour that nothing else on a board has."""
    out = BytesIO()
    Image.new("RGB", size, colour).save(out, "PNG")
    return out.getvalue()


async def put(
    tab: BrowserTab, how: str, name: str, data: bytes, at: tuple[int, int] = (0, 0)
) -> None:
    """A file by the clipboard, or dropped at a point of the window."""
    sent = base64.b64encode(data).decode()
    await tab.page.evaluate(PUT_FILE, [how, name, "image/png", sent, *at])


async def shows(tab: BrowserTab, *colours: tuple[int, int, int]) -> None:
    """Wait until the canvas shows pictures of these colours."""
    wanted = {",".join(map(str, colour)) for colour in colours}

    async def has_them() -> bool:
        return wanted <= set(await tab.page.evaluate(COLOURS))

    await eventually(has_them, f"pictures {colours}")


async def test_pictures_are_chosen_pasted_and_dropped_and_both_nodes_show_them(
    cluster: Cluster, tabs: Tabs, tmp_path: Path
) -> None:
    a, b = cluster.nodes["a"].url, cluster.nodes["b"].url
    ann = await tabs.open("about:blank", "Ann")
    ann.expect_complaints("415", "422")
    place = await create_place(ann, a, "Pictures")
    await ann.page.goto(f"{a}/p/{place}")
    await expect(ann.page.get_by_test_id("tool-picture")).to_be_visible()
    await stage(ann).focus()
    async with ann.page.expect_file_chooser() as chooser:
        await ann.press("i")
    rose = FilePayload(name="rose.png", mimeType="image/png", buffer=picture(ROSE))
    await (await chooser.value).set_files([rose])
    await shows(ann, ROSE)
    await put(ann, "paste", "moss.png", picture(MOSS))
    await put(ann, "drop", "sky.png", picture(SKY, (200, 320)), (300, 600))
    await shows(ann, SKY)
    await ann.saved()
    bob = await open_board(tabs, b, place, "Bob")
    await shows(bob, SKY)
    await show_list(bob)
    await expect(bob.page.locator("[data-kind=picture]")).to_have_count(3)
    await ann.screenshot("board-pictures")
    assert await violations(ann) == ""

    # What is no picture says so, and leaves the board alone.
    await put(ann, "drop", "<b>bad</b>.png", b"no picture at all", (400, 300))
    card = ann.page.get_by_test_id("picture-upload")
    await expect(card).to_contain_text("<b>bad</b>.png was not taken.")
    assert await violations(ann) == ""
    await ann.screenshot("board-picture-refused")
    await ann.page.set_viewport_size({"width": 390, "height": 844})
    await expect(card).to_be_in_viewport()
    await ann.screenshot("board-picture-refused-narrow")
    await ann.page.set_viewport_size({"width": 1280, "height": 800})
    await card.get_by_role("button", name="Remove").click()
    await expect(card).to_have_count(0)

    # Out they go with the picture in the file.
    await ann.page.get_by_test_id("board-menu").click()
    async with ann.page.expect_download() as download:
        await ann.page.get_by_test_id("export-svg").click()
    saved = tmp_path / "board.svg"
    await (await download.value).save_as(saved)
    assert saved.read_text().count('<image href="data:image/png;base64,') == 3


async def test_a_picture_is_copied_to_another_board_and_lives_on_there(
    cluster: Cluster, tabs: Tabs
) -> None:
    a = cluster.nodes["a"].url
    context = await tabs.context("Ann")
    await context.grant_permissions(["clipboard-read", "clipboard-write"])
    ann = await tabs.open_in(context, "about:blank")
    first = await create_place(ann, a, "First board")
    second = await create_place(ann, a, "Second board")
    await ann.page.goto(f"{a}/p/{first}")
    await stage(ann).focus()
    await put(ann, "paste", "rose.png", picture(ROSE))
    await shows(ann, ROSE)
    await ann.press("Control+a", "Control+c")
    await ann.saved()
    other = await tabs.open_in(context, f"{a}/p/{second}")
    other.expect_complaints("404")  # the page may ask before the node has said yes
    await stage(other).focus()
    await other.press("Control+v")
    await shows(other, ROSE)
    await other.saved()
    await other.page.reload()
    await shows(other, ROSE)
    # Another node gives it, too.
    third = await open_board(tabs, cluster.nodes["c"].url, second, "Cem")
    await shows(third, ROSE)
