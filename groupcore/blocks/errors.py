"""What can go wrong in a building block; every text names the thing and the remedy."""

from __future__ import annotations

from groupcore.errors import GroupcoreError
from groupcore.view import Address


class ListenerError(GroupcoreError):
    """A listener cannot be added: its id is taken or too long, or it comes too late."""


class ValueRefusedError(GroupcoreError):
    """A value cannot travel: it is no msgpack value, nested too deeply, or too large."""


class RegistrationError(GroupcoreError):
    """A function cannot be registered: its name is taken, or its parameters cannot be checked."""


class RemoteError(GroupcoreError):
    """A called function raised at `member`; `kind` and `text` are the exception's type and text."""

    def __init__(self, member: Address, kind: str, text: str) -> None:
        super().__init__(f"{member.name}: {kind}: {text}")
        self.member = member
        self.kind = kind
        self.text = text


class RequestRefusedError(RemoteError):
    """`member` did not run the function; `kind` says why.

    `unknown_function`, `bad_arguments`, `bad_request`, `busy` (too many requests wait there),
    `not_ready` (the member has no state yet) or `bad_result` (what the function returned cannot
    travel).
    """


class SuspectedError(GroupcoreError):
    """The member that was called has left the view; whether it ran the function is unknown."""


class NoAnswerError(GroupcoreError):
    """The member that was called has not answered in time; it may still run the function."""


class NestedCallError(GroupcoreError):
    """An ordered function waits for a call; it would hold up the order that the answer needs."""


class OutcomeUnknownError(GroupcoreError):
    """A write was sent and this member then lost its place: it may have happened or not."""


class NotANumberError(GroupcoreError):
    """`increment` met a value that is not a number; set the key to a number first."""


class FullError(GroupcoreError):
    """The replicated dict holds as many bytes as it may; delete keys, or raise `bytes_max`."""


class TransferFailedError(GroupcoreError):
    """No source could give the state, or what it gave is not the state; ask another or later."""
