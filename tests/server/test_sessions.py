"""Sessions over a real socket: handshake, documents, edits, errors."""

from __future__ import annotations

import msgpack
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus
from websockets.typing import Origin, Subprotocol

from tests.server.support import Cluster, browser, connected, create, text_change, until

PROTOCOLS = [Subprotocol("groupcore.v1.msgpack")]


async def test_an_edit_comes_back_to_everybody_once_at_the_same_version(cluster: Cluster) -> None:
    node = await cluster.start("a")
    doc = await create(node)
    async with browser(node, "c1") as ann, browser(node, "c2", "Bob") as bob:
        snapshot = await ann.open(doc)
        await bob.open(doc)
        assert [block[2] for block in snapshot["blocks"]] == ["hello"]
        await ann.submit(doc, 1, (snapshot["epoch"], 0), [text_change("b1", 5, "!")])
        for session in (ann, bob):
            update = await session.take("update")
            assert (update["version"], update["client"], update["op"]) == (1, "c1", 1)
            assert update["changes"] == [["text", "b1", [5, "!"]]]
            assert update["name"] == "Ann"
            assert (await session.take("saved"))["version"] == 1


async def test_a_refused_edit_is_told_to_its_author_alone(cluster: Cluster) -> None:
    node = await cluster.start("a")
    doc = await create(node)
    async with browser(node, "c1") as ann, browser(node, "c2") as bob:
        snapshot = await ann.open(doc)
        await bob.open(doc)
        base = (snapshot["epoch"], 0)
        await ann.submit(doc, 1, base, [["delete", "nowhere", None]])
        reject = await ann.take("reject", op=1)
        assert (reject["code"], reject["temporary"]) == ("no_such_block", False)
        await ann.submit(doc, 2, base, [text_change("b1", 0, "x")])
        await bob.take("update", op=2)
        assert not [m for m in bob.waiting if m["t"] == "reject"]


async def test_a_malformed_edit_uses_its_number_up_and_the_next_applies(cluster: Cluster) -> None:
    node = await cluster.start("a")
    doc = await create(node)
    async with browser(node) as ann:
        snapshot = await ann.open(doc)
        base = (snapshot["epoch"], 0)
        await ann.submit(doc, 1, base, [["paint", "b1"]])
        assert (await ann.take("reject", op=1))["code"] == "bad_change"
        await ann.submit(doc, 2, base, [text_change("b1", 0, "x")])
        assert (await ann.take("update", op=2))["version"] == 1


async def test_an_edit_sent_twice_is_applied_once(cluster: Cluster) -> None:
    node = await cluster.start("a")
    doc = await create(node)
    async with browser(node) as ann:
        base = ((await ann.open(doc))["epoch"], 0)
        await ann.submit(doc, 1, base, [text_change("b1", 0, "x")])
        await ann.take("update", op=1)
        await ann.submit(doc, 1, base, [text_change("b1", 0, "x")])
        assert (await ann.take("update", op=1))["version"] == 1
        await ann.submit(doc, 1, base, [text_change("b1", 0, "y")])
        assert (await ann.take("reject", op=1))["code"] == "op_reused"
    assert node.node.replica.version_of(doc)[1] == 1


async def test_a_session_resumes_on_another_node_and_sees_what_it_missed(cluster: Cluster) -> None:
    first, second = await cluster.start("a"), await cluster.start("b")
    doc = await create(first)
    async with browser(first, "c1") as ann, browser(first, "c2") as bob:
        epoch = (await ann.open(doc))["epoch"]
        await ann.submit(doc, 1, (epoch, 0), [text_change("b1", 0, "1")])
        await ann.take("update", op=1)
        await ann.connection.close()
        await bob.submit(doc, 1, (epoch, 1), [text_change("b1", 0, "2")])
        await until(lambda: second.node.replica.version_of(doc)[1] == 2)
        async with browser(second, "c1") as again:
            opened = await again.open(doc, epoch=epoch, version=1)
            assert (opened["epoch"], opened["version"]) == (epoch, 1)
            update = await again.take("update")
            assert (update["version"], update["client"]) == (2, "c2")
            assert not [m for m in again.waiting if m["t"] == "update"]


