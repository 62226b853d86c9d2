"""Who is at the other end of a connection to the management address, as the kernel and TLS say."""

from __future__ import annotations

import asyncio
import socket
import struct
from dataclasses import dataclass
from typing import Any

from server.patience import PatientProtocol

PEER = "peer"
"""Under which name it is in a request's state."""
CREDENTIALS = struct.Struct("3i")
"""Process, user and group, as SO_PEERCRED gives them."""


@dataclass(frozen=True, slots=True)
class Peer:
    """`uid` where it came by the node's Unix socket; `subject`: of the certificate it has shown,
    which the node's authority has signed.
    """

    uid: int | None = None
    subject: tuple[tuple[str, str], ...] = ()

    def said(self, name: str) -> str:
        """A part of the certificate's subject, empty without it."""
        return next((value for key, value in self.subject if key == name), "")


def peer_of(transport: asyncio.BaseTransport) -> Peer:
    """As of the connection's beginning."""
    return Peer(_uid_of(transport), _subject_of(transport))


def _uid_of(transport: asyncio.BaseTransport) -> int | None:
    connection: socket.socket | None = transport.get_extra_info("socket")
    if connection is None or connection.family != socket.AF_UNIX:
        return None
    raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, CREDENTIALS.size)
    return int(CREDENTIALS.unpack(raw)[1])


def _subject_of(transport: asyncio.BaseTransport) -> tuple[tuple[str, str], ...]:
    tls: Any = transport.get_extra_info("ssl_object")
    shown = None if tls is None else tls.getpeercert()
    if not shown:
        return ()
    return tuple(pair for part in shown["subject"] for pair in part)


class ManagementProtocol(PatientProtocol):
    """uvicorn's class for HTTP/1.1 at the management address: each request knows its peer."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Look once: it does not change."""
        self.app_state = {**self.app_state, PEER: peer_of(transport)}
        super().connection_made(transport)
