"""The journal from outside: `verify-log` and `dump-log`. The node must not run meanwhile."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from server.errors import BadMessageError, ServerError, SettingsProblem
from server.journal import lock_folder
from server.operations import Create, Submit, decode_operation
from server.replica import Created, Rejected, Replica, Updated
from server.store import Record, Recovered, Store, open_store


def open_existing(folder: Path) -> Store:
    """The store in a folder that has one."""
    if not (folder / "journal.sqlite3").is_file():
        raise SettingsProblem(f"{folder} holds no journal; name a node's --data folder")
    lock_folder(folder)
    return open_store(folder, "", "")


def verify_log(folder: Path) -> None:
    """Check every checksum and replay everything; DamagedStoreError names what is wrong."""
    store = open_existing(folder)
    state = store.recover()
    replay(state)
    print(
        f"good: position {state.position}, epoch {state.epoch}, "
        f"{len(state.documents)} documents stored, {len(state.records)} records to replay"
    )


def replay(state: Recovered) -> Replica:
    """The replica that a start makes of this."""
    replica = Replica()
    replica.restore(state.documents)
    for record in state.records:
        replica.apply(record)
    return replica


def dump_log(folder: Path) -> None:
    """Every record that the log still holds, as JSON lines."""
    store = open_existing(folder)
    state = store.recover()
    replica = Replica()
    replica.restore(state.documents)
    for record, _ in store.read_log(-1, 2**62):
        sys.stdout.write(json.dumps(describe(record, replica), ensure_ascii=False) + "\n")


def describe(record: Record, replica: Replica) -> dict[str, object]:
    """One record; the verdict is known for those behind the stored documents."""
    row: dict[str, object] = {
        "group": "documents",
        "epoch": record.epoch,
        "sequence_number": record.position,
    }
    try:
        operation = decode_operation(record.payload) if record.payload else None
    except BadMessageError as error:
        return row | {"verdict": f"no operation: {error.message}"}
    if operation is None:
        return row | {"verdict": "empty"}
    row["document"] = operation.doc
    if isinstance(operation, Create):
        row |= {"subject": "", "client_operation_id": operation.key, "operation": "create"}
        row["title"] = operation.title
    else:
        row |= {"subject": operation.client, "client_operation_id": operation.op}
        changes = operation.changes if isinstance(operation, Submit) else operation.code
        row["operation"] = changes
    match replica.apply(record):
        case Updated(again=again):
            verdict = "repeated" if again else "applied"
        case Rejected(code=code):
            verdict = code
        case Created(again=again):
            verdict = "exists" if again else "created"
        case None:
            verdict = "before the snapshot"
    return row | {"verdict": verdict}


def run_command(name: str, arguments: list[str]) -> None:
    """One of the two commands, with the folder as its one argument."""
    if len(arguments) != 1:
        raise SettingsProblem(f"{name} needs one folder: python -m server {name} DIR")
    try:
        {"verify-log": verify_log, "dump-log": dump_log}[name](Path(arguments[0]))
    except BrokenPipeError:
        raise ServerError("the reader of the output has gone") from None
