"""What is on disk: the tables of the journal, their checksums, and recovery.

Idea. `log` holds every ordered operation, each record's `chain` hashing the one before it, so a
changed, lost or swapped record shows. `documents` holds a state of each document as of its own
position: recovery applies to a document only what is behind that. The log is pruned only up to
the checkpoint, the position that every stored document has reached.

SQLite ends its write-ahead log silently at the first bad checksum, which would make a damaged
log a shorter one. So a small file `head` beside it, written after each commit, tells the last
position: a log that ends before it is damaged (reliability, row 39).
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import struct
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from server.errors import DamagedStoreError, ServerError, SettingsProblem, VersionProblem

SCHEMA_VERSION = 1
GENESIS = bytes(16)
"""The chain before the first record."""

TABLES = """
CREATE TABLE meta(key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE log(position INTEGER PRIMARY KEY, epoch INTEGER NOT NULL, payload BLOB NOT NULL,
  chain BLOB NOT NULL);
CREATE TABLE documents(id TEXT PRIMARY KEY, position INTEGER NOT NULL, state BLOB NOT NULL,
  checksum BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE epochs(epoch INTEGER PRIMARY KEY, floor INTEGER NOT NULL);
CREATE TABLE lineage(one INTEGER PRIMARY KEY CHECK (one = 1), record BLOB NOT NULL,
  checksum BLOB NOT NULL);
"""

HEAD = struct.Struct("!QQ16s")


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
    head = previous + struct.pack("!QQ", record.epoch, record.position)
    return hashlib.blake2b(head + record.payload, digest_size=16).digest()


def checksum(*parts: bytes) -> bytes:
    """The checksum of stored bytes, their boundaries included."""
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        digest.update(struct.pack("!Q", len(part)) + part)
    return digest.digest()


class Store:
    """The open database. All calls come from one thread at a time; each runs in a transaction
    that the caller opens with `begin` and ends with `commit`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "journal.sqlite3"
        self.database = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False)
        self.epoch = self.position = 0
        self.chain = GENESIS
        self._head = os.open(folder / "head", os.O_RDWR | os.O_CREAT, 0o600)

    def close(self) -> None:
        """Close the files."""
        self.database.close()
        os.close(self._head)

    def begin(self) -> None:
        """Open a transaction."""
        self.database.execute("BEGIN IMMEDIATE")

    def commit(self) -> None:
        """Make everything since `begin` durable."""
        self.set_meta("head", HEAD.pack(self.epoch, self.position, self.chain))
        self.database.execute("COMMIT")
        self.write_head(self.epoch, self.position, self.chain)

    def rollback(self) -> None:
        """Forget everything since `begin`, in memory too."""
        if self.database.in_transaction:
            self.database.execute("ROLLBACK")
        head = self.get_meta("head")
        if head is not None:
            self.epoch, self.position, self.chain = HEAD.unpack(head)

    def write_head(self, epoch: int, position: int, chain: bytes) -> None:
        """Tell beside the database how far it reaches; never more than it holds."""
        body = HEAD.pack(epoch, position, chain)
        os.pwrite(self._head, body + checksum(body), 0)

    def read_head(self) -> tuple[int, int]:
        """Epoch and position that the head file tells; 0, 0 when it is new or was torn."""
        data = os.pread(self._head, HEAD.size + 16, 0)
        body, seal = data[: HEAD.size], data[HEAD.size :]
        if len(data) != HEAD.size + 16 or checksum(body) != seal:
            return 0, 0
        epoch, position, _ = HEAD.unpack(body)
        return epoch, position

    def get_meta(self, key: str) -> bytes | None:
        """The value of a key, or None."""
        row = self.database.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return None if row is None else bytes(row[0])

    def set_meta(self, key: str, value: bytes) -> None:
        """Set a key."""
        self.database.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

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
        found = self.database.execute("PRAGMA quick_check").fetchone()
        if found != ("ok",):
            raise self.damaged(str(found[0]).splitlines()[0])
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
        head = self.get_meta("head")
        if head is not None and HEAD.unpack(head) != (state.epoch, state.position, state.chain):
            raise self.damaged("the log does not end where the last commit left it")
        if checkpoint > state.position:
            raise self.damaged("the checkpoint is behind the end of the log")
        if self.read_head() > (state.epoch, state.position):
            raise self.damaged("committed operations are missing at the end of the log")

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
    database = store.database
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = FULL")
    version = database.execute("PRAGMA user_version").fetchone()[0]
    tables = database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if version == 0 and tables == 0:
        if store.read_head() > (0, 0):
            raise store.damaged("it is empty, but was not")
        database.executescript(f"BEGIN; {TABLES} PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;")
        store.begin()
        store.set_meta("cluster", cluster.encode())
        store.set_meta("node", node_id.encode())
        store.commit()
    elif version != SCHEMA_VERSION:
        raise VersionProblem(
            f"the journal {store.path} has format {version}, this program reads format "
            f"{SCHEMA_VERSION}; use the program that wrote it or an empty --data folder"
        )
    for key, flag, mine in (("cluster", "--cluster", cluster), ("node", "--node-id", node_id)):
        theirs = store.get_meta(key)
        if theirs is None:
            raise store.damaged(f"it does not say its {key}")
        if mine and theirs.decode(errors="replace") != mine:
            raise SettingsProblem(
                f"--data {store.folder} belongs to {flag} {theirs.decode(errors='replace')}, not "
                f"{mine}; give each node a folder of its own"
            )
