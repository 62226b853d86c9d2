"""What a page is told of the groups behind its objects."""

from __future__ import annotations

import pytest

from groupcore.gateway.gateway import Gateway
from groupcore.gateway.limits import INSPECTED_S
from tests.groupcore.aio.test_objects import until
from tests.groupcore.web.gateways import Site, node_of, pages, tab
from tests.groupcore.web.tabs import Heard, Tab

pytestmark = pytest.mark.slow


async def inspected(one: Tab, number: int) -> Heard:
    """The answer; the page asks seldom enough."""
    assert one.page is not None
    one.page._inspected_s -= INSPECTED_S
    one.say("inspect", n=number)
    return await one.hears("inspected", n=number)


async def move(gateway: Gateway, group: int, name: str) -> None:
    """Have this node sequence the group."""
    groups = node_of(gateway).groups
    view = groups.channel.view
    assert view is not None
    await groups.move([group], next(one for one in view.members if one.name == name))
    await until(lambda: groups.owner_of(group) == name)


async def test_a_page_is_told_of_the_groups_of_what_it_has_open_and_of_no_others(
    site: Site,
) -> None:
    a, b = await site.start("a", "b")
    ann, bob = tab(1), tab(2)
    await ann.connect(a)
    await bob.connect(b)
    await ann.open("Counter", "clicks")
    await bob.open("Counter", "clicks")
    await bob.open("Counter", "secret")
    await ann.call("clicks", 1, ["add", [1]])
    told = await inspected(ann, 1)
    (clicks,) = told["objects"]
    assert (clicks["name"], clicks["type"], clicks["order"]) == (
        "clicks",
        "Counter",
        "causally_total",
    )
    assert clicks["sequencer"] in ("a", "b")
    assert clicks["nodes"] == ["a", "b"]
    assert clicks["members"] == 2
    assert clicks["head"] == clicks["position"] >= 3  # two came, one called
    assert clicks["unsaved"] == 0  # no disk
    assert told["at"]["node"] == "a"
    assert told["at"]["members"] == ["a", "b"]
    assert told["at"]["groups"] == 2
    assert told["session"]["objects"] == 1
    assert (told["session"]["resumed"], told["session"]["withheld"]) == (0, 0)
    ann.say("close", name="clicks")
    assert (await inspected(ann, 2))["objects"] == []


async def test_a_migration_is_seen(site: Site) -> None:
    a, _ = await site.start("a", "b")
    ann = tab(1)
    await ann.connect(a)
    await ann.open("Counter", "one")
    await ann.open("Counter", "two")
    for name, place in (("a", 0), ("b", 0), ("b", 1)):
        before = (await inspected(ann, 1))["objects"][place]
        if before["sequencer"] == name:
            continue
        await move(a, before["group"], name)
        after = (await inspected(ann, 2))["objects"][place]
        assert (after["sequencer"], after["epoch"]) == (name, before["epoch"] + 1)


async def test_who_looks_again_and_again_is_told_to_wait(site: Site) -> None:
    (gateway,) = await site.start("a")
    (ann,) = await pages(gateway, 1)
    ann.say("inspect", n=1)
    await ann.hears("inspected", n=1)
    ann.say("inspect", n=2)
    answer = await ann.hears("error", n=2)
    assert (answer["code"], answer["temporary"]) == ("busy", True)
    ann.say("inspect", n=-1)
    assert (await ann.hears("error"))["code"] == "bad_message"


async def test_a_session_that_comes_back_says_how_often(site: Site) -> None:
    (gateway,) = await site.start("a")
    ann = tab(1)
    for _ in range(3):
        await ann.connect(gateway)
        ann.lose()
    await ann.connect(gateway)
    assert (await inspected(ann, 1))["session"]["resumed"] == 3
