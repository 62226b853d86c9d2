"""Things that act on a board: lamps, dice, votes, timers, doors, by mouse, by keys, in the list."""

from __future__ import annotations

import re

import pytest
from playwright.async_api import Locator, expect

from tests.end_to_end.browser import BrowserTab, Tabs
from tests.end_to_end.cluster import Cluster
from tests.end_to_end.test_browser_axe import violations
from tests.end_to_end.test_browser_board import create_place, open_board, show_list, stage
from tests.end_to_end.test_browser_looks import MOVING, SIZES, fits

pytestmark = [
    pytest.mark.browser,
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.asyncio(loop_scope="session"),
]

UNIT = 64


Fields = dict[str, object]


def thing(id_: str, kind: str, x: int, y: int, width: int, height: int, **more: object) -> Fields:
    """A thing as the API takes it, in pixels."""
    size = {"x": x, "y": y, "width": width, "height": height}
    return {"id": id_, "kind": kind, **{key: value * UNIT for key, value in size.items()}, **more}


LAMP = thing("lamp", "light", 0, 0, 88, 88, text="Desk lamp", props={"on": False})
SWITCH = thing("switch", "switch", 160, 0, 64, 104, props={"on": False}, links=["lamp"])
DIE = thing("die", "dice", 300, 0, 80, 80, props={"faces": 6})
VOTE = thing(
    "vote",
    "vote",
    560,
    30,
    280,
    205,
    text="Lunch?",
    props={"choices": 3, "labels": "Pizza\nSoup\nRice"},
)
TIMER = thing("timer", "timer", 0, 220, 184, 148, text="Tea", props={"seconds": 2})


async def put_things(tab: BrowserTab, url: str, place: str, things: list[Fields]) -> None:
    """Things put over HTTP."""
    answer = await tab.page.request.post(
        f"{url}/api/v1/places/{place}/things", data={"things": things}, headers={"Origin": url}
    )
    assert answer.status == 201, await answer.text()


async def two(
    cluster: Cluster, tabs: Tabs, title: str, things: list[Fields]
) -> tuple[BrowserTab, BrowserTab, str]:
    """Ann and Bob at two nodes before a place with these things."""
    a, b = cluster.nodes["a"].url, cluster.nodes["b"].url
    ann = await tabs.open("about:blank", "Ann")
    place = await create_place(ann, a, title)
    await put_things(ann, a, place, things)
    await ann.page.goto(f"{a}/p/{place}")
    bob = await open_board(tabs, b, place, "Bob")
    for tab in (ann, bob):
        await expect(stage(tab)).to_have_attribute("data-things", str(len(things)))
    return ann, bob, place


def row(tab: BrowserTab, id_: str) -> Locator:
    """A thing of the list."""
    return tab.page.locator(f'[data-thing="{id_}"]')


def state(tab: BrowserTab, id_: str) -> Locator:
    """How a thing of the list stands."""
    return row(tab, id_).get_by_test_id("thing-state")


def deed(tab: BrowserTab, id_: str, number: int = 0) -> Locator:
    """A button of a thing of the list."""
    return row(tab, id_).get_by_test_id("deed").nth(number)


async def press_on(tab: BrowserTab, id_: str, share: float = 0.5) -> None:
    """A press on a thing of the board: where it lies, from its upper edge to its lower one."""
    seen = await tab.page.request.get(f"{tab.page.url.replace('/p/', '/api/v1/places/')}")
    things = {one["id"]: one for one in (await seen.json())["things"]}
    boxes = [
        (one["x"] - one["width"] / 2, one["y"] - one["height"] / 2, one["width"], one["height"])
        for one in things.values()
    ]
    left, top = min(box[0] for box in boxes), min(box[1] for box in boxes)
    right = max(box[0] + box[2] for box in boxes)
    bottom = max(box[1] + box[3] for box in boxes)
    await stage(tab).focus()
    await tab.press("Shift+Digit1")
    area = await stage(tab).bounding_box()
    assert area is not None
    wide, high = area["width"] - 96, area["height"] - 196
    zoom = min(1.0, wide / ((right - left) / UNIT), high / ((bottom - top) / UNIT)) / UNIT
    middle = area["x"] + area["width"] / 2, area["y"] + area["height"] / 2 + (120 - 76) / 2
    x = middle[0] + (things[id_]["x"] - (left + right) / 2) * zoom
    y = middle[1] + (things[id_]["y"] - (top + bottom) / 2) * zoom
    down = (share - 0.5) * things[id_]["height"] * zoom
    await tab.page.mouse.click(x, y + down)


