"""The rules of a channel's settings: each mistake is named before anything opens."""

from __future__ import annotations

import logging
import socket
from typing import TypedDict, Unpack

import pytest

from groupcore.aio.settings import ChannelSettings, check_settings, resolve_hosts
from groupcore.errors import KeyFileError, SettingsError

KEY = b"k" * 32


class Given(TypedDict, total=False):
    node_id: str
    bind: str
    port: int
    multicast: str | None
    initial_hosts: tuple[str, ...]
    key: bytes | None
    ttl: int
    cluster_size: int
    application_state: bool
    datagram_bytes_max: int | None


def check(cluster: str = "home", **changes: Unpack[Given]) -> ChannelSettings:
    given: Given = {
        "node_id": "a",
        "bind": "127.0.0.1",
        "port": 0,
        "multicast": "228.8.8.8:45588",
        "initial_hosts": (),
        "key": KEY,
        "ttl": 0,
        "cluster_size": 1,
        "application_state": False,
        "datagram_bytes_max": None,
    }
    return check_settings(cluster, **(given | changes))


def test_addresses_are_taken_apart() -> None:
    settings = check(initial_hosts=("127.0.0.1:7800", "host.example:7801"))
    assert settings.group == ("228.8.8.8", 45588)
    assert settings.initial_hosts == (("127.0.0.1", 7800), ("host.example", 7801))
    assert check(multicast=None).group is None


def only_key(settings: ChannelSettings) -> bytes | None:
    (epoch,) = settings.keys.epochs
    return settings.keys.key(epoch)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        (Given(node_id=""), "node_id"),
        (Given(node_id="x" * 65), "node_id"),
        (Given(node_id="käte"), "node_id"),
        (Given(bind="localhost"), "bind"),
        (Given(bind="::1"), "bind"),
        (Given(port=65_536), "port"),
        (Given(ttl=-1), "ttl"),
        (Given(ttl=256), "ttl"),
        (Given(cluster_size=0), "cluster_size"),
        (Given(datagram_bytes_max=65_507), "datagram_bytes_max"),
        (Given(datagram_bytes_max=576), "datagram_bytes_max"),
        (Given(multicast="10.0.0.1:45588"), "multicast"),
        (Given(multicast="228.8.8.8"), "multicast"),
        (Given(initial_hosts=("127.0.0.1",)), "initial_hosts"),
        (Given(initial_hosts=("127.0.0.1:0",)), "initial_hosts"),
        (Given(initial_hosts=("127.0.0.1:\u0664",)), "initial_hosts"),
        (Given(initial_hosts=(":1",)), "initial_hosts"),
    ],
)
def test_a_wrong_setting_is_named(changes: Given, named: str) -> None:
    with pytest.raises(SettingsError, match=named):
        check(**changes)


@pytest.mark.parametrize("changes", [Given(bind="10.0.0.1"), Given(bind="0.0.0.0"), Given(ttl=1)])
def test_nothing_leaves_loopback_without_a_real_key(changes: Given) -> None:  # T2
    with pytest.raises(KeyFileError, match="loopback"):
        check(**(changes | Given(key=None)))
    assert only_key(check(**changes)) == KEY


def test_a_key_of_the_wrong_length_is_refused() -> None:
    with pytest.raises(KeyFileError, match="32"):
        check(key=b"short")


def test_datagrams_are_large_on_loopback_and_fit_a_frame_elsewhere() -> None:
    assert check().datagram_bytes_max == 60_000
    assert check(bind="10.0.0.1").datagram_bytes_max == 1_400
    assert check(ttl=1).datagram_bytes_max == 1_400
    assert check(datagram_bytes_max=8_192).datagram_bytes_max == 8_192


def test_the_development_key_is_the_clusters_and_is_told_of_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING):
        first = check("cluster told once", key=None)
        second = check("cluster told once", key=None)
    assert only_key(first) == only_key(second)
    assert only_key(first) != only_key(check("another", key=None))
    assert sum("cluster told once" in message for message in caplog.messages) == 1


async def test_initial_hosts_are_looked_up_by_name() -> None:
    assert await resolve_hosts((("127.0.0.2", 7_800),)) == (("127.0.0.2", 7_800),)


async def test_a_name_that_nobody_knows_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr("socket.getaddrinfo", unknown)
    with pytest.raises(SettingsError, match=r"host\.example"):
        await resolve_hosts((("host.example", 7_800),))
