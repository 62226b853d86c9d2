"""What can go wrong with a shared object; every text names the thing and the remedy.

Operations may raise whatever their author likes: the caller gets that exception as it is. The
errors here are the library's own.
"""

from __future__ import annotations

from typing import ClassVar

from groupcore.errors import GroupcoreError


class SharedError(GroupcoreError):
    """Base of all errors of shared objects."""


class DeclarationError(SharedError):
    """A class is not declared as a shared object must be; the text names the field or parameter."""


class MisfitError(SharedError):
    """A value does not fit its declared type; the text names the place and the type."""


class ArgumentsError(MisfitError):
    """The arguments of an operation do not fit its parameters; nothing has been sent."""


class FieldError(MisfitError):
    """An operation gives a field a value that is not of the declared type, or no such field."""


class ReadOnlyError(SharedError):
    """A field is changed outside an operation: other replicas would not see it. Call one."""


class ContextError(SharedError):
    """What only an operation has (its context, `emit`) is asked for outside one."""


class NestedOperationError(SharedError):
    """An operation calls an operation; move what both need into a plain method."""


class ClosedError(SharedError):
    """The object is not open at this process (any more); open it again."""


class DeletedError(ClosedError):
    """The object has been deleted; a call without a result by then has none to come.

    Opened again it is a new one. Pages are told `closed`, as of any object that is open no more.
    """

    code: ClassVar[str] = "closed"


class RefusedError(SharedError):
    """The sequencing service refuses; `code` as in `sequencing.events.Refused`: `too_large`, …"""

    def __init__(self, code: str, detail: str = "") -> None:
        super().__init__(f"{code}: {detail}" if detail else code)
        self.code = code


class ForbiddenError(SharedError):
    """The object's access list does not let `principal` do it; the text says what it may do.

    Of a call: it is refused at its place in the order, and nothing has changed. Of `open`, of
    `changes` and of reading: `principal` may not read the object, or not any more.
    """

    def __init__(self, principal: str, detail: str) -> None:
        super().__init__(f"{principal or 'nobody in particular'} {detail}")
        self.principal = principal


class ResultLostError(SharedError):
    """The operation was done, but this replica took the state from another one instead of doing it.

    Its result is not known here; read the object. Do not send the operation again.
    """


class OutcomeUnknownError(SharedError):
    """The cluster went on without this node while the operation was under way.

    Whether it was done is not known here. The object is opened again by itself; look at it.
    """


class SchemaMismatchError(SharedError):
    """The group's replicas are of another version of the class; run one version on all nodes."""


class TooSlowError(SharedError):
    """An iteration has more changes waiting than it may hold; begin anew and read the object."""


class NotDoneError(SharedError):
    """The result of something that is not done yet was asked for; await it."""
