"""What axe-core finds wrong with the pages for those who use assistive technology: nothing."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.async_api import expect

from tests.end_to_end.browser import BrowserTab, Scheme, Tabs
from tests.end_to_end.cluster import ROOT, Cluster
from tests.end_to_end.test_browser_looks import SAMPLE

pytestmark = [
    pytest.mark.browser,
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.asyncio(loop_scope="session"),
]

SIZES: tuple[tuple[int, Scheme], ...] = ((390, "dark"), (1280, "light"))
AXE = ROOT / "webui" / "node_modules" / "axe-core" / "axe.min.js"


RULES = ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa", "best-practice"]
OF_COLOURS = ["color-contrast"]
"""The rule that judges what is light or dark; the others judge elements, words and places."""


async def violations(tab: BrowserTab, rules: list[str] = RULES) -> str:
    """What axe finds: rule, and the elements that break it."""
    assert AXE.exists(), f"{AXE} is missing. Run: make setup"
    if not await tab.page.evaluate("() => 'axe' in window"):
        await tab.page.evaluate(AXE.read_text(encoding="utf-8"))
    options = {"resultTypes": ["violations"], "runOnly": rules}
    found: dict[str, Any] = await tab.page.evaluate("(how) => axe.run(document, how)", options)
    return "\n".join(
        f"{rule['id']}: {node['target']} {node.get('failureSummary', '')}"
        for rule in found["violations"]
        for node in rule["nodes"]
    )


async def test_axe_finds_nothing_in_a_document_and_in_the_list(
    cluster: Cluster, tabs: Tabs
) -> None:
    doc = await cluster.create("a", SAMPLE)
    other = await tabs.document(cluster.nodes["b"].url, doc, "Somebody with a long name")
    await other.put_caret(1)
    tab = await tabs.open("about:blank")
    for width, scheme in SIZES:
        await tab.resize(width, scheme)
        await tab.page.goto(f"{cluster.nodes['a'].url}/doc/{doc}")
        await tab.loaded()
        await expect(tab.page.get_by_test_id("remote-caret")).to_have_count(1)
        assert await violations(tab) == ""

        await tab.page.goto(cluster.nodes["a"].url)
        await expect(tab.page.get_by_test_id("document-link").first).to_be_visible()
        assert await violations(tab) == ""