async def test_a_position_that_nobody_knows_gets_a_snapshot_with_what_it_holds_of_the_client(
    cluster: Cluster,
) -> None:
    node = await cluster.start("a")
    doc = await create(node)
    async with browser(node, "c1") as ann:
        epoch = (await ann.open(doc))["epoch"]
        await ann.submit(doc, 1, (epoch, 0), [text_change("b1", 0, "1")])
        await ann.take("update")
        await ann.send({"t": "open", "doc": doc, "epoch": 0, "version": 0})
        assert (await ann.take("snapshot"))["applied"] == 1


async def test_a_newer_connection_of_a_client_wins(cluster: Cluster) -> None:
    node = await cluster.start("a")
    async with browser(node, "c1") as older, browser(node, "c1"):
        assert await older.close_code() == 4409


async def test_carets_and_names_reach_sessions_on_other_nodes(cluster: Cluster) -> None:
    first, second = await cluster.start("a"), await cluster.start("b")
    doc = await create(first)
    async with browser(first, "c1", "Ann") as ann:
        await ann.open(doc)
        async with browser(second, "c2", "Bob") as bob:
            await bob.open(doc)
            await bob.send({"t": "caret", "doc": doc, "block": "b1", "anchor": 1, "head": 2})
            caret = await ann.take("caret", block="b1")
            assert (caret["name"], caret["anchor"], caret["head"]) == ("Bob", 1, 2)
            async with browser(first, "c3", "Eve") as eve:
                await eve.open(doc)
                people = (await eve.take("people"))["people"]
                assert {person["name"] for person in people} == {"Ann", "Bob"}
        await ann.take("left", who=caret["who"])


async def test_the_people_of_a_node_that_has_left_vanish(cluster: Cluster) -> None:
    first, second = await cluster.start("a"), await cluster.start("b")
    doc = await create(first)
    async with browser(first, "c1") as ann, browser(second, "c2", "Bob") as bob:
        await ann.open(doc)
        await bob.open(doc)
        who = (await ann.take("caret", name="Bob"))["who"]
        cluster.group.leave(cluster.channel("b"))
        await ann.take("left", who=who)


async def test_unknown_messages_and_fields_are_answered_and_the_session_lives(
    cluster: Cluster,
) -> None:
    node = await cluster.start("a")
    async with browser(node) as ann:
        await ann.send({"t": "dance"})
        assert (await ann.take("error"))["code"] == "unknown_message"
        await ann.send({"t": "open", "doc": "x", "colour": 1})
        assert (await ann.take("error"))["code"] == "bad_message"
        await ann.send({"t": "open", "doc": "missing"})
        assert (await ann.take("error"))["code"] == "no_such_document"


GARBAGE = [
    b"",
    b"\xc1",
    msgpack.packb([]),
    msgpack.packb({"t": "pong"}),
    msgpack.packb([{"t": "pong"}]) + b"x",
    msgpack.packb([{"t": 1}]),
    msgpack.packb([{"t": "pong"}] * 65),
    msgpack.packb([{"t": "pong", "x": 2**60}]),
    msgpack.packb([{"t": "pong", "x": [[[[[[[[[1]]]]]]]]]}]),
    msgpack.packb([{"t": "pong", "x": msgpack.ExtType(1, b"")}]),
    b"\x91\x82\xa1t\xa4pong\xa1t\xa4pong",
]


@pytest.mark.parametrize("data", GARBAGE)
async def test_a_frame_of_another_form_closes_with_1008(cluster: Cluster, data: bytes) -> None:
    node = await cluster.start("a")
    async with browser(node) as ann:
        await ann.connection.send(data)
        assert await ann.close_code() == 1008


async def test_a_text_frame_closes_with_1008(cluster: Cluster) -> None:
    node = await cluster.start("a")
    async with browser(node) as ann:
        await ann.connection.send("text")
        assert await ann.close_code() == 1008


async def test_a_frame_that_is_too_big_closes_with_1009(cluster: Cluster) -> None:
    node = await cluster.start("a", frame_kib=16)
    async with browser(node) as ann:
        await ann.connection.send(bytes(17 * 1024))
        assert await ann.close_code() == 1009


