"""Presence for many pages of a node: each change once, the last one of a flush."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from msgpack import unpackb

from groupcore.aio.group_node import GroupNode
from groupcore.gateway import company
from groupcore.sequencing.names import GroupId, Process
from groupcore.shared.plain import who
from groupcore.shared.types.presence import Presence, PresenceChanged
from tests.groupcore.aio.test_objects import until
from tests.groupcore.web.gateways import Site, pages, tab
from tests.groupcore.web.tabs import Tab

pytestmark = pytest.mark.slow


async def room(site: Site, count: int) -> list[Tab]:
    """So many pages at one node that have the room open."""
    (gateway,) = await site.start("a")
    tabs = await pages(gateway, count)
    for one in tabs:
        one.say("open", name="room", type="Presence")
        await one.hears("people", name="room")
    return tabs


def crowd_of(one: Tab) -> Presence[object]:
    assert one.page is not None
    user = one.page.opened["room"].user
    assert isinstance(user, Presence)
    return user


async def test_what_a_node_hears_it_keeps_once_and_packs_once(site: Site) -> None:
    tabs = await room(site, 20)
    assert len({id(crowd_of(one).crowd) for one in tabs}) == 1
    for one in tabs:
        one.frames.clear()
    tabs[0].say("present", name="room", value="Ann")
    for one in tabs[1:]:
        assert (await one.hears("presence"))["value"] == "Ann"
    assert len({id(one.frames[-1]) for one in tabs[1:]}) == 1
    assert not [one for one in tabs[0].heard if one["t"] == "presence"]


async def test_of_changes_in_one_flush_only_the_last_is_told(site: Site) -> None:
    ann, bob = await room(site, 2)
    crowd = crowd_of(bob).crowd
    process = crowd_of(ann)._port.process
    other = Process(process.node, 99)
    for value in ("one", "two", "three"):
        for watcher in crowd.watchers:
            watcher(PresenceChanged(process, value))
            watcher(PresenceChanged(other, value))
    ann.frames.clear()
    bob.heard.clear()
    await bob.hears("presence")
    told = [unpackb(frame) for frame in bob.frames][-1]
    assert [(one["who"], one["value"]) for one in told] == [
        (who(process), "three"),
        (who(other), "three"),
    ]
    mine = [one for frame in ann.frames for one in unpackb(frame) if one["t"] == "presence"]
    assert len(mine) == 1  # its own is not told to it


async def test_one_that_comes_is_told_of_all_and_nobody_says_it_again(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    tabs = await room(site, 5)
    for number, one in enumerate(tabs):
        one.say("present", name="room", value=str(number))
    await until(lambda: len(crowd_of(tabs[0]).crowd.seen) == 5)
    said: list[Process] = []
    send = GroupNode.send_volatile

    def note(node: GroupNode, process: Process, group: GroupId, payload: bytes) -> None:
        said.append(process)
        send(node, process, group, payload)

    monkeypatch.setattr(GroupNode, "send_volatile", note)
    late = tab(50)
    await late.connect(site.gateways["a"])
    late.say("open", name="room", type="Presence")
    people = await late.hears("people")
    assert sorted(value for _, value in people["others"]) == list("01234")
    late.say("present", name="room", value="late")
    await tabs[0].hears("presence", value="late")
    assert len(said) == 1


async def test_who_is_at_another_node_is_told_of_all_and_leaves(site: Site) -> None:
    a, b = await site.start("a", "b")
    ann, bob = tab(1), tab(2)
    for one, gateway in ((ann, a), (bob, b)):
        await one.connect(gateway)
        one.say("open", name="room", type="Presence")
        await one.hears("people")
        if one is ann:
            ann.say("present", name="room", value="Ann")
    assert (await bob.hears("presence"))["value"] == "Ann"
    ann.say("close", name="room")
    assert (await bob.hears("presence"))["value"] is None
    assert a._companies == {}
    ann.say("open", name="room", type="Presence")
    assert (await ann.hears("people"))["others"] == []


async def test_the_more_follow_the_less_often_they_are_told(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(company, "CROWD", 2)
    tabs = await room(site, 4)
    told = tabs[0].page
    assert told is not None
    here = told.opened["room"].company
    assert here is not None
    assert here.pace_s == pytest.approx(4 * company.PACE_S)
    loop = asyncio.get_running_loop()
    here._told_at_s = loop.time() + 1e6 - here.pace_s  # they have been told just now
    process = crowd_of(tabs[1])._port.process
    for value in ("one", "two"):
        here.crowd.watchers[0](PresenceChanged(process, value))
    gateway = site.gateways["a"]
    gateway.flush()
    assert here not in gateway._stirred
    assert here._call_off is not None
    here._on_time()
    assert (await tabs[0].hears("presence"))["value"] == "two"
    assert here._call_off is None


async def test_a_page_shows_what_the_program_lets_it_show(site: Site) -> None:
    (gateway,) = await site.start("a")

    def presenting(principal: str, session: str, name: str, value: object) -> object:
        assert (principal, name) == ("", "room")
        return f"{session} {value}"

    gateway.terms = replace(gateway.terms, presenting=presenting)
    ann, bob = await pages(gateway, 2)
    for one in (ann, bob):
        one.say("open", name="room", type="Presence")
        await one.hears("people")
    ann.say("present", name="room", value="hello")
    assert (await bob.hears("presence"))["value"] == f"{who(crowd_of(ann)._port.process)} hello"
