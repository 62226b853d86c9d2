"""The trace: what nodes write down of their work, as tables. Nodes and pipeline share this module.

Plain data, no library: names, types, and what each column says. Types are those of Spark's DDL:
`string`, `boolean`, `int` (32 bits), `bigint` (64 bits, signed), `timestamp` (UTC, microseconds),
`array<string>`, and `array<struct<sequencer:string,frame:bigint>>`. A column is null only where its
text says when. No table has content of messages: sizes and checksums only.

**Names.** A *node* in a column is one life of it, `<id>#<incarnation in hex>`; a *process* is
`<node>/<number>`. Only the folder of a segment has the bare id. A restart is another node here,
with other processes and a delivery number that begins at 1.

**Runs.** What a process sends to a group at once travels as a run: `count` consecutive messages.
A row of `accept` and `delivery` is a run, which is never divided once it has its numbers. Message
i (from 0) of a run is number `seq + i` of its group, and the `first + i`-th of its sender there.

**Which message.** `(sender, gid, first + i)` says which one a sender means, sent again or not.
`(gid, epoch, seq + i)` is its place: within an epoch, a number means one message. Numbers go on
from one epoch to the next. What a sequencer has stamped, and nobody else had when it failed, is
lost as if it had not been said: the next epoch gives the same numbers again, the rows of the lost
stamps have no delivery, and the same messages may stand elsewhere there. A delivery says
`sequencer` and `lseq`, so it has one row of `accept` always, if that was written (a change of
membership has one of `membership`), and from that its epoch.

**Stamps.** A sequencer sends one stream of numbered frames, without holes; a frame holds runs, or
one change of membership. `lseq`, frame * FRAME_STAMPS + place in the frame, grows strictly with
what a sequencer has numbered, in whatever group.

**Order.** `dno` numbers what a node has delivered, 1, 2, ... in this order, one a row of
`delivery`. It is the order of each of its processes as well: a process is given the rows of its
groups with `in.dno < dno <= out.dno`, where `in` and `out` are its rows of `membership` for the
group at its node. Timestamps say no order.

- *Gaps*: at a node, a group's rows go on by number from its row `state` on, until `released`.
- *CT2*, `causal` and `strict` groups: if a row of a process is in a frame whose `context` has
  `<S, f>`, then behind it the process is given nothing of S's frames up to f: contexts name
  streams (decision 0018). It is a running maximum over (process, sequencer).
- *T2*, `strict` groups: of one sequencer's, a process is given them with growing `lseq`.
- Of one frame, in whatever groups, a process is given the runs with growing `lseq`.

**Segments.** `date=<UTC day of its first row>/node=<id>/<kind>-<epoch>-<n>.arrows`: one Arrow IPC
stream (zstd), written as `….arrows.open` and renamed when it is complete. `epoch` grows with each
start of the writer, `n` by one a segment of a kind; names sort in log order. Its schema carries the
metadata of `METADATA`. Who reads never opens `.open`. Behind the end of the stream stand
`CHECKSUM_MARK` and the SHA-256 of everything before that mark, where the metadata says so.

**What is missing.** A row of `log_gap` names rows that are not there, and no others: what stands
before the first of them and behind the last is whole. A crash takes the end of each log of its
epoch; it was noted behind `dno` and `lseq` of `life`, as rows are written in the order in which
they are handed over: `accept`, `frame` and `delivery` behind all others, in this order.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

VERSION = 3
"""Of all tables together. Additions only: a column that is missing in an older segment is null.

2 has told since when a process observes and how long a sender has waited. 3 has checksums, and says
behind which delivery a crash has taken rows.
"""

CHECKSUM_MARK = b"GCSHA256"
"""What stands between the end of a segment's stream and its checksum."""

CHECKSUM_BYTES = 32
"""SHA-256, of everything before the mark: against damage, not against whoever can write files."""

FRAME_STAMPS = 4096
"""Stamps of a frame: `lseq // FRAME_STAMPS` is the frame's number."""

REACHES = "array<struct<sequencer:string,frame:bigint>>"
"""The type of a context or cut: of each sequencer's stream everything up to that frame."""