async def test_a_switch_lights_its_lamp_for_everybody(cluster: Cluster, tabs: Tabs) -> None:
    ann, bob, _ = await two(cluster, tabs, "Lamps", [LAMP, SWITCH])
    await show_list(bob)
    await expect(state(bob, "lamp")).to_have_text("off")
    await expect(state(bob, "switch")).to_have_text("off, lights 1 lamp")
    await stage(ann).focus()
    await ann.press("Shift+Digit1")
    await press_on(ann, "switch")
    await expect(ann.page.get_by_test_id("settings")).to_be_visible()
    await ann.screenshot("acting-wires")
    await ann.saved()
    await expect(state(bob, "switch")).to_have_text("on, lights 1 lamp")
    await expect(state(bob, "lamp")).to_have_text("on")
    await deed(bob, "switch").click()
    await expect(state(bob, "lamp")).to_have_text("off")
    said = bob.page.get_by_test_id("changes-said")
    await expect(said).to_have_text("Switch: off, lights 1 lamp.")
    await show_list(ann)
    await expect(state(ann, "lamp")).to_have_text("off")


async def test_a_die_falls_the_same_for_all_and_votes_are_counted(
    cluster: Cluster, tabs: Tabs
) -> None:
    ann, bob, _ = await two(cluster, tabs, "Games", [DIE, VOTE])
    for tab in (ann, bob):
        await show_list(tab)
        await expect(state(tab, "die")).to_have_text("not rolled yet")
    await deed(ann, "die").click()
    await expect(state(ann, "die")).to_have_text(re.compile(r"shows [1-6]"))
    face = await state(ann, "die").inner_text()
    await expect(state(bob, "die")).to_have_text(face)
    await expect(ann.page.get_by_test_id("changes-said")).to_have_text(f"Die: {face}.")

    await deed(ann, "vote", 0).click()
    await deed(bob, "vote", 0).click()
    await expect(state(ann, "vote")).to_have_text("Pizza: 2, Soup: 0, Rice: 0, you chose Pizza")
    await deed(bob, "vote", 2).click()
    await expect(state(ann, "vote")).to_have_text("Pizza: 1, Soup: 0, Rice: 1, you chose Pizza")
    await expect(state(bob, "vote")).to_have_text("Pizza: 1, Soup: 0, Rice: 1, you chose Rice")
    await expect(deed(bob, "vote", 2)).to_have_attribute("aria-pressed", "true")
    await ann.saved()
    # The vote stays one's own behind a reload, and can be taken back.
    await ann.page.reload()
    await expect(state(ann, "vote")).to_have_text("Pizza: 1, Soup: 0, Rice: 1, you chose Pizza")
    await deed(ann, "vote", 0).click()
    await expect(state(bob, "vote")).to_have_text("Pizza: 0, Soup: 0, Rice: 1, you chose Rice")


