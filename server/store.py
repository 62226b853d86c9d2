"""What is on disk: the tables of the journal, their checksums, and recovery.

Idea. `log` holds every ordered operation, each record's `chain` hashing the one before it, so a
changed, lost or swapped record shows. `documents` holds a state of each document as of its own
position: recovery applies to a document only what is behind that. The log is pruned only up to
the checkpoint, the position that every stored document has reached.

How lost commits are noticed: `groupcore.aio.sealed_store`.
"""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from groupcore.aio import sealed_store
from groupcore.aio.sealed_store import GENESIS, HEAD, SealedStore, checksum
from server.errors import DamagedStoreError, ServerError, SettingsProblem, VersionProblem

SCHEMA_VERSION = 1
TABLES = """
CREATE TABLE log(position INTEGER PRIMARY KEY, epoch INTEGER NOT NULL, payload BLOB NOT NULL,
  chain BLOB NOT NULL);
CREATE TABLE documents(id TEXT PRIMARY KEY, position INTEGER NOT NULL, state BLOB NOT NULL,
  checksum BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE epochs(epoch INTEGER PRIMARY KEY, floor INTEGER NOT NULL);
CREATE TABLE lineage(one INTEGER PRIMARY KEY CHECK (one = 1), record BLOB NOT NULL,
  checksum BLOB NOT NULL);
"""


@dataclass(frozen=True, slots=True)
class Record:
    """One ordered operation; an empty payload is a place in the order that holds nothing."""

    position: int
    epoch: int
    payload: bytes


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document's state as of a position in the order."""

    doc: str
    position: int
    state: bytes


@dataclass(slots=True)
class Recovered:
    """What a start finds: everything up to `position` of `epoch`."""

    epoch: int = 0
    position: int = 0
    chain: bytes = GENESIS
    documents: list[StoredDocument] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)
    epochs: dict[int, int] = field(default_factory=dict)


def chained(previous: bytes, record: Record) -> bytes:
    """The chain after a record."""
    return sealed_store.chained(previous, record.epoch, record.position, record.payload)


