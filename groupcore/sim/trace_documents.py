"""The trace records of documents: what people did and were told, and what nodes had.

`object` is an object's name; `person` a client's id, `number` its call's of that object. `typed`
and `erased` are characters: each is typed once in a schedule, so it says which edit it is of.
"""

from __future__ import annotations

from typing import NamedTuple


class DocumentCalled(NamedTuple):
    """A person calls an operation; asked again elsewhere it is not written down again.

    `typed` is new text, of which not all need come to stand; `erased` may go by it.
    """

    t: int
    person: str
    object: str
    number: int
    operation: str
    typed: str
    erased: str


class DocumentAnswered(NamedTuple):
    """A person is told what has become of a call; `code` empty: it was done.

    `draft`: text that was not taken, as what it was written into is deleted.
    """

    t: int
    person: str
    object: str
    number: int
    code: str
    draft: str


class DocumentSaved(NamedTuple):
    """A person is told that its calls up to `number` survive the loss of all nodes."""

    t: int
    person: str
    object: str
    number: int


class DocumentDropped(NamedTuple):
    """A person knows that a call is not done, or lost with the power: it has the text back.

    It may compose it anew.
    """

    t: int
    person: str
    object: str
    number: int


class DocumentGone(NamedTuple):
    """At a node this text has gone with its block (`deleted`), or is kept as a `draft`."""

    t: int
    n: str
    inc: int
    object: str
    why: str
    text: str


class DocumentHash(NamedTuple):
    """The hash of an object's state at a node as of `position` of the stretch called `birth`.

    In this `epoch` of views: where one is formed from disk, what was not saved before is gone, and
    its positions are given anew.
    """

    t: int
    n: str
    inc: int
    object: str
    epoch: int
    birth: str
    position: int
    sh: str


class DocumentParted(NamedTuple):
    """An object says that its replicas have parted, or could not read each other."""

    t: int
    n: str
    inc: int
    text: str


class DocumentTwice(NamedTuple):
    """At a node the same text would be shown in two places."""

    t: int
    n: str
    inc: int
    text: str


class DocumentEnd(NamedTuple):
    """What a node has of the document at the end: blocks in their order, with their texts.

    `wrong`: what does not fit together there.
    """

    t: int
    n: str
    inc: int
    title: str
    blocks: tuple[tuple[str, str], ...]
    drafts: str
    wrong: tuple[str, ...]


class DocumentWaits(NamedTuple):
    """At the end a person still waits for something."""

    t: int
    person: str
    text: str


class DocumentShown(NamedTuple):
    """A page is given what happened to an object at `position`, or (`whole`) its state as of there.

    `visit` tells a page's visits at nodes from each other; `what`: which operations it was shown,
    of a state nothing. `epoch`: that of the node's view, `birth`: the stretch of the order.
    """

    t: int
    person: str
    visit: int
    object: str
    epoch: int
    birth: str
    position: int
    whole: bool
    what: str


class DocumentDone(NamedTuple):
    """A node has done what an object was sent at `position`, or somebody came or went there."""

    t: int
    n: str
    inc: int
    object: str
    epoch: int
    birth: str
    position: int
    what: str


DocumentRecord = (
    DocumentCalled
    | DocumentAnswered
    | DocumentSaved
    | DocumentDropped
    | DocumentGone
    | DocumentHash
    | DocumentParted
    | DocumentTwice
    | DocumentEnd
    | DocumentWaits
    | DocumentShown
    | DocumentDone
)

DOCUMENT_EVENTS: dict[type, str] = {
    DocumentCalled: "d-call",
    DocumentAnswered: "d-answer",
    DocumentSaved: "d-save",
    DocumentDropped: "d-drop",
    DocumentGone: "d-gone",
    DocumentHash: "d-hash",
    DocumentParted: "d-part",
    DocumentTwice: "d-twice",
    DocumentEnd: "d-end",
    DocumentWaits: "d-wait",
    DocumentShown: "d-show",
    DocumentDone: "d-do",
}
"""What each record is called in JSON lines."""
