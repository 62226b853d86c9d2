"""Who asks at the management address."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.requests import Request

from server.management.ranks import Rank

IDENTITY = "identity"
"""Under which name it is in a request's state."""
NAME_MAX = 40
"""Characters of a name, so that it is whole in the audit log."""
MANAGEMENT = "management"
"""Whence the operator asks, in the audit log."""


@dataclass(frozen=True, slots=True)
class Identity:
    """`kind` says by what somebody is known: `file`, `token`, `uid` or `certificate`."""

    kind: str
    name: str
    rank: Rank

    @property
    def text(self) -> str:
        """As people read it: `token:backups`."""
        return f"{self.kind}:{self.name}" if self.name else self.kind

    @property
    def origin(self) -> str:
        """As the audit log has it."""
        return f"{MANAGEMENT} {self.text}" if self.kind else MANAGEMENT


NOBODY = Identity("", "", Rank.OPEN)
OWN_FILE = Identity("file", "", Rank.OWNER)
"""Who can read the token in the node's folder."""


def identity_of(request: Request) -> Identity:
    """Who asks, as the gate has found; what the gate has not seen comes from nobody."""
    found = getattr(request.state, IDENTITY, NOBODY)
    assert isinstance(found, Identity), "nobody else sets it"
    return found
