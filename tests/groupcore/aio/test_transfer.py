"""The rules of connections for states: who may fetch what, and what comes over."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable

import pytest
from cryptography.exceptions import InvalidTag

from groupcore.aio.errors import TransferError
from groupcore.aio.transfer import (
    BEGIN,
    DATA,
    END,
    FRAME_BYTES,
    OFFERS_MAX,
    REQUEST_BYTES_MAX,
    STRANGERS_MAX,
    Frames,
    TransferServer,
    fetch,
    take_frames,
)
from groupcore.aio.transfer_keys import BEFORE, HALF_BYTES, Half, Secret
from groupcore.seal import Keyring
from groupcore.transfer.sources import BytesSource, Intake, MemorySink

pytestmark = pytest.mark.slow

SECRET = Secret("test", Keyring.of("test", [b"k" * 32]))
CALLER = Half.drawn()
HELLO = SECRET.hello(CALLER)
ANSWER = Half.drawn()
STATE = secrets.token_bytes(3 * FRAME_BYTES + 17)


@pytest.fixture
async def server() -> AsyncIterator[TransferServer]:
    made = TransferServer(SECRET, lambda name: BytesSource(STATE) if name == b"backup" else None)
    await made.open("127.0.0.1")
    yield made
    made.close()


def taken(intake: Intake) -> bytes:
    assert isinstance(intake.sink, MemorySink)
    return intake.sink.state()


def offered(
    server: TransferServer, state: bytes = STATE, offset: int = 0, digest: bytes = b""
) -> bytes:
    token = server.offer(BytesSource(state), offset, digest)
    assert token is not None
    return token


@pytest.mark.parametrize("size", [0, 1, FRAME_BYTES, len(STATE)])
async def test_a_state_comes_whole(server: TransferServer, size: int) -> None:
    intake = Intake(MemorySink())
    await fetch(server.address, SECRET, offered(server, STATE[:size]), intake)
    assert taken(intake) == STATE[:size]
    assert server.counters["served"] == 1


async def test_what_is_there_already_is_not_sent_again(server: TransferServer) -> None:
    intake = Intake(MemorySink())
    intake.take(STATE[:1000])
    await fetch(server.address, SECRET, offered(server, STATE, 1000, intake.digest), intake)
    assert taken(intake) == STATE


async def test_what_begins_otherwise_is_sent_from_the_beginning(server: TransferServer) -> None:
    intake = Intake(MemorySink())
    intake.take(b"another beginning")
    token = offered(server, STATE, intake.offset, intake.digest)
    await fetch(server.address, SECRET, token, intake)
    assert taken(intake) == STATE


async def test_a_program_that_is_no_member_fetches_by_name(server: TransferServer) -> None:
    intake = Intake(MemorySink())
    await fetch(server.address, SECRET, b"backup", intake, named=True)
    assert taken(intake) == STATE
    with pytest.raises(TransferError, match="nothing is offered"):
        await fetch(server.address, SECRET, b"other", Intake(MemorySink()), named=True)


async def test_a_token_is_good_for_one_connection(server: TransferServer) -> None:
    token = offered(server)
    await fetch(server.address, SECRET, token, Intake(MemorySink()))
    with pytest.raises(TransferError, match="nothing is offered"):
        await fetch(server.address, SECRET, token, Intake(MemorySink()))


@pytest.mark.parametrize(
    "secret",
    [
        Secret("test", Keyring.of("test", [b"x" * 32])),
        Secret("test", Keyring("test", {SECRET.ring.current: b"x" * 32}, SECRET.ring.current)),
        Secret("other", SECRET.ring),
    ],
    ids=["another key", "another key of that epoch", "another cluster"],
)
async def test_another_key_or_cluster_gets_nothing(server: TransferServer, secret: Secret) -> None:
    token = offered(server)
    with pytest.raises(TransferError):
        await fetch(server.address, secret, token, Intake(MemorySink()))
    await fetch(server.address, SECRET, token, Intake(MemorySink()))  # nobody has used it up


def test_who_gets_the_key_later_opens_no_recording() -> None:  # T1, K2
    ours, theirs = (
        SECRET.keys(HELLO, ANSWER.public, CALLER),
        SECRET.keys(HELLO, ANSWER.public, ANSWER),
    )
    sealed = Frames(ours[0]).seal(DATA, b"text")[5:]
    nonce = (1).to_bytes(12, "big")
    assert theirs[0].decrypt(nonce, sealed, bytes((DATA,))) == b"text"
    for half in (Half.drawn(), Half(3, CALLER.public, Half.drawn().private)):
        thief = SECRET.keys(HELLO, ANSWER.public, half)  # the same key, and all that was said
        with pytest.raises(InvalidTag):
            thief[0].decrypt(nonce, sealed, bytes((DATA,)))


async def test_a_half_that_gives_nothing_is_refused(server: TransferServer) -> None:
    reader, writer = await asyncio.open_connection(*server.address)
    writer.write(SECRET.hello(Half(3, bytes(HALF_BYTES), None)))
    async with asyncio.timeout(5):
        assert await reader.read() == b""
    writer.close()
    await writer.wait_closed()
    assert server.counters["failed"] == 1


async def test_a_caller_of_before_is_served(
    server: TransferServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Secret, "versions", (BEFORE,))
    intake = Intake(MemorySink())
    await fetch(server.address, SECRET, offered(server), intake)
    assert taken(intake) == STATE


async def test_a_server_of_before_is_called_again_in_its_way(
    server: TransferServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def known_before(secret: Secret, hello: bytes) -> int:
        if hello[4] != BEFORE:
            raise TransferError("the caller speaks another protocol")
        return BEFORE

    monkeypatch.setattr(Secret, "version_of", known_before)
    intake = Intake(MemorySink())
    await fetch(server.address, SECRET, offered(server), intake)
    assert taken(intake) == STATE
    assert server.counters == {"served": 1, "refused": 0, "failed": 1}


@pytest.mark.parametrize(
    "sent",
    [
        b"GET / HTTP/1.1\r\n\r\n" + bytes(100),
        SECRET.hello(Half.drawn()) + b"\xff\xff\xff\xff\x01" + bytes(50),
        SECRET.hello(Half.drawn()) + (REQUEST_BYTES_MAX + 17).to_bytes(4, "big") + b"\x01",
        SECRET.hello(Half.drawn()) + (40).to_bytes(4, "big") + b"\x01" + bytes(40),
    ],
    ids=["another protocol", "a huge frame", "a large request", "a forged request"],
)
async def test_bad_input_ends_the_connection(server: TransferServer, sent: bytes) -> None:
    reader, writer = await asyncio.open_connection(*server.address)
    writer.write(sent)
    async with asyncio.timeout(5):
        assert len(await reader.read()) <= HALF_BYTES
    writer.close()
    await writer.wait_closed()
    assert server.counters == {"served": 0, "refused": 0, "failed": 1}


async def test_a_source_that_cannot_be_read_ends_the_connection(server: TransferServer) -> None:
    class Broken(BytesSource):
        def read(self, offset: int, size: int) -> bytes:
            raise OSError("unreadable")

    token = server.offer(Broken(b"state"), 0, b"")
    assert token is not None
    with pytest.raises(TransferError, match="broke off"):
        await fetch(server.address, SECRET, token, Intake(MemorySink()))


async def test_a_sink_that_fails_ends_the_transfer(server: TransferServer) -> None:
    class Full(MemorySink):
        def write(self, data: bytes) -> bool:
            raise OSError("no space")

    with pytest.raises(TransferError, match="no space"):
        await fetch(server.address, SECRET, offered(server), Intake(Full()))


BEGUN = 5 + 8 + 16
"""Bytes of the first frame."""


@pytest.mark.parametrize(
    "change",
    [
        lambda said: said[:-60],
        lambda said: said[:-1] + bytes((said[-1] ^ 1,)),
        lambda said: said[:BEGUN] + said[BEGUN + 5 + 4 + 16 :],
        lambda said: said[BEGUN:],
    ],
    ids=["the end cut off", "one bit flipped", "one frame left out", "no beginning"],
)
async def test_what_is_altered_on_the_way_is_noticed(change: Callable[[bytes], bytes]) -> None:
    _, server_key = SECRET.keys(HELLO, ANSWER.public, CALLER)
    frames, ended = Frames(server_key), Intake(MemorySink())
    said = frames.seal(BEGIN, bytes(8))
    for data in (b"abcd", b"efgh"):
        said += frames.seal(DATA, data)
        ended.take(data)
    said += frames.seal(END, (8).to_bytes(8, "big") + ended.digest)
    assert await heard(said) is None
    assert isinstance(await heard(change(said)), TransferError | EOFError)


async def heard(said: bytes) -> Exception | None:
    """What a taker makes of these bytes."""
    reader = asyncio.StreamReader()
    reader.feed_data(said)
    reader.feed_eof()
    _, server_key = SECRET.keys(HELLO, ANSWER.public, CALLER)
    try:
        await take_frames(reader, Frames(server_key), Intake(MemorySink()), asyncio.Event())
    except (TransferError, EOFError) as error:
        return error
    return None


async def test_nobody_there_is_told_at_once(server: TransferServer) -> None:
    address = server.address
    server.close()
    with pytest.raises(TransferError, match="no connection"):
        await fetch(address, SECRET, b"token", Intake(MemorySink()))


async def test_strangers_who_say_nothing_take_no_room_from_who_has_the_key(  # T19
    server: TransferServer,
) -> None:
    """Sixteen idle connections were all that a node had; pictures waited 15 s and were refused."""
    idle = [await asyncio.open_connection(*server.address) for _ in range(STRANGERS_MAX + 40)]
    for _ in range(3):
        intake = Intake(MemorySink())
        await fetch(server.address, SECRET, b"backup", intake, named=True)
        assert taken(intake) == STATE
    assert await idle[0][0].read() == b""  # the oldest ones were ended
    assert (server.counters["served"], server.counters["refused"]) == (3, 41)
    for _, writer in idle:
        writer.transport.abort()


async def test_offers_are_bounded(server: TransferServer) -> None:
    for _ in range(OFFERS_MAX):
        offered(server)
    assert server.offer(BytesSource(b""), 0, b"") is None


async def test_before_it_listens_and_after_nothing_is_offered() -> None:
    server = TransferServer(SECRET)
    assert server.offer(BytesSource(b""), 0, b"") is None
    await server.try_open("127.0.0.1")
    assert server.offer(BytesSource(b""), 0, b"") is not None
    server.close()
    assert server.offer(BytesSource(b""), 0, b"") is None


async def test_where_it_cannot_listen_it_says_so_and_goes_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    server = TransferServer(SECRET)
    await server.try_open("192.0.2.1")
    assert "no connections for states" in caplog.text
    assert server.address == ("", 0)
