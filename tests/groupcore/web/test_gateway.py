"""The gateway without a socket: what pages ask for, and what they are told."""

from __future__ import annotations

import pytest

from groupcore.events import Excluded
from groupcore.gateway.errors import SessionEndError
from groupcore.gateway.gateway import Gateway
from groupcore.shared.access import Right
from tests.groupcore.aio.test_objects import until
from tests.groupcore.web.gateways import Site, node_of, pages, tab, tabs_state

pytestmark = pytest.mark.slow


async def test_an_object_is_shown_and_its_changes_follow(site: Site) -> None:
    (gateway,) = await site.start("a")
    ann, bob = await pages(gateway, 2)
    shown = await ann.open("Counter", "clicks")
    assert (shown["state"], shown["done"]) == ({"value": 0}, [])
    await bob.open("Counter", "clicks")
    assert (await ann.call("clicks", 1, ["add", [5]]))["results"] == [5]
    change = await bob.hears("changes", name="clicks")
    assert (change["state"], change["version"] > shown["version"]) == ({"value": 5}, True)
    assert [item[2] for item in change["items"]] == ["add"]


async def test_a_result_never_comes_before_its_change(site: Site) -> None:
    (gateway,) = await site.start("a")
    (ann,) = await pages(gateway, 1)
    await ann.open("Map", "m")
    ann.heard.clear()
    ann.say("call", name="m", n=1, answered=0, calls=[["set", ["x", 1]]])
    await until(lambda: any(one["t"] == "result" for one in ann.heard))
    assert [one["t"] for one in ann.heard] == ["changes", "result"]
    assert ann.heard[0]["items"][0][2:] == ["set", [["x", None, 1]]]


async def test_changes_are_packed_once_for_all(site: Site) -> None:
    (gateway,) = await site.start("a")
    tabs = await pages(gateway, 30)
    for one in tabs:
        await one.open("Text", "note")
    for one in tabs:
        one.frames.clear()
    await tabs[0].call("note", 1, ["edit", [0, ["hello"]]])
    for one in tabs[1:]:
        await one.hears("changes")
    assert len({one.frames[-1] for one in tabs[1:]}) == 1
    (feed,) = gateway._feeds.values()
    assert len(feed._history) == 1


async def test_own_classes_show_their_public_fields_and_take_defaults(site: Site) -> None:
    (gateway,) = await site.start("a")
    (ann,) = await pages(gateway, 1)
    assert (await ann.open("Game", "g"))["state"] == {"scores": []}
    result = await ann.call("g", 1, ["score", ["ann"]])
    assert result["results"] == [{"player": "ann", "points": 1}]
    ann.say("call", name="g", n=2, answered=1, calls=[["score", ["ann", 10]]])
    refused = await ann.hears("error", name="g", n=2)
    assert (refused["code"], refused["message"]) == ("value", "too many at once")
    assert refused["temporary"] is False


async def test_a_transaction_is_all_or_nothing(site: Site) -> None:
    (gateway,) = await site.start("a")
    (ann,) = await pages(gateway, 1)
    await ann.open("Map", "m")
    results = await ann.call("m", 1, ["set", ["x", 1]], ["set", ["y", 2]])
    assert results["results"] == [None, None]
    ann.say("call", name="m", n=2, answered=1, calls=[["set", ["x", 9]], ["delete", ["z"]]])
    assert (await ann.hears("error", n=2))["code"] == "key"
    assert (await tabs_state(gateway, "Map", "m")) == [["x", 1], ["y", 2]]


async def test_a_call_that_is_sent_again_is_done_once_at_any_node(site: Site) -> None:
    a, b = await site.start("a", "b")
    ann, again, keeper = tab(1), tab(1), tab(2)
    await ann.connect(a)
    await keeper.connect(b)
    await ann.open("Counter", "c")
    await keeper.open("Counter", "c")
    assert (await ann.call("c", 1, ["add", [1]]))["results"] == [1]
    assert (await ann.call("c", 2, ["add", [1]]))["results"] == [2]
    assert (await ann.call("c", 2, ["add", [1]]))["results"] == [2]
    ann.lose()
    await again.connect(b)
    shown = await again.open("Counter", "c")
    assert shown["done"] == [[1, [1], ""], [2, [2], ""]]
    for number, total in ((1, 1), (2, 2), (3, 3)):
        assert (await again.call("c", number, ["add", [1]]))["results"] == [total]
    assert await tabs_state(b, "Counter", "c") == {"value": 3}


