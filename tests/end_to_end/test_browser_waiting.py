"""Two of three folders are lost: pages, console and shell say who is awaited and why; an operator
answers two questions at a terminal, and all go on. The audit log has it.
"""

from __future__ import annotations

import asyncio
import os
import pty
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Locator, expect

from tests.end_to_end.browser import NODE_GONE, BrowserTab, Tabs
from tests.end_to_end.cluster import NAMES, Cluster, eventually, running_cluster
from tests.end_to_end.test_browser_axe import OF_COLOURS, RULES, violations
from tests.end_to_end.test_browser_looks import SIZES, fits
from tests.end_to_end.test_cold_start import spawn
from tests.end_to_end.townspeople import made, owner

pytestmark = [
    pytest.mark.browser,
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.asyncio(loop_scope="session"),
]

REFUSED = ("status of 503", "status of 401", *NODE_GONE)
LOST = ("a", "b")


async def shell(*words: str, answers: str | None = None) -> tuple[int, str]:
    """`python -m server` with these words; answers are typed at a terminal. Exit code, output."""
    ours, theirs = pty.openpty()
    try:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "server", *words),
            stdin=asyncio.subprocess.DEVNULL if answers is None else theirs,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        if answers is not None:
            os.write(ours, answers.encode())
        out, _ = await process.communicate()
    finally:
        os.close(ours)
        os.close(theirs)
    assert process.returncode is not None
    return process.returncode, out.decode()


async def look(tab: BrowserTab, name: str) -> None:
    """At each size, light and dark: it fits, and axe finds nothing."""
    for width, scheme in SIZES:
        await tab.resize(width, scheme)
        await tab.screenshot(f"waiting-{name}-{width}-{scheme}")
        rules = RULES if scheme == "light" else OF_COLOURS
        assert await violations(tab, rules) == "", f"{name} at {width}, {scheme}"
        await fits(tab)


async def awaits_both(cluster: Cluster) -> None:
    """c says that the folders of both others are empty."""

    async def says() -> bool:
        waiting = (await cluster.status("c"))["waiting"] or {}
        names = [*waiting.get("empty", []), *waiting.get("others", [])]
        return waiting.get("reason") == "quorum" and set(LOST) <= set(names)

    await eventually(says, "c says that it waits for those whose folders are lost")


async def pages_say(tabs: Tabs, url: str, doc: str, awaited: list[str]) -> BrowserTab:
    """Pages that are opened now name who is awaited, in the language of their reader; one of them,
    which stays.
    """
    for locale, words in (("en-GB", "The servers wait for"), ("de-DE", "warten noch auf:")):
        context = await tabs.context("not used", locale=locale)
        for path in ("", f"/doc/{doc}", "/admin"):
            tab = await tabs.open_in(context, f"{url}{path}")
            tab.expect_complaints(*REFUSED)
            said = tab.page.get_by_text(words)
            await expect(said).to_contain_text(", ".join(awaited))
        await look(tab, locale[:2])
    return tab


async def goes_on(cluster: Cluster, awaited: list[str]) -> None:
    """Two questions: a no to the first ends it, and so does another name behind the second."""
    at_c = ("--admin", cluster.nodes["c"].admin_url)
    without = [word for name in awaited for word in ("--without", name)]
    recover = ("recover", *at_c, *without)
    code, out = await shell(*recover, answers="no\n")
    assert (code, "bring the folder back" in out) == (1, True), out
    code, out = await shell(*recover, answers="yes\nc\n")
    assert (code, "nothing was done" in out) == (1, True), out
    assert (await cluster.status("c"))["waiting"] is not None
    code, out = await shell(*recover, answers=f"yes\n{' '.join(awaited)}\n")
    assert code == 0, out
    assert "may be lost  whatever" in out
    assert f"goes on without {', '.join(sorted(awaited))}" in out


