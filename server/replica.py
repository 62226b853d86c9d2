"""The replica: all documents, as a deterministic state machine over the total order.

Every node applies the same records in the same order and gets the same documents, the same
verdicts and the same effects. Bytes that are no operation are a no-op at all of them alike.

Each document carries the position of the last record that has passed it: a stored document takes
only the records behind its own, so that documents stored at different positions and one log make
one state.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass

from msgpack import packb, unpackb
from msgpack.exceptions import UnpackException

from groupcore.objects.changes import TextChange, transaction_to_wire
from groupcore.objects.document import Document
from groupcore.objects.outline import AttributeValue
from groupcore.objects.parsing import parse_transaction
from groupcore.objects.records import Applied, Refused, Verdict
from groupcore.objects.refusal import RefusalError, StateError
from server.errors import BadMessageError, DamagedStoreError
from server.frames import Json, Message, pack
from server.operations import Create, Submit, Void, decode_operation
from server.store import Record, StoredDocument

NAMES_MAX = 1000
"""Display names that a document remembers, for the updates in its history."""

NEVER = (TextChange("", ("x",)),)
"""A transaction that no document can apply: no block has an empty id."""


@dataclass(frozen=True, slots=True)
class Updated:
    """A transaction was applied (`again`: had been before); tell the document's sessions."""

    doc: str
    client: str
    op: int
    message: Message
    position: tuple[int, int]
    again: bool = False


@dataclass(frozen=True, slots=True)
class Rejected:
    """A transaction was refused; tell its author."""

    doc: str
    client: str
    op: int
    code: str
    message: Message


@dataclass(frozen=True, slots=True)
class Created:
    """A document is there (it may have been before, when `again`)."""

    doc: str
    version: int
    again: bool = False


Effect = Updated | Rejected | Created


class Entry:
    """A document with the position that it has passed and the names of its authors."""

    __slots__ = ("document", "names", "position")

    def __init__(self, document: Document, position: int) -> None:
        self.document = document
        self.position = position
        self.names: OrderedDict[str, str] = OrderedDict()

    def remember(self, client: str, name: str) -> None:
        """The client's newest name."""
        self.names[client] = name
        self.names.move_to_end(client)
        if len(self.names) > NAMES_MAX:
            self.names.popitem(last=False)


