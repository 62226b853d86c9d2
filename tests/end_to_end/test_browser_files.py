"""Folders, the trash and favourites in real tabs: by mouse, by keyboard, and while others look."""

from __future__ import annotations

import signal

import pytest
from playwright.async_api import Locator, expect

from tests.end_to_end.browser import BrowserTab, Scheme, Tabs
from tests.end_to_end.cluster import Cluster
from tests.end_to_end.test_browser_axe import violations

pytestmark = [
    pytest.mark.browser,
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.asyncio(loop_scope="session"),
]


def row(tab: BrowserTab, name: str) -> Locator:
    """A row of the list, by what it is called."""
    return tab.page.get_by_test_id("file").filter(has_text=name)


async def make_folder(tab: BrowserTab, name: str) -> None:
    await tab.page.get_by_test_id("new-folder").click()
    await tab.page.get_by_test_id("new-name").fill(name)
    await tab.press("Enter")
    await expect(row(tab, name)).to_be_visible()
    await expect(tab.page.get_by_test_id("new-name")).to_have_count(0)


async def choose(tab: BrowserTab, name: str, what: str) -> None:
    """Something of the menu of a row."""
    await row(tab, name).get_by_test_id("file-menu").click()
    await tab.page.get_by_test_id(f"do-{what}").click()


async def test_files_are_arranged_thrown_away_and_had_back_while_another_one_looks(
    cluster: Cluster, tabs: Tabs
) -> None:
    a, b = cluster.nodes["a"].url, cluster.nodes["b"].url
    one = await tabs.open(f"{a}/workspace/home")
    other = await tabs.open(f"{b}/workspace/home")
    await make_folder(one, "Tours 2027")
    await expect(row(other, "Tours 2027")).to_be_visible()

    # A document is made in the folder, and says where it is.
    await row(one, "Tours 2027").get_by_test_id("folder-link").click()
    await expect(one.page.get_by_role("heading", name="Tours 2027")).to_be_visible()
    await one.page.get_by_test_id("new-document").click()
    await one.loaded()
    await one.page.get_by_test_id("title").fill("Hotels of the tour")
    await one.saved()
    await expect(one.page.get_by_test_id("place")).to_contain_text("Tours 2027")
    await row(other, "Tours 2027").get_by_test_id("folder-link").click()
    await expect(row(other, "Hotels of the tour")).to_be_visible()

    # It is thrown away elsewhere: its page cannot be written in, and can again.
    await choose(other, "Hotels of the tour", "trash")
    await expect(other.page.get_by_test_id("toast")).to_contain_text("moved to the trash")
    await expect(one.page.get_by_test_id("trashed")).to_be_visible()
    await expect(one.page.get_by_test_id("title")).not_to_be_editable()
    await one.screenshot("document-in-trash")
    await other.page.get_by_test_id("undo").click()
    await expect(one.page.get_by_test_id("trashed")).to_have_count(0)
    await expect(one.page.get_by_test_id("title")).to_be_editable()

    # From its own page it is copied, liked, and moved.
    await one.page.get_by_test_id("star").click()
    await one.page.get_by_test_id("document-menu").click()
    await one.page.get_by_test_id("do-move").click()
    await one.page.get_by_label("Home (top)").check()
    await one.page.get_by_role("button", name="Move here").click()
    await expect(one.page.get_by_test_id("place")).not_to_contain_text("Tours 2027")
    await one.page.get_by_test_id("document-menu").click()
    await one.page.get_by_test_id("do-duplicate").click()
    await expect(one.page.get_by_test_id("title")).to_have_value("Copy of Hotels of the tour")
    await other.page.get_by_test_id("crumbs").get_by_role("link", name="Home").click()
    await expect(row(other, "Copy of Hotels of the tour")).to_be_visible()
    await one.page.goto(f"{a}/favourites")
    await expect(row(one, "Hotels of the tour")).to_have_count(1)
    await one.page.goto(f"{a}/recent")
    await expect(row(one, "Hotels of the tour")).to_have_count(2)

    # By mouse into the folder, and back.
    await one.page.goto(f"{a}/workspace/home")
    await row(one, "Copy of Hotels").drag_to(row(one, "Tours 2027"))
    await expect(row(one, "Copy of Hotels")).to_have_count(0)
    await one.page.get_by_test_id("undo").click()
    await expect(row(one, "Copy of Hotels")).to_be_visible()


