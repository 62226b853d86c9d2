"""The rules of the sockets, on the loopback interface."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator
from itertools import count

import pytest

from groupcore.aio import udp
from groupcore.aio.errors import PortInUseError
from groupcore.aio.udp import DATAGRAMS_A_TURN_MAX, UdpSockets
from groupcore.errors import SettingsError
from groupcore.seal import BOOT_OFFSET
from groupcore.transport import Datagram, SocketAddress

Open = Callable[..., UdpSockets]
LOOPBACK = "127.0.0.1"


@pytest.fixture
def opened() -> Iterator[Open]:
    """Opens sockets on loopback, and closes them when the test ends."""
    every: list[UdpSockets] = []

    def open_sockets(group: SocketAddress | None = None, port: int = 0) -> UdpSockets:
        every.append(UdpSockets(LOOPBACK, port, group))
        return every[-1]

    yield open_sockets
    for sockets in every:
        sockets.close()


@pytest.fixture
def group(opened: Open) -> SocketAddress:
    """A group address whose port nobody has."""
    free = opened()
    free.close()
    return "228.8.8.8", free.address[1]


def read(sockets: UdpSockets) -> list[tuple[bytes, SocketAddress]]:
    got: list[tuple[bytes, SocketAddress]] = []
    sockets.drain(lambda view, source: got.append((bytes(view), source)))
    return got


def test_a_unicast_arrives_from_its_senders_unicast_address(opened: Open) -> None:
    a, b = opened(), opened()
    a.send([Datagram(b"one", b.address), Datagram(b"two", b.address)])
    assert read(b) == [(b"one", a.address), (b"two", a.address)]
    assert read(b) == []


def test_a_multicast_reaches_everybody_from_the_unicast_address(
    opened: Open, group: SocketAddress
) -> None:
    a, b, outside = opened(group), opened(group), opened()
    a.send([Datagram(b"text", None)])
    assert read(a) == [(b"text", a.address)]
    assert read(b) == [(b"text", a.address)]
    assert read(outside) == []


def test_both_sockets_are_drained_in_one_turn(opened: Open, group: SocketAddress) -> None:
    a, b = opened(group), opened(group)
    a.send([Datagram(b"group", None), Datagram(b"alone", b.address)])
    assert sorted(data for data, _ in read(b)) == [b"alone", b"group"]


def test_a_turn_reads_a_bounded_number_and_no_socket_starves_the_other(
    opened: Open, group: SocketAddress
) -> None:
    a, b = opened(group), opened(group)
    a.send([Datagram(b"alone", b.address)] * 100)
    a.send([Datagram(b"group", None)] * 10)
    first = [data for data, _ in read(b)]
    assert len(first) <= DATAGRAMS_A_TURN_MAX
    assert first.count(b"group") == 10
    rest = [data for _ in range(5) for data, _ in read(b)]
    assert (first + rest).count(b"alone") == 100
    assert b.counters["received"] == 110


def test_reading_ends_when_what_is_read_takes_long(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = opened(), opened()
    a.send([Datagram(b"full of requests", b.address)] * 5)
    clock = count(0.0, udp.READING_S)
    monkeypatch.setattr(udp, "perf_counter", lambda: next(clock))
    assert len(read(b)) == 2
    monkeypatch.undo()
    assert len(read(b)) == 3


def test_a_send_that_the_kernel_refuses_is_counted(opened: Open) -> None:
    a, b = opened(), opened()
    a.send([Datagram(bytes(65_536), b.address), Datagram(b"next", b.address)])
    assert a.counters["send_failed.EMSGSIZE"] == 1
    assert read(b) == [(b"next", a.address)]


def test_a_send_to_nobody_disturbs_nothing(opened: Open) -> None:
    a, gone, b = opened(), opened(), opened()
    gone.close()
    a.send([Datagram(b"text", gone.address)] * 3)
    b.send([Datagram(b"text", a.address)])
    assert read(a) == [(b"text", b.address)]


def test_a_taken_port_is_named(opened: Open) -> None:
    taken = opened().address[1]
    with pytest.raises(PortInUseError, match=f"{taken} .*another port"):
        opened(port=taken)


def test_a_group_port_that_another_program_has_is_named(opened: Open) -> None:
    taken = UdpSockets("0.0.0.0")
    try:
        with pytest.raises(PortInUseError, match="another port"):
            opened(group=("228.8.8.8", taken.address[1]))
    finally:
        taken.close()


def test_an_address_of_another_machine_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"192\.0\.2\.1"):
        UdpSockets("192.0.2.1")


def test_a_small_receive_buffer_is_reported(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, opened: Open
) -> None:
    monkeypatch.setattr(udp, "RECEIVE_BUFFER_BYTES", 65_536)
    with caplog.at_level(logging.WARNING):
        assert opened().receive_buffer_bytes >= 65_536
    assert any("net.core.rmem_max" in message for message in caplog.messages)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux filters in the kernel")
def test_the_kernel_drops_a_boots_own_multicasts_and_nothing_else(
    opened: Open, group: SocketAddress
) -> None:
    boot = bytes(range(16))
    a = opened(group)
    a.ignore_boot(boot)
    own = bytes(BOOT_OFFSET) + boot + b"rest"
    others = [b"", b"x", bytes(BOOT_OFFSET + 7), bytes(BOOT_OFFSET) + boot[::-1] + b"rest"]
    a.send([Datagram(own, None), *(Datagram(data, None) for data in others)])
    assert [data for data, _ in read(a)] == others
