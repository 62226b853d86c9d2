"""Which pictures there are, and in which documents: one shared object that every node has open.

Idea. The files are beside the order, what they mean is in it. A picture belongs to the documents
that it was put into; who may read one of these may have the picture, by that document. It is put in
(uploaded, or copied from another document) before a block names it. A node that sweeps looks which
pictures the documents' blocks name, and says so here; what no block has named for long is let go,
in the order: an upload that comes before that place keeps the picture, one that comes behind it
brings its file along.

Invariants.
  P1  What is listed is on the disks of a majority of the nodes of the view in which it was listed.
  P2  A use that was put in, or seen, since a sweep looked is not let go by that sweep.
  P3  The sizes of all listed pictures together are at most what the settings allow.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from groupcore.objects.parsing import is_identifier
from groupcore.objects.refusal import BadChangeError
from groupcore.shared import SharedObject, operation
from server.errors import BadMessageError
from server.pictures.naming import is_hash

NAME = "pictures"
"""As what the object is opened."""
DOCUMENT_MAX = 5_000
"""Most pictures of one document."""


NO_PICTURE = "no_such_picture"
"""The code of a picture that is not in the document."""


def no_room(detail: str) -> BadMessageError:
    """It does not fit any more; nothing was added."""
    return BadMessageError("no_room", detail)


def no_picture() -> BadMessageError:
    """There is no such picture in the document, or none that the one who asks may know of."""
    return BadMessageError(NO_PICTURE, "there is no such picture in this document")


@dataclass(frozen=True, slots=True)
class Kept:
    """A picture's file: `media` is its type, `width` and `height` are in pixels."""

    media: str
    width: int
    height: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Use:
    """A picture in a document; `idle_s`: since when no block names it, 0.0 while one does."""

    number: int
    idle_s: float = 0.0


class Pictures(SharedObject):
    """The list. `sites`: where each node answers other nodes that want pictures, host and port."""

    kept: dict[str, Kept]
    uses: dict[str, dict[str, Use]]
    sites: dict[str, tuple[str, int]]
    bytes_kept: int = 0
    number: int = 0

    # --- to read --------------------------------------------------------------------------------

    def of(self, doc: str, name: str) -> Kept | None:
        """The picture, if it belongs to the document."""
        return self.kept.get(name) if name in self.uses.get(doc, {}) else None

    # --- putting in -----------------------------------------------------------------------------

    @operation
    def put(self, doc: str, name: str, kept: Kept, bytes_max: int) -> None:
        """The picture, which a majority has on disk, belongs to the document.

        BadMessageError `no_room`.
        """
        if not is_hash(name) or not is_identifier(doc):
            raise BadChangeError("a picture is named by its hash, a document by its id")
        if name not in self.kept:
            if self.bytes_kept + kept.size_bytes > bytes_max:
                raise no_room(
                    f"the pictures of all documents may have {bytes_max >> 20} MiB; "
                    "remove some, or ask who runs this for more room"
                )
            self.kept[name] = kept
            self.bytes_kept += kept.size_bytes
        self._use(doc, name)

    @operation
    def copy(self, source: str, doc: str, name: str) -> None:
        """The picture belongs to this document, too; BadMessageError `no_such_picture`."""
        if self.of(source, name) is None:
            raise no_picture()
        self._use(doc, name)

    def _use(self, doc: str, name: str) -> None:
        uses = self.uses.setdefault(doc, {})
        if name not in uses and len(uses) >= DOCUMENT_MAX:
            raise no_room(f"a document may have {DOCUMENT_MAX} pictures; remove some")
        self.uses[doc][name] = Use(self._next())

    def _next(self) -> int:
        self.number += 1
        return self.number

    # --- letting go -----------------------------------------------------------------------------

    def news(self, doc: str, named: set[str], keep_s: float) -> tuple[list[str], list[str]]:
        """What `looked` has to be told: named again, and named no more, now or for long enough."""
        uses, now_s = self.uses.get(doc, {}), self.time_s
        again = [name for name, use in uses.items() if use.idle_s and name in named]
        idle = [
            name
            for name, use in uses.items()
            if name not in named and (not use.idle_s or now_s - use.idle_s >= keep_s)
        ]
        return again, idle

    @operation
    def looked(
        self, doc: str, again: list[str], idle: list[str], number: int, keep_s: float
    ) -> list[str]:
        """Blocks name some pictures again and others not, as of `number`; gives those let go.

        What was put in behind `number` is left as it is (P2).
        """
        now_s, gone = self.context.time_s, []
        uses = self.uses.get(doc, {})
        for name in again:
            use = uses.get(name)
            if use is not None and use.idle_s:
                uses[name] = Use(self._next())
        for name in idle:
            use = uses.get(name)
            if use is None or use.number > number:
                continue
            if not use.idle_s:
                uses[name] = replace(use, idle_s=now_s)
            elif now_s - use.idle_s >= keep_s:
                del uses[name]
                gone.append(name)
        self._drop(doc, gone)
        return gone

    @operation
    def forget(self, documents: list[str]) -> None:
        """These documents were deleted for good: no picture belongs to them any more."""
        for document in documents:
            gone = list(self.uses.pop(document, {}))
            self._drop(document, gone)

    def _drop(self, doc: str, gone: list[str]) -> None:
        if not self.uses.get(doc, True):
            del self.uses[doc]
        for name in gone:
            if any(name in uses for uses in self.uses.values()):
                continue
            self.bytes_kept -= self.kept.pop(name).size_bytes

    # --- nodes ----------------------------------------------------------------------------------

    @operation
    def at(self, node: str, host: str, port: int) -> None:
        """This node's pictures can be had there."""
        self.sites[node] = (host, port)