async def test_things_are_pressed_on_the_board(cluster: Cluster, tabs: Tabs) -> None:
    ball = thing("ball", "ball", 900, 0, 48, 48)
    ann, bob, _ = await two(cluster, tabs, "Presses", [LAMP, DIE, VOTE, ball])
    await show_list(bob)
    await press_on(ann, "lamp")
    await expect(state(bob, "lamp")).to_have_text("on")
    await press_on(ann, "vote", 0.36)
    await expect(state(bob, "vote")).to_have_text("Pizza: 1, Soup: 0, Rice: 0")
    await press_on(ann, "die")
    await expect(state(bob, "die")).to_have_text(re.compile(r"shows [1-6]"))
    before = await row(bob, "ball").locator(".thing-details").inner_text()
    await press_on(ann, "ball")
    await expect(state(bob, "ball")).to_have_text("rolls")
    await expect(row(bob, "ball").locator(".thing-details")).not_to_have_text(before)
    # A press on the question of a vote only selects it.
    await stage(ann).focus()
    await ann.press("Escape")
    await press_on(ann, "vote", 0.12)
    await expect(ann.page.get_by_test_id("deeds")).to_be_visible()
    await expect(ann.page.get_by_test_id("thing-form")).to_have_count(0)
    await expect(state(bob, "vote")).to_have_text("Pizza: 1, Soup: 0, Rice: 0")
    await ann.press("Enter")
    await expect(ann.page.get_by_test_id("deed-1")).to_be_visible()
    await ann.page.get_by_test_id("deed-1").click()
    await expect(state(bob, "vote")).to_have_text("Pizza: 0, Soup: 1, Rice: 0")
    await ann.screenshot("acting-pressed")


async def test_a_timer_rings_for_everybody(cluster: Cluster, tabs: Tabs) -> None:
    ann, bob, _ = await two(cluster, tabs, "Timers", [TIMER])
    await show_list(ann)
    await deed(ann, "timer").click()
    await expect(state(ann, "timer")).to_have_text(re.compile(r"runs, 0:0[12] left"))
    for tab in (ann, bob):
        notice = tab.page.get_by_test_id("notice")
        await expect(notice).to_contain_text("Timer “Tea”: time is up.")
    await expect(state(ann, "timer")).to_have_text("rings")
    await bob.screenshot("acting-ringing")


async def test_a_door_opens_the_other_place_and_back(cluster: Cluster, tabs: Tabs) -> None:
    a = cluster.nodes["a"].url
    ann = await tabs.open("about:blank", "Ann")
    other = await create_place(ann, a, "The other room")
    here = await create_place(ann, a, "The first room")
    await ann.page.goto(f"{a}/p/{here}")
    await expect(stage(ann)).to_be_visible()
    await stage(ann).focus()
    await ann.press("m")
    await ann.page.get_by_test_id("make-door").click()
    await ann.page.mouse.click(640, 400)
    form = ann.page.get_by_test_id("thing-form")
    await expect(form.get_by_test_id("form-place")).to_be_enabled()
    await form.get_by_test_id("form-place").select_option(label="The other room")
    await ann.screenshot("acting-door-form")
    assert await violations(ann) == ""
    await form.get_by_test_id("form-save").click()
    await expect(form).to_have_count(0)
    await ann.saved()
    await ann.press("Enter")
    await expect(ann.page.get_by_test_id("title")).to_have_value("The other room")
    assert ann.page.url.rpartition("/")[2] == other
    await ann.page.go_back()
    await expect(ann.page.get_by_test_id("title")).to_have_value("The first room")
    await show_list(ann)
    await ann.page.get_by_test_id("thing").get_by_role("link", name="Go through").click()
    await expect(ann.page.get_by_test_id("title")).to_have_value("The other room")