async def test_a_refusal_is_remembered_like_a_result(site: Site) -> None:
    (gateway,) = await site.start("a")
    (ann,) = await pages(gateway, 1)
    await ann.open("Game", "g")
    for _ in range(2):
        ann.say("call", name="g", n=1, answered=0, calls=[["score", ["ann", 10]]])
        assert (await ann.hears("error", n=1))["code"] == "value"
    await ann.call("g", 5, ["score", ["ann"]], answered=1)
    ann.say("call", name="g", n=3, answered=1, calls=[["score", ["ann"]]])
    assert (await ann.hears("error", n=3))["code"] == "skipped"
    ann.say("call", name="g", n=1, answered=0, calls=[["score", ["ann"]]])
    assert (await ann.hears("error", n=1))["code"] == "result_lost"


async def test_who_comes_back_gets_what_it_missed_and_nothing_twice(site: Site) -> None:
    a, b = await site.start("a", "b")
    ann, bob, again = tab(1), tab(2), tab(1)
    await ann.connect(a)
    await bob.connect(b)
    shown = await ann.open("Map", "m")
    await bob.open("Map", "m")
    birth = shown["birth"]
    await ann.call("m", 1, ["set", ["x", 1]])
    version = (await bob.hears("changes"))["version"]
    ann.lose()
    await bob.call("m", 1, ["set", ["y", 2]])
    await again.connect(b)
    again.say("open", name="m", type="Map", birth=birth, version=version)
    missed = await again.hears("changes", name="m")
    opened = await again.hears("opened", name="m")
    assert opened["version"] >= missed["version"] > version
    assert [item[2:] for item in missed["items"]] == [["set", [["y", None, 2]]]]


async def test_a_node_that_is_behind_catches_up_before_it_shows_anything(site: Site) -> None:
    a, b = await site.start("a", "b")
    ann, bob = tab(1), tab(2)
    await ann.connect(a)
    await bob.connect(b)
    shown = await ann.open("Counter", "c")
    await bob.open("Counter", "c")
    await ann.call("c", 1, ["add", [1]])
    # The page claims a version that nobody has seen: the node asks the order, then shows the state.
    bob.say("open", name="c", type="Counter", birth=shown["birth"], version=10_000)
    assert (await bob.hears("snapshot"))["state"] == {"value": 1}


async def test_a_version_of_another_birth_is_answered_by_the_state(site: Site) -> None:
    (gateway,) = await site.start("a")
    (ann,) = await pages(gateway, 1)
    shown = await ann.open("Counter", "c")
    ann.say("open", name="c", type="Counter", birth="elsewhere", version=shown["version"])
    assert (await ann.hears("snapshot"))["version"] == shown["version"]


async def test_a_text_is_shown_with_the_edits_behind_the_pages_own_version(site: Site) -> None:
    (gateway,) = await site.start("a")
    ann, bob = await pages(gateway, 2)
    await ann.open("Text", "t")
    await ann.call("t", 1, ["edit", [0, ["one"]]])
    await ann.call("t", 2, ["edit", [1, [3, " two"]]], answered=1)
    birth = (await bob.open("Text", "t"))["birth"]
    shown = await bob.open("Text", "t", birth=birth, version=0, base=1)
    assert shown["state"] == {"text": "one two", "version": 2, "recent": [[3, " two"]]}
    first = await bob.open("Text", "t", base=1)
    assert first["state"]["recent"] == [
        [3, " two"]
    ]  # what it began with can be known from elsewhere
    other = await bob.open("Text", "t", birth="another", version=0, base=1)
    assert other["state"]["recent"] is None


async def test_a_session_lingers_with_its_locks_and_ends(site: Site) -> None:
    (gateway,) = await site.start("a")
    ann, bob = await pages(gateway, 2)
    await ann.open("Lock", "l")
    await bob.open("Lock", "l")
    ticket = (await ann.call("l", 1, ["request", []]))["results"][0]
    assert ticket["token"] == 1
    ann.lose()
    back = tab(0)
    welcome = await back.connect(gateway)
    assert (welcome["resumed"], welcome["who"]) == (True, ticket["process"])
    back.lose()
    assert (await bob.hears("changes"))["state"]["queue"] == [ticket]
    assert (await bob.hears("changes"))["state"]["queue"] == []
    assert tab(0).client not in gateway.pages


async def test_the_newer_connection_of_a_client_wins(site: Site) -> None:
    (gateway,) = await site.start("a")
    older, newer = tab(1), tab(1)
    await older.connect(gateway)
    assert (await newer.connect(gateway))["resumed"]
    assert older.closed == 4409
    older.lose()
    await newer.open("Counter", "c")
    with pytest.raises(SessionEndError, match="somebody else"):
        await tab(1).connect(gateway, "eve")


async def test_events_of_a_topic_reach_those_that_have_it_open(site: Site) -> None:
    (gateway,) = await site.start("a")
    ann, bob = await pages(gateway, 2)
    for one in (ann, bob):
        one.say("open", name="bell", type="Topic")
        await one.hears("opened", name="bell")
    ann.say("publish", name="bell", n=1, value=7)
    await ann.hears("result", name="bell", n=1)
    assert (await bob.hears("event", name="bell"))["value"] == 7
    ann.say("publish", name="bell", n=2, value="seven")
    assert (await ann.hears("error", n=2))["code"] == "arguments"


