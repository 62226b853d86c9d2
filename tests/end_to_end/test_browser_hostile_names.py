"""Whatever people can name is shown as they wrote it, and does nothing else."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

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


async def test_names_of_everything_are_shown_as_text(
    tmp_path_factory: pytest.TempPathFactory, tabs: Tabs
) -> None:
    folder = tmp_path_factory.mktemp("names")
    async with running_cluster(folder, "a", accounts="on") as town:
        tab = await owner_with_name(town, tabs, NAMED[0])
        await ask_all(tab, "POST", "/workspaces", [{"name": one} for one in NAMED])
        tokens: list[dict[str, object]] = [
            {"name": one, "scopes": ["documents:read"]} for one in NAMED[:40]
        ]
        await ask_all(tab, "POST", "/tokens", tokens)
        titles: list[dict[str, object]] = [{"title": one} for one in NAMED]
        await ask_all(tab, "POST", "/documents", titles)
        files = await tab.page.evaluate("async () => (await fetch('/api/v1/files')).json()")
        home = files["workspaces"][0]["id"]
        await ask_all(tab, "POST", "/folders", [{"name": one, "workspace": home} for one in NAMED])
        for path in ("/", "/people", "/account", "/accounts"):
            await tab.page.goto(town.nodes["a"].url + path)
            await expect(tab.page.get_by_role("main")).to_contain_text(NAMED[0])
            await nothing_ran(tab)
        for name in NAMED[1:12]:
            await ask_all(tab, "PATCH", "/me", [{"name": name}])
            await tab.page.reload()
            await expect(tab.page.get_by_role("main")).to_contain_text(name)
            await nothing_ran(tab)
        await tab.page.goto("about:blank")  # it asks for nothing while its node ends


async def owner_with_name(town: Cluster, tabs: Tabs, name: str) -> BrowserTab:
    """The first owner, of a workspace of the same name."""
    code, answer = await town.admin("a", "owner-link")
    assert code == 201, answer
    tab = await tabs.open_in(await tabs.context("not used"), str(answer["url"]))
    fields = {"name": name, "email": "ann@example.org", "password": PASSWORD, "workspace": name}
    for field, text in fields.items():
        await tab.page.get_by_test_id(field).fill(text)
    await tab.page.get_by_role("button", name="Become the owner").click()
    await expect(tab.page.get_by_role("heading", name="Documents", exact=True)).to_be_visible()
    return tab
