"""What can go wrong between a browser and the gateway."""

from __future__ import annotations

from groupcore.errors import GroupcoreError
from groupcore.gateway.limits import TRY_AGAIN, retry_reason


class MissingPackageError(GroupcoreError, ImportError):
    """A package that this part of the library needs is not installed; the text has the command."""


class BadRequestError(GroupcoreError):
    """A browser asked for what is not of the documented form; `code` is the protocol's word."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code


class InterestError(BadRequestError):
    """The program's own `Interest` in an object has failed: nothing is told of its parts."""

    def __init__(self, detail: str) -> None:
        super().__init__("interest", detail)


class SessionEndError(GroupcoreError):
    """The connection shall be closed with this code of the protocol."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


def not_ready() -> SessionEndError:
    """The node has no sessions to give now: the page shall come again, or go to another one."""
    return SessionEndError(TRY_AGAIN, retry_reason())
