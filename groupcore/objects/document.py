"""A replicated document: every replica that is given the same submits in the same order holds
the same content and gives the same verdicts.

A submit is judged where it stands in the order. It may have been made against an older version:
then it is rebased over the transactions in between (`groupcore.objects.rebase`). Each client
numbers its operations 1, 2, 3 …, so that one that is sent again is recognised.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping

from msgpack import packb

from groupcore.objects.changes import (
    DEFAULT_LIMITS,
    Limits,
    Transaction,
    effort,
    mentioned,
    transaction_to_wire,
)
from groupcore.objects.content import Content, present
from groupcore.objects.delta import check_text
from groupcore.objects.outline import AttributeValue, Block
from groupcore.objects.parsing import check_title, is_identifier, parse_attributes
from groupcore.objects.rebase import rebase_transaction
from groupcore.objects.records import (
    Applied,
    ClientRecord,
    ClientTable,
    History,
    Refused,
    Verdict,
)
from groupcore.objects.refusal import (
    BadChangeError,
    BaseTooOldError,
    EpochChangedError,
    RefusalError,
    StateError,
)
from groupcore.objects.state import (
    applied_from_wire,
    applied_to_wire,
    client_from_wire,
    client_to_wire,
    items,
    natural,
    state_fields,
    string,
)

STATE_FORM = 1
"""Version of the form of `to_state`."""

BlockTuple = tuple[str, Mapping[str, AttributeValue], str]
"""Id, attributes and text of a block."""


def submit_digest(base_epoch: int, base: int, changes: Transaction) -> bytes:
    """Eight bytes that tell a submit from one with other content."""
    packed: bytes = packb([base_epoch, base, transaction_to_wire(changes)])
    return hashlib.blake2b(packed, digest_size=8).digest()


class Document:
    """Title and blocks under a position (epoch, version), with what is needed to judge submits.

    A new document is at version 0 of the cluster's `epoch`. Raises RefusalError when the title or
    a block is not well-formed or a limit is passed.
    """

    __slots__ = ("_clients", "_content", "_history", "_limits", "epoch", "id", "version")

    def __init__(
        self,
        document_id: str,
        title: str,
        epoch: int = 0,
        blocks: Iterable[BlockTuple] = (),
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        if not is_identifier(document_id):
            raise BadChangeError("a document id must be 1 to 64 characters of A-Za-z0-9_-")
        self.id = document_id
        self.epoch = epoch
        self.version = 0
        self._limits = limits
        self._content = Content(check_title(title, limits), limits)
        self._history = History((epoch, 0), limits)
        self._clients = ClientTable(limits.clients)
        for block_id, attributes, text in blocks:
            self._append_block(block_id, dict(attributes), text)

    @property
    def title(self) -> str:
        """The document's title."""
        return self._content.title

    def __len__(self) -> int:
        """How many blocks the document has."""
        return len(self._content.outline)

    def blocks(self) -> Iterator[tuple[str, dict[str, AttributeValue], str]]:
        """Id, attributes and text of each block, in order; the attributes are copies."""
        for block in self._content.outline:
            yield block.id, dict(block.attributes), block.text

    def block(self, block_id: str) -> Block:
        """One block, to read only; NoSuchBlockError when there is none of this id."""
        return self._content.outline.get(block_id)

    def submit(
        self,
        client: str,
        op: int,
        base_epoch: int,
        base: int,
        changes: Transaction,
        epoch: int,
        digest: bytes | None = None,
    ) -> Verdict:
        """Applies a transaction that was made against position (base_epoch, base), or refuses it.

        `changes` come from `parse_transaction`; `epoch` is the cluster's when the submit was
        ordered; `digest` is `submit_digest` of the submit, computed here when it is not given.
        Raises nothing. A refused submit changes nothing but the memory of its verdict.
        """
        if digest is None:
            digest = submit_digest(base_epoch, base, changes)
        record = self._clients.get(client)
        last = 0 if record is None else record.op
        if record is not None and op == last:
            return self._verdict_again(client, record, digest)
        if op != last + 1:
            message = f"operation {op} of this client cannot follow {last}"
            return Refused(client, op, "op_out_of_order", message)
        try:
            applied = self._content.apply(self._rebased(base_epoch, base, changes))
        except RefusalError as error:
            return self._refuse(client, op, digest, record, error)
        self.version += 1
        self.epoch = max(epoch, self.epoch)
        entry = Applied(client, op, self.epoch, self.version, applied)
        self._history.append(entry)
        self._clients.put(client, ClientRecord(op, digest, "", "", self.epoch, self.version, op))
        return entry

    def history_since(self, epoch: int, version: int) -> list[Applied] | None:
        """The transactions behind a position; None when the kept history does not contain it."""
        if not self._history.knows(epoch, version):
            return None
        return self._history.since(version)

    def applied_op(self, client: str) -> int:
        """The highest operation of the client that this document contains, 0 for none."""
        record = self._clients.get(client)
        return 0 if record is None else record.applied_op

    def last_op(self, client: str) -> int:
        """The client's last operation that got a verdict here, 0 for none; the next is one more."""
        record = self._clients.get(client)
        return 0 if record is None else record.op

    def state_hash(self) -> bytes:
        """16 bytes that replicas at one position have in common (the history is left out)."""
        blocks = [
            [block.id, sorted(block.attributes.items()), block.text]
            for block in self._content.outline
        ]
        clients = [client_to_wire(name, record) for name, record in self._clients.items()]
        state = [STATE_FORM, self.id, self.title, self.epoch, self.version, blocks, clients]
        packed: bytes = packb(state)
        return hashlib.blake2b(packed, digest_size=16).digest()

    def to_state(self) -> dict[str, object]:
        """Everything as plain values for msgpack; a replica made from it judges alike."""
        return {
            "form": STATE_FORM,
            "id": self.id,
            "title": self.title,
            "epoch": self.epoch,
            "version": self.version,
            "blocks": [
                [block_id, attributes, text] for block_id, attributes, text in self.blocks()
            ],
            "floor": list(self._history.floor),
            "history": [applied_to_wire(entry) for entry in self._history],
            "clients": [client_to_wire(name, record) for name, record in self._clients.items()],
        }

    @classmethod
    def from_state(cls, state: object, limits: Limits = DEFAULT_LIMITS) -> Document:
        """The document that `to_state` described.

        Raises StateError when the value is none; get the state from another replica then.
        """
        fields = state_fields(state, STATE_FORM)
        try:
            return cls._from_fields(fields, limits)
        except RefusalError as error:
            raise StateError(f"not the state of a document: {error}") from None

    @classmethod
    def _from_fields(cls, fields: dict[str, object], limits: Limits) -> Document:
        floor_epoch, floor_version = map(natural, items(fields["floor"], 2))
        title = string(fields["title"])
        document = cls(string(fields["id"]), title, floor_epoch, (), limits)
        for block in items(fields["blocks"]):
            document._append_block(*items(block, 3))
        history = History((floor_epoch, floor_version), limits)
        version = floor_version
        for number, entry in enumerate(items(fields["history"]), floor_version + 1):
            history.append(applied_from_wire(entry, number, limits))
            version = number
        document._history = history
        for client in items(fields["clients"]):
            document._clients.put(*client_from_wire(client))
        document.epoch, document.version = natural(fields["epoch"]), natural(fields["version"])
        if document.version != version or not history.knows(document.epoch, version):
            raise StateError("the history does not end at the document's position")
        return document

    def _append_block(self, block_id: object, attributes: object, text: object) -> None:
        if not isinstance(block_id, str) or not is_identifier(block_id):
            raise BadChangeError("a block id must be 1 to 64 characters of A-Za-z0-9_-")
        outline = self._content.outline
        after = None if outline.last is None else outline.last.id
        checked = present(parse_attributes(attributes, may_remove=False))
        outline.insert(block_id, after, checked, check_text(text, self._limits.block_text))

    def _rebased(self, base_epoch: int, base: int, changes: Transaction) -> Transaction:
        history = self._history
        if not history.knows(base_epoch, base):
            if base < history.floor[1]:
                raise BaseTooOldError(f"version {base} is older than the kept history")
            raise EpochChangedError(f"this document never was at {base_epoch}.{base}")
        if base == self.version:
            return changes
        work = 0
        names = _names(changes)
        for entry, theirs in history.since_with_names(base):
            if names.isdisjoint(theirs):
                continue
            work += len(entry.changes) * sum(map(effort, changes))
            work += len(changes) * sum(map(effort, entry.changes))
            if work > self._limits.rebase_work:
                raise BaseTooOldError(f"too much has happened since version {base}")
            changes = rebase_transaction(changes, entry.changes)
            names = _names(changes)
        return changes

    def _refuse(
        self, client: str, op: int, digest: bytes, record: ClientRecord | None, error: RefusalError
    ) -> Refused:
        message = str(error)
        epoch, version, applied_op = 0, 0, 0
        if record is not None:
            epoch, version, applied_op = record.epoch, record.version, record.applied_op
        self._clients.put(
            client, ClientRecord(op, digest, error.code, message, epoch, version, applied_op)
        )
        return Refused(client, op, error.code, message)

    def _verdict_again(self, client: str, record: ClientRecord, digest: bytes) -> Verdict:
        op = record.op
        if record.digest != digest:
            return Refused(client, op, "op_reused", f"operation {op} was sent with other content")
        if record.code:
            return Refused(client, op, record.code, record.message, repeated=True)
        entry = self._history.at(record.version)
        changes = () if entry is None else entry.changes
        return Applied(client, op, record.epoch, record.version, changes, repeated=True)


def _names(changes: Transaction) -> set[str | None]:
    return {name for change in changes for name in mentioned(change)}
