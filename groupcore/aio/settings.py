"""A channel's settings: where it binds, whom it finds, under which key.

Everything is checked before a socket is opened; each error names the setting and the remedy.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from ipaddress import IPv4Address

from groupcore.aio.development import development_identity
from groupcore.aio.identity import NodeIdentity
from groupcore.aio.key_file import KeyFile
from groupcore.errors import KeyFileError, SettingsError
from groupcore.identity.card import Credentials
from groupcore.peers import PROBER_PREFIX, SocketAddress
from groupcore.seal import KEY_BYTES, Keyring
from groupcore.sequencing.names import NAME_MAX

log = logging.getLogger(__name__)

LOOPBACK_DATAGRAM_BYTES = 60_000
NETWORK_DATAGRAM_BYTES = 1_400
"""Fits one Ethernet frame: a larger datagram travels in pieces, and one lost piece loses it."""
MULTICAST_TTL_MAX = 255

_told_of_development_key: set[str] = set()


@dataclass(frozen=True, slots=True)
class ChannelSettings:
    """What a channel was given, checked; `keys` hold at least one."""

    cluster: str
    node_id: str
    bind: str
    port: int
    group: SocketAddress | None
    initial_hosts: tuple[SocketAddress, ...]
    keys: Keyring
    ttl: int
    cluster_size: int
    application_state: bool
    datagram_bytes_max: int
    identity: NodeIdentity | None = None

    @property
    def credentials(self) -> Credentials | None:
        """What the node shows of itself; None: it has the cluster key alone."""
        return None if self.identity is None else self.identity.credentials


def check_settings(
    cluster: str,
    *,
    node_id: str,
    bind: str,
    port: int,
    multicast: str | None,
    initial_hosts: Sequence[str],
    key: bytes | KeyFile | None,
    ttl: int,
    cluster_size: int,
    application_state: bool,
    datagram_bytes_max: int | None,
    identity: NodeIdentity | None = None,
) -> ChannelSettings:
    """The settings of a channel; SettingsError or KeyFileError with the remedy when one is wrong.

    `datagram_bytes_max` None: 60,000 on loopback, 1,400 elsewhere. `identity` None: with a key the
    node has that alone, without one it has a certificate of the development operator.
    """
    _check_name("cluster", cluster)
    _check_name("node_id", node_id)
    if node_id.startswith(PROBER_PREFIX):
        raise SettingsError(f"node_id {node_id!r}: {PROBER_PREFIX!r} is for probers; take another")
    local = _ip_address("bind", bind).is_loopback and ttl == 0
    if not 0 <= port <= 65_535:
        raise SettingsError(f"port {port} is not between 0 and 65535")
    if not 0 <= ttl <= MULTICAST_TTL_MAX:
        raise SettingsError(f"ttl {ttl} is not between 0 and {MULTICAST_TTL_MAX}")
    if cluster_size < 1:
        raise SettingsError(f"cluster_size {cluster_size} is below 1")
    if datagram_bytes_max is None:
        datagram_bytes_max = LOOPBACK_DATAGRAM_BYTES if local else NETWORK_DATAGRAM_BYTES
    if not 1_000 <= datagram_bytes_max <= 65_000:
        raise SettingsError(
            f"datagram_bytes_max {datagram_bytes_max} is not between 1000 and 65000"
        )
    keys = Keyring.of(cluster, _keys(cluster, key, local))
    if identity is not None:
        identity.check(cluster, node_id)
    elif key is None:
        identity = development_identity(cluster, node_id)
    return ChannelSettings(
        cluster=cluster,
        node_id=node_id,
        bind=bind,
        port=port,
        group=None if multicast is None else _group(multicast),
        initial_hosts=tuple(parse_host("initial_hosts", host) for host in initial_hosts),
        keys=keys,
        ttl=ttl,
        cluster_size=cluster_size,
        application_state=application_state,
        datagram_bytes_max=datagram_bytes_max,
        identity=identity,
    )


def parse_host(setting: str, text: str) -> SocketAddress:
    """`host:port` as a pair; SettingsError under the setting's name when it is not that."""
    host, colon, port = text.rpartition(":")
    if not (colon and host and port.isascii() and port.isdigit() and 0 < int(port) <= 65_535):
        raise SettingsError(f"{setting}: {text!r} is not host:port, as in 127.0.0.1:7800")
    return host, int(port)


def _check_name(setting: str, name: str) -> None:
    if not (0 < len(name) <= NAME_MAX and name.isascii() and name.isprintable()):
        raise SettingsError(f"{setting} {name!r} is not 1 to {NAME_MAX} printable ASCII characters")


def _ip_address(setting: str, text: str) -> IPv4Address:
    try:
        return IPv4Address(text)
    except ValueError:
        raise SettingsError(f"{setting} {text!r} is not an IPv4 address, as in 127.0.0.1") from None


def _group(multicast: str) -> SocketAddress:
    host, port = parse_host("multicast", multicast)
    if not _ip_address("multicast", host).is_multicast:
        raise SettingsError(
            f"multicast {multicast!r} is not a group address (224.0.0.0 to 239.255.255.255); "
            "give one, or None to send copies to each member"
        )
    return host, port


def _keys(cluster: str, key: bytes | KeyFile | None, local: bool) -> tuple[bytes, ...]:
    if isinstance(key, KeyFile):
        return key.read()
    if key is not None:
        if len(key) != KEY_BYTES:
            raise KeyFileError(f"the cluster key has {len(key)} bytes; it needs {KEY_BYTES}")
        return (key,)
    if not local:
        raise KeyFileError(
            "there is no cluster key, and without one a node stays on loopback; give a key "
            "(a key file), or bind to 127.0.0.1 with ttl 0"
        )
    if cluster not in _told_of_development_key:
        _told_of_development_key.add(cluster)
        log.warning(
            "cluster %s runs under the development key, on loopback only: its nodes are told from "
            "others by certificates of this user's own",
            cluster,
        )
    return (blake2b(cluster.encode(), digest_size=KEY_BYTES, person=b"development key").digest(),)


async def resolve_hosts(hosts: tuple[SocketAddress, ...]) -> tuple[SocketAddress, ...]:
    """The hosts by IPv4 address; SettingsError for a name that nobody knows."""
    loop = asyncio.get_running_loop()
    resolved = []
    for host, port in hosts:
        try:
            found = await loop.getaddrinfo(host, port, family=socket.AF_INET)
        except socket.gaierror as error:
            raise SettingsError(
                f"initial_hosts: the name {host!r} is not known ({error.strerror}); "
                "correct it or give the address"
            ) from None
        resolved.append((str(found[0][4][0]), port))
    return tuple(resolved)
