"""Frames straight to uvicorn's transports: their form, and what the class leans on."""

from __future__ import annotations

import asyncio
from typing import cast

import pytest
from uvicorn import Config
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from uvicorn.server import ServerState
from websockets.frames import Frame, Opcode
from websockets.streams import StreamReader

from groupcore.web.fanout import (
    RELIED_ON,
    FanoutHandle,
    FanoutProtocol,
    close_frame,
    websocket_header,
)


class Transport:
    """Keeps what is written."""

    def __init__(self) -> None:
        self.written: list[bytes] = []
        self.is_aborted = False

    def write(self, data: bytes) -> None:
        self.written.append(data)

    def get_write_buffer_size(self) -> int:
        return sum(map(len, self.written))

    def abort(self) -> None:
        self.is_aborted = True


class Protocol:
    """What a handle sees of uvicorn's connection."""

    def __init__(self) -> None:
        self.transport = Transport()
        self.handshake_complete = True
        self.close_sent = self.disconnected = False
        self.queue: asyncio.Queue[dict[str, object]] = asyncio.Queue()
        self.loop = asyncio.get_running_loop()


def connected() -> tuple[FanoutHandle, Protocol]:
    protocol = Protocol()
    return FanoutHandle(cast("WebSocketsSansIOProtocol", protocol)), protocol


def parsed(wire: bytes) -> Frame:
    """The frame as a client reads it."""
    reader = StreamReader()
    reader.feed_data(wire)
    reading = Frame.parse(reader.read_exact, mask=False)
    with pytest.raises(StopIteration) as end:
        next(reading)
    assert reader.buffer == b"", "nothing is left over"
    return cast("Frame", end.value.value)


@pytest.mark.parametrize("size", [0, 1, 125, 126, 65535, 65536, 1 << 20])
def test_a_frame_of_each_size_is_read_as_it_was_written(size: int) -> None:
    frame = parsed(websocket_header(size) + bytes(size))
    assert (frame.opcode, frame.fin, len(frame.data)) == (Opcode.BINARY, True, size)


def test_a_close_frame_has_code_and_reason_and_never_more_than_fits() -> None:
    frame = parsed(close_frame(4002, "x" * 500))
    assert frame.opcode is Opcode.CLOSE
    assert bytes(frame.data[:2]) == (4002).to_bytes(2, "big")
    assert len(frame.data) <= 125


async def test_a_frame_for_many_pages_gets_its_header_once() -> None:
    pages = [connected() for _ in range(3)]
    for frame in (b"one", b"two"):
        for handle, _ in pages:
            handle.write(frame)
    written = [protocol.transport.written for _, protocol in pages]
    assert all(one[0] is written[0][0] and one[1] is written[0][1] for one in written)
    assert [bytes(parsed(wire).data) for wire in written[2]] == [b"one", b"two"]


@pytest.mark.parametrize("state", ["disconnected", "close_sent"])
async def test_nothing_is_written_behind_the_end(state: str) -> None:
    handle, protocol = connected()
    setattr(protocol, state, True)
    handle.write(b"late")
    handle.abort(4002, "too slow")
    assert protocol.transport.written == []


async def test_a_connection_that_is_given_up_is_read_no_more() -> None:
    handle, protocol = connected()
    handle.abort(4002, "too slow")
    handle.abort(4002, "too slow")
    (frame,) = protocol.transport.written
    assert parsed(frame).opcode is Opcode.CLOSE
    assert protocol.queue.get_nowait()["type"] == "websocket.disconnect"
    handle.write(b"late")
    assert len(protocol.transport.written) == 1


async def test_uvicorn_still_has_what_the_class_leans_on() -> None:
    config = Config(lambda scope: None, log_level="warning")
    config.load()
    protocol = FanoutProtocol(config, ServerState(), {}, asyncio.get_running_loop())
    for name in RELIED_ON:  # `scope` is made with the request; the class only declares it
        assert (
            hasattr(protocol, name)
            or name in WebSocketsSansIOProtocol.__annotations__
            or (name == "scope")
        )
    assert protocol.queue.empty()
    protocol.handle = FanoutHandle(protocol)
    states: list[tuple[bool, bool]] = []
    for change in (protocol.pause_writing, protocol.resume_writing):
        change()
        states.append((protocol.handle.congested, protocol.writable.is_set()))
    assert states == [(True, False), (False, True)]
