"""A node is given a new build of the page while tabs of the one before are open."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from playwright.async_api import expect

from tests.end_to_end.browser import BrowserTab, Tabs
from tests.end_to_end.cluster import ROOT, Cluster, eventually, running_cluster
from tests.end_to_end.test_browser_reload import CACHED, go_offline, kept_page, wait_kept

pytestmark = [
    pytest.mark.browser,
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.asyncio(loop_scope="session"),
]

PACKED = (".br", ".gz")
HASH = 8
"""Hexadecimal digits at the end of a name that say the content."""
OTHERS = str.maketrans("0123456789abcdef", "123456789abcdef0")
WITH_NAMES = (".js", ".html", ".json", ".css")
LOADED = (
    """() => performance.getEntriesByType("resource").map(({ name }) => new URL(name).pathname)"""
)


def build_again(page: Path) -> dict[str, str]:
    """Make a later build of this one, in place: all scripts, which import each other, have other
    names, as they have another content, and the files of the earlier build are gone. Gives the
    addresses of before with those of now.
    """
    for path in page.rglob("*"):
        if path.suffix in PACKED:
            path.unlink()
    chosen = list(page.glob("assets/*.js"))
    names = {
        path.name: f"{path.stem[:-HASH]}{path.stem[-HASH:].translate(OTHERS)}.js" for path in chosen
    }
    assert all(before != after for before, after in names.items())
    for path in chosen:
        path.rename(path.with_name(names[path.name]))
    for path in page.rglob("*"):
        if path.suffix in WITH_NAMES:
            text = path.read_text(encoding="utf-8")
            for before, after in names.items():
                text = text.replace(before, after)
            path.write_text(text, encoding="utf-8")
    worker = page / "worker.js"
    text = worker.read_text(encoding="utf-8")
    before, _, _ = text.partition("files:")
    name = before.rpartition("name:")[2].strip(",`\"' ")
    assert len(name) == 16
    worker.write_text(text.replace(name, name[::-1]), encoding="utf-8")
    return {f"/assets/{before}": f"/assets/{after}" for before, after in names.items()}


async def kept_build(tab: BrowserTab, names: dict[str, str]) -> None:
    """Wait until the browser keeps all of the later build that it has kept of the earlier one."""
    before = set(names) & set(await tab.page.evaluate(CACHED))
    assert len(before) > 10

    async def has_it() -> bool:
        return {names[path] for path in before} <= set(await tab.page.evaluate(CACHED))

    await eventually(has_it, "the later build is kept")


async def show_keys(tab: BrowserTab) -> None:
    """Have the page load a part that comes late, and close it again."""
    await tab.page.get_by_role("button", name="Keyboard shortcuts").click()
    await expect(tab.page.get_by_test_id("key-help")).to_be_visible()
    await tab.press("Escape")


async def deployed(folder: Path, cluster: Cluster, tabs: Tabs) -> tuple[BrowserTab, dict[str, str]]:
    """A tab of the earlier build in a document, whose node has the later one by now."""
    doc = await cluster.create("a", "first")
    tab = await kept_page(tabs, f"{cluster.nodes['a'].url}/doc/{doc}")
    tab.expect_complaints("status of 404")
    await tab.loaded()
    return tab, build_again(folder / "page")


async def test_tabs_of_the_build_before_go_on_and_a_reload_brings_the_new_one_whole(
    tmp_path: Path, tabs: Tabs
) -> None:
    shutil.copytree(ROOT / "webui" / "dist", tmp_path / "page")
    async with running_cluster(tmp_path, "a", page=str(tmp_path / "page")) as cluster:
        tab, names = await deployed(tmp_path, cluster, tabs)
        assert (await cluster.get(cluster.nodes["a"].url + min(names)))[0] == 404
        await tab.put_caret(0)
        await tab.type(" and on")
        await tab.saved()
        await show_keys(tab)  # of its own build: the node has it no more

        await tab.page.reload()
        await tab.loaded()
        await tab.shows("first and on")
        assert not set(names) & set(await tab.page.evaluate(LOADED))
        await kept_build(tab, names)
        await show_keys(tab)

        await go_offline(tab)
        await tab.put_caret(0)
        await tab.type(" offline")
        await wait_kept(tab, "offline")
        await tab.page.reload()
        await tab.loaded()
        await tab.shows("first and on offline")
        await show_keys(tab)
        assert not set(names) & set(await tab.page.evaluate(LOADED))
