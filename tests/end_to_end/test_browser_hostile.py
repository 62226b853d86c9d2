"""Texts that try to be programs are shown as the texts that they are."""

from __future__ import annotations

from html import unescape

import pytest
from playwright.async_api import expect

from tests.end_to_end.browser import BrowserTab, Tabs, converged
from tests.end_to_end.cluster import Cluster

pytestmark = [
    pytest.mark.browser,
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.asyncio(loop_scope="session"),
]

RUN = "window.ran=1"
PAYLOADS = (
    f"<script>{RUN}</script>",
    f"</script><script>{RUN}</script>",
    f"<ScRiPt>{RUN}</sCrIpT>",
    f"<img src=x onerror={RUN}>",
    f"<img src=x onerror='{RUN}'//",
    f"<svg onload={RUN}>",
    f"<svg><script>{RUN}</script></svg>",
    f"<svg><animate onbegin={RUN} attributeName=x dur=1s>",
    f"<body onload={RUN}>",
    f"<iframe srcdoc='<script>parent.{RUN}</script>'></iframe>",
    f"<iframe src=javascript:parent.{RUN}></iframe>",
    f"<a href=javascript:{RUN}>click</a>",
    f"[click](javascript:{RUN})",
    f"![image](x onerror={RUN})",
    f"<details open ontoggle={RUN}>",
    f"<video><source onerror={RUN}></video>",
    f"<audio src=x onerror={RUN}>",
    f"<input autofocus onfocus={RUN}>",
    f"<select autofocus onfocus={RUN}>",
    f"<marquee onstart={RUN}>",
    f"<object data=javascript:{RUN}>",
    f"<embed src=javascript:{RUN}>",
    f"<math><mtext></p><script>{RUN}</script>",
    f"<template><script>{RUN}</script></template>",
    f"<style>@import 'javascript:{RUN}'</style>",
    "<link rel=stylesheet href=//127.0.0.1/x>",
    "<meta http-equiv=refresh content=0;url=about:blank>",
    f"<base href=javascript:{RUN}//>",
    f"<form action=javascript:{RUN}><button>",
    f'"><script>{RUN}</script>',
    f"' onmouseover='{RUN}",
    f"`${{{RUN}}}`",
    f"{{{{constructor.constructor('{RUN}')()}}}}",
    f"{{@html '<img src=x onerror={RUN}>'}}",
    "<noscript><p title='</noscript><img src=x onerror=window.ran=1>'>",
    "&lt;script&gt;window.ran=1&lt;/script&gt;",
    "<!--><script>window.ran=1</script>-->",
    "<p data-type=code data-block-id=x>block</p>",
)
FOREIGN = """() => document.querySelectorAll(
  "#app :is(script, iframe, svg, object, embed, style, link, meta, base, form, math, marquee," +
  " audio, video, img:not(.ProseMirror-separator))").length"""


LINKS = """() => [...document.querySelectorAll("[data-testid=editor] a")]
  .map((link) => link.getAttribute("href"))"""


async def nothing_ran(tab: BrowserTab) -> None:
    """No script of a payload has run, and none of its elements is in the page."""
    assert await tab.page.evaluate("() => window.ran") is None
    assert await tab.page.evaluate(FOREIGN) == 0
    tab.check()


async def test_hostile_text_is_pasted_and_typed_as_text(cluster: Cluster, tabs: Tabs) -> None:
    doc = await cluster.create("a", "start")
    one = await tabs.document(cluster.nodes["a"].url, doc, "One")
    two = await tabs.document(cluster.nodes["b"].url, doc, "Two")
    await one.put_caret(0)
    await one.press("Enter")
    await one.paste("\n".join(PAYLOADS))
    await one.press("Enter")
    await one.type(PAYLOADS[3], delay_ms=0)
    texts = ["start", *PAYLOADS, PAYLOADS[3]]
    assert await converged(cluster, doc, [one, two]) == texts
    await one.page.reload()
    await one.loaded()
    await one.shows(*texts)
    for tab in (one, two):
        await nothing_ran(tab)