async def test_the_first_message_must_be_a_hello_of_a_known_version(cluster: Cluster) -> None:
    node = await cluster.start("a")
    hello = {"t": "hello", "client": "c", "name": "n"}
    firsts = [({"t": "pong"}, 1008), (hello | {"v": 2}, 4426), (hello | {"v": 1, "name": ""}, 1008)]
    for first, code in firsts:
        async with connected(node) as connection:
            await connection.send(msgpack.packb([first]))
            await connection.wait_closed()
            assert connection.close_code == code


async def test_silence_instead_of_hello_is_closed_with_4408(cluster: Cluster) -> None:
    node = await cluster.start("a", hello_s=1)
    async with connected(node) as connection:
        await connection.wait_closed()
        assert connection.close_code == 4408


async def test_a_session_above_its_rate_is_closed_with_4429(cluster: Cluster) -> None:
    node = await cluster.start("a", rate=1, burst=10)
    async with browser(node) as ann:
        await ann.send(*[{"t": "pong"}] * 20)
        assert await ann.close_code() == 4429


async def test_a_client_without_the_protocol_is_told_which_is_spoken(cluster: Cluster) -> None:
    node = await cluster.start("a")
    with pytest.raises(InvalidStatus) as error:
        await connect(node.url.replace("http", "ws") + "/ws")
    assert error.value.response.status_code == 426
    assert error.value.response.headers["Sec-WebSocket-Protocol"] == "groupcore.v1.msgpack"


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1"])
async def test_a_foreign_page_cannot_open_a_session(cluster: Cluster, origin: str) -> None:
    node = await cluster.start("a")
    url = node.url.replace("http", "ws") + "/ws"
    with pytest.raises(InvalidStatus) as error:
        await connect(url, subprotocols=PROTOCOLS, origin=Origin(origin))
    assert error.value.response.status_code == 403
    async with connect(url, subprotocols=PROTOCOLS, origin=Origin(node.url)):
        pass


async def test_outside_the_primary_view_edits_wait_and_then_apply(cluster: Cluster) -> None:
    node = await cluster.start("a")
    doc = await create(node)
    async with browser(node) as ann:
        epoch = (await ann.open(doc))["epoch"]
        await ann.take("status", state="serving")
        cluster.channel("a").lose_primary(True)
        await ann.take("status", state="stale")
        await ann.submit(doc, 1, (epoch, 0), [text_change("b1", 0, "x")])
        await until(lambda: len(node.node.submissions) == 1)
        assert node.node.replica.version_of(doc)[1] == 0
        cluster.channel("a").lose_primary(False)
        assert (await ann.take("update"))["op"] == 1


async def test_an_excluded_node_takes_the_state_again_and_sends_what_was_under_way(
    cluster: Cluster,
) -> None:
    first, second = await cluster.start("a"), await cluster.start("b")
    doc = await create(first)
    async with browser(first, "c1") as ann, browser(second, "c2") as bob:
        epoch = (await ann.open(doc))["epoch"]
        await bob.open(doc)
        channel = cluster.channel("b")
        cluster.group.exclude(channel)
        await bob.take("status", state="stale")
        await bob.submit(doc, 1, (epoch, 0), [text_change("b1", 0, "late ")])
        await ann.submit(doc, 1, (epoch, 0), [text_change("b1", 0, "early ")])
        await ann.take("update", client="c1")
        cluster.group.rejoin(channel)
        for session in (ann, bob):
            update = await session.take("update", client="c2")
            assert update["version"] == 2
        await bob.take("update", client="c1")
    assert first.node.replica.dump(doc).state == second.node.replica.dump(doc).state


async def test_more_submits_than_the_node_holds_are_refused_for_now(cluster: Cluster) -> None:
    node = await cluster.start("a", submits_max=1)
    doc, other = await create(node), await create(node, "Other")
    async with browser(node) as ann:
        epoch = (await ann.open(doc))["epoch"]
        await ann.open(other)
        cluster.channel("a").lose_primary(True)
        await ann.submit(doc, 1, (epoch, 0), [text_change("b1", 0, "x")])
        await ann.submit(other, 1, (epoch, 0), [text_change("b1", 0, "x")])
        reject = await ann.take("reject", doc=other)
        assert (reject["code"], reject["temporary"]) == ("not_primary", True)