class Store(SealedStore):
    """The open database of a node, see `SealedStore`."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder / "journal.sqlite3")

    def append(self, records: Iterable[Record]) -> None:
        """Add records, which stand behind everything that is there."""
        rows = []
        for record in records:
            assert record.position > self.position, "the log grows at its end only"
            self.chain = chained(self.chain, record)
            self.epoch, self.position = record.epoch, record.position
            rows.append((record.position, record.epoch, record.payload, self.chain))
        self.database.executemany("INSERT INTO log VALUES (?, ?, ?, ?)", rows)

    def put_document(self, stored: StoredDocument) -> None:
        """Store a document's state in place of an older one."""
        seal = checksum(stored.doc.encode(), struct.pack("!Q", stored.position), stored.state)
        self.database.execute(
            "INSERT OR REPLACE INTO documents VALUES (?, ?, ?, ?)",
            (stored.doc, stored.position, stored.state, seal),
        )

    def set_checkpoint(self, position: int, prune_to: int) -> None:
        """All documents are stored as of `position` or later; drop records up to `prune_to`."""
        assert prune_to <= position, "the log is pruned only behind a checkpoint"
        self.set_meta("checkpoint", struct.pack("!Q", position))
        row = self.database.execute(
            "SELECT position, epoch, chain FROM log WHERE position <= ? "
            "ORDER BY position DESC LIMIT 1",
            (prune_to,),
        ).fetchone()
        if row is not None:
            self.set_meta("base", HEAD.pack(row[1], row[0], row[2]))
            self.database.execute("DELETE FROM log WHERE position <= ?", (prune_to,))

    def put_epoch(self, epoch: int, floor: int) -> None:
        """The epoch begins behind this position."""
        self.database.execute("INSERT OR REPLACE INTO epochs VALUES (?, ?)", (epoch, floor))

    def put_lineage(self, record: bytes) -> None:
        """Store the channel's record in place of the former."""
        self.database.execute(
            "INSERT OR REPLACE INTO lineage VALUES (1, ?, ?)", (record, checksum(record))
        )

    def get_lineage(self) -> bytes | None:
        """The channel's record, or None; DamagedStoreError when its checksum is wrong."""
        row = self.database.execute("SELECT record, checksum FROM lineage").fetchone()
        if row is None:
            return None
        if checksum(row[0]) != row[1]:
            raise self.damaged("the lineage record does not match its checksum")
        return bytes(row[0])

    def replace(self, state: Recovered) -> None:
        """Take this over in place of everything about the order (the lineage record stays)."""
        for table in ("log", "documents", "epochs"):
            self.database.execute(f"DELETE FROM {table}")
        for stored in state.documents:
            self.put_document(stored)
        for epoch, floor in state.epochs.items():
            self.put_epoch(epoch, floor)
        self.epoch, self.position, self.chain = state.epoch, state.position, state.chain
        self.set_meta("base", HEAD.pack(state.epoch, state.position, state.chain))
        self.set_meta("checkpoint", struct.pack("!Q", state.position))

    def read_log(self, after: int, count: int) -> list[tuple[Record, bytes]]:
        """Up to `count` records behind a position, each with its chain."""
        rows = self.database.execute(
            "SELECT position, epoch, payload, chain FROM log WHERE position > ? "
            "ORDER BY position LIMIT ?",
            (after, count),
        )
        return [(Record(row[0], row[1], row[2]), row[3]) for row in rows]

    def chain_at(self, position: int) -> bytes | None:
        """The chain at a position that the log or its base still holds."""
        base = self.get_meta("base")
        if base is not None and HEAD.unpack(base)[1] == position:
            return bytes(HEAD.unpack(base)[2])
        if position == 0 and base is None:
            return GENESIS
        row = self.database.execute(
            "SELECT chain FROM log WHERE position = ?", (position,)
        ).fetchone()
        return None if row is None else bytes(row[0])

    def recover(self) -> Recovered:
        """Read and verify everything; DamagedStoreError names what is wrong."""
        try:
            return self._recover()
        except (sqlite3.Error, struct.error, TypeError, UnicodeDecodeError) as error:
            raise self.damaged(str(error)) from None

    def _recover(self) -> Recovered:
        self.check_pages()
        base = self.get_meta("base")
        epoch, position, chain = HEAD.unpack(base) if base else (0, 0, GENESIS)
        checkpoint = struct.unpack("!Q", self.get_meta("checkpoint") or bytes(8))[0]
        state = Recovered(epoch, position, bytes(chain))
        for record, expected in self.read_log(-1, 2**62):
            state.chain = chained(state.chain, record)
            if state.chain != expected or record.position <= state.position:
                raise self.damaged(f"the log's checksum is wrong at position {record.position}")
            state.epoch, state.position = record.epoch, record.position
            if record.position > checkpoint:
                state.records.append(record)
        state.documents = self._read_documents(state.position)
        state.epochs = dict(self.database.execute("SELECT epoch, floor FROM epochs"))
        self.get_lineage()
        self.epoch, self.position, self.chain = state.epoch, state.position, state.chain
        self._check_head(state, checkpoint)
        return state

    def _read_documents(self, position: int) -> list[StoredDocument]:
        documents = []
        for row in self.database.execute("SELECT id, position, state, checksum FROM documents"):
            stored = StoredDocument(row[0], row[1], row[2])
            seal = checksum(stored.doc.encode(), struct.pack("!Q", stored.position), stored.state)
            if seal != row[3]:
                raise self.damaged(f"document {stored.doc} does not match its checksum")
            if stored.position > position:
                raise self.damaged(f"document {stored.doc} is newer than the log")
            documents.append(stored)
        return documents

    def _check_head(self, state: Recovered, checkpoint: int) -> None:
        if checkpoint > state.position:
            raise self.damaged("the checkpoint is behind the end of the log")
        self.check_head(state.epoch, state.position, state.chain)

    def damaged(self, detail: str) -> DamagedStoreError:
        """The error that says what to do about a damaged journal."""
        return DamagedStoreError(
            f"the journal {self.path} is damaged: {detail}. Move the folder away and start "
            "again: the node rebuilds itself from the others"
        )


def open_store(folder: Path, cluster: str, node_id: str) -> Store:
    """Open or create the store of this node.

    DamagedStoreError when it cannot be read, VersionProblem when another version of this program
    wrote it, SettingsProblem when the folder belongs to another node or cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        store = Store(folder)
    except (OSError, sqlite3.Error) as error:
        raise SettingsProblem(f"--data {folder} cannot be used: {error}") from None
    try:
        prepare(store, cluster, node_id)
    except (sqlite3.Error, UnicodeDecodeError) as error:
        # A damaged schema is quoted in SQLite's message, which then need not be UTF-8.
        problem: ServerError = store.damaged(str(error))
        store.close()
        raise problem from None
    except ServerError:
        store.close()
        raise
    return store


def prepare(store: Store, cluster: str, node_id: str) -> None:
    """Set the database up for use; create the tables or check whose they are."""
    owner = {"cluster": cluster, "node": node_id}
    version = store.prepare(TABLES, SCHEMA_VERSION, owner)
    if version != SCHEMA_VERSION:
        raise VersionProblem(
            f"the journal {store.path} has format {version}, this program reads format "
            f"{SCHEMA_VERSION}; use the program that wrote it or an empty --data folder"
        )
    for key, flag, mine in (("cluster", "--cluster", cluster), ("node", "--node-id", node_id)):
        theirs = store.owner(key)
        if mine and theirs != mine:
            raise SettingsProblem(
                f"--data {store.folder} belongs to {flag} {theirs}, not {mine}; give each node a "
                "folder of its own"
            )