CONTENT, JOINED, LEFT, GONE = 0, 1, 2, 3
"""`delivery.what`: messages; or a change of membership, which takes one number of its group."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column: `kind` is its type; `says` what it means, its unit, and when it is null.

    `personal`: it names people or what they made; pseudonyms take its place where that is set.
    """

    name: str
    kind: str
    says: str
    personal: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A kind of record. `telemetry`: under pressure its rows may be dropped (`log_gap` says so)."""

    kind: str
    says: str
    own: tuple[Column, ...]
    telemetry: bool = False

    @property
    def columns(self) -> tuple[Column, ...]:
        """All columns in their order in a segment: the common ones, then its own."""
        return (*COMMON, *self.own)

    @property
    def ddl(self) -> str:
        """The schema as Spark writes it."""
        return ", ".join(f"{column.name} {column.kind}" for column in self.columns)


COMMON = (
    Column("node", "string", "the life of the node that wrote the row; in `log_gap`: its id"),
    Column("off", "bigint", "number of the row of this kind and writer's epoch, from 0, no holes"),
    Column("t", "timestamp", "when it happened, by the node's clock; says no order"),
)
"""The first columns of every table; the writer fills `node` and `off` in."""

_GID = Column("gid", "bigint", "the group's number; never used for another group")
_SENDER = Column("sender", "string", "process that sent the run")
_FIRST = Column("first", "bigint", "the sender's own number of its first message, from 1 a group")
_CRC = Column("crc", "bigint", "CRC-32 of the messages one behind the other: against mix-ups only")
_DNO = Column("dno", "bigint", "last delivery number of the node before this; 0: none")

FRAME = Table(
    "frame",
    "A frame as its sequencer (`node`) made it: one row for each number, 1, 2, ... in turn.",
    (
        Column("frame", "bigint", "its number in the sequencer's stream"),
        Column("view", "bigint", "number of the view in which it was made"),
        Column("runs", "int", "rows of `accept` that are in it; 0: a row of `membership`"),
        Column("messages", "bigint", "messages in it"),
        Column("bytes", "bigint", "of its body, packed"),
        Column("queue_us", "bigint", "how long the oldest request in it has waited here; us"),
        Column("context", REACHES, "what all its runs are to be delivered behind; often empty"),
    ),
)
ACCEPT = Table(
    "accept",
    "A run that a sequencer (`node`) has given its numbers. Never sampled, never dropped.",
    (
        Column("lseq", "bigint", "its stamp"),
        _GID,
        Column("epoch", "bigint", "which of the group's sequencers this is, from 1"),
        Column("seq", "bigint", "number of its first message in the group"),
        Column("count", "bigint", "messages, at least 1"),
        _SENDER,
        _FIRST,
        Column("bytes", "bigint", "of its messages"),
        _CRC,
    ),
)
DELIVERY = Table(
    "delivery",
    "What a node has delivered to its processes of a group, once for all that it hosts.",
    (
        Column("dno", "bigint", "delivery number of the node's life, 1, 2, ...; holes if sampled"),
        _GID,
        Column("seq", "bigint", "number of its first message in the group"),
        Column("count", "bigint", "how many numbers of the group it takes; 1 for a change"),
        Column("what", "int", "0 messages, 1 a JOIN, 2 a LEAVE, 3 LEAVE as the node is gone"),
        Column("sender", "string", "process that sent the run, or that joins or leaves"),
        Column("first", "bigint", "as in `accept`; null for a change"),
        Column("sequencer", "string", "node that stamped it; null: from an archive"),
        Column("lseq", "bigint", "its stamp; null where `sequencer` is"),
        Column("crc", "bigint", "as in `accept`, of what was delivered; null for a change"),
        Column(
            "round_us",
            "bigint",
            "how long ago this node's own process sent it, by its clock; us. Null: another's, or"
            " not known",
        ),
    ),
    telemetry=True,
)
MEMBERSHIP = Table(
    "membership",
    "Who is in a group: in its order, as its sequencer stamped it; and at a node, as it hosts it.",
    (
        Column(
            "op",
            "string",
            "in the order, by the sequencer: `join`, `leave`, `gone` (its node is). By a node of"
            " itself: `state` it has the group's state as of `seq`; `in` a process of it is given"
            " what follows; `out` it is given no more; `released` it delivers the group no longer",
        ),
        _GID,
        Column("process", "string", "who; null for `state` and `released`"),
        Column("seq", "bigint", "number in the group: of the change, or of the state; 0: unknown"),
        Column("epoch", "bigint", "of the sequencer; null for what a node says of itself"),
        Column("lseq", "bigint", "stamp of the change; null for what a node says of itself"),
        Column("dno", "bigint", "last delivery number of the node before; null for changes"),
        Column(
            "observes",
            "boolean",
            "of a `join` to a `strict` group: overlaps do not count the process",
        ),
    ),
)
GROUP = Table(
    "group",
    "Who sequences a group from when to when, and what it promises; by that sequencer (`node`).",
    (
        Column("op", "string", "`owned` from here on, `disowned` from here on, or `deleted`"),
        _GID,
        Column("name", "string", "its name, if it has one", personal=True),
        Column("promise", "string", "`causal`, `strict`, `fifo` or `volatile` (no messages here)"),
        Column("epoch", "bigint", "the epoch that begins or ends here"),
        Column("seq", "bigint", "last number of the former epoch that the node knows of"),
        Column("cause", "string", "`created`, `moved`, `inherited` (failover), `state`, `deleted`"),
    ),
)
VIEW = Table(
    "view",
    "A view as a node has installed it.",
    (
        Column("number", "bigint", "grows by one a view"),
        Column("epoch", "bigint", "grows when memory of a quorum was lost (decision 0007)"),
        Column("lineage", "bigint", "odd for primary views; another one: another history"),
        Column("primary", "boolean", "whether it may sequence"),
        Column("members", "array<string>", "nodes by rank, the coordinator first"),
        Column("previous", "bigint", "number of the view before at this node; null at the first"),
        Column("recovered", "boolean", "whether it was formed from disks"),
        Column("cut", REACHES, "where the streams stand that end or go on with it"),
        _DNO,
    ),
)
MIGRATION = Table(
    "migration",
    "A step of a group on its way from one sequencer to another, or of its failover.",
    (
        Column("move", "bigint", "number of the move; 0 for a failover"),
        _GID,
        Column(
            "phase",
            "string",
            "`began` the source gives no more numbers, `stopped` its last frames are held,"
            " `moved` the order says so (by the target), `resumed` the target gives numbers,"
            " `cancelled` (by the source), `inherited` by failover (by the new sequencer)",
        ),
        Column(
            "cause", "string", "`strict`, `load`, `locality`, `ties`, `drain`, `plan`, `failover`"
        ),
        Column("source", "string", "node; null where the writer does not know it any more"),
        Column("target", "string", "node"),
        Column("epoch", "bigint", "of the group at its sequencer then"),
        Column("seq", "bigint", "last number of the former epoch; null before `stopped`"),
    ),
)
SEQ_LOAD = Table(
    "seq_load",
    "What a node has done since its last such row, about once a second while there is something.",
    (
        Column("seconds", "double", "how long that was"),
        Column("frames", "bigint", "frames made"),
        Column("runs", "bigint", "runs numbered"),
        Column("messages", "bigint", "messages numbered"),
        Column("bytes", "bigint", "of these, packed"),
        Column("deliveries", "bigint", "rows of `delivery`, whether sampled or not"),
        Column("queue_us_max", "bigint", "the longest wait of a request for its number; us"),
        Column("window_bytes", "bigint", "stamped, and not yet delivered by all"),
        Column("groups", "bigint", "groups that it sequences"),
        Column("cpu_us", "bigint", "processor time of the node's process; us; null where unknown"),
    ),
    telemetry=True,
)
SESSION = Table(
    "session",
    "A page's session at a node: a person's, through one connection after the other.",
    (
        Column("op", "string", "`open`, `resume` or `close`"),
        Column("session", "string", "which one"),
        Column("user", "string", "whose", personal=True),
        Column("process", "string", "that it sends as; null where it has none of its own"),
        Column("client", "string", "what program, as it says itself; null: not known"),
        Column("bytes_in", "bigint", "received from it since it was opened; null: not counted"),
        Column("bytes_out", "bigint", "sent to it since then; null: not counted"),
        Column("code", "int", "that its last connection was closed with; null: none, not known"),
    ),
    telemetry=True,
)
VERDICT = Table(
    "verdict",
    "That a replica has refused a message by the access list, which is a part of the group's order:"
    " all replicas refuse the same ones. What has no row was allowed.",
    (
        _GID,
        Column("seq", "bigint", "number of the message in its group"),
        Column("principal", "string", "who asked", personal=True),
        Column("operation", "string", "what was asked"),
        Column("code", "string", "why it was refused"),
    ),
)
LOG_GAP = Table(
    "log_gap",
    "Rows that are missing, and why. What rests on them cannot be audited.",
    (
        Column("kind", "string", "of the table in which they are missing"),
        Column("epoch", "bigint", "writer's epoch in which they are missing"),
        Column("from_off", "bigint", "first row that is missing"),
        Column("to_off", "bigint", "last one; null: how many is not known"),
        Column("dropped", "bigint", "how many; null: not known"),
        Column("every", "bigint", "sampling: only groups with `gid % every == 0` are kept"),
        Column("reason", "string", "`pressure`, `sampled`, `crash` or `disk`"),
        Column("life", "string", "of a `crash`: the life that stood at `dno`; null: not known"),
        Column("dno", "bigint", "the delivery behind which all was noted that is missing"),
        Column("lseq", "bigint", "its stamp behind which all was noted that is missing"),
    ),
)

TABLES = {
    table.kind: table
    for table in (
        FRAME,
        ACCEPT,
        DELIVERY,
        MEMBERSHIP,
        GROUP,
        VIEW,
        MIGRATION,
        SEQ_LOAD,
        SESSION,
        VERDICT,
        LOG_GAP,
    )
}
"""All tables, by kind."""

METADATA = {
    "groupcore.kind": "kind of the table",
    "groupcore.version": "VERSION of the tables",
    "groupcore.node": "id of the node",
    "groupcore.epoch": "the writer's epoch",
    "groupcore.every": "1; of deliveries: only groups with `gid % every == 0` are in it",
    "groupcore.pseudonyms": "`true`: what is personal is a keyed hash",
    "groupcore.checksum": "`sha256`: the file ends with its checksum; missing before version 3",
    "groupcore.recovered": "`true`: left behind by a crash; what came behind its end is not known",
}
"""Keys of a segment's schema metadata, all values text."""

