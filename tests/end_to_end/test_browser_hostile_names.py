"""Whatever people can name is shown as they wrote it, and does nothing else."""

from __future__ import annotations

import pytest
from playwright.async_api import Route, expect

from tests.end_to_end.browser import BrowserTab, Tabs
from tests.end_to_end.cluster import Cluster, running_cluster
from tests.end_to_end.payloads import PAYLOADS
from tests.end_to_end.test_browser_hostile import nothing_ran

pytestmark = [
    pytest.mark.browser,
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.asyncio(loop_scope="session"),
]

PASSWORD = "seven blue boats"
NAMED = [" ".join(one.split())[:80] for one in PAYLOADS if one.isprintable()]
"""As names: one line without what one does not see, and no longer than names are."""
ASK_ALL = """async ([method, path, bodies, csrf]) => {
  const found = [];
  for (const body of bodies) {
    const answer = await fetch(`/api/v1${path}`, {
      method, body: JSON.stringify(body),
      headers: { "Content-Type": "application/json", "X-Groupcore-CSRF": csrf },
    });
    found.push(answer.status);
  }
  return found;
}"""
CSRF = "async () => (await (await fetch('/api/v1/session')).json()).csrf"


async def ask_all(tab: BrowserTab, method: str, path: str, bodies: list[dict[str, object]]) -> None:
    """All requests as the page's person; each of them has to be granted."""
    csrf = await tab.page.evaluate(CSRF)
    found = await tab.page.evaluate(ASK_ALL, [method, path, bodies, csrf])
    assert set(found) <= {200, 201, 204}, found


OWN_NAMES = """async (names) => {
  const field = document.querySelector("[name=own-name]");
  const button = field.form.querySelector("[type=submit]");
  const place = document.querySelector("[data-testid=own-account]");
  for (const given of names) {
    const name = given.normalize(); // as nodes keep it
    field.value = given;
    field.dispatchEvent(new Event("input", { bubbles: true }));
    button.click();
    let frames = 0;
    while (button.disabled || place.textContent !== name) {
      if (++frames > 600) return name;
      await new Promise(requestAnimationFrame);
    }
    if (window.ran !== undefined) return name;
  }
  return null;
}"""
"""Takes each name in turn as the person would; the first one that is not shown, or runs."""
TOKENS_AT_ONCE = 45
"""A person has 50 at most."""
REVOKE_ALL = """async (csrf) => {
  const { tokens } = await (await fetch("/api/v1/tokens")).json();
  for (const { id } of tokens) {
    const headers = { "X-Groupcore-CSRF": csrf };
    await fetch(`/api/v1/tokens/${id}`, { method: "DELETE", headers });
  }
  return tokens.length;
}"""


async def test_names_of_everything_are_shown_as_text(
    tmp_path_factory: pytest.TempPathFactory, tabs: Tabs
) -> None:
    folder = tmp_path_factory.mktemp("names")
    async with running_cluster(folder, "a", accounts="on") as town:
        tab = await owner_with_name(town, tabs, NAMED[0])
        # The home page would draw all that there is anew with each one that comes.
        await tab.page.goto(town.nodes["a"].url + "/account")
        await ask_all(tab, "POST", "/workspaces", [{"name": one} for one in NAMED])
        titles: list[dict[str, object]] = [{"title": one} for one in NAMED]
        await ask_all(tab, "POST", "/documents", titles)
        files = await tab.page.evaluate("async () => (await fetch('/api/v1/files')).json()")
        home = files["workspaces"][0]["id"]
        await ask_all(tab, "POST", "/folders", [{"name": one, "workspace": home} for one in NAMED])
        for path in ("/", "/people", "/accounts"):
            await tab.page.goto(town.nodes["a"].url + path)
            await expect(tab.page.get_by_role("main")).to_contain_text(NAMED[0])
            await nothing_ran(tab)
        await names_of_tokens(tab, town.nodes["a"].url)
        await names_of_others(tab, town.nodes["a"].url)
        await tab.page.goto(town.nodes["a"].url + "/account")
        await expect(tab.page.locator("[name=own-name]")).to_have_value(NAMED[0])
        assert await tab.page.evaluate(OWN_NAMES, NAMED[1:]) is None
        await nothing_ran(tab)
        await tab.page.goto("about:blank")  # it asks for nothing while its node ends


async def names_of_tokens(tab: BrowserTab, url: str) -> None:
    """All names as those of tokens, as many at once as a person may have."""
    for first in range(0, len(NAMED), TOKENS_AT_ONCE):
        names = NAMED[first : first + TOKENS_AT_ONCE]
        bodies: list[dict[str, object]] = [
            {"name": one, "scopes": ["documents:read"]} for one in names
        ]
        await ask_all(tab, "POST", "/tokens", bodies)
        await tab.page.goto(f"{url}/account")
        for name in (names[0], names[-1]):
            await expect(tab.page.get_by_role("main")).to_contain_text(name)
        await nothing_ran(tab)
        csrf = await tab.page.evaluate(CSRF)
        assert await tab.page.evaluate(REVOKE_ALL, csrf) == len(names)


async def names_of_others(tab: BrowserTab, url: str) -> None:
    """All names as those of accounts and members: a password takes long, so rows are put in."""

    async def put_in(route: Route) -> None:
        answer = await route.fetch()
        [(kind, [row, *_])] = (await answer.json()).items()
        rows = [row | {"id": f"u{at}", "name": one} for at, one in enumerate(NAMED)]
        await route.fulfill(response=answer, json={kind: rows})

    for path, asked, row in (
        ("/accounts", "**/api/v1/users", "account"),
        ("/people", "**/api/v1/workspaces/*/members", "member"),
    ):
        await tab.page.route(asked, put_in, times=1)
        await tab.page.goto(url + path)
        shown = tab.page.get_by_test_id(row).locator("strong")
        await expect(shown.filter(has_text=NAMED[-1]).first).to_be_visible()
        assert set(NAMED) <= set(await shown.all_text_contents())
        await nothing_ran(tab)


async def owner_with_name(town: Cluster, tabs: Tabs, name: str) -> BrowserTab:
    """The first owner, of a workspace of the same name."""
    code, answer = await town.admin("a", "owner-link")
    assert code == 201, answer
    tab = await tabs.open_in(await tabs.context("not used"), str(answer["url"]))
    fields = {"name": name, "email": "ann@example.org", "password": PASSWORD, "workspace": name}
    for field, text in fields.items():
        await tab.page.get_by_test_id(field).fill(text)
    await tab.page.get_by_role("button", name="Become the owner").click()
    await tab.page.get_by_role("link", name="All documents", exact=True).click()
    await expect(tab.page.get_by_role("heading", name="Documents", exact=True)).to_be_visible()
    return tab
