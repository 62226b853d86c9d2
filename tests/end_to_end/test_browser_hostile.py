"""Texts that try to be programs are shown as the texts that they are."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from tests.end_to_end.browser import BrowserTab, Tabs, converged
from tests.end_to_end.cluster import Cluster, eventually
from tests.end_to_end.payloads import HANDLERS, PAYLOADS, QUOTED, RUN

pytestmark = [
    pytest.mark.browser,
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.asyncio(loop_scope="session"),
]

FOREIGN = """() => [...document.querySelectorAll("#app *")].filter((element) =>
  element.matches("script, iframe, object, embed, style, link, meta, base, math, marquee, audio," +
    " video, foreignObject, animate, set, use, [srcdoc], [formaction]," +
    " img:not(.ProseMirror-separator, [src^='/api/v1/'], [src^='blob:'])") ||
  [...element.attributes].some(({ name }) => name.startsWith("on")))
  .map(({ outerHTML }) => outerHTML)"""
"""Elements and attributes that the page has none of itself."""


LINKS = """() => [...document.querySelectorAll("[data-testid=editor] a")]
  .map((link) => link.protocol).filter((name) => !["http:", "https:", ":"].includes(name))"""
"""Where links lead to; those whose address is none lead nowhere."""


async def nothing_ran(tab: BrowserTab) -> None:
    """No script of a payload has run, and none of its elements is in the page."""
    assert await tab.page.evaluate("() => window.ran") is None
    assert await tab.page.evaluate(FOREIGN) == []
    tab.check()


async def test_hostile_text_is_pasted_and_typed_as_text(cluster: Cluster, tabs: Tabs) -> None:
    doc = await cluster.create("a", "start")
    one = await tabs.document(cluster.nodes["a"].url, doc, "One")
    two = await tabs.document(cluster.nodes["b"].url, doc, "Two")
    await one.put_caret(0)
    await one.press("Enter")
    await one.paste("\n".join(PAYLOADS))
    await one.press("Enter")
    await one.type(HANDLERS[0], delay_ms=0)
    texts = ["start", *PAYLOADS, HANDLERS[0]]
    assert await converged(cluster, doc, [one, two]) == texts
    await one.page.reload()
    await one.loaded()
    await one.shows(*texts)
    for tab in (one, two):
        await nothing_ran(tab)


PASTE_HTML = """(all) => {
  for (const html of all) {
    const data = new DataTransfer();
    data.setData("text/html", html);
    data.setData("text/plain", "plain");
    document.querySelector("[data-testid=editor]").dispatchEvent(
      new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
  }
}"""
MARKDOWN = frozenset("`\\*_[]&~|")
"""Signs that Markdown takes for its own."""


async def test_hostile_html_on_the_clipboard_leaves_only_its_words(
    cluster: Cluster, tabs: Tabs
) -> None:
    doc = await cluster.create("a", "start ")
    tab = await tabs.document(cluster.nodes["a"].url, doc, "One")
    await tab.put_caret(0)
    tab.expect_complaints("base-uri")  # the parser's own document may have no other base either
    # Nor may handlers in it run: Chromium says so of one whose event is there before it is dropped.
    tab.expect_complaints("script-src-attr", "inline event handler")
    tab.expect_complaints("422")  # one is a picture, and a broken one
    await tab.page.evaluate(PASTE_HTML, [f"<p>word {one}</p>" for one in PAYLOADS])
    await expect(tab.page.get_by_test_id("picture-upload")).to_contain_text("not taken")
    text = "".join(await converged(cluster, doc, [tab]))
    # From the one on that claims to be code of this page the caret is in code: plain text, then.
    assert text.count("word") + text.count("plain") == len(PAYLOADS)
    assert "click" in text
    assert await tab.page.evaluate(LINKS) == []
    await nothing_ran(tab)


async def test_hostile_html_with_the_mark_of_own_copies_runs_nothing(
    cluster: Cluster, tabs: Tabs
) -> None:
    doc = await cluster.create("a", "start ")
    tab = await tabs.document(cluster.nodes["a"].url, doc, "One")
    await tab.put_caret(0)
    forged = f"<p data-pm-slice='1 1 []' data-type='x' onclick={RUN}>own{HANDLERS[0]}</p>"
    await tab.page.evaluate(PASTE_HTML, [forged])
    await tab.shows("startown")
    assert await converged(cluster, doc, [tab]) == ["startown"]
    await nothing_ran(tab)


@pytest.mark.parametrize("payload", [HANDLERS[0], QUOTED[0]])
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
    person = two.page.get_by_test_id("person").first
    await expect(person).to_have_attribute("data-name", payload)
    await expect(two.page.get_by_test_id("remote-caret")).to_have_attribute("data-name", payload)
    await one.saved()
    await one.page.goto(cluster.nodes["a"].url)
    link = one.page.locator(f'[href="/doc/{doc}"]')
    await expect(link.locator(".file-name")).to_have_text(payload)
    for tab in (one, two):
        await nothing_ran(tab)


async def test_hostile_markdown_is_imported_as_text(cluster: Cluster, tabs: Tabs) -> None:
    source = "".join(f"before {payload}\n\n" for payload in PAYLOADS)
    raw = "".join(f"{payload}\n\n" for payload in PAYLOADS)
    doc = await cluster.create("a", source + raw)
    tab = await tabs.document(cluster.nodes["c"].url, doc, "One")
    texts = await converged(cluster, doc, [tab])
    for payload, text in zip(PAYLOADS, texts, strict=False):
        assert text.startswith("before ")
        if not MARKDOWN & set(payload):  # what Markdown says of a text is no part of it
            assert text == f"before {payload.rstrip()}"
    assert RUN in texts[-1]
    await nothing_ran(tab)


BREAK = f"""() => {{
  const refusedOf = (act) => {{
    try {{ act(); return window.ran === undefined ? "done" : "ran"; }} catch {{ return "refused"; }}
  }};
  const script = document.createElement("script");
  const inline = document.createElement("script");
  inline.append("{RUN}");
  document.body.append(inline); // what the policy for scripts stops, without a word to us
  return {{
    "text of a script": refusedOf(() => {{ script.textContent = "{RUN}"; }}),
    "address of a script": refusedOf(() => {{ script.src = "/x.js"; }}),
    "HTML": refusedOf(() => {{ document.body.innerHTML = "<img src=x onerror={RUN}>"; }}),
    "HTML beside": refusedOf(() => document.body.insertAdjacentHTML("beforeend", "<p>")),
    "own policy": refusedOf(() => trustedTypes.createPolicy("mine", {{}})),
    "a known policy": refusedOf(() => trustedTypes.createPolicy("svelte-trusted-html", {{}})),
  }};
}}"""


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
    tab.expect_complaints("policy: ", "Executing inline script", "requires 'Trusted", "TrustedType")
    found = await tab.page.evaluate(BREAK)
    assert found == dict.fromkeys(found, "refused")
    assert len(found) == 6
    assert await tab.page.evaluate("() => window.ran") is None

    async def is_reported() -> bool:
        return "a page broke its policy: require-trusted-types-for" in cluster.nodes["a"].output()

    await eventually(is_reported, "the report in the node's log")
