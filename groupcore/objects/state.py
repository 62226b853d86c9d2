"""The stored and transferred form of what a document remembers, with its checks.

Everything that reads raises StateError for what is not of the form.
"""

from __future__ import annotations

from groupcore.objects.changes import Limits, transaction_to_wire
from groupcore.objects.parsing import parse_change
from groupcore.objects.records import Applied, ClientRecord
from groupcore.objects.refusal import StateError

FIELDS = ("id", "title", "epoch", "version", "blocks", "floor", "history", "clients")
"""The fields of a document's state beside `form`."""


def state_fields(state: object, form: int) -> dict[str, object]:
    """The fields of a state of this form."""
    if type(state) is not dict:
        raise StateError("the state of a document must be a map")
    if state.get("form") != form:
        raise StateError(f"the state has form {state.get('form')!r}, this version reads {form}")
    missing = [name for name in FIELDS if name not in state]
    if missing:
        raise StateError(f"the state lacks {', '.join(missing)}")
    return {name: state[name] for name in FIELDS}


def items(value: object, count: int | None = None) -> list[object]:
    """The value as an array, of `count` elements if given."""
    if not isinstance(value, list | tuple):
        raise StateError("an array was expected")
    if count is not None and len(value) != count:
        raise StateError(f"an array of {count} was expected")
    return list(value)


def natural(value: object) -> int:
    """The value as an integer from 0."""
    if type(value) is not int or value < 0:
        raise StateError("an integer from 0 was expected")
    return value


def string(value: object) -> str:
    """The value as a string."""
    if type(value) is not str:
        raise StateError("a string was expected")
    return value


def applied_to_wire(entry: Applied) -> list[object]:
    """A transaction of the history; its version follows from its place."""
    return [entry.client, entry.op, entry.epoch, transaction_to_wire(entry.changes)]


def applied_from_wire(wire: object, version: int, limits: Limits) -> Applied:
    """A transaction of the history; RefusalError when one of its changes is none."""
    client, op, epoch, changes = items(wire, 4)
    parsed = tuple([parse_change(change, limits) for change in items(changes)])
    return Applied(string(client), natural(op), natural(epoch), version, parsed)


def client_to_wire(client: str, record: ClientRecord) -> list[object]:
    """A client of the table."""
    return [
        client,
        record.op,
        record.digest,
        record.code,
        record.message,
        record.epoch,
        record.version,
        record.applied_op,
    ]


def client_from_wire(wire: object) -> tuple[str, ClientRecord]:
    """A client of the table."""
    client, op, digest, code, message, epoch, version, applied_op = items(wire, 8)
    if type(digest) is not bytes:
        raise StateError("a digest was expected")
    return string(client), ClientRecord(
        natural(op),
        digest,
        string(code),
        string(message),
        natural(epoch),
        natural(version),
        natural(applied_op),
    )
