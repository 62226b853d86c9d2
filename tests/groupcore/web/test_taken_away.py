"""What a page is told when its right to an object goes: results first, then that it is closed."""

from __future__ import annotations

import asyncio

import pytest
from msgpack import unpackb

from groupcore.gateway import owed
from groupcore.gateway.gateway import Gateway
from groupcore.gateway.outlet import TEMPORARY
from groupcore.gateway.settings import Badge
from groupcore.shared.types import Counter
from tests.groupcore.aio.test_objects import until
from tests.groupcore.web.gateways import Minutes, Site, tab
from tests.groupcore.web.tabs import Tab

pytestmark = pytest.mark.slow

TYPES = {"Counter": Counter, "Minutes": Minutes}


class Roles:
    """Who may open nothing any more."""

    def __init__(self) -> None:
        self.out: set[str] = set()

    def may_open(self, principal: str, kind: str, name: str) -> bool:
        del kind, name
        return principal not in self.out


async def served(site: Site, roles: Roles) -> Gateway:
    await site.start("a")
    gateway = Gateway(site.cluster.nodes["a"], TYPES, may_open=roles.may_open)
    site.gateways["guarded"] = gateway
    return gateway


async def together(gateway: Gateway) -> tuple[Tab, Tab]:
    """Ann and Eve, who both have a counter open."""
    ann, eve = tab(1), tab(2)
    await ann.connect(gateway, "ann")
    await eve.connect(gateway, "eve")
    for one in (ann, eve):
        await one.open("Counter", "clicks")
    return ann, eve


def kinds(page: Tab, *wanted: str) -> list[tuple[str, object]]:
    return [(one["t"], one.get("n")) for one in page.heard if one["t"] in wanted]


async def test_a_revocation_comes_behind_the_results_of_the_calls_under_way(site: Site) -> None:
    """O4. The calls were done, and the writer kept them as drafts."""
    roles = Roles()
    gateway = await served(site, roles)
    ann, eve = await together(gateway)
    for number in (1, 2, 3):
        eve.say("call", name="clicks", n=number, answered=0, calls=[["add", []]])
    roles.out.add("eve")
    gateway.recheck()
    eve.say("call", name="clicks", n=4, answered=0, calls=[["add", []]])
    told = await eve.hears("error", name="clicks", n=None)
    assert (told["code"], told["temporary"]) == ("forbidden", False)
    shown = await ann.open("Counter", "clicks")
    frames = [one for frame in eve.frames for one in unpacked(frame)]
    said = [(one["t"], one.get("n")) for one in frames if one["t"] in ("result", "error")]
    results = [one for one in said if one[0] == "result"]
    assert results == [("result", 1), ("result", 2), ("result", 3)]
    assert said[-1] == ("error", None)
    assert ("error", 4) in said  # called behind the revocation
    assert shown["state"]["value"] == 3


def unpacked(frame: bytes) -> list[dict[str, object]]:
    found: list[dict[str, object]] = unpackb(frame)
    return found


async def test_nothing_of_others_is_shown_while_results_are_waited_for(site: Site) -> None:
    roles = Roles()
    gateway = await served(site, roles)
    ann, eve = await together(gateway)
    eve.say("call", name="clicks", n=1, answered=0, calls=[["add", []]])
    roles.out.add("eve")
    gateway.recheck()
    await ann.call("clicks", 1, ["add", [1000]])
    await eve.hears("error", name="clicks", n=None)
    assert not [one for frame in eve.frames for one in unpacked(frame) if one["t"] == "changes"]


async def test_a_sign_in_that_ends_closes_the_socket_behind_the_results(site: Site) -> None:
    gateway = await served(site, Roles())
    _, eve = await together(gateway)
    assert eve.page is not None
    eve.page.badge = Badge("eve", "key")
    eve.say("call", name="clicks", n=1, answered=0, calls=[["add", []]])
    gateway.dismiss(lambda badge: badge.key == "key", 4403, "signed_out")
    eve.say("call", name="clicks", n=2, answered=0, calls=[["add", []]])
    await eve.hears("result", n=1)
    assert kinds(eve, "result", "error") == []
    await until(lambda: eve.closed is not None)
    assert eve.closed == 4403


async def test_who_gets_no_results_is_told_of_the_revocation_in_time(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A node outside the primary view gets none."""
    monkeypatch.setattr(owed, "WAIT_S", 0.05)
    roles = Roles()
    gateway = await served(site, roles)
    _, eve = await together(gateway)
    assert eve.page is not None
    eve.page.owed.begin()  # never answered
    roles.out.add("eve")
    gateway.recheck()
    assert (await eve.hears("error", name="clicks"))["code"] == "forbidden"


@pytest.mark.parametrize("way", ["taken", "refused", "no such type"])
async def test_a_call_behind_a_lasting_refusal_is_refused_for_good(site: Site, way: str) -> None:
    """O5. `not_open` was temporary: clients that ask again were closed with 4429."""
    roles = Roles()
    gateway = await served(site, roles)
    _, eve = await together(gateway)
    name = "clicks" if way == "taken" else "others"
    if way != "no such type":
        roles.out.add("eve")
    if way == "taken":
        gateway.recheck()
    else:
        kind = "Counter" if way == "refused" else "Nothing"
        eve.say("open", name=name, type=kind)
    code = (await eve.hears("error", name=name, n=None))["code"]
    assert code not in TEMPORARY
    sent = 0
    number, is_temporary = 1, True
    while is_temporary and sent < 50:
        eve.say("call", name=name, n=number, answered=0, calls=[["add", []]])
        sent += 1
        answer = await eve.hears("error", n=number)
        is_temporary = answer["temporary"]
    assert (sent, answer["code"]) == (1, code)


async def test_who_has_the_right_again_opens_and_calls_as_before(site: Site) -> None:
    roles = Roles()
    gateway = await served(site, roles)
    _, eve = await together(gateway)
    roles.out.add("eve")
    gateway.recheck()
    await eve.hears("error", name="clicks")
    roles.out.clear()
    await eve.open("Counter", "clicks")
    await eve.call("clicks", 1, ["add", []])


async def test_all_pages_are_sent_away_before_any_session_has_been_closed(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A session of a node that is outside the cluster is closed when the node is back."""
    gateway = await served(site, Roles())
    ann, eve = await together(gateway)
    assert ann.page is not None

    async def never() -> None:
        await asyncio.get_running_loop().create_future()

    monkeypatch.setattr(ann.page.session, "close", never)
    sending = asyncio.create_task(gateway.send_away())
    await until(lambda: (ann.closed, eve.closed) == (4001, 4001))
    sending.cancel()
