"""Replicated objects: plain deterministic classes that change by ordered operations.

`Document` is several texts in one order, edited by transactions (docs/transactions.md): parse them
with `parse_transaction`, order them, give them to `Document.submit` at every replica.
`ReplicatedText` and `ReplicatedOutline` are its parts for embedding programs.
"""

from groupcore.objects.changes import (
    DEFAULT_LIMITS,
    Change,
    DeleteChange,
    InsertChange,
    JoinChange,
    Limits,
    MoveChange,
    SetChange,
    SplitChange,
    TextChange,
    TitleChange,
    Transaction,
    transaction_to_wire,
)
from groupcore.objects.delta import Delta, check_text, parse_delta
from groupcore.objects.document import Document, submit_digest
from groupcore.objects.outline import AttributeValue, Block, ReplicatedOutline
from groupcore.objects.parsing import (
    check_title,
    is_identifier,
    parse_attributes,
    parse_change,
    parse_transaction,
)
from groupcore.objects.records import Applied, Refused, Verdict
from groupcore.objects.refusal import RefusalError, StateError
from groupcore.objects.text import ReplicatedText

__all__ = [
    "DEFAULT_LIMITS",
    "Applied",
    "AttributeValue",
    "Block",
    "Change",
    "DeleteChange",
    "Delta",
    "Document",
    "InsertChange",
    "JoinChange",
    "Limits",
    "MoveChange",
    "RefusalError",
    "Refused",
    "ReplicatedOutline",
    "ReplicatedText",
    "SetChange",
    "SplitChange",
    "StateError",
    "TextChange",
    "TitleChange",
    "Transaction",
    "Verdict",
    "check_text",
    "check_title",
    "is_identifier",
    "parse_attributes",
    "parse_change",
    "parse_delta",
    "parse_transaction",
    "submit_digest",
    "transaction_to_wire",
]