async def test_absurd_things_of_others_open_nothing_and_break_nothing(
    cluster: Cluster, tabs: Tabs
) -> None:
    absurd = [
        thing("l", "link", 0, 0, 280, 84, props={"href": "javascript:document.title='bad'"}),
        thing("d", "door", 300, 0, 140, 184, props={"place": "../../admin"}),
        thing("f", "dice", 500, 0, 80, 80, props={"faces": 1_000_000_000, "face": -3}),
        thing("t", "timer", 0, 250, 184, 148, props={"due": 253_402_300_799_000}),
        thing("v", "vote", 400, 300, 280, 205, props={"choices": 1_000_000, "labels": "x"}),
        thing("b", "ball", 700, 300, 0, 0, props={"vx": "fast"}),
        thing("s", "switch", 700, 100, 64, 104, links=["gone", "s"], props={"on": "yes"}),
    ]
    ann, bob, _ = await two(cluster, tabs, "Absurd", absurd)
    await stage(ann).focus()
    await ann.press("Shift+Digit1")
    for _ in absurd:
        await ann.press("Tab")
        if await ann.page.get_by_test_id("deeds").count() == 0:
            await ann.press("Enter")
    await ann.screenshot("acting-absurd")
    await show_list(bob)
    assert await row(bob, "l").get_by_role("link").count() == 0
    assert await row(bob, "d").get_by_role("link").count() == 0
    await deed(bob, "l").click()
    await expect(bob.page.get_by_test_id("notice")).to_contain_text("The link has no address")
    await deed(bob, "f").click()
    await expect(bob.page.get_by_test_id("notice")).to_contain_text("2 to 1,000 faces")
    assert "Absurd" in await bob.page.title()
    assert len(bob.page.context.pages) == 1


async def test_things_that_act_are_worked_by_keys_alone_in_the_list(
    cluster: Cluster, tabs: Tabs
) -> None:
    a = cluster.nodes["a"].url
    ann = await tabs.open("about:blank", "Ann")
    place = await create_place(ann, a, "Acting by keys")
    await ann.page.goto(f"{a}/p/{place}")
    await stage(ann).focus()
    await ann.press("b")
    await expect(ann.page.get_by_test_id("list-face")).to_be_visible()
    for made, name in (("light", "Desk"), ("switch", "Wall")):
        await ann.page.get_by_test_id("add-more").focus()
        await ann.press("Enter")
        await ann.page.get_by_test_id(f"make-{made}").focus()
        await ann.press("Enter")
        await expect(ann.page.get_by_test_id("form-text")).to_be_focused()
        await ann.type(name)
        await ann.press("Enter")
        await expect(ann.page.locator(":focus")).to_contain_text(name)
    # The switch is selected; with the lamp it is connected.
    await ann.press("ArrowUp")
    focused = ann.page.locator(":focus")
    if "Desk" not in await focused.inner_text():
        await ann.press("ArrowDown")
    await ann.press("Space")
    await ann.page.get_by_test_id("wire").focus()
    await ann.press("Enter")
    lamp = ann.page.locator("[data-kind=light]")
    switch = ann.page.locator("[data-kind=switch]")
    await expect(switch).to_contain_text("lights 1 lamp")
    await switch.locator(".thing-row").focus()
    await ann.press("Enter")
    await expect(lamp.get_by_test_id("thing-state")).to_have_text("on")
    await ann.press("F2")
    await expect(ann.page.get_by_test_id("form-text")).to_be_focused()
    await ann.press("Escape")
    await expect(ann.page.locator(":focus")).to_contain_text("Wall")
    await ann.saved()
    assert await violations(ann) == ""


async def test_without_a_connection_a_lamp_waits_and_a_die_is_not_thrown(
    cluster: Cluster, tabs: Tabs
) -> None:
    ann, _, _ = await two(cluster, tabs, "Away", [LAMP, DIE])
    ann.expect_complaints("ERR_INTERNET_DISCONNECTED")
    await show_list(ann)
    await ann.page.context.set_offline(True)
    await expect(ann.badge).to_have_attribute("data-state", "offline")
    await deed(ann, "die").click()
    await expect(ann.page.get_by_test_id("notice")).to_contain_text("Without a connection")
    await deed(ann, "lamp").click()
    await expect(state(ann, "lamp")).to_have_text("on")
    await ann.page.context.set_offline(False)
    await ann.saved()
    await expect(state(ann, "lamp")).to_have_text("on")


