"""Connections for states where nodes have certificates: whoever shows no good one gets nothing."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from groupcore.aio.errors import TransferError
from groupcore.aio.identity import signed_up
from groupcore.aio.transfer import TransferServer, fetch
from groupcore.aio.transfer_keys import HELLO_BYTES, SIGNED, Half, Secret
from groupcore.identity.card import Credentials
from groupcore.identity.revocations import revoke
from groupcore.identity.signed import public_bytes
from groupcore.identity.trust import Trust
from groupcore.seal import Keyring
from groupcore.transfer.sources import BytesSource, Intake, MemorySink

pytestmark = pytest.mark.asyncio

RING = Keyring.of("test", [b"k" * 32])
OPERATOR = Ed25519PrivateKey.from_private_bytes(b"o" * 32)
STATE = b"a state" * 100_000


def secret(
    name: str, operator: Ed25519PrivateKey = OPERATOR, key: Ed25519PrivateKey | None = None
) -> Secret:
    own = Ed25519PrivateKey.generate()
    certificate = signed_up(operator, public_bytes(own), "test", name, 1)
    trust = Trust("test", [public_bytes(operator)], time.time)
    return Secret("test", RING, Credentials(key or own, certificate, trust))


@pytest_asyncio.fixture
async def server() -> AsyncIterator[TransferServer]:
    made = TransferServer(secret("a"), lambda name: BytesSource(STATE))
    await made.open("127.0.0.1")
    yield made
    made.close()


async def fetched(server: TransferServer, with_: Secret) -> bytes:
    sink = MemorySink()
    async with asyncio.timeout(10):
        await fetch(server.address, with_, b"name", Intake(sink), named=True)
    return sink.state()


async def test_a_node_with_a_certificate_gets_the_state(server: TransferServer) -> None:
    assert await fetched(server, secret("b")) == STATE


@pytest.mark.parametrize(
    "caller",
    [
        Secret("test", RING),
        secret("b", Ed25519PrivateKey.from_private_bytes(b"x" * 32)),
        secret("b", key=Ed25519PrivateKey.generate()),
    ],
    ids=["the cluster key alone", "another operator", "another node's certificate"],
)
async def test_whoever_shows_no_good_certificate_gets_nothing(
    server: TransferServer, caller: Secret
) -> None:
    with pytest.raises(TransferError):
        await fetched(server, caller)
    assert server.counters["served"] == 0


async def test_who_is_revoked_gets_nothing_more(server: TransferServer) -> None:
    caller = secret("b")
    assert await fetched(server, caller) == STATE
    assert server.secret.credentials is not None
    assert caller.credentials is not None
    serial = caller.credentials.certificate.serial
    server.secret.credentials.trust.take(revoke(OPERATOR, "test", 1, [serial]))
    with pytest.raises(TransferError):
        await fetched(server, caller)


async def test_a_server_with_the_cluster_key_alone_is_asked_for_nothing() -> None:
    asked = asyncio.Event()

    async def pretend(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Somebody in the middle who has the cluster key, and shows a recorded certificate."""
        hello = await reader.readexactly(HELLO_BYTES)
        half = Half.drawn(SIGNED)
        pretender = secret("a", key=Ed25519PrivateKey.generate())
        showing = pretender.showing(hello, half.public, half)
        assert showing is not None
        writer.write(half.public + showing.shown(1))
        if await reader.read(1):
            asked.set()
        writer.close()

    listening = await asyncio.start_server(pretend, "127.0.0.1")
    async with listening:
        host, port = listening.sockets[0].getsockname()[:2]
        with pytest.raises(TransferError, match="not let in"):
            await fetch((host, port), secret("b"), b"token", Intake(MemorySink()))
    assert not asked.is_set()
