"""The hub: one frame for all, and a reader that does not read never holds up another."""

from __future__ import annotations

import asyncio
import socket

import msgpack
import pytest
from uvicorn import Config
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from uvicorn.server import ServerState

from server.fanout import RELIED_ON, FanoutHandle, FanoutWebSocketProtocol
from server.frames import Frame, pack
from server.hub import Hub, Position, Subscriber
from tests.server.support import Cluster, browser, create, text_change, until


class FakeWriter:
    """Remembers what was written."""

    def __init__(self) -> None:
        self.congested = False
        self.frames: list[Frame] = []
        self.size = 0
        self.aborted: tuple[int, str] | None = None

    def write(self, frame: Frame) -> None:
        self.frames.append(frame)

    def buffered(self) -> int:
        return self.size

    def abort(self, code: int, reason: str) -> None:
        self.aborted = (code, reason)

    def numbers(self) -> list[int]:
        return [m["n"] for frame in self.frames for m in msgpack.unpackb(frame.payload)]


class Play:
    """A hub with one document whose version is counted here."""

    def __init__(self, lag_s: float = 10.0) -> None:
        self.version = 0
        self.resumed: list[tuple[str, Position]] = []
        self.hub = Hub(
            flush_s=0.0,
            outbox_bytes=1000,
            lag_s=lag_s,
            resume=self.resume,
            position=lambda _: (1, self.version),
        )

    def resume(self, subscriber: Subscriber, doc: str, position: Position) -> list[bytes]:
        self.resumed.append((subscriber.session_id, position))
        return [pack({"t": "u", "n": n}) for n in range(position[1] + 1, self.version + 1)]

    def join(self, name: str) -> FakeWriter:
        writer = FakeWriter()
        self.hub.subscribe(Subscriber(name, name, writer), "d", (1, self.version))
        return writer

    def publish(self) -> None:
        self.version += 1
        self.hub.publish("d", {"t": "u", "n": self.version}, (1, self.version))


async def test_updates_of_one_turn_share_a_frame_that_is_encoded_once() -> None:
    play = Play()
    first, second = play.join("a"), play.join("b")
    for _ in range(3):
        play.publish()
    assert first.frames == []
    await until(lambda: len(first.frames) == 1)
    assert first.numbers() == [1, 2, 3]
    assert first.frames[0] is second.frames[0]


async def test_between_two_flushes_pass_at_least_the_given_seconds() -> None:
    play = Play()
    play.hub.flush_s = 3600.0
    writer = play.join("a")
    play.publish()
    await until(lambda: writer.numbers() == [1])
    play.publish()
    play.publish()
    await asyncio.sleep(0)
    assert writer.numbers() == [1]
    play.hub.flush()
    assert writer.numbers() == [1, 2, 3]
    play.hub.close()


async def test_a_lazy_message_rides_with_the_next_one_and_goes_alone_in_the_end() -> None:
    play = Play()
    writer = play.join("a")
    play.hub.publish("d", {"t": "saved", "n": 99}, lazy=True)
    play.publish()
    await until(lambda: len(writer.frames) == 1)
    assert writer.numbers() == [99, 1]
    play.hub.publish("d", {"t": "saved", "n": 100}, lazy=True)
    await until(lambda: writer.numbers() == [99, 1, 100])


async def test_who_joins_gets_nothing_that_is_in_the_state_already() -> None:
    play = Play()
    early = play.join("a")
    play.publish()
    late = play.join("b")
    play.publish()
    await until(lambda: early.numbers() == [1, 2])
    assert late.numbers() == [2]


async def test_a_congested_session_is_skipped_and_resumed_from_where_it_stopped() -> None:
    play = Play()
    slow, quick = play.join("slow"), play.join("quick")
    play.publish()
    play.hub.flush()
    slow.congested = True
    play.publish()
    play.hub.flush()
    play.publish()
    play.hub.flush()
    assert (slow.numbers(), quick.numbers()) == ([1], [1, 2, 3])
    slow.congested = False
    play.publish()
    await until(lambda: bool(play.resumed))
    play.publish()
    await until(lambda: slow.numbers() == [1, 2, 3, 4, 5])
    assert play.resumed == [("slow", (1, 1))]
    assert quick.numbers() == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("bound", ["time", "bytes"])
async def test_a_session_past_its_bound_is_cut_with_4002(bound: str) -> None:
    play = Play(lag_s=0.0 if bound == "time" else 3600.0)
    slow = play.join("slow")
    slow.congested = True
    slow.size = 10 if bound == "time" else 2000
    play.publish()
    await until(lambda: slow.aborted is not None)
    assert slow.aborted == (4002, "fell behind")


async def test_the_author_of_a_caret_is_left_out() -> None:
    play = Play()
    author, other = play.join("a"), play.join("b")
    play.publish()
    play.hub.publish("d", {"t": "caret", "n": 99}, skip="a")
    play.hub.flush()
    assert (author.numbers(), other.numbers()) == ([1], [1, 99])


async def test_a_reader_that_does_not_read_is_cut_while_others_get_every_update(
    cluster: Cluster,
) -> None:
    node = await cluster.start("a", outbox_kib=64, lag_s=1, rate=100000, burst=100000)
    doc = await create(node)
    async with browser(node, "c1") as ann, browser(node, "c2") as stuck:
        epoch = (await ann.open(doc))["epoch"]
        await stuck.open(doc)
        stuck.connection.transport.pause_reading()
        raw = stuck.connection.transport.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        text = "x" * 20_000
        op = 0
        while node.node.hub.cut == 0:
            op += 1
            change = text_change("b1", 0, text) if op % 2 else ["text", "b1", [-len(text)]]
            await ann.submit(doc, op, (epoch, op - 1), [change])
            assert (await ann.take("update"))["version"] == op
        stuck.connection.transport.resume_reading()
        await ann.submit(doc, op + 1, (epoch, op), [["title", "Still here"]])
        assert (await ann.take("update"))["version"] == op + 1


def test_uvicorn_still_has_the_attributes_that_the_fan_out_leans_on() -> None:
    config = Config(app=lambda: None, log_config=None)
    config.load()
    loop = asyncio.new_event_loop()
    try:
        protocol = FanoutWebSocketProtocol(config, ServerState(), {}, loop)
        # `scope` is made with the request; the class only declares it.
        for name in RELIED_ON:
            assert (
                hasattr(protocol, name)
                or name in WebSocketsSansIOProtocol.__annotations__
                or (name == "scope")
            )
        assert protocol.writable.is_set()
        assert protocol.queue.empty()
    finally:
        loop.close()


async def test_a_session_on_uvicorn_writes_through_the_fan_out_handle(cluster: Cluster) -> None:
    node = await cluster.start("a")
    async with browser(node, "c1"):
        assert isinstance(node.node.subscribers["c1"].writer, FanoutHandle)
