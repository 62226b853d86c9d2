"""The main tasks by keyboard and by names alone: no mouse, no selectors, in both languages.

What a screen reader would say is all that the walker knows: roles and names. Every stop of the Tab
key has a name, is in sight and shows that it has the focus.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Literal

import pytest
import pytest_asyncio
from playwright.async_api import Locator, expect

from tests.end_to_end.browser import BrowserTab, Scheme, Tabs
from tests.end_to_end.cluster import Cluster, running_cluster
from tests.end_to_end.test_browser_axe import violations

pytestmark = [
    pytest.mark.browser,
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.asyncio(loop_scope="session"),
]

STOPS_MAX = 40
PASSWORD = "seven blue boats"
Role = Literal["button", "combobox", "dialog", "heading", "link", "menuitem", "textbox"]

STOP = """() => {
  const element = document.activeElement;
  if (element === null || element === document.body) return "";
  const { outlineStyle, outlineWidth } = getComputedStyle(element);
  const { top, bottom, left, right } = element.getBoundingClientRect();
  const isInSight = bottom > 0 && top < innerHeight && right > 0 && left < innerWidth;
  const isText = element.isContentEditable || element.localName === "textarea";
  const hasRing = outlineStyle !== "none" && parseFloat(outlineWidth) > 0;
  const what = element.outerHTML.slice(0, 200);
  if (!isInSight) return `out of sight: ${what}`;
  return hasRing || isText ? "" : `without a sign of the focus: ${what}`;
}"""

IN_LIST = """() => document.activeElement.matches("[data-testid=document-link]")"""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Cluster]:
    """One node where people sign in."""
    async with running_cluster(tmp_path_factory.mktemp("house"), "a", accounts="on") as cluster:
        yield cluster


SIZES: dict[str, tuple[tuple[int, Scheme], ...]] = {
    "en-GB": ((390, "dark"), (1280, "light")),
    "de-DE": ((390, "light"), (1280, "dark")),
}
"""In which axe looks at each page; over both languages, all four."""


class Walker:
    """Somebody who hears the page, and has a keyboard."""

    def __init__(self, tab: BrowserTab) -> None:
        self.tab = tab
        self.page = tab.page

    def named(self, role: Role, name: str) -> Locator:
        """What is said with this role and name."""
        return self.page.get_by_role(role, name=name, exact=True)

    async def to(self, role: Role, name: str, key: str = "Tab") -> None:
        """Press Tab until there; each stop on the way is one that can be seen."""
        target = self.named(role, name).first
        await expect(target).to_be_visible()
        for _ in range(STOPS_MAX):
            if await target.evaluate("(element) => element === document.activeElement"):
                return
            await self.tab.press(key)
            assert await self.page.evaluate(STOP) == ""
        pytest.fail(f"{role} {name!r} is not reached by {key}")

    async def back_to(self, role: Role, name: str) -> None:
        """The same, backwards."""
        await self.to(role, name, "Shift+Tab")

    async def use(self, role: Role, name: str) -> None:
        """Go there, and press Enter."""
        await self.to(role, name)
        await self.tab.press("Enter")

    async def write(self, name: str, text: str) -> None:
        """Write into the field of this name, instead of what it has."""
        await self.to("textbox", name)
        await self.tab.press("Control+a")
        await self.tab.type(text, delay_ms=0)

    async def to_found(self, title: str) -> None:
        """Go to the document of this title: by Tab into the list, by arrows in it."""
        found = self.page.get_by_role("link", name=title)
        await expect(found).to_be_visible()
        for _ in range(STOPS_MAX):
            if await found.evaluate("(element) => element === document.activeElement"):
                return
            is_in_list = await self.page.evaluate(IN_LIST)
            await self.tab.press("ArrowDown" if is_in_list else "Tab")
        pytest.fail(f"the document {title!r} is not reached")

    async def is_at(self, role: Role, name: str) -> None:
        """The focus is there by itself."""
        await expect(self.named(role, name)).to_be_focused()

    async def sound(self, locale: str) -> None:
        """Axe finds nothing here, and what one waits for is in this language."""
        assert await self.page.locator("html").get_attribute("lang") == locale[:2]
        for width, scheme in SIZES[locale]:
            await self.page.set_viewport_size({"width": width, "height": 800})
            await self.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            assert await violations(self.tab) == "", (self.page.url, width, scheme)

    async def hears(self, text: str) -> None:
        """A live region says it."""
        regions = self.page.locator("[role=status], [role=alert], [aria-live=polite]")
        await expect(regions.filter(has_text=text).first).to_be_attached()


async def first_owner(house: Cluster) -> str:
    """The one-time link, printed again."""
    code, answer = await house.admin("a", "owner-link")
    assert code == 201, answer
    return str(answer["url"])


async def becomes_owner(walker: Walker) -> None:
    """The first owner, who begins with their name."""
    tab = walker.tab
    await walker.is_at("textbox", "Your name")
    await walker.sound("en-GB")
    await tab.type("Ann", delay_ms=0)
    await walker.write("Mail address", "ann@example.org")
    await walker.write("Password", PASSWORD)
    await walker.write("Name of the workspace", "Choir")
    await tab.press("Enter")
    await expect(walker.named("heading", "Choir")).to_be_visible()
    await walker.use("link", "All documents")
    await expect(walker.named("heading", "Documents")).to_be_visible()


async def signs_out_and_in(walker: Walker) -> None:
    """Signing out, and in again with a wrong password first."""
    tab = walker.tab
    await walker.use("link", "Ann, your account")
    await expect(walker.named("heading", "Your account")).to_be_visible()
    await walker.sound("en-GB")
    await walker.use("button", "Sign out")
    await walker.is_at("textbox", "Mail address")
    await walker.sound("en-GB")
    tab.expect_complaints("status of 401")
    await tab.type("ann@example.org", delay_ms=0)
    await walker.write("Password", "something else")
    await tab.press("Enter")
    await walker.hears("wrong")
    await walker.write("Password", PASSWORD)
    await tab.press("Enter")
    await expect(walker.named("heading", "Documents")).to_be_visible()


async def writes_a_document(walker: Walker) -> None:
    """A document: one begins with its title, and goes on in the text."""
    tab = walker.tab
    await walker.use("button", "New document")
    await walker.is_at("textbox", "Title")
    await tab.type("Concert")
    await tab.press("Enter")
    await walker.is_at("textbox", "Document text")
    await tab.type("# Programme")
    await tab.press("Enter")
    await tab.type("- Bach in the morning")
    await tab.press("Enter", "Enter")
    await tab.press("Control+b")
    await tab.type("Bring")
    await tab.press("Control+b")
    await tab.type(" the notes")
    await tab.select(len("notes"))
    await tab.press("Control+k")
    await walker.is_at("textbox", "Address")
    await tab.type("https://example.org/notes")
    await tab.press("Enter")
    await walker.is_at("textbox", "Document text")
    await tab.press("End")
    await tab.saved()
    text = walker.named("textbox", "Document text")
    await expect(text.get_by_role("heading", name="Programme")).to_be_visible()
    await expect(text.get_by_role("link", name="notes")).to_be_visible()
    await expect(text.get_by_role("strong")).to_have_text("Bring")


async def finds_and_replaces(walker: Walker) -> None:
    """Find and replace, and back to the text at what was found."""
    tab = walker.tab
    text = walker.named("textbox", "Document text")
    await tab.press("Control+f")
    await walker.is_at("textbox", "Find")
    await tab.type("Bach")
    await walker.hears("1 of 1")
    await walker.sound("en-GB")
    await walker.write("Replace by", "Brahms")
    await walker.use("button", "Replace all")
    await walker.hears("1 place replaced")
    # The button can be pressed no more, so the focus is in the field; Escape leaves from anywhere.
    await walker.is_at("textbox", "Find")
    await walker.use("button", "Close")
    await walker.is_at("textbox", "Document text")
    await tab.press("Control+f")
    await walker.is_at("textbox", "Find")
    await walker.to("button", "Close")
    await tab.press("Escape")
    await walker.is_at("textbox", "Document text")
    await expect(text).to_contain_text("Brahms in the morning")


async def goes_through_the_tools(walker: Walker) -> None:
    """The toolbar is one stop with arrows in it; out of the text one comes by Escape."""
    tab = walker.tab
    await tab.press("Escape")
    await walker.back_to("combobox", "Type of block")
    await tab.press("ArrowRight")
    await walker.is_at("button", "Bold")
    await tab.press("End")
    await walker.is_at("button", "Find")


async def shares(walker: Walker) -> None:
    """Sharing: the dialog gives the focus back."""
    tab = walker.tab
    await walker.back_to("button", "Share")
    await tab.press("Enter")
    await expect(walker.named("dialog", "Share")).to_be_visible()
    await walker.use("button", "Make a link")
    await expect(walker.named("textbox", "The link")).to_be_visible()
    await walker.sound("en-GB")
    await tab.press("Escape")
    await walker.is_at("button", "Share")


async def throws_it_away_and_takes_it_back(walker: Walker) -> None:
    """To the trash, where it can only be read, and back."""
    tab = walker.tab
    await walker.back_to("button", "More for this document")
    await tab.press("Enter")
    await walker.to("menuitem", "Move to trash", "ArrowDown")
    await tab.press("Enter")
    await walker.hears("moved to the trash")
    await walker.hears("This document is in the trash")
    await expect(walker.named("textbox", "Title")).not_to_be_editable()
    await walker.sound("en-GB")
    await walker.use("button", "Restore")
    await walker.hears("restored")
    await expect(walker.named("textbox", "Title")).to_be_editable()


async def finds_it_again(walker: Walker) -> None:
    """Leaving, and finding it again; past the head of the page, and on to all other pages."""
    tab = walker.tab
    await walker.back_to("link", "Groupcore, all documents")
    await tab.press("Enter")
    await expect(walker.named("heading", "Documents")).to_be_visible()
    await walker.sound("en-GB")
    await walker.to_found("Concert")
    await tab.press("Enter")
    await expect(walker.named("textbox", "Title")).to_have_value("Concert")

    # Past the head of the page, and the people of the workspace.
    await walker.back_to("link", "Skip to the content")
    await tab.press("Enter", "Tab")
    await walker.is_at("link", "Choir")
    await walker.back_to("link", "Groupcore, all documents")
    await tab.press("Enter")
    for page in ("People", "Accounts"):
        await walker.use("link", page)
        await expect(walker.named("heading", page)).to_be_visible()
        await expect(walker.page.get_by_role("status", name="Loading")).to_have_count(0)
        await walker.sound("en-GB")


async def test_all_main_tasks_are_done_by_keyboard_and_names_alone(
    house: Cluster, tabs: Tabs
) -> None:
    walker = Walker(await tabs.open(await first_owner(house), "not used"))
    await becomes_owner(walker)
    await signs_out_and_in(walker)
    await writes_a_document(walker)
    await finds_and_replaces(walker)
    await goes_through_the_tools(walker)
    await shares(walker)
    await throws_it_away_and_takes_it_back(walker)
    await finds_it_again(walker)


async def test_the_main_tasks_are_the_same_in_german(house: Cluster, tabs: Tabs) -> None:
    context = await tabs.context("not used", locale="de-DE")
    walker = Walker(await tabs.open_in(context, house.nodes["a"].url))
    tab = walker.tab
    await walker.is_at("textbox", "E-Mail-Adresse")
    await expect(tab.page).to_have_title("Anmelden \N{EN DASH} Groupcore")
    tab.expect_complaints("status of 401")
    await tab.type("ann@example.org", delay_ms=0)
    await walker.write("Passwort", "etwas anderes")
    await tab.press("Enter")
    await walker.hears("E-Mail-Adresse oder Passwort ist falsch.")
    await walker.sound("de-DE")
    await walker.write("Passwort", PASSWORD)
    await tab.press("Enter")
    await expect(walker.named("heading", "Dokumente")).to_be_visible()

    await walker.use("button", "Neues Dokument")
    await walker.is_at("textbox", "Titel")
    await tab.type("Konzert")
    await tab.press("Enter")
    await tab.type("/überschrift1")
    offered = tab.page.get_by_role("listbox", name="Umwandeln in").get_by_role("option")
    await expect(offered).to_have_text("Überschrift 1")
    await tab.press("Enter")
    await tab.type("Programm")
    await tab.saved()
    await expect(tab.badge).to_have_text("Gespeichert")
    await tab.press("Control+f")
    await walker.is_at("textbox", "Suchen")
    await tab.type("Programm")
    await walker.hears("1 von 1")
    await walker.write("Ersetzen durch", "Ablauf")
    await walker.use("button", "Ersetzen")
    await walker.sound("de-DE")
    await tab.press("Escape")
    await tab.shows("Ablauf")

    await tab.press("Escape")
    await walker.back_to("button", "Teilen")
    await tab.press("Enter")
    await expect(walker.named("dialog", "Teilen")).to_be_visible()
    await walker.use("button", "Link anlegen")
    await expect(walker.named("textbox", "Der Link")).to_be_visible()
    await walker.sound("de-DE")
    await tab.press("Escape")
    await walker.is_at("button", "Teilen")
    await walker.back_to("link", "Groupcore, alle Dokumente")
    await tab.press("Enter")
    await walker.to_found("Konzert")
    await walker.sound("de-DE")
    for page in ("Personen", "Konten", "Ann, Ihr Konto"):
        await walker.back_to("link", page)
        await tab.press("Enter")
        name = page.replace("Ann, ", "")
        await expect(walker.named("heading", name)).to_be_visible()
        await walker.sound("de-DE")

    # The other language, by choice, for good.
    await walker.to("combobox", "Sprache")
    await tab.press("ArrowUp", "Enter")
    await expect(walker.named("heading", "Your account")).to_be_visible()
    await tab.page.reload()
    await expect(walker.named("combobox", "Language")).to_have_value("en")


async def test_what_strangers_see_is_sound_in_german(house: Cluster, tabs: Tabs) -> None:
    context = await tabs.context("not used", locale="de-DE")
    walker = Walker(await tabs.open_in(context, f"{house.nodes['a'].url}/sign-in"))
    walker.tab.expect_complaints("status of 40", "status of 410")
    for path, said in (
        ("join", "Einladung"),
        ("join#gci_wrong", "Einladung"),
        ("share", "Link"),
        ("share#gcl_wrong", "Link"),
        ("welcome", "Eigentümer"),
        ("doc/nothing-here", "Anmelden"),
    ):
        await walker.page.goto("about:blank")
        await walker.page.goto(f"{house.nodes['a'].url}/{path}")
        await expect(walker.page.get_by_role("main")).to_contain_text(said)
        await walker.sound("de-DE")
