"""Replicated objects: plain deterministic classes that change by ordered operations.

Texts and outlines are edited by transactions (docs/transactions.md): `parse_transaction` reads
them, and what is late is carried over what came before it (`rebase`).
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
from groupcore.objects.outline import AttributeValue, Block, ReplicatedOutline
from groupcore.objects.parsing import (
    check_title,
    is_identifier,
    parse_attributes,
    parse_change,
    parse_transaction,
)
from groupcore.objects.refusal import RefusalError
from groupcore.objects.text import ReplicatedText

__all__ = [
    "DEFAULT_LIMITS",
    "AttributeValue",
    "Block",
    "Change",
    "DeleteChange",
    "Delta",
    "InsertChange",
    "JoinChange",
    "Limits",
    "MoveChange",
    "RefusalError",
    "ReplicatedOutline",
    "ReplicatedText",
    "SetChange",
    "SplitChange",
    "TextChange",
    "TitleChange",
    "Transaction",
    "check_text",
    "check_title",
    "is_identifier",
    "parse_attributes",
    "parse_change",
    "parse_delta",
    "parse_transaction",
    "transaction_to_wire",
]
