"""The gateway without a socket: slow readers, bad input, limits."""

from __future__ import annotations

import asyncio

import pytest

from groupcore.aio import Node
from groupcore.errors import SettingsError
from groupcore.gateway.errors import SessionEndError
from groupcore.gateway.gateway import Gateway
from groupcore.gateway.kinds import kinds_of
from groupcore.gateway.limits import CALLS_MAX, OBJECTS_MAX
from groupcore.gateway.page import greet
from groupcore.shared import DeclarationError
from groupcore.shared.types import Counter, Map, Presence
from tests.groupcore.aio.test_objects import until
from tests.groupcore.web.gateways import Site, pages, tab
from tests.groupcore.web.tabs import Tab

pytestmark = pytest.mark.slow


async def test_a_slow_reader_gets_what_it_missed_when_there_is_room_and_holds_nobody_up(
    site: Site,
) -> None:
    (gateway,) = await site.start("a")
    ann, slow = await pages(gateway, 2)
    await ann.open("Map", "m")
    await slow.open("Map", "m")
    slow.is_slow = True
    for number in range(1, 21):
        await ann.call("m", number, ["set", [f"k{number}", number]], answered=number - 1)
    assert not [one for one in slow.heard if one["t"] == "changes"]
    assert gateway.figures.fell_behind == 1
    assert sorted(page.lag for page in gateway.pages.values()) == [0, 20]
    slow.is_slow = False
    keys = [(await slow.hears("changes"))["items"][0][3][0][0] for _ in range(20)]
    assert keys == [f"k{number}" for number in range(1, 21)]
    assert gateway.figures.caught_up == {"stream": 1}
    assert [page.lag for page in gateway.pages.values()] == [0, 0]