OPEN_SUFFIX = ".open"
"""Behind the name of a segment that is being written."""


class Segment(NamedTuple):
    """Where a segment lies: `node` is the node's id, `n` counts in a kind and epoch, from 0."""

    date: str
    node: str
    kind: str
    epoch: int
    n: int

    @property
    def folder(self) -> str:
        """Its folder below the trace's."""
        return f"date={self.date}/node={_quoted(self.node)}"

    @property
    def name(self) -> str:
        """Its file name, once it is complete; sorts in log order within its kind."""
        return f"{self.kind}-{self.epoch:08d}-{self.n:012d}.arrows"

    @property
    def path(self) -> str:
        """Its path below the trace's folder."""
        return f"{self.folder}/{self.name}"


_PATH = re.compile(
    r"(?:.*/)?date=(\d{4}-\d\d-\d\d)/node=([^/]+)/([a-z_]+)-(\d{8,})-(\d{12})\.arrows(\.open)?"
)


def parse_path(path: str) -> Segment | None:
    """Which segment this is, complete or open, whatever the trace's folder; None: it is none."""
    found = _PATH.fullmatch(path)
    if found is None or found[3] not in TABLES:
        return None
    return Segment(found[1], _unquoted(found[2]), found[3], int(found[4]), int(found[5]))


def _quoted(name: str) -> str:
    """A node's id as it may stand in a path: printable ASCII, so one character is one byte."""
    return "".join(c if c.isalnum() or c in "-_." else f"%{ord(c):02X}" for c in name)


def _unquoted(name: str) -> str:
    return re.sub("%([0-9A-F]{2})", lambda found: chr(int(found[1], 16)), name)
