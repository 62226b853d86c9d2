"""A room that people share: they walk, carry, switch lamps; and what there is without a picture."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Locator, async_playwright, expect

from tests.end_to_end.browser import LIMIT_MS, BrowserTab, Tabs
from tests.end_to_end.cluster import Cluster, eventually
from tests.end_to_end.flags import FLAGS
from tests.end_to_end.scrolling import TWO_FRAMES
from tests.end_to_end.test_browser_axe import violations
from tests.end_to_end.test_browser_board import create_place, drag, stage
from tests.end_to_end.test_browser_looks import MOVING, SIZES, fits

pytestmark = [
    pytest.mark.browser,
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.asyncio(loop_scope="session"),
]

METRE = 6_400
DRAWN_LIMIT_MS = 60_000
"""Pictures are drawn by the processor, which may have much else to do."""
NUMBER = re.compile(r"^-?\d+$")
DRAWN = (
    *("--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"),
    *("--disable-accelerated-2d-canvas", "--disable-gpu-rasterization"),
)
"""Has Chromium draw in three dimensions without a graphics card, and all else as without one: by
itself it has letters and shadows drawn in three dimensions, too."""
UNDRAWN = ("--disable-3d-apis",)
LOSE = """() => {
  const canvas = document.querySelector("[data-testid=room] canvas");
  window.losing = canvas.getContext("webgl2").getExtension("WEBGL_lose_context");
  window.losing.loseContext();
}"""
COUNT_FRAMES = """() => new Promise((resolve) => {
  const native = window.requestAnimationFrame;
  let [asked, left] = [0, 20];
  window.requestAnimationFrame = (act) => { asked += 1; return native.call(window, act); };
  const next = () => {
    left -= 1;
    if (left > 0) return native.call(window, next);
    window.requestAnimationFrame = native;
    resolve(asked);
  };
  next();
})"""
"""How many frames the page asks for in 20 that are drawn, however long these take."""
COLOURS = """() => new Promise((resolve) => {
  const stage = document.querySelector("[data-testid=room]");
  // A key has a frame drawn; in the same frame, behind that, the picture can be read.
  stage.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
  requestAnimationFrame(() => {
    const copy = document.createElement("canvas");
    [copy.width, copy.height] = [64, 64];
    const context = copy.getContext("2d");
    context.drawImage(stage.querySelector("canvas"), 0, 0, 64, 64);
    const { data } = context.getImageData(0, 0, 64, 64);
    const found = new Set();
    for (let at = 0; at < data.length; at += 4) found.add(data.slice(at, at + 3).join());
    resolve(found.size);
  });
})"""
"""How many colours the picture has."""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def drawing(chromium_path: Path) -> AsyncIterator[Browser]:
    """A browser that draws in three dimensions."""
    expect.set_options(timeout=DRAWN_LIMIT_MS)
    async with async_playwright() as playwright:
        flags = [flag for flag in FLAGS if flag != "--disable-gpu"]
        browser = await playwright.chromium.launch(
            executable_path=chromium_path, args=[*flags, *DRAWN]
        )
        yield browser
        await browser.close()
    expect.set_options(timeout=LIMIT_MS)


@pytest_asyncio.fixture(loop_scope="session")
async def rooms(drawing: Browser) -> AsyncIterator[Tabs]:
    """Tabs of that browser."""
    tabs = Tabs(drawing, DRAWN_LIMIT_MS)
    yield tabs
    await tabs.close()
    tabs.check()


def thing(kind: str, name: str, x: float, y: float, **more: object) -> dict[str, object]:
    """A thing whose middle is in metres, a metre wide and deep."""
    size: dict[str, object] = {"width": METRE, "height": METRE}
    return {"id": name, "kind": kind, "x": round(x * METRE), "y": round(y * METRE), **size, **more}


async def put(tab: BrowserTab, url: str, place: str, *things: dict[str, object]) -> None:
    """Put things through a node."""
    answer = await tab.page.request.post(
        f"{url}/api/v1/places/{place}/things",
        data={"things": list(things)},
        headers={"Origin": url},
    )
    assert answer.status == 201, await answer.text()


def room(tab: BrowserTab) -> Locator:
    """The picture, and what has the keys."""
    return tab.page.get_by_test_id("room")


async def walk_in(tabs: Tabs, url: str, place: str, name: str) -> BrowserTab:
    """A tab in the room: a small one, as each of its pixels is drawn by the processor here."""
    tab = await tabs.open(f"{url}/p/{place}", name)
    await tab.page.set_viewport_size({"width": 900, "height": 600})
    await tab.page.get_by_test_id("face-room").click()
    await expect(room(tab)).to_have_attribute("data-x", NUMBER)
    return tab


async def spot(tab: BrowserTab) -> tuple[int, int]:
    """Where the person stands."""
    x = await room(tab).get_attribute("data-x")
    y = await room(tab).get_attribute("data-y")
    assert x is not None
    assert y is not None
    return int(x), int(y)


async def people(tab: BrowserTab) -> dict[str, tuple[int, int, bool]]:
    """The others as this page shows them: where, and whether they are on the board."""
    found = json.loads(await room(tab).get_attribute("data-people") or "[]")
    return {name: (x, y, is_on_board) for name, x, y, is_on_board in found}


async def steps(tab: BrowserTab, key: str, count: int) -> None:
    """Take so many steps: little motion is wanted, so each key is one."""
    await room(tab).focus()
    await tab.press(*[key] * count)


async def rests(tab: BrowserTab) -> None:
    """What stands still is not drawn again and again."""

    async def is_still() -> bool:
        return int(await tab.page.evaluate(COUNT_FRAMES)) <= 3

    await eventually(is_still, "no frames are asked for")


async def stand_before(tab: BrowserTab, name: str, key: str = "ArrowUp") -> None:
    """Walk until this is in front, or reached by Tab."""
    await room(tab).focus()
    front = tab.page.get_by_test_id("in-front").filter(has_text=name)
    for _ in range(30):
        if await front.count() > 0:
            return
        await tab.press(key)
        await tab.page.evaluate(TWO_FRAMES)
    await expect(front).to_be_visible()


async def test_two_people_at_two_nodes_see_each_other_walk(cluster: Cluster, rooms: Tabs) -> None:
    a, b = cluster.nodes["a"].url, cluster.nodes["b"].url
    ann = await rooms.open("about:blank", "Ann")
    place = await create_place(ann, a, "Walks")
    await put(ann, a, place, thing("furniture", "table", 0, 0))
    ann = await walk_in(rooms, a, place, "Ann")
    bob = await walk_in(rooms, b, place, "Bob")

    async def sees(one: BrowserTab, name: str, other: BrowserTab) -> None:
        async def is_there() -> bool:
            return (await people(one)).get(name) == (*await spot(other), False)

        await eventually(is_there, f"{name} is shown where they stand")

    await sees(ann, "Bob", bob)
    x, _ = await spot(ann)
    await steps(ann, "ArrowRight", 3)
    await steps(ann, "ArrowUp", 6)
    await expect(room(ann)).not_to_have_attribute("data-x", str(x))
    await sees(bob, "Ann", ann)
    await steps(bob, "s", 4)
    await sees(ann, "Bob", bob)
    # Who goes to the board is a marker where they point.
    await bob.page.get_by_test_id("face-board").click()
    await bob.page.mouse.move(700, 500)

    async def is_on_board() -> bool:
        return (await people(ann)).get("Bob", (0, 0, False))[2]

    await eventually(is_on_board, "Bob is on the board")
    await bob.page.get_by_test_id("fit").click()
    await expect(bob.page.locator('[data-testid=pointer][data-name="Ann"]')).to_be_visible()
    await ann.screenshot("room-two-people")


async def test_a_note_is_carried_and_the_board_of_another_shows_it_there(
    cluster: Cluster, rooms: Tabs
) -> None:
    a, b = cluster.nodes["a"].url, cluster.nodes["b"].url
    ann = await rooms.open("about:blank", "Ann")
    place = await create_place(ann, a, "Carries")
    note = thing("sticky", "note", 0, 0, text="Buy milk")
    await put(ann, a, place, note)
    ann = await walk_in(rooms, a, place, "Ann")
    bob = await rooms.open(f"{b}/p/{place}", "Bob")
    await bob.page.get_by_test_id("face-list").click()
    row = bob.page.get_by_test_id("thing")
    await expect(row).to_contain_text("at 0, 0")

    front = ann.page.get_by_test_id("in-front")
    await stand_before(ann, "Sticky note “Buy milk”")
    await ann.press("g")
    await expect(front).to_contain_text("Put down")
    await steps(ann, "ArrowRight", 4)
    await steps(ann, "ArrowUp", 5)
    await ann.screenshot("room-carries")
    await expect(row).to_contain_text("at 0, 0")
    await ann.press("g")
    await expect(front).to_contain_text("Pick up")
    await ann.saved()
    await expect(row).not_to_contain_text("at 0, 0")
    await ann.page.get_by_test_id("undo").click()
    await expect(row).to_contain_text("at 0, 0")


async def test_a_lamp_is_switched_by_keys_and_others_see_it(cluster: Cluster, rooms: Tabs) -> None:
    a, b = cluster.nodes["a"].url, cluster.nodes["b"].url
    ann = await rooms.open("about:blank", "Ann")
    place = await create_place(ann, a, "Lamps")
    lamp = thing("light", "lamp", 0, 0, props={"on": False})
    await put(ann, a, place, lamp, thing("switch", "switch", 2, 0, links=["lamp"]))
    ann = await walk_in(rooms, a, place, "Ann")
    bob = await walk_in(rooms, b, place, "Bob")
    await room(ann).focus()
    front = ann.page.get_by_test_id("in-front")
    await stand_before(ann, "Switch", "Tab")
    await expect(front).to_contain_text("off")
    await ann.press("Enter")
    await expect(front).to_contain_text("on")
    await expect(ann.page.get_by_test_id("room-said")).to_contain_text("Switch, on")
    await bob.page.get_by_test_id("face-list").click()
    await expect(bob.page.locator("[data-kind=light]")).to_contain_text("on")


async def test_words_are_heard_by_who_is_near_at_another_node_and_not_by_who_is_quiet(
    cluster: Cluster, rooms: Tabs
) -> None:
    a, b = cluster.nodes["a"].url, cluster.nodes["b"].url
    ann = await rooms.open("about:blank", "Ann")
    place = await create_place(ann, a, "Words")
    await put(ann, a, place, thing("furniture", "table", 0, 0))
    ann = await walk_in(rooms, a, place, "Ann")
    bob = await walk_in(rooms, b, place, "Bob")
    heard = [one.page.get_by_test_id("overheard") for one in (ann, bob)]
    await room(ann).focus()
    await ann.press("t")
    await expect(ann.page.get_by_test_id("say-who")).to_contain_text("1 person is in earshot")
    await ann.page.keyboard.type("Shall we begin?")
    for width, scheme in SIZES:
        await ann.resize(width, scheme)
        await ann.screenshot(f"room-says-{width}-{scheme}")
        await fits(ann)
        assert await violations(ann) == ""
    await ann.press("Enter")
    await expect(heard[1]).to_contain_text("Ann: Shall we begin?")
    await expect(heard[0]).to_contain_text("You: Shall we begin?")
    await bob.screenshot("room-hears")
    await ann.screenshot("room-said")
    await expect(room(ann)).to_be_focused()
    await room(bob).focus()
    await bob.press("h")
    await expect(heard[0]).to_contain_text("Bob waves.")
    await expect(heard[0]).to_have_text("")  # nothing is kept
    await bob.press("t")
    await bob.page.get_by_test_id("nimbus-quiet").press("Space")
    await bob.press("Escape")
    for _ in range(30):
        if float((await spot(bob))[1]) - float((await spot(ann))[1]) > 4 * 6400:
            break
        await steps(bob, "ArrowDown", 1)
    await ann.press("t")
    await expect(ann.page.get_by_test_id("say-who")).to_contain_text("Nobody is in earshot")
    await ann.page.keyboard.type("Bob?")
    await ann.press("Enter")
    await expect(heard[0]).to_contain_text("You: Bob?")
    await ann.press("h")
    await expect(heard[0]).to_contain_text("You wave.")
    await expect(heard[1]).to_have_text("")


async def test_a_wall_shows_a_board_and_the_board_is_opened_there(
    cluster: Cluster, rooms: Tabs
) -> None:
    a = cluster.nodes["a"].url
    ann = await rooms.open("about:blank", "Ann")
    place = await create_place(ann, a, "Walls")
    await furnish(ann, a, place)
    ann = await walk_in(rooms, a, place, "Ann")
    front = ann.page.get_by_test_id("in-front")
    await stand_before(ann, "Slow builds")
    await stand_before(ann, "Frame", "Tab")
    await expect(front).to_contain_text("Lay on the floor")
    await ann.press("o")
    await expect(stage(ann)).to_be_visible()
    await ann.page.get_by_test_id("face-room").click()
    await expect(room(ann)).to_be_visible()
    await ann.page.reload()
    await expect(room(ann)).to_be_visible()


async def test_a_door_leads_into_the_room_of_another_place(cluster: Cluster, rooms: Tabs) -> None:
    a = cluster.nodes["a"].url
    ann = await rooms.open("about:blank", "Ann")
    garden = await create_place(ann, a, "Garden")
    place = await create_place(ann, a, "House")
    await put(ann, a, place, thing("door", "door", 0, 0, text="Out", props={"place": garden}))
    ann = await walk_in(rooms, a, place, "Ann")
    await stand_before(ann, "Door “Out”")
    await ann.press("Enter")
    await ann.page.wait_for_url(f"**/p/{garden}")
    await expect(room(ann)).to_be_visible()
    await expect(ann.page.get_by_test_id("title")).to_have_value("Garden")


async def furnish(tab: BrowserTab, url: str, place: str) -> None:
    """A room with all kinds of things."""
    wall: dict[str, object] = {"width": 8 * METRE, "height": 4 * METRE, "text": "Retrospective"}
    note: dict[str, object] = {"width": 2 * METRE, "height": 2 * METRE}
    await put(
        tab,
        url,
        place,
        thing("frame", "wall", 0, -4, props={"wall": True}, order=0, **wall),
        thing("sticky", "good", -2.4, -4, text="Went well: the order held", order=1, **note),
        thing("sticky", "slow", 0, -4, text="Slow builds", order=2, **note),
        thing("sticky", "next", 2.4, -4, text="Write it down", order=3, **note),
        thing("sticky", "floor", -4, 1, text="On the floor", style={"fill": "green"}, **note),
        thing("light", "lamp", -5.2, -3, props={"on": True}),
        thing("light", "dim", 5.2, -5, props={"on": False}),
        thing("switch", "switch", 3.6, 0, links=["lamp", "dim"]),
        thing("furniture", "table", 3.4, 2.4, props={"form": "table"}, width=2 * METRE),
        thing("furniture", "chair", 3.4, 3.9, props={"form": "chair"}),
        thing("furniture", "plant", -6.4, -5, props={"form": "plant"}),
        thing("furniture", "sofa", -4.4, 4, props={"form": "sofa"}, width=2 * METRE),
        thing("dice", "dice", 1.4, 1, props={"face": 5}, width=METRE // 2, height=METRE // 2),
        thing("ball", "ball", -1.6, 1.6, width=METRE // 2, height=METRE // 2),
        thing("token", "token", 0.4, 2, width=METRE // 2, height=METRE // 2),
        thing("door", "door", 6.4, -2, text="Garden", turn=90 * 64),
        thing("vote", "vote", -2.2, -0.4, text="Ship it?", props={"choices": 2}),
        thing("timer", "timer", 2.2, -0.6, props={"seconds": 300}),
    )


async def test_a_room_fits_the_screen_and_axe_finds_nothing(cluster: Cluster, rooms: Tabs) -> None:
    a, b = cluster.nodes["a"].url, cluster.nodes["b"].url
    ann = await rooms.open("about:blank", "Ann")
    place = await create_place(ann, a, "Room looks")
    await furnish(ann, a, place)
    bob = await walk_in(rooms, b, place, "Bob with a long name")
    await steps(bob, "ArrowUp", 3)
    await steps(bob, "ArrowRight", 7)
    for width, scheme in SIZES:
        await ann.resize(width, scheme)
        await ann.page.goto(f"{a}/p/{place}")
        await ann.page.get_by_test_id("face-room").click()
        await expect(room(ann)).to_have_attribute("data-things", "18")
        await steps(ann, "ArrowUp", 2)
        await expect(ann.page.get_by_test_id("in-front")).to_be_visible()
        assert await ann.page.evaluate(COLOURS) > 20
        await ann.screenshot(f"room-{width}-{scheme}")
        await fits(ann)
        assert await violations(ann) == ""
        assert await ann.page.evaluate(MOVING) == 0
        await ann.page.get_by_test_id("near").click()
        await expect(ann.page.get_by_test_id("near-list")).to_be_visible()
        await ann.screenshot(f"room-near-{width}-{scheme}")
        await fits(ann)
        assert await violations(ann) == ""
        await ann.page.get_by_test_id("near").click()
    await expect(ann.page.get_by_test_id("near-list")).to_have_count(0)
    await rests(ann)


async def test_one_walks_by_keys_and_presses_and_the_picture_comes_to_rest(
    cluster: Cluster, rooms: Tabs
) -> None:
    a = cluster.nodes["a"].url
    ann = await rooms.open("about:blank", "Ann")
    place = await create_place(ann, a, "Smooth")
    await put(ann, a, place, thing("light", "lamp", 0, 0, props={"on": False}))
    await ann.page.emulate_media(reduced_motion="no-preference")
    await ann.page.goto(f"{a}/p/{place}")
    await ann.page.get_by_test_id("face-room").click()
    await expect(room(ann)).to_have_attribute("data-x", NUMBER)
    _, before = await spot(ann)
    await room(ann).focus()
    await ann.page.keyboard.down("ArrowDown")

    async def has_gone() -> bool:
        return (await spot(ann))[1] > before + 2 * METRE

    await eventually(has_gone, "one walks while the key is down")
    await ann.page.keyboard.up("ArrowDown")
    await rests(ann)
    _, there = await spot(ann)
    # A press on the floor before one goes there.
    await ann.page.mouse.click(640, 420)

    async def has_come() -> bool:
        return (await spot(ann))[1] < there - METRE

    await eventually(has_come, "one goes to where one has pressed")
    await rests(ann)
    # A drag looks around.
    heading = await room(ann).get_attribute("data-heading")
    await drag(ann, (640, 300), (840, 300))
    await expect(room(ann)).not_to_have_attribute("data-heading", heading or "")


async def test_on_a_telephone_a_stick_is_for_the_thumb(cluster: Cluster, drawing: Browser) -> None:
    a = cluster.nodes["a"].url
    context = await drawing.new_context(
        viewport={"width": 390, "height": 800}, has_touch=True, is_mobile=True, locale="en-GB"
    )
    tab = BrowserTab(await context.new_page())
    await tab.page.goto(a)
    place = await create_place(tab, a, "Thumb")
    await furnish(tab, a, place)
    await tab.page.goto(f"{a}/p/{place}")
    await tab.page.get_by_test_id("face-room").tap()
    await expect(room(tab)).to_have_attribute("data-x", NUMBER)
    stick = tab.page.get_by_test_id("stick")
    await expect(stick).to_be_visible()
    _, before = await spot(tab)
    box = await stick.bounding_box()
    assert box is not None
    middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    mouse = tab.page.mouse
    await mouse.move(*middle)
    await mouse.down()
    await mouse.move(middle[0], middle[1] - 40)

    async def has_gone() -> bool:
        return (await spot(tab))[1] < before - METRE

    await eventually(has_gone, "one walks while the stick is pushed")
    await mouse.up()
    await rests(tab)
    await expect(tab.page.get_by_test_id("in-front")).to_be_visible()
    await tab.screenshot("room-telephone")
    await fits(tab)
    assert await violations(tab) == ""
    tab.check()
    await context.close()


async def test_a_picture_that_the_card_loses_comes_back(cluster: Cluster, rooms: Tabs) -> None:
    a = cluster.nodes["a"].url
    ann = await rooms.open("about:blank", "Ann")
    place = await create_place(ann, a, "Lost")
    await furnish(ann, a, place)
    ann = await walk_in(rooms, a, place, "Ann")
    await ann.page.evaluate(LOSE)
    await expect(ann.page.get_by_test_id("no-room")).to_contain_text("was lost")
    await ann.page.evaluate("() => window.losing.restoreContext()")
    await expect(ann.page.get_by_test_id("no-room")).to_have_count(0)

    async def is_drawn() -> bool:
        return int(await ann.page.evaluate(COLOURS)) > 20

    await eventually(is_drawn, "the room is drawn again")


async def test_without_webgl_the_page_says_so_and_offers_the_other_faces(
    cluster: Cluster, chromium_path: Path
) -> None:
    a = cluster.nodes["a"].url
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=chromium_path, args=[*FLAGS, *UNDRAWN]
        )
        tabs = Tabs(browser)
        ann = await tabs.open("about:blank", "Ann")
        place = await create_place(ann, a, "Without")
        for width, scheme in SIZES:
            await ann.resize(width, scheme)
            await ann.page.goto(f"{a}/p/{place}")
            await ann.page.get_by_test_id("face-room").click()
            said = ann.page.get_by_test_id("no-room")
            await expect(said).to_contain_text("This browser cannot draw the room")
            await ann.screenshot(f"room-without-{width}-{scheme}")
            await fits(ann)
            assert await violations(ann) == ""
        await ann.page.get_by_test_id("to-list").click()
        await expect(ann.page.get_by_test_id("list-face")).to_be_visible()
        await tabs.close()
        tabs.check()
        await browser.close()