GALLERY = [
    LAMP,
    thing("lit", "light", 130, 0, 88, 88, text="On", props={"on": True}),
    thing("switch", "switch", 260, 0, 64, 104, props={"on": True}, links=["lamp", "lit"]),
    thing("clock", "clock", 400, 0, 136, 136),
    thing("timer", "timer", 590, 0, 184, 148, text="Tea", props={"seconds": 300}),
    thing("die", "dice", 760, -30, 80, 80, props={"faces": 6, "face": 5}),
    thing("d20", "dice", 860, -30, 80, 80, props={"faces": 20, "face": 17}),
    thing("ball", "ball", 760, 60, 48, 48),
    thing("piece", "token", 860, 60, 72, 72, text="A", props={"up": True}),
    thing(
        "vote",
        "vote",
        60,
        230,
        280,
        205,
        text="Where do we have lunch on Friday?",
        props={"choices": 3, "labels": "Pizza\nSoup\nRice with a very long name indeed"},
    ),
    thing("card", "token", 290, 230, 104, 148, text="Queen", props={"up": True, "form": "card"}),
    thing("back", "token", 410, 230, 104, 148, text="King", props={"up": False, "form": "card"}),
    thing("door", "door", 560, 230, 140, 184, text="Kitchen", props={"place": "kitchen"}),
    thing("nowhere", "door", 720, 230, 140, 184),
    thing(
        "link",
        "link",
        60,
        410,
        280,
        84,
        text="Menu of the week",
        props={"href": "https://example.org/menu?week=48"},
    ),
    thing("table", "furniture", 330, 420, 200, 120, text="Table", props={"form": "table"}),
    thing("round", "furniture", 520, 420, 120, 120, props={"form": "round"}),
    thing("chair", "furniture", 630, 420, 64, 68, props={"form": "chair"}),
    thing("sofa", "furniture", 780, 400, 200, 92, props={"form": "sofa"}),
    thing("plant", "furniture", 920, 420, 84, 84, props={"form": "plant"}),
    thing("shelf", "furniture", 780, 490, 180, 44, props={"form": "shelf"}),
    thing("wall", "furniture", 450, 530, 900, 16, props={"form": "wall"}),
]


async def test_things_that_act_fit_the_screen_and_axe_finds_nothing(
    cluster: Cluster, tabs: Tabs
) -> None:
    a = cluster.nodes["a"].url
    ann, bob, place = await two(cluster, tabs, "Gallery", GALLERY)
    await show_list(bob)
    await deed(bob, "vote", 0).click()
    await deed(bob, "timer").click()
    await bob.saved()
    for width, scheme in SIZES:
        for face in ("board", "list"):
            await ann.resize(width, scheme)
            await ann.page.goto(f"{a}/p/{place}")
            await ann.page.get_by_test_id(f"face-{face}").click()
            if face == "board":
                await expect(stage(ann)).to_have_attribute("data-things", str(len(GALLERY)))
                await ann.page.get_by_test_id("fit").click()
                await ann.screenshot(f"acting-board-{width}-{scheme}")
                await ann.page.get_by_test_id("tool-more").click()
                await expect(ann.page.get_by_test_id("make-light")).to_be_visible()
                await ann.screenshot(f"acting-more-{width}-{scheme}")
                await fits(ann)
                assert await violations(ann) == ""
                await ann.page.get_by_test_id("make-vote").click()
                await ann.page.mouse.click(width // 2, 320)
                await expect(ann.page.get_by_test_id("form-choices")).to_be_visible()
                await ann.screenshot(f"acting-form-{width}-{scheme}")
                await fits(ann)
                assert await violations(ann) == ""
                await ann.page.get_by_test_id("form-text").press("Escape")
                await ann.press("Delete")
                await ann.saved()
            else:
                await expect(ann.page.get_by_test_id("thing")).to_have_count(len(GALLERY))
                await ann.screenshot(f"acting-list-{width}-{scheme}")
            await fits(ann)
            assert await violations(ann) == ""
            assert await ann.page.evaluate(MOVING) == 0
