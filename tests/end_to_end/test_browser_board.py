"""A board that people share: drawing, dragging, seeing each other, coming back, and the list."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.async_api import Locator, WebSocketRoute, expect

from tests.end_to_end.browser import BrowserTab, Tabs
from tests.end_to_end.cluster import Cluster
from tests.end_to_end.test_browser_axe import violations
from tests.end_to_end.test_browser_looks import MOVING, SIZES, fits

pytestmark = [
    pytest.mark.browser,
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.asyncio(loop_scope="session"),
]


async def create_place(tab: BrowserTab, url: str, title: str = "Plan") -> str:
    """A new place, made through a node; its id."""
    headers = {"Idempotency-Key": secrets.token_hex(8), "Origin": url}
    answer = await tab.page.request.post(
        f"{url}/api/v1/places", data={"title": title}, headers=headers
    )
    assert answer.status == 201, await answer.text()
    return str((await answer.json())["id"])


async def open_board(tabs: Tabs, url: str, place: str, name: str) -> BrowserTab:
    """A tab with a board, loaded."""
    tab = await tabs.open(f"{url}/p/{place}", name)
    await expect(stage(tab)).to_be_visible()
    return tab


def stage(tab: BrowserTab) -> Locator:
    """The drawing surface."""
    return tab.page.get_by_test_id("stage")


async def take(tab: BrowserTab, tool: str) -> None:
    """Take a tool."""
    await tab.page.get_by_test_id(f"tool-{tool}").click()


async def drag(tab: BrowserTab, start: tuple[int, int], end: tuple[int, int]) -> None:
    """Draw or drag with the mouse."""
    mouse = tab.page.mouse
    await mouse.move(*start)
    await mouse.down()
    await mouse.move((start[0] + end[0]) // 2, (start[1] + end[1]) // 2)
    await mouse.move(*end)
    await mouse.up()


async def show_list(tab: BrowserTab) -> None:
    """The list face."""
    await tab.page.get_by_test_id("face-list").click()
    await expect(tab.page.get_by_test_id("list-face")).to_be_visible()


async def listed(tab: BrowserTab) -> list[str]:
    """What the list says, thing by thing."""
    return await tab.page.get_by_test_id("thing").all_inner_texts()


async def test_two_people_at_two_nodes_draw_drag_and_see_each_other(
    cluster: Cluster, tabs: Tabs
) -> None:
    a, b = cluster.nodes["a"].url, cluster.nodes["b"].url
    ann = await tabs.open("about:blank", "Ann")
    place = await create_place(ann, a, "Two people")
    await ann.page.goto(f"{a}/p/{place}")
    await expect(ann.page.get_by_test_id("empty")).to_be_visible()
    bob = await open_board(tabs, b, place, "Bob")

    await take(ann, "sticky")
    await ann.page.mouse.click(500, 350)
    await ann.page.get_by_test_id("write").fill("Buy milk")
    await ann.press("Escape")
    await take(ann, "rectangle")
    await drag(ann, (800, 300), (980, 420))
    await take(ann, "arrow")
    await drag(ann, (500, 350), (900, 360))
    await ann.saved()

    await bob.page.get_by_test_id("face-list").click()
    things = bob.page.get_by_test_id("thing")
    await expect(things).to_have_count(3)
    await expect(bob.page.locator("[data-kind=sticky]")).to_contain_text("Sticky note\nBuy milk")
    await expect(bob.page.locator("[data-kind=arrow]")).to_contain_text(
        "from Sticky note “Buy milk” to Rectangle"
    )
    shape = bob.page.locator("[data-kind=shape]")
    before = await shape.inner_text()
    await bob.page.get_by_test_id("face-board").click()

    await bob.page.mouse.move(700, 500)
    await expect(ann.page.locator('[data-testid=pointer][data-name="Bob"]')).to_be_visible()
    await drag(ann, (890, 420), (890, 560))
    await ann.screenshot("board-two-people")
    await ann.saved()
    await show_list(bob)
    await expect(shape).not_to_have_text(before)

    await ann.page.reload()
    await expect(stage(ann)).to_be_visible()
    await show_list(ann)
    await expect(ann.page.get_by_test_id("thing")).to_have_count(3)
    assert sorted(await listed(ann)) == sorted(await listed(bob))


async def test_what_one_has_done_is_taken_back_and_only_that(cluster: Cluster, tabs: Tabs) -> None:
    a, b = cluster.nodes["a"].url, cluster.nodes["b"].url
    ann = await tabs.open("about:blank", "Ann")
    place = await create_place(ann, a, "Undo")
    await ann.page.goto(f"{a}/p/{place}")
    bob = await open_board(tabs, b, place, "Bob")
    await take(ann, "rectangle")
    await drag(ann, (400, 300), (520, 380))
    await take(bob, "ellipse")
    await drag(bob, (700, 300), (820, 380))
    await bob.saved()
    await ann.press("Control+z")
    await show_list(bob)
    await expect(bob.page.get_by_test_id("thing")).to_have_count(1)
    await expect(bob.page.get_by_test_id("thing")).to_contain_text("Ellipse")
    await ann.press("Control+Shift+z")
    await expect(bob.page.get_by_test_id("thing")).to_have_count(2)


async def test_a_board_is_worked_by_keys_alone_in_the_list(cluster: Cluster, tabs: Tabs) -> None:
    a = cluster.nodes["a"].url
    ann = await tabs.open("about:blank", "Ann")
    place = await create_place(ann, a, "By keys")
    await ann.page.goto(f"{a}/p/{place}")
    await stage(ann).focus()
    await ann.press("b")
    await expect(ann.page.get_by_test_id("list-face")).to_be_visible()
    await ann.page.get_by_test_id("add-sticky").focus()
    await ann.press("Enter")
    await ann.type("First")
    await ann.press("Enter")
    things = ann.page.get_by_test_id("thing")
    await expect(things).to_have_text([re.compile("First")])
    await ann.page.get_by_test_id("add-rectangle").focus()
    await ann.press("Enter")
    await ann.type("Second")
    await ann.press("Enter")
    await expect(things).to_have_count(2)
    row = ann.page.locator(":focus")
    await expect(row).to_contain_text("Second")
    before = await row.inner_text()
    await ann.press("Shift+ArrowRight")
    await expect(row).not_to_have_text(before)
    await ann.press("ArrowUp")
    await expect(ann.page.locator(":focus")).to_contain_text("First")
    await ann.press("Space")
    await expect(ann.page.get_by_test_id("connect")).to_be_visible()
    await ann.page.get_by_test_id("connect").focus()
    await ann.press("Enter")
    await expect(ann.page.locator("[data-kind=arrow]")).to_contain_text("from")
    await ann.press("Delete")
    await expect(things).to_have_count(2)
    await ann.saved()
    assert await violations(ann) == ""


async def test_a_file_comes_in_and_goes_out_and_a_bad_one_does_not(
    cluster: Cluster, tabs: Tabs, tmp_path: Path
) -> None:
    a = cluster.nodes["a"].url
    ann = await tabs.open("about:blank", "Ann")
    place = await create_place(ann, a, "Files")
    await ann.page.goto(f"{a}/p/{place}")
    await expect(stage(ann)).to_be_visible()
    good = tmp_path / "good.excalidraw"
    shape = {"type": "rectangle", "id": "r", "x": 0, "y": 0, "width": 200, "height": 100}
    words = {"type": "text", "id": "t", "containerId": "r", "text": "<script>alert(1)</script>"}
    label = {**words, "x": 10, "y": 10, "width": 100, "height": 20}
    good.write_text(json.dumps({"type": "excalidraw", "elements": [shape, label]}))
    field = ann.page.get_by_test_id("import-board")
    await field.set_input_files(good)
    await expect(ann.page.get_by_test_id("notice")).to_contain_text("1 thing imported")
    bad = tmp_path / "bad.excalidraw"
    bad.write_text('{"type": "excalidraw", "elements": [{"type": "rectangle", "x": 1e300}]}')
    await field.set_input_files(bad)
    await expect(ann.page.get_by_test_id("notice")).to_contain_text("Thing 1 of the file")
    for kind in ("svg", "png", "excalidraw", "json"):
        await ann.page.get_by_test_id("board-menu").click()
        async with ann.page.expect_download() as coming:
            await ann.page.get_by_test_id(f"export-{kind}").click()
        found = await coming.value
        assert found.suggested_filename == f"Files.{kind}"
        path = tmp_path / found.suggested_filename
        await found.save_as(path)
        content = path.read_bytes()
        assert len(content) > 100
        assert b"<script" not in content or kind in ("excalidraw", "json")


async def test_a_board_fits_the_screen_and_axe_finds_nothing(cluster: Cluster, tabs: Tabs) -> None:
    a, b = cluster.nodes["a"].url, cluster.nodes["b"].url
    ann = await tabs.open("about:blank", "Ann")
    place = await create_place(ann, a, "Looks")
    bob = await open_board(tabs, b, place, "Bob with a long name")
    await take(bob, "frame")
    await drag(bob, (300, 200), (900, 640))
    await bob.press("Enter")
    await bob.type("Retrospective")
    await bob.press("Enter")
    notes = {
        (430, 330): "Went well: the order held",
        (660, 330): "Slow builds",
        (430, 540): "Write it down",
    }
    for at, text in notes.items():
        await take(bob, "sticky")
        await bob.page.mouse.click(*at)
        await bob.page.get_by_test_id("write").fill(text)
        await bob.press("Escape")
    await take(bob, "diamond")
    await drag(bob, (980, 250), (1140, 370))
    await bob.press("Enter")
    await bob.type("Ship?")
    await bob.press("Escape")
    await take(bob, "ellipse")
    await drag(bob, (980, 480), (1160, 590))
    await take(bob, "arrow")
    await drag(bob, (1060, 310), (1070, 530))
    await take(bob, "ink")
    await drag(bob, (720, 560), (860, 480))
    await bob.press("v")
    await bob.saved()
    await bob.page.mouse.move(700, 420)
    for width, scheme in SIZES:
        for face in ("board", "list"):
            await ann.resize(width, scheme)
            await ann.page.goto(f"{a}/p/{place}")
            await ann.page.get_by_test_id(f"face-{face}").click()
            if face == "board":
                await expect(ann.page.get_by_test_id("pointer")).to_have_count(1)
                await expect(stage(ann)).to_have_attribute("data-things", "8")
                await ann.page.get_by_test_id("fit").click()
                await stage(ann).focus()
                await ann.press("Control+a")
                await expect(ann.page.get_by_test_id("style-bar")).to_be_visible()
            else:
                await expect(ann.page.get_by_test_id("thing")).to_have_count(8)
            await ann.screenshot(f"board-{face}-{width}-{scheme}")
            await fits(ann)
            assert await violations(ann) == ""
            assert await ann.page.evaluate(MOVING) == 0


async def test_a_board_that_is_not_there_says_so(cluster: Cluster, tabs: Tabs) -> None:
    tab = await tabs.open(f"{cluster.nodes['a'].url}/p/nothing-here")
    await expect(tab.page.get_by_test_id("gone")).to_contain_text("There is no board")
    assert await violations(tab) == ""


async def test_a_board_is_made_beside_documents_and_opened_from_the_list(
    cluster: Cluster, tabs: Tabs
) -> None:
    tab = await tabs.open(cluster.nodes["a"].url, "Ann")
    await tab.page.get_by_test_id("new-board").click()
    await expect(stage(tab)).to_be_visible()
    await tab.page.get_by_test_id("title").fill("From the list")
    await tab.press("Enter")
    await tab.saved()
    address = tab.page.url
    assert "/p/" in address
    await tab.page.goto(cluster.nodes["b"].url)
    await tab.page.get_by_role("link", name="From the list").click()
    await expect(stage(tab)).to_be_visible()
    assert tab.page.url.rpartition("/")[2] == address.rpartition("/")[2]


async def test_one_brings_everyone_here_and_they_go_or_stay(cluster: Cluster, tabs: Tabs) -> None:
    a, b = cluster.nodes["a"].url, cluster.nodes["b"].url
    ann = await tabs.open("about:blank", "Ann")
    place = await create_place(ann, a, "Calls")
    await ann.page.goto(f"{a}/p/{place}")
    await take(ann, "rectangle")
    await drag(ann, (400, 300), (520, 380))
    await ann.saved()
    bob = await open_board(tabs, b, place, "Bob")
    await ann.page.mouse.move(900, 700)
    await ann.page.mouse.wheel(6_000, 4_000)
    await take(ann, "ellipse")
    await drag(ann, (700, 300), (820, 380))
    await ann.saved()
    await expect(bob.page.locator('[data-testid=pointer][data-name="Ann"]')).to_have_count(0)

    await ann.page.get_by_test_id("people-button").click()
    await ann.page.get_by_test_id("bring-everyone").click()
    await expect(ann.page.get_by_test_id("notice")).to_contain_text("The others are asked")
    called = bob.page.get_by_test_id("called")
    await expect(called).to_contain_text("Ann asks you to come to where they are.")
    for width, scheme in SIZES:
        await bob.resize(width, scheme)
        await bob.screenshot(f"board-called-{width}-{scheme}")
        await fits(bob)
    await bob.resize(1280, "light")
    assert await violations(bob) == ""
    await called.get_by_role("button", name="Go there").click()
    await expect(called).to_have_count(0)
    await ann.page.mouse.move(760, 340)
    await expect(bob.page.locator('[data-testid=pointer][data-name="Ann"]')).to_be_visible()
    # Who is asked again at once is not asked: a node has people wait between two calls.
    await ann.page.get_by_test_id("people-button").click()
    await expect(ann.page.get_by_test_id("bring-everyone")).to_be_disabled()


async def hold_cells(tab: BrowserTab, place: str) -> Callable[[], None]:
    """From the first cell on the page hears nothing until what this gives is called."""
    held: list[tuple[WebSocketRoute, str | bytes]] = []
    has_come = False
    cell = f"place/{place}/r".encode()

    def relay(route: WebSocketRoute) -> None:
        def pass_on(data: str | bytes) -> None:
            is_cell = isinstance(data, bytes) and cell in data
            if not has_come and (held or is_cell):
                held.append((route, data))
            else:
                route.send(data)

        route.connect_to_server().on_message(pass_on)

    def let_come() -> None:
        nonlocal has_come
        has_come = True
        for route, data in held:
            route.send(data)

    await tab.page.route_web_socket("**/ws", relay)
    return let_come


async def test_what_is_drawn_before_the_place_has_come_does_not_move_the_view(
    cluster: Cluster, tabs: Tabs
) -> None:
    a = cluster.nodes["a"].url
    ann = await tabs.open("about:blank", "Ann")
    place = await create_place(ann, a, "Early")
    let_come = await hold_cells(ann, place)
    await ann.page.goto(f"{a}/p/{place}")
    await take(ann, "rectangle")
    await drag(ann, (400, 300), (520, 380))
    await take(ann, "ellipse")
    await drag(ann, (700, 300), (820, 380))
    let_come()
    await ann.saved()
    await take(ann, "arrow")
    await drag(ann, (460, 340), (760, 340))
    await ann.saved()
    await show_list(ann)
    await expect(ann.page.locator("[data-kind=arrow]")).to_contain_text("from Rectangle to Ellipse")


async def test_what_is_pasted_or_zoomed_before_the_place_has_come_does_not_move_the_view(
    cluster: Cluster, tabs: Tabs
) -> None:
    a, b = cluster.nodes["a"].url, cluster.nodes["b"].url
    ann = await tabs.open("about:blank", "Ann")
    place = await create_place(ann, a, "Early words")
    bob = await open_board(tabs, b, place, "Bob")
    await take(bob, "rectangle")
    await drag(bob, (900, 600), (1000, 700))
    await bob.saved()
    percent = ann.page.get_by_test_id("zoom")
    for act in ("paste", "zoom"):
        let_come = await hold_cells(ann, place)
        await ann.page.goto(f"{a}/p/{place}")
        await expect(stage(ann)).to_be_visible()
        await stage(ann).focus()
        if act == "paste":
            await ann.paste("early")
        else:
            await ann.press("+")
            await expect(percent).not_to_have_text("100%")
        before = await percent.inner_text()
        let_come()
        await ann.saved()
        await expect(stage(ann)).to_have_attribute("data-things", "2")
        assert await percent.inner_text() == before, act
        await ann.page.unroute_all()


async def test_a_board_is_duplicated_from_its_row_with_all_its_things(
    cluster: Cluster, tabs: Tabs
) -> None:
    a, b = cluster.nodes["a"].url, cluster.nodes["b"].url
    ann = await tabs.open("about:blank", "Ann")
    place = await create_place(ann, a, "Twice")
    await ann.page.goto(f"{a}/p/{place}")
    await take(ann, "rectangle")
    await drag(ann, (400, 300), (520, 380))
    await take(ann, "ellipse")
    await drag(ann, (700, 300), (820, 380))
    await take(ann, "arrow")
    await drag(ann, (460, 340), (760, 340))
    await ann.saved()
    await ann.page.goto(b)
    row = ann.page.get_by_test_id("file").filter(has_text="Twice")
    await row.get_by_test_id("file-menu").click()
    await ann.page.get_by_test_id("do-duplicate").click()
    await ann.page.get_by_role("link", name="Copy of Twice").click()
    await show_list(ann)
    await expect(ann.page.get_by_test_id("thing")).to_have_count(3)
    await expect(ann.page.locator("[data-kind=arrow]")).to_contain_text("from Rectangle to Ellipse")
    assert ann.page.url.rpartition("/")[2] != place