async def test_files_are_done_with_by_keyboard_alone(cluster: Cluster, tabs: Tabs) -> None:
    node = cluster.nodes["c"].url
    tab = await tabs.open(f"{node}/workspace/home")
    await make_folder(tab, "Keys")
    await row(tab, "Keys").get_by_test_id("folder-link").press("Enter")
    await expect(tab.page.get_by_role("heading", name="Keys")).to_be_visible()
    for name in ("One", "Two", "Three"):
        await make_folder(tab, name)
    focused = tab.page.locator("a.file-link:focus")
    await row(tab, "Three").get_by_test_id("folder-link").focus()
    await tab.press("End", "Home")
    await tab.press("ArrowDown", "ArrowUp", "ArrowDown")
    await expect(focused).to_have_count(1)
    name = (await focused.inner_text()).split()[-1]
    left = next(one for one in ("One", "Two", "Three") if one != name)

    await tab.press("F2")
    await tab.page.get_by_test_id("new-name").fill("Renamed")
    await tab.press("Enter")
    await expect(row(tab, "Renamed")).to_be_visible()

    await row(tab, "Renamed").get_by_test_id("folder-link").focus()
    await tab.press("Shift+F10")
    await expect(tab.page.get_by_role("menuitem", name="Open")).to_be_focused()
    await tab.press("m")
    await expect(tab.page.get_by_role("menuitem", name="Move to…")).to_be_focused()
    await tab.press("Enter")
    await expect(tab.page.get_by_role("radio", name="Renamed")).to_be_disabled()
    await tab.press("Space", "Enter")
    await expect(tab.page.get_by_test_id("toast")).to_contain_text("1 item moved to")
    await expect(row(tab, "Renamed")).to_have_count(0)
    await tab.press("Control+z")
    await expect(row(tab, "Renamed")).to_be_visible()

    await tab.page.locator("a.file-link").first.focus()
    await tab.press("Shift+ArrowDown", "Shift+ArrowDown")
    await expect(tab.page.get_by_test_id("selection")).to_contain_text("3 items selected")
    await tab.press("Delete")
    await expect(tab.page.get_by_role("heading", name="Nothing here yet")).to_be_visible()
    await tab.press("Control+z")
    await expect(tab.page.get_by_test_id("file")).to_have_count(3)

    await tab.page.locator("a.file-link").first.focus()
    await tab.press("Control+a")
    await expect(tab.page.get_by_test_id("selection")).to_contain_text("3 items selected")
    await tab.press("Delete")
    await tab.page.goto(f"{node}/trash")
    await row(tab, "Renamed").get_by_test_id("folder-link").focus()
    await tab.press("Delete")
    await expect(tab.page.get_by_role("dialog")).to_contain_text("for good?")
    await tab.page.get_by_test_id("confirm").press("Enter")
    await expect(row(tab, "Renamed")).to_have_count(0)
    await expect(row(tab, left)).to_have_count(1)


# Down to the second row, and to the third before the second has the focus.
OVERTAKEN = """async () => {
  const links = [...document.querySelectorAll("a.file-link")];
  links[0].focus();
  const down = { key: "ArrowDown", bubbles: true, cancelable: true };
  links[0].dispatchEvent(new KeyboardEvent("keydown", down));
  links[2].focus();
  for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
  return links.indexOf(document.activeElement);
}"""


async def test_a_focus_that_comes_late_takes_nobody_from_the_row_they_went_to(
    cluster: Cluster, tabs: Tabs
) -> None:
    tab = await tabs.open(f"{cluster.nodes['b'].url}/workspace/home")
    await make_folder(tab, "Overtaken")
    await row(tab, "Overtaken").get_by_test_id("folder-link").press("Enter")
    await expect(tab.page.get_by_role("heading", name="Overtaken")).to_be_visible()
    for name in ("One", "Two", "Three"):
        await make_folder(tab, name)
    assert await tab.page.evaluate(OVERTAKEN) == 2


async def test_what_was_asked_for_is_done_though_the_page_is_left_at_once(
    cluster: Cluster, tabs: Tabs
) -> None:
    tab = await tabs.open(f"{cluster.nodes['c'].url}/workspace/home")
    for round_ in range(3):
        name = f"Left {round_}"
        await make_folder(tab, name)
        await row(tab, name).get_by_test_id("folder-link").focus()
        cluster.nodes["c"].signal(signal.SIGSTOP)  # so it reads what was sent with the end of it
        try:
            await tab.press("Delete")
            await tab.page.goto(f"{cluster.nodes['a'].url}/trash")
        finally:
            cluster.nodes["c"].signal(signal.SIGCONT)
        await expect(row(tab, name)).to_have_count(1)
        await tab.page.goto(f"{cluster.nodes['c'].url}/workspace/home")


async def test_a_row_keeps_the_focus_when_another_one_has_it_sorted_elsewhere(
    cluster: Cluster, tabs: Tabs
) -> None:
    tab = await tabs.open(f"{cluster.nodes['a'].url}/workspace/home")
    for name in ("Alpha", "Beta", "Gamma"):
        await make_folder(tab, name)
    other = await tabs.open(f"{cluster.nodes['b'].url}/workspace/home")
    for name in ("Alpha", "Beta"):
        focused = row(tab, name).get_by_test_id("folder-link")
        await focused.focus()
        await choose(other, name, "rename")
        await other.page.get_by_test_id("new-name").fill(f"Zulu {name}")
        await other.press("Enter")
        await expect(tab.page.locator("a.file-link:focus")).to_contain_text(f"Zulu {name}")


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
async def test_axe_finds_nothing_where_files_are_done_with(
    cluster: Cluster, tabs: Tabs, width: int, scheme: Scheme
) -> None:
    node = cluster.nodes["a"].url
    tab = await tabs.open(f"{node}/workspace/home", width=width, scheme=scheme)
    await make_folder(tab, f"Seen {width}")
    await row(tab, f"Seen {width}").get_by_role("checkbox").check()
    await row(tab, f"Seen {width}").get_by_test_id("file-menu").click()
    await expect(tab.page.get_by_role("menu")).to_be_visible()
    await tab.screenshot(f"files-menu-{width}")
    assert await violations(tab) == ""
    await tab.page.get_by_test_id("do-move").click()
    await tab.screenshot(f"files-move-{width}")
    assert await violations(tab) == ""
    await tab.press("Escape")
    await tab.page.goto(f"{node}/trash")
    await expect(tab.page.get_by_role("heading", name="Trash", exact=True)).to_be_visible()
    await tab.screenshot(f"files-trash-{width}")
    assert await violations(tab) == ""