async def test_a_slow_reader_is_dropped_to_the_state_when_too_much_was_missed(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("groupcore.gateway.feed.HISTORY_MAX", 5)
    (gateway,) = await site.start("a")
    ann, slow = await pages(gateway, 2)
    await ann.open("Map", "m")
    await slow.open("Map", "m")
    slow.is_slow = True
    for number in range(1, 21):
        await ann.call("m", number, ["set", ["k", number]], answered=number - 1)
    slow.is_slow = False
    assert (await slow.hears("snapshot"))["state"] == [["k", 20]]
    assert gateway.figures.caught_up == {"snapshot": 1}


BAD: list[tuple[dict[str, object], str]] = [
    ({"t": "dance"}, "unknown_message"),
    ({"t": "open", "name": "x"}, "bad_message"),
    ({"t": "open", "name": "x", "type": "Counter", "more": 1}, "bad_message"),
    ({"t": "open", "name": "", "type": "Counter"}, "bad_name"),
    ({"t": "open", "name": "x" * 65, "type": "Counter"}, "bad_name"),
    ({"t": "open", "name": 7, "type": "Counter"}, "bad_name"),
    ({"t": "open", "name": "x", "type": "Engine"}, "unknown_type"),
    ({"t": "open", "name": "c", "type": "Map"}, "declaration"),
    ({"t": "open", "name": "x", "type": "Counter", "version": 1}, "bad_message"),
    ({"t": "open", "name": "x", "type": "Counter", "birth": "b", "version": -1}, "bad_message"),
    ({"t": "call", "name": "y", "n": 1, "answered": 0, "calls": [["add", []]]}, "not_open"),
    ({"t": "call", "name": "c", "n": 0, "answered": 0, "calls": [["add", []]]}, "bad_message"),
    ({"t": "call", "name": "c", "n": True, "answered": 0, "calls": [["add", []]]}, "bad_message"),
    ({"t": "call", "name": "c", "n": 1, "answered": 0, "calls": []}, "bad_message"),
    ({"t": "call", "name": "c", "n": 1, "answered": 0, "calls": [["add"]]}, "bad_message"),
    (
        {"t": "call", "name": "c", "n": 1, "answered": 0, "calls": [["fly", []]]},
        "unknown_operation",
    ),
    ({"t": "call", "name": "c", "n": 1, "answered": 0, "calls": [["add", ["1"]]]}, "arguments"),
    ({"t": "call", "name": "c", "n": 1, "answered": 0, "calls": [["add", [1, 2]]]}, "arguments"),
    ({"t": "publish", "name": "c", "n": 1, "value": 1}, "unknown_operation"),
    ({"t": "present", "name": "c", "value": 1}, "unknown_operation"),
    ({"t": "present", "name": "room", "value": 1}, "arguments"),
    ({"t": "hello", "v": 1, "client": "c" * 16}, "bad_message"),
]


async def test_bad_input_is_refused_by_a_typed_error_and_changes_nothing(site: Site) -> None:
    (gateway,) = await site.start("a")
    ann, bob = await pages(gateway, 2)
    await bob.open("Counter", "c")
    before = await ann.open("Counter", "c")
    ann.say("open", name="room", type="Presence")
    await ann.hears("people", name="room")
    for message, code in BAD:
        assert ann.page is not None
        ann.page.receive(message)  # type: ignore[arg-type]
        refused = await ann.hears("error")
        assert (refused["code"], refused["temporary"]) == (code, code == "not_open"), message
    assert gateway.figures.refused.total() == len(BAD)
    assert (await ann.open("Counter", "c"))["version"] == before["version"]
    assert not [one for one in bob.heard if one["t"] == "changes"]


async def test_limits_are_kept(site: Site) -> None:
    (gateway,) = await site.start("a")
    (ann,) = await pages(gateway, 1)
    for number in range(OBJECTS_MAX):
        await ann.open("Counter", f"c{number}")
    ann.say("open", name="one more", type="Counter")
    assert (await ann.hears("error"))["code"] == "too_many_open"
    for number in range(1, CALLS_MAX + 2):
        ann.say("call", name="c0", n=number, answered=0, calls=[["add", [1]]])
    assert (await ann.hears("error"))["n"] == CALLS_MAX + 1
    await until(lambda: ann.page is not None and len(ann.page.owed) == 0)


async def test_a_session_that_sends_too_much_ends_its_connection(site: Site) -> None:
    await site.start("a")
    gateway = Gateway(site.cluster.nodes["a"], [Counter], rate=0.01, burst=5)
    site.gateways["bounded"] = gateway
    ann = tab(1)
    await ann.connect(gateway)
    for _ in range(5):
        ann.say("pong")
    for _ in range(2):
        with pytest.raises(SessionEndError) as end:
            ann.say("pong")
        assert end.value.code == 4429
    back = tab(1)  # another connection is the same session
    await back.connect(gateway)
    with pytest.raises(SessionEndError):
        back.say("pong")


async def test_sessions_that_wait_for_their_page_make_room_for_others(site: Site) -> None:
    await site.start("a")
    gateway = Gateway(site.cluster.nodes["a"], [Counter], sessions_max=2, linger_s=60)
    site.gateways["bounded"] = gateway
    for number in range(4):
        gone = tab(number)
        await gone.connect(gateway)
        gone.lose()
    assert list(gateway.pages) == [tab(2).client, tab(3).client]
    assert gateway.figures.sessions == 2
    assert (await tab(3).connect(gateway))["resumed"]
    assert not (await tab(0).connect(gateway))["resumed"]


async def test_what_was_done_is_counted(site: Site) -> None:
    (gateway,) = await site.start("a")
    (ann,) = await pages(gateway, 1)
    await ann.open("Counter", "c")
    await ann.call("c", 1, ["add", [1]])
    ann.say("call", name="c", n=2, answered=1, calls=[["fly", []]])
    await ann.hears("error")
    figures = gateway.figures
    assert (figures.sessions, figures.calls, figures.refused["unknown_operation"]) == (1, 1, 1)
    assert sum(figures.latency.counts) == 1
    assert figures.latency.sum > 0
    assert figures.frames_out == len(ann.frames)


@pytest.mark.parametrize("wrong", [{"rate": 0}, {"sessions_max": 0}, {"linger_s": -1}])
async def test_settings_that_cannot_be_are_refused(site: Site, wrong: dict[str, int]) -> None:
    await site.start("a")
    with pytest.raises(SettingsError, match=next(iter(wrong))):
        Gateway(site.cluster.nodes["a"], [Counter], **wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("hello", "code"),
    [
        ({"t": "open", "name": "x", "type": "Counter"}, 1008),
        ({"t": "hello", "v": 2, "client": "c" * 16}, 4426),
        ({"t": "hello", "v": 1, "client": "short"}, 1008),
        ({"t": "hello", "v": 1, "client": "c" * 65}, 1008),
        ({"t": "hello", "v": 1}, 1008),
        ({"t": "hello", "v": 1, "client": "c" * 16, "x": 1}, 1008),
    ],
)
async def test_what_is_no_hello_ends_the_connection(
    site: Site, hello: dict[str, object], code: int
) -> None:
    (gateway,) = await site.start("a")
    with pytest.raises(SessionEndError) as end:
        greet(gateway, hello, "", Tab())  # type: ignore[arg-type]
    assert end.value.code == code
    assert not gateway.pages


async def test_what_may_be_opened_is_asked(site: Site) -> None:
    await site.start("a")
    node: Node = site.cluster.nodes["a"]
    asked: list[tuple[str, str, str]] = []

    def may_open(principal: str, kind: str, name: str) -> bool:
        asked.append((principal, kind, name))
        return name != "private"

    gateway = Gateway(node, [Counter], may_open=may_open)
    ann = tab(1)
    await ann.connect(gateway, "ann")
    await ann.open("Counter", "public")
    ann.say("open", name="private", type="Counter")
    assert (await ann.hears("error", name="private"))["code"] == "forbidden"
    assert asked == [("ann", "Counter", "public"), ("ann", "Counter", "private")]
    await gateway.close()


def test_types_that_cannot_be_opened_are_refused_at_once() -> None:
    with pytest.raises(DeclarationError):
        kinds_of([int])
    with pytest.raises(DeclarationError, match="two types are called Map"):
        kinds_of([Map[str, int], Map[str, str]])
    with pytest.raises(DeclarationError, match="needs the type"):
        kinds_of([Presence])
    names = kinds_of({"Ages": Map[str, int], "Names": Map[str, str]})
    assert list(names) == ["Ages", "Names"]


async def test_a_node_that_closes_sends_its_pages_away(site: Site) -> None:
    (gateway,) = await site.start("a")
    ann, bob = await pages(gateway, 2)
    await ann.open("Counter", "c")
    async with asyncio.timeout(5):
        await gateway.close()
    assert (ann.closed, bob.closed, gateway.pages) == (4001, 4001, {})


async def test_pages_do_not_act_for_nodes(site: Site) -> None:
    (gateway,) = await site.start("a")
    ann, nobody = tab(1), tab(2)
    await ann.connect(gateway, "ann")
    await nobody.connect(gateway)
    await ann.open("Sheet", "s")
    await ann.call("s", 1, ["add", []])
    ann.say("call", name="s", n=2, answered=1, calls=[["clean", []]])
    assert (await ann.hears("error", n=2))["code"] == "forbidden"
    nobody.say("open", name="s", type="Sheet")
    assert (await nobody.hears("error"))["code"] == "forbidden"