async def test_presence_is_each_sessions_own_and_goes_with_it(site: Site) -> None:
    (gateway,) = await site.start("a")
    ann, bob = await pages(gateway, 2)
    for one in (ann, bob):
        one.say("open", name="room", type="Presence")
        await one.hears("people", name="room")
    ann.say("present", name="room", value="Ann")
    seen = await bob.hears("presence", name="room")
    assert seen["value"] == "Ann"
    late = tab(5)
    await late.connect(gateway)
    late.say("open", name="room", type="Presence")
    assert (await late.hears("people"))["others"] in ([[seen["who"], "Ann"]], [])
    ann.lose()
    assert (await bob.hears("presence", who=seen["who"]))["value"] is None


async def test_who_may_not_read_any_more_is_shown_nothing_behind_that(site: Site) -> None:
    (gateway,) = await site.start("a")
    ann, eve = tab(1), tab(2)
    await ann.connect(gateway, "ann")
    await eve.connect(gateway, "eve")
    await ann.open("Minutes", "m")
    await ann.call("m", 1, ["claim", []])
    await ann.call("m", 2, ["grant", ["eve", "READ"]], answered=1)
    await eve.open("Minutes", "m")
    eve.say("call", name="m", n=1, answered=0, calls=[["note", ["x"]]])
    assert (await eve.hears("error", n=1))["code"] == "forbidden"
    await ann.call("m", 3, ["note", ["for both"]], answered=2)
    assert (await eve.hears("changes"))["state"]["lines"] == ["for both"]
    ann.say("call", name="m", n=4, answered=3, calls=[["revoke", ["eve"]]])
    ann.say("call", name="m", n=5, answered=3, calls=[["note", ["secret"]]])
    await ann.hears("result", n=5)
    assert (await eve.hears("error", name="m"))["code"] == "forbidden"
    assert not any("secret" in str(frame) for frame in eve.frames)
    eve.say("open", name="m", type="Minutes")
    assert (await eve.hears("error", name="m"))["code"] == "forbidden"
    assert (await tabs_state_of(gateway, "ann"))["rights"] == [["ann", "MANAGE"]]
    assert Right.READ.name == "READ"


async def tabs_state_of(gateway: Gateway, principal: str) -> dict[str, object]:
    fresh = tab(98)
    await fresh.connect(gateway, principal)
    state: dict[str, object] = (await fresh.open("Minutes", "m"))["state"]
    return state


async def test_an_object_that_a_page_closes_is_told_no_more_and_opens_again(site: Site) -> None:
    (gateway,) = await site.start("a")
    ann, bob = await pages(gateway, 2)
    await ann.open("Counter", "c")
    await bob.open("Counter", "c")
    ann.say("close", name="c")
    ann.heard.clear()
    await bob.call("c", 1, ["add", [1]])
    ann.say("call", name="c", n=1, answered=0, calls=[["add", [1]]])
    assert (await ann.hears("error", n=1))["code"] == "not_open"
    assert not [one for one in ann.heard if one["t"] == "changes"]
    assert (await ann.open("Counter", "c"))["state"] == {"value": 1}


async def test_objects_come_back_by_themselves_when_the_cluster_went_on_without_the_node(
    site: Site,
) -> None:
    a, b = await site.start("a", "b")
    ann, bob = tab(1), tab(2)
    await ann.connect(a)
    await bob.connect(b)
    await ann.open("Counter", "c")
    await bob.open("Counter", "c")
    await bob.call("c", 1, ["add", [1]])
    node_of(b).groups.channel._on_deliveries([Excluded("the view went on")])
    result = await bob.call("c", 2, ["add", [1]])
    assert result["results"] == [2]  # done once, whatever became of it first
    assert (await bob.call("c", 1, ["add", [1]]))["results"] == [1]
    assert (await bob.call("c", 3, ["add", [1]]))["results"] == [3]


async def test_pages_are_told_what_the_node_can_do_and_nothing_while_it_serves(site: Site) -> None:
    (gateway,) = await site.start("a")
    (ann,) = await pages(gateway, 1)
    gateway.become("stale")
    gateway.become("stale")
    assert (await ann.hears("condition"))["condition"] == "stale"
    late, bob = tab(1), tab(2)
    await late.connect(gateway)
    assert (await late.hears("condition"))["condition"] == "stale"
    gateway.become("serving")
    assert (await ann.hears("condition"))["condition"] == "serving"  # not stale once more
    await bob.connect(gateway)
    bob.say("open", name="clicks", type="Counter")
    await until(lambda: any(one["t"] == "snapshot" for one in bob.heard))
    assert all(one["t"] != "condition" for one in bob.heard)
