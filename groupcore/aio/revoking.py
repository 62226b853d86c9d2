"""Revocations while a node runs: from its file to all nodes, and from all nodes into its file.

A node looks at its file again and again, and says what is new there in the control plane's order.
Each node takes the list, if its operator has signed it, keeps it in its own file, and hears the
revoked no more (`identity.handshake`, H5). The first member of a view says it again, for whoever
was not there. A node that is itself on the list ends.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from groupcore.aio.identity import LIST, NodeIdentity, write_record
from groupcore.errors import GroupcoreError, KeyFileError, WireError
from groupcore.identity.revocations import read_revocations
from groupcore.sequencing.commands import Command, Tell
from groupcore.sequencing.events import MembersChanged, ServiceEvent, Told
from groupcore.view import Address

log = logging.getLogger(__name__)

TOPIC = "revoked"
"""Under which the control plane carries lists of revocations."""
LOOK_S = 1.0


class NodeRevocations:
    """One node's. `propose` says a command in the order, `wake` has the transport look at it."""

    def __init__(
        self,
        identity: NodeIdentity | None,
        propose: Callable[[Command], None],
        wake: Callable[[], None],
        fail: Callable[[GroupcoreError], None],
    ) -> None:
        self._identity = identity
        self._propose = propose
        self._wake = wake
        self._fail = fail
        self._me: Address | None = None
        self._in_order = False
        self._seen = 0
        self._looking: asyncio.TimerHandle | None = None

    def shown(self) -> dict[str, object]:
        """For who operates the node: what it shows of itself, and how many are revoked."""
        identity = self._identity
        if identity is None:
            return {"by": "cluster key", "revoked": 0}
        return {
            "by": "development" if identity.development else "operator",
            "serial": identity.certificate.serial.hex(),
            "not_after": identity.certificate.not_after,
            "revoked": sum(len(each.serials) for each in identity.trust.lists),
        }

    @property
    def ends_at_s(self) -> int | None:
        """Until when this node's certificate is good, Unix time; None where it has none."""
        return None if self._identity is None else self._identity.certificate.not_after

    def start(self) -> None:
        """Look from time to time, where there is a file to look into."""
        if self._identity is not None and self._identity.revoked is not None:
            self._looking = asyncio.get_running_loop().call_later(LOOK_S, self._look)

    def close(self) -> None:
        """The node ends."""
        if self._looking is not None:
            self._looking.cancel()

    def begin(self, me: Address) -> None:
        """A life of the node begins."""
        self._me = me
        self._in_order = False

    def on_event(self, event: ServiceEvent) -> None:
        """Who is in the order with this node, and what was said there."""
        if isinstance(event, MembersChanged):
            self._in_order = True
            if event.members[0] == self._me:
                self._say()
        elif isinstance(event, Told) and event.topic == TOPIC:
            self._hear(event.body)

    def _say(self) -> None:
        if self._identity is not None and self._in_order:
            for known in self._identity.trust.lists:
                self._propose(Tell(TOPIC, known.packed))

    def _hear(self, body: bytes) -> None:
        identity = self._identity
        if identity is None:
            return
        try:
            if not identity.trust.take(read_revocations(body)):
                return
        except WireError as error:
            log.warning("a list of revocations is not taken: %s", error)
            return
        self._took(identity)
        if identity.revoked is not None:
            try:
                write_record(identity.revoked, LIST, body)
            except KeyFileError as error:
                log.warning("the list of revocations is good until this node ends: %s", error)

    def _look(self) -> None:
        identity = self._identity
        assert identity is not None, "it looks into its file"
        self._looking = asyncio.get_running_loop().call_later(LOOK_S, self._look)
        assert identity.revoked is not None
        try:
            seen = identity.revoked.stat().st_mtime_ns
        except OSError:
            return
        if seen == self._seen:
            return
        self._seen = seen
        try:
            if identity.read_revoked():
                self._took(identity)
                self._say()
        except KeyFileError as error:
            log.warning("revocations are not taken: %s", error)

    def _took(self, identity: NodeIdentity) -> None:
        log.warning("the operator has revoked certificates; their nodes are heard no more")
        self._wake()
        if identity.trust.is_revoked(identity.certificate):
            serial = identity.certificate.serial.hex()
            self._fail(
                KeyFileError(
                    f"the operator has revoked this node's certificate, serial {serial}; have "
                    "another one issued, for a new key if this one is known to others"
                )
            )