class Replica:
    """All documents. `position` is the last place in the order that has been applied."""

    def __init__(self) -> None:
        self.documents: dict[str, Entry] = {}
        self.position = 0
        self._changed: dict[str, None] = {}

    # --- the order ------------------------------------------------------------------------------

    def apply(self, record: Record) -> Effect | None:
        """Apply what stands at the next place in the order; None when it is no operation."""
        self.position = max(self.position, record.position)
        if not record.payload:
            return None
        try:
            operation = decode_operation(record.payload)
        except BadMessageError:
            return None
        if isinstance(operation, Create):
            return self._create(operation, record)
        entry = self.documents.get(operation.doc)
        if entry is None:
            code, text = "no_such_document", f"there is no document {operation.doc}"
            return _rejected(operation.doc, Refused(operation.client, operation.op, code, text))
        if record.position <= entry.position:
            return None
        entry.position = record.position
        self._changed[operation.doc] = None
        if isinstance(operation, Void):
            return self._void(entry, operation, record.epoch)
        return self._submit(entry, operation, record.epoch)

    def _create(self, create: Create, record: Record) -> Created | None:
        entry = self.documents.get(create.doc)
        if entry is None:
            blocks = [(b, _attributes(attributes), text) for b, attributes, text in create.blocks]
            try:
                document = Document(create.doc, create.title, record.epoch, blocks)
            except RefusalError:
                # Checked before it was ordered; a node that did not is not believed.
                return None
            self.documents[create.doc] = Entry(document, record.position)
            self._changed[create.doc] = None
            return Created(create.doc, 0)
        return Created(create.doc, entry.document.version, again=True)

    def _submit(self, entry: Entry, submit: Submit, epoch: int) -> Effect:
        document = entry.document
        try:
            changes = parse_transaction(submit.changes)
        except RefusalError as error:
            void = Void(submit.doc, submit.client, submit.op, error.code, str(error))
            return self._void(entry, void, epoch)
        entry.remember(submit.client, submit.name)
        verdict: Verdict = document.submit(
            submit.client, submit.op, submit.epoch, submit.base, changes, epoch
        )
        if isinstance(verdict, Refused):
            return _rejected(submit.doc, verdict)
        position = (verdict.epoch, verdict.version)
        message = update_message(submit.doc, verdict, submit.name)
        return Updated(submit.doc, verdict.client, verdict.op, message, position, verdict.repeated)

    def _void(self, entry: Entry, void: Void, epoch: int) -> Rejected:
        """Use the client's number up without changing anything."""
        document = entry.document
        here = (document.epoch, document.version)
        document.submit(void.client, void.op, *here, NEVER, epoch)
        return _rejected(void.doc, Refused(void.client, void.op, void.code, void.message))

    # --- queries --------------------------------------------------------------------------------

    def version_of(self, doc: str) -> tuple[int, int]:
        """A document's (epoch, version); (0, 0) when there is none."""
        entry = self.documents.get(doc)
        return (0, 0) if entry is None else (entry.document.epoch, entry.document.version)

    def versions(self) -> dict[str, int]:
        """Every document's version."""
        return {doc: entry.document.version for doc, entry in self.documents.items()}

    def resume(self, doc: str, position: tuple[int, int], client: str, saved: int) -> list[bytes]:
        """Updates behind a position and the saved version, or a snapshot, packed."""
        updates = self._updates(doc, position)
        if updates is None:
            return [pack(self.snapshot_message(doc, client, saved))]
        epoch = self.version_of(doc)[0]
        message: Message = {"t": "saved", "doc": doc, "epoch": epoch, "version": saved}
        return [*updates, *([pack(message)] if saved else [])]

    def open(self, doc: str, known: tuple[int, int] | None, client: str, saved: int) -> list[bytes]:
        """What answers `open`: `opened` and updates when the position is known, or a snapshot."""
        updates = None if known is None else self._updates(doc, known)
        if known is None or updates is None:
            return [pack(self.snapshot_message(doc, client, saved))]
        opened: Message = {
            "t": "opened",
            "doc": doc,
            "epoch": known[0],
            "version": known[1],
            "saved": saved,
        }
        return [pack(opened), *updates]

    def _updates(self, doc: str, position: tuple[int, int]) -> list[bytes] | None:
        entry = self.documents.get(doc)
        applied = None if entry is None else entry.document.history_since(*position)
        if entry is None or applied is None:
            return None
        names = entry.names
        return [pack(update_message(doc, one, names.get(one.client, "?"))) for one in applied]

    def snapshot_message(self, doc: str, client: str, saved: int) -> Message:
        """The `snapshot` of a document for one client."""
        document = self.documents[doc].document
        blocks: list[Json] = [[b, dict(a), text] for b, a, text in document.blocks()]
        return {
            "t": "snapshot",
            "doc": doc,
            "epoch": document.epoch,
            "version": document.version,
            "saved": saved,
            "title": document.title,
            "blocks": blocks,
            "applied": document.applied_op(client),
        }

    def check(self, submit: Submit) -> None:
        """What can be judged before the order; BadMessageError with the refusal's code."""
        try:
            parse_transaction(submit.changes)
        except RefusalError as error:
            raise BadMessageError(error.code, str(error)) from None

    # --- states ---------------------------------------------------------------------------------

    def dump(self, doc: str) -> StoredDocument:
        """The document's state as of now.

        Nothing behind the entry's own position has touched it, so it holds as of this replica's.
        """
        entry = self.documents[doc]
        state: bytes = packb([entry.document.to_state(), list(entry.names.items())])
        return StoredDocument(doc, max(entry.position, self.position), state)

    def restore(self, stored: Iterable[StoredDocument]) -> None:
        """Take stored documents over; DamagedStoreError when one is none."""
        for one in stored:
            try:
                state, names = unpackb(one.state, strict_map_key=False)
                entry = Entry(Document.from_state(state), one.position)
                entry.names.update((str(client), str(name)) for client, name in names)
            except (StateError, UnpackException, ValueError, TypeError) as error:
                raise DamagedStoreError(
                    f"the stored document {one.doc} cannot be read ({error}); move the data "
                    "folder away and start again"
                ) from None
            self.documents[one.doc] = entry
            self._changed.pop(one.doc, None)

    def take_changed(self) -> list[str]:
        """The documents that have changed since this was last asked."""
        changed, self._changed = list(self._changed), {}
        return changed


def new_document_problem(create: Create) -> BadMessageError | None:
    """Why these blocks cannot be a document, found out before they are ordered."""
    blocks = [(b, _attributes(attributes), text) for b, attributes, text in create.blocks]
    try:
        Document(create.doc, create.title, 0, blocks)
    except RefusalError as error:
        return BadMessageError(error.code, str(error))
    return None


def _attributes(attributes: dict[str, Json]) -> dict[str, AttributeValue]:
    """As they are: the document checks names and values itself."""
    return dict(attributes)  # type: ignore[arg-type]


def update_message(doc: str, applied: Applied, name: str) -> Message:
    """The `update` of an applied transaction."""
    changes: list[Json] = list(transaction_to_wire(applied.changes))  # type: ignore[arg-type]
    return {
        "t": "update",
        "doc": doc,
        "epoch": applied.epoch,
        "version": applied.version,
        "changes": changes,
        "client": applied.client,
        "op": applied.op,
        "name": name,
    }


def _rejected(doc: str, refused: Refused) -> Rejected:
    message: Message = {
        "t": "reject",
        "doc": doc,
        "op": refused.op,
        "code": refused.code,
        "message": refused.message,
        "temporary": False,
    }
    return Rejected(doc, refused.client, refused.op, refused.code, message)
