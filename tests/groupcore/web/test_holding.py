"""The gateway without a socket: what a page has open, and who is told of it."""

from __future__ import annotations

import asyncio
from collections import Counter as Tally

import pytest

from groupcore.aio import Node
from groupcore.gateway.gateway import Gateway
from groupcore.shared.types import Counter, Map, Presence, Topic
from groupcore.web import BadRequestError
from tests.groupcore.aio.test_objects import until
from tests.groupcore.web.gateways import Minutes, Site, pages, tab

pytestmark = pytest.mark.slow

TYPES = {"Counter": Counter, "Map": Map[str, int], "Minutes": Minutes, "Room": Presence[str]}


class Ledger:
    """What the hooks are told; a gate that openings wait at, and names that are refused."""

    def __init__(self) -> None:
        self.open: Tally[str] = Tally()
        self.asked = 0
        self.told: list[tuple[str, str, str, str]] = []
        self.gate = asyncio.Event()
        self.gate.set()

    async def opening(self, principal: str, kind: str, name: str) -> None:
        self.asked += 1
        await self.gate.wait()
        if name == "nothing":
            raise BadRequestError("no_such_document", "there is none")
        if name == "bug":
            raise ZeroDivisionError
        self.told.append(("opening", principal, kind, name))
        self.open[name] += 1

    def closed(self, principal: str, kind: str, name: str) -> None:
        self.told.append(("closed", principal, kind, name))
        self.open[name] -= 1
        assert self.open[name] >= 0


async def served(site: Site, ledger: Ledger, linger_s: float = 0.2) -> Gateway:
    await site.start("a")
    node: Node = site.cluster.nodes["a"]
    gateway = Gateway(node, TYPES, opening=ledger.opening, closed=ledger.closed, linger_s=linger_s)
    site.gateways["hooked"] = gateway
    return gateway


async def test_who_wants_to_know_is_told_of_each_object_before_it_is_opened_and_once_it_is_not(
    site: Site,
) -> None:
    ledger = Ledger()
    gateway = await served(site, ledger)
    ann = tab(1)
    await ann.connect(gateway, "ann")
    await ann.open("Counter", "c")
    await ann.open("Counter", "c")  # it has it open
    assert ledger.told == [("opening", "ann", "Counter", "c")]
    ann.say("close", name="c")
    ann.say("close", name="c")
    assert ledger.told[1:] == [("closed", "ann", "Counter", "c")]


@pytest.mark.parametrize("name", ["nothing", "bug"])
async def test_an_opening_that_is_refused_opens_nothing_and_is_not_closed(
    site: Site, name: str
) -> None:
    ledger = Ledger()
    gateway = await served(site, ledger)
    ann = tab(1)
    await ann.connect(gateway)
    ann.say("open", name=name, type="Counter")
    refused = await ann.hears("error", name=name)
    assert refused["code"] == {"nothing": "no_such_document", "bug": "internal"}[name]
    assert ledger.told == []
    assert name not in site.cluster.nodes["a"].host.sites
    await ann.open("Counter", "c")


async def test_each_opening_is_closed_whatever_ends_it(site: Site) -> None:
    """O1."""
    ledger = Ledger()
    gateway = await served(site, ledger)
    ann, eve, slow = tab(1), tab(2), tab(3)
    await ann.connect(gateway, "ann")
    await eve.connect(gateway, "eve")
    await slow.connect(gateway)
    await ann.open("Minutes", "m")
    await ann.call("m", 1, ["claim", []])
    await ann.call("m", 2, ["grant", ["eve", "READ"]], answered=1)
    await eve.open("Minutes", "m")
    ann.say("call", name="m", n=3, answered=2, calls=[["revoke", ["eve"]]])
    await eve.hears("error", name="m")  # the right to read has gone
    eve.say("open", name="m", type="Minutes")
    await eve.hears("error", name="m")  # and it does not come to be open again
    await until(lambda: ledger.open["m"] == 1)
    await eve.open("Counter", "c")
    eve.lose()  # the session ends
    await until(lambda: ledger.open["c"] == 0)
    slow.say("open", name="room", type="Room")
    await slow.hears("people", name="room")
    ledger.gate.clear()
    slow.say("open", name="late", type="Counter")
    await gateway.send_away()  # all end, one while it opens
    ledger.gate.set()
    await until(lambda: ("closed", "", "Counter", "late") in ledger.told)
    assert not any(ledger.open.values()), ledger.told


async def test_what_a_page_said_last_counts(site: Site) -> None:
    """O2."""
    ledger = Ledger()
    gateway = await served(site, ledger)
    ann = tab(1)
    await ann.connect(gateway)
    ledger.gate.clear()
    for name in "abc":
        ann.say("open", name=name, type="Counter")
    await until(lambda: ledger.asked == 3)
    for name, words in (("a", "close"), ("b", "close open"), ("c", "open close")):
        for word in words.split():
            ann.say(word, name=name, **({"type": "Counter"} if word == "open" else {}))
    ledger.gate.set()
    await ann.hears("snapshot", name="b")
    await until(lambda: ledger.open == Tally(b=1))
    assert ann.page is not None
    assert list(ann.page.opened) == ["b"]
    assert not [one for one in ann.heard if one["t"] == "snapshot"]
    ann.say("open", name="d", type="Counter")
    ann.say("close", name="d")
    await ann.open("Counter", "e")
    assert ledger.asked == 4  # nobody was asked for what was closed at once
    ann.say("open", name="b", type="Map")
    assert (await ann.hears("error", name="b"))["code"] == "declaration"


async def test_what_a_page_that_came_back_does_not_ask_for_is_closed(site: Site) -> None:
    """O3."""
    ledger = Ledger()
    gateway = await served(site, ledger)
    ann, back = tab(1), tab(1)
    await ann.connect(gateway)
    await ann.open("Counter", "kept")
    await ann.open("Counter", "left")
    ann.lose()
    assert (await back.connect(gateway))["resumed"]
    await back.open("Counter", "kept")
    await until(lambda: ledger.open["left"] == 0)
    assert ledger.open["kept"] == 1


async def test_a_page_that_came_back_is_told_nothing_before_it_has_asked(site: Site) -> None:
    """U1: the changes that it missed would be passed over, once it has been told of later ones."""
    gateway = await served(site, Ledger(), linger_s=5)
    ann, bob, back = tab(1), tab(2), tab(1)
    await ann.connect(gateway)
    await bob.connect(gateway)
    shown = await ann.open("Map", "m")
    await bob.open("Map", "m")
    ann.lose()
    await bob.call("m", 1, ["set", ["missed", 1]])
    await back.connect(gateway)
    await bob.call("m", 2, ["set", ["later", 2]], answered=1)
    assert not [one for one in back.heard if one["t"] == "changes"]
    back.say("open", name="m", type="Map", birth=shown["birth"], version=shown["version"])
    keys = [(await back.hears("changes"))["items"][0][3][0][0] for _ in range(2)]
    assert keys == ["missed", "later"]


async def test_topics_are_held_as_objects_are(site: Site) -> None:
    ledger = Ledger()
    await site.start("a")
    gateway = Gateway(
        site.cluster.nodes["a"], {"Bell": Topic[int]}, opening=ledger.opening, closed=ledger.closed
    )
    site.gateways["hooked"] = gateway
    (ann,) = await pages(gateway, 1)
    ann.say("open", name="bell", type="Bell")
    await ann.hears("opened", name="bell")
    ann.say("close", name="bell")
    assert [one[0] for one in ledger.told] == ["opening", "closed"]
