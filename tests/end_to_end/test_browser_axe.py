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


async def violations(tab: BrowserTab) -> str:
    """What axe finds: rule, and the elements that break it."""
    assert AXE.exists(), f"{AXE} is missing. Run: make setup"
    if not await tab.page.evaluate("() => 'axe' in window"):
        await tab.page.evaluate(AXE.read_text(encoding="utf-8"))
    options = {
        "resultTypes": ["violations"],
        "runOnly": ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa", "best-practice"],
    }
    found: dict[str, Any] = await tab.page.evaluate("(how) => axe.run(document, how)", options)
    return "\n".join(
        f"{rule['id']}: {node['target']} {node.get('failureSummary', '')}"
        for rule in found["violations"]
        for node in rule["nodes"]
    )


@pytest.mark.parametrize(("width", "scheme"), SIZES)
async def test_axe_finds_nothing_in_a_document_and_in_the_list(
    cluster: Cluster, tabs: Tabs, width: int, scheme: Scheme
) -> None:
    doc = await cluster.create("a", SAMPLE)
    tab = await tabs.open(f"{cluster.nodes['a'].url}/doc/{doc}", width=width, scheme=scheme)
    await tab.loaded()
    other = await tabs.document(cluster.nodes["b"].url, doc, "Somebody with a long name")
    await other.put_caret(1)
    await expect(tab.page.get_by_test_id("remote-caret")).to_have_count(1)
    assert await violations(tab) == ""

    await tab.page.goto(cluster.nodes["a"].url)
    await expect(tab.page.get_by_test_id("document-link").first).to_be_visible()
    assert await violations(tab) == ""