async def test_who_is_awaited_is_said_to_all_and_gone_on_without_behind_two_questions(
    tmp_path: Path, tabs: Tabs
) -> None:
    async with running_cluster(tmp_path, *NAMES, accounts="on") as cluster:
        cookies: list[dict[str, Any]] = []
        ann = await owner(cluster, tabs, cookies)
        ann.expect_complaints(*REFUSED)
        doc = await made(ann)
        await ann.put_caret(0)
        await ann.type("Kept by all.")
        await ann.saved()

        # c alone: the console at c says for whom it waits.
        for name in LOST:
            await cluster.nodes[name].kill()
        await ann.page.goto(f"{cluster.nodes['c'].url}/admin")
        alert = ann.page.locator("[data-code=awaits]")
        await expect(alert).to_contain_text("At c the cluster waits: of the last view")
        await expect(alert).to_contain_text("python -m server recover at the machine of c")
        await look(ann, "console")

        # All again, two with empty folders.
        await cluster.nodes["c"].kill()
        for name in LOST:
            shutil.rmtree(tmp_path / name)
        await spawn(cluster, *NAMES)
        await awaits_both(cluster)
        waiting = (await cluster.status("c"))["waiting"]
        awaited = [*waiting["missing"], *waiting["empty"]]
        at_c = ("--admin", cluster.nodes["c"].admin_url)
        code, out = await shell("status", *at_c)
        assert (code, waiting["text"] in out) == (3, True), out
        stays = await pages_say(tabs, cluster.nodes["c"].url, doc, awaited)
        await goes_on(cluster, awaited)
        for name in NAMES:
            await cluster.ready(name)
            await cluster.view_of(name, *NAMES)

        # The page that waited goes on by itself.
        await expect(stays.page.get_by_role("heading", name="Anmelden")).to_be_visible()

        # The document is there, and the audit log says what was done, from where.
        context = await tabs.context("not used")
        await context.add_cookies(cookies)  # type: ignore[arg-type]
        tab = await tabs.open_in(context, f"{cluster.nodes['a'].url}/doc/{doc}")
        tab.expect_complaints(*REFUSED)  # it may try addresses of before
        await tab.loaded()
        await tab.shows("Kept by all.")

        async def is_noted() -> bool:
            entries = (await cluster.get(f"{cluster.nodes['b'].admin_url}/admin/audit"))[1]
            found = [one for one in entries["entries"] if one["what"] == "cluster.gone_on"]
            texts = [
                f"without {' '.join(sorted(awaited))}, after view" in str(one) for one in found
            ]
            return texts == [True]

        await eventually(is_noted, "the audit log says that the cluster has gone on")


def said(tab: BrowserTab, words: str) -> Locator:
    """What an open page says of whom the servers wait for."""
    return tab.page.get_by_test_id("awaited").get_by_text(words)


async def test_open_pages_say_who_is_awaited_while_the_cluster_waits(
    tmp_path: Path, tabs: Tabs
) -> None:
    async with running_cluster(tmp_path, *NAMES) as cluster:
        url = cluster.nodes["a"].url
        doc = await cluster.create("a", "start")
        pages = []
        for locale, words in (("en-GB", "waited for b and c since"), ("de-DE", "auf b und c")):
            context = await tabs.context("Eve", locale=locale)
            for path in (f"/doc/{doc}", "/"):
                tab = await tabs.open_in(context, f"{url}{path}")
                tab.expect_complaints(*REFUSED)
                pages.append((tab, words))
        documents = [tab for tab, _ in pages[::2]]
        for tab in documents:
            await tab.loaded()
        for name in "bc":
            await cluster.nodes[name].kill()
        for tab, words in pages:  # a is cut off
            await expect(said(tab, words)).to_be_visible()
        await look(documents[0], "cut-off")

        await cluster.nodes["a"].kill()
        for tab in documents:
            await expect(tab.badge).to_have_attribute("data-state", "offline")
            await expect(tab.page.get_by_test_id("node-notice")).to_be_empty()
        address = url.removeprefix("http://")
        cluster.nodes["a"] = await cluster.spawn("a", http=address)  # it serves no documents alone
        for tab, words in pages:
            await expect(said(tab, words)).to_be_visible()
        for (tab, _), name in zip(pages, ("en", "list-en", "de", "list-de"), strict=True):
            await look(tab, f"open-{name}")
        await documents[0].put_caret(0)
        await documents[0].type(" and more")
        await spawn(cluster, "b")
        await documents[0].saved()
        await documents[1].shows("start and more")
        for tab, words in pages:
            await expect(said(tab, words)).to_be_hidden()


async def test_a_document_that_cannot_be_opened_says_who_is_awaited_where_nobody_signs_in(
    tmp_path: Path, tabs: Tabs
) -> None:
    async with running_cluster(tmp_path, *NAMES) as cluster:
        doc = await cluster.create("a", "Kept by all.")
        for name in NAMES:
            await cluster.nodes[name].kill()
        await spawn(cluster, "c")

        async def waits() -> bool:
            return bool(((await cluster.status("c"))["waiting"] or {}).get("reason") == "quorum")

        await eventually(waits, "c waits for the others")
        tab = await tabs.open(f"{cluster.nodes['c'].url}/doc/{doc}")
        tab.expect_complaints(*REFUSED)
        await expect(tab.page.get_by_test_id("awaited")).to_contain_text("have waited for a and b")
        await look(tab, "bare")
