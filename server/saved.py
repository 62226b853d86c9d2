"""Which version of each document is saved: on disk at a quorum of the primary view."""

from __future__ import annotations

from collections import deque


class SavedVersions:
    """Turns saved positions of the order into saved versions of documents.

    Constant work an operation: operations wait in one queue in order and leave it at its front.
    """

    def __init__(self) -> None:
        self._waiting: deque[tuple[int, str, int]] = deque()
        self._saved: dict[str, int] = {}

    def note(self, position: int, doc: str, version: int) -> None:
        """The operation at this position brought the document to this version."""
        self._waiting.append((position, doc, version))

    def advance(self, position: int) -> dict[str, int]:
        """Everything up to this position is saved: the documents whose saved version grew."""
        grown: dict[str, int] = {}
        while self._waiting and self._waiting[0][0] <= position:
            _, doc, version = self._waiting.popleft()
            grown[doc] = version
        self._saved.update(grown)
        return grown

    def version(self, doc: str) -> int:
        """The saved version of a document, 0 when none is known to be."""
        return self._saved.get(doc, 0)

    def reset(self, position: int, versions: dict[str, int]) -> None:
        """Begin again with these versions, none of them known to be saved before `position` is."""
        self._waiting = deque((position, doc, version) for doc, version in versions.items())
        self._saved = {}