PASTE_HTML = """(html) => {
  const data = new DataTransfer();
  data.setData("text/html", html);
  data.setData("text/plain", "plain");
  document.querySelector("[data-testid=editor]").dispatchEvent(
    new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
}"""


async def test_hostile_html_on_the_clipboard_leaves_only_its_words(
    cluster: Cluster, tabs: Tabs
) -> None:
    doc = await cluster.create("a", "start ")
    tab = await tabs.document(cluster.nodes["a"].url, doc, "One")
    await tab.put_caret(0)
    await tab.page.evaluate(PASTE_HTML, "".join(f"<p>{one}</p>" for one in PAYLOADS))
    texts = await converged(cluster, doc, [tab])
    assert "click" in texts[0]
    assert await tab.page.evaluate(LINKS) == []
    await nothing_ran(tab)


async def test_hostile_html_with_the_mark_of_own_copies_runs_nothing(
    cluster: Cluster, tabs: Tabs
) -> None:
    doc = await cluster.create("a", "start ")
    tab = await tabs.document(cluster.nodes["a"].url, doc, "One")
    await tab.put_caret(0)
    forged = f"<p data-pm-slice='1 1 []' data-type='x' onclick={RUN}>own{PAYLOADS[3]}</p>"
    await tab.page.evaluate(PASTE_HTML, forged)
    assert await converged(cluster, doc, [tab]) == ["startown"]
    await nothing_ran(tab)


@pytest.mark.parametrize("payload", [PAYLOADS[3], PAYLOADS[29]])
async def test_a_hostile_title_and_name_are_shown_as_text(
    cluster: Cluster, tabs: Tabs, payload: str
) -> None:
    doc = await cluster.create("a", "text")
    one = await tabs.document(cluster.nodes["a"].url, doc, "One")
    two = await tabs.document(cluster.nodes["b"].url, doc, "Two")
    await one.page.get_by_test_id("title").fill(payload)
    await one.page.get_by_test_id("name").fill(payload)
    await one.page.get_by_test_id("name").press("Enter")
    await expect(two.page.get_by_test_id("title")).to_have_value(payload)
    await expect(two.page).to_have_title(f"{payload} \N{EN DASH} Groupcore")
    await one.put_caret(0)
    person = two.page.get_by_test_id("person").filter(has_text=payload)
    await expect(person).to_have_attribute("data-name", payload)
    await expect(two.page.get_by_test_id("remote-caret")).to_have_attribute("data-name", payload)
    await one.saved()
    await one.page.goto(cluster.nodes["a"].url)
    link = one.page.locator(f'[href="/doc/{doc}"]')
    await expect(link.locator(".document-name")).to_have_text(payload)
    for tab in (one, two):
        await nothing_ran(tab)


async def test_hostile_markdown_is_imported_as_text(cluster: Cluster, tabs: Tabs) -> None:
    source = "".join(f"before {payload}\n\n" for payload in PAYLOADS)
    raw = "".join(f"{payload}\n\n" for payload in PAYLOADS)
    doc = await cluster.create("a", source + raw)
    tab = await tabs.document(cluster.nodes["c"].url, doc, "One")
    texts = await converged(cluster, doc, [tab])
    # What Markdown says of a text is no part of it: the signs of code, and entities.
    words = [unescape(payload.strip("`")) for payload in PAYLOADS]
    assert texts[: len(PAYLOADS)] == [f"before {word}" for word in words]
    assert RUN in texts[-4]
    await nothing_ran(tab)


async def test_the_policy_of_the_page_allows_no_foreign_script(
    cluster: Cluster, tabs: Tabs
) -> None:
    tab = await tabs.open("about:blank")
    answer = await tab.page.goto(cluster.nodes["a"].url)
    assert answer is not None
    policy = (await answer.all_headers())["content-security-policy"]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == rules["style-src"] == "'self'"
    tab.expect_complaints("policy: script-src", "Executing inline script")
    inject = f"""() => {{
      const script = document.createElement("script");
      script.textContent = "{RUN}";
      document.body.append(script);
    }}"""
    await tab.page.evaluate(inject)
    assert await tab.page.evaluate("() => window.ran") is None
