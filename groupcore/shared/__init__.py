"""Shared objects: write an ordinary class, get one that is the same on all nodes.

Derive from `SharedObject`, annotate the fields, mark what changes them with `@operation`, and
open it at a node. `groupcore.shared.types` has ready ones, `groupcore.shared.testing` a kit for
testing your own. `docs/shared/` has a page on each.
"""

from groupcore.shared.changes import Change, Changed, MemberChanged, Replaced
from groupcore.shared.errors import (
    ArgumentsError,
    ClosedError,
    ContextError,
    DeclarationError,
    DeletedError,
    FieldError,
    ForbiddenError,
    MisfitError,
    NestedOperationError,
    NotDoneError,
    OutcomeUnknownError,
    ReadOnlyError,
    RefusedError,
    ResultLostError,
    SchemaMismatchError,
    SharedError,
    TooSlowError,
)
from groupcore.shared.events import (
    Diverged,
    MessageRejected,
    OperationDenied,
    OperationFailed,
    SharedEvent,
)
from groupcore.shared.messages import Authorized
from groupcore.shared.object import SharedObject, shared
from groupcore.shared.operation_context import OperationContext
from groupcore.shared.operations import operation, query
from groupcore.shared.pending import Pending
from groupcore.shared.streams import Stream
from groupcore.shared.transactions import Transaction

__all__ = [
    "ArgumentsError",
    "Authorized",
    "Change",
    "Changed",
    "ClosedError",
    "ContextError",
    "DeclarationError",
    "DeletedError",
    "Diverged",
    "FieldError",
    "ForbiddenError",
    "MemberChanged",
    "MessageRejected",
    "MisfitError",
    "NestedOperationError",
    "NotDoneError",
    "OperationContext",
    "OperationDenied",
    "OperationFailed",
    "OutcomeUnknownError",
    "Pending",
    "ReadOnlyError",
    "RefusedError",
    "Replaced",
    "ResultLostError",
    "SchemaMismatchError",
    "SharedError",
    "SharedEvent",
    "SharedObject",
    "Stream",
    "TooSlowError",
    "Transaction",
    "operation",
    "query",
    "shared",
]
