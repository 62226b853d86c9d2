"""What a node shows to administer, and how what it administers is entrusted to its operator.

Idea. Where the node's certificate is an operator's, the node signs each operation on an
administered object (`server.administered`), entrusts the object to its operator where it is
entrusted to nobody, and hands on what the operator has said since. Certificates of a development
operator say nothing about people: every program of this user has its key, so nothing is entrusted.
"""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import suppress
from pathlib import Path

from groupcore.aio.identity import NodeIdentity, read_succession_in
from groupcore.errors import GroupcoreError, KeyFileError
from groupcore.identity.authorization import authorize
from groupcore.identity.succession import Succession
from server.administered import Administered
from server.errors import KeyProblem

logger = logging.getLogger("server")

SUCCESSION = "succession"
"""The file in a node's folder where the former operator's word is looked for."""
LOOK_S = 1.0
"""How often a node looks whether its operator has said something new."""
MICROSECONDS = 1_000_000


class Authority:
    """The node's, from its settings; `identity` None: the node has nothing to show."""

    def __init__(self, identity: NodeIdentity | None, folder: Path) -> None:
        is_operated = identity is not None and not identity.development
        self._identity = identity if is_operated else None
        self._folder = folder
        self._last = 0
        self._objects: dict[str, Administered] = {}

    @property
    def administers(self) -> bool:
        """Whether this node may administer."""
        return self._identity is None or self._identity.certificate.administers

    def authorize(self, name: str, text: bytes) -> bytes:
        """What the node shows with a message to this object; empty: nothing."""
        target, identity = self._objects.get(name), self._identity
        if target is None or identity is None or not self.administers:
            return b""
        certificate = identity.certificate
        floor = target.authorized.get(certificate.name, 0)
        self._last = max(self._last + 1, floor + 1, int(time.time() * MICROSECONDS))
        return authorize(identity.credentials.key, certificate, self._last, name, text)

    async def begin(self, target: Administered) -> None:
        """See that the object is entrusted to this node's operator; KeyProblem where it is not."""
        identity = self._identity
        if identity is None:
            if target.operator:
                raise KeyProblem(
                    f"the {target.object_name} of this cluster are entrusted to the operator "
                    f"{target.operator.hex()[:16]}…; start with --operator-key"
                )
            return
        self._objects[target.object_name] = target
        mine = identity.certificate.issuer
        succession = self._succession()
        if succession is not None and target.operator == succession.issuer:
            await target.take_succession(succession.packed)
        if not target.operator and self.administers:
            await target.entrust(mine, identity.certificate.cluster)
        if target.operator not in (b"", mine):
            raise KeyProblem(
                f"the {target.object_name} of this cluster are entrusted to another operator, "
                f"{target.operator.hex()[:16]}…; it hands them over by: python -m server node-cert "
                f"succeed --operator ITS-KEY --successor NEW.pub --out {self._folder / SUCCESSION}"
            )

    async def follow(self) -> None:
        """Hand on what the operator revokes while the node runs."""
        identity = self._identity
        while identity is not None:
            for target in self._objects.values():
                for listed in identity.trust.lists:
                    if listed.issuer == target.operator and listed.number > target.revoked_number:
                        with suppress(GroupcoreError):
                            await target.take_revocations(listed.packed)
            await asyncio.sleep(LOOK_S)

    def _succession(self) -> Succession | None:
        """What stands in the node's folder; KeyProblem where it is damaged."""
        path = self._folder / SUCCESSION
        if not path.exists():
            return None
        try:
            return read_succession_in(path)
        except KeyFileError as error:
            raise KeyProblem(str(error)) from None
