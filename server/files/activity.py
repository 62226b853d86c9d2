"""What people do with documents, beside writing: who changed which last, what one opened and likes.

Idea. None of it decides anything, so it is an object of its own beside the accounts: it changes
often, and what it says of documents that are no more is passed over. Nodes tell it for their pages.
"""

from __future__ import annotations

from dataclasses import dataclass

from groupcore.shared import SharedObject, operation
from server.accounts.errors import AccountError
from server.backup.fields import take_part

NAME = "activity"
"""As what the object is opened."""
RECENT_MAX = 50
"""So many documents that one has opened are known, the last ones."""
FAVOURITES_MAX = 200
TOUCHES_MAX = 200
"""So many documents are told of in one message."""


@dataclass(frozen=True, slots=True)
class Touch:
    """Who changed a document last, as a principal, and when."""

    by: str
    at_s: float


@dataclass(frozen=True, slots=True)
class Touched:
    """A detail of a change: these documents were changed just now."""

    documents: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OwnFilesChanged:
    """A detail of a change: what this person opened last, or likes, is something else now."""

    user: str


FORMERLY = {"a1ee0d12248ffdc1": ("touched", "recent", "favourites")}
"""The fields of former versions, in their order, by the fingerprint of each."""


class Activity(SharedObject, check_every=256):
    """By document, and by the id of an account."""

    formerly = FORMERLY

    touched: dict[str, Touch]
    recent: dict[str, dict[str, float]]
    favourites: dict[str, list[str]]

    def may_call(self, principal: str, operation: str) -> bool:
        """Nodes only."""
        del operation
        return not principal

    def may_read(self, principal: str) -> bool:
        """Nodes only."""
        return not principal

    @operation
    def take_back(self, field: str, is_first: bool, part: bytes) -> None:
        """What a backup has of a field, into an object that is new: the whole, or more of it."""
        take_part(self, field, is_first, part)

    @operation
    def touch(self, documents: list[tuple[str, str]]) -> None:
        """These documents were changed just now, each by this principal."""
        for document, by in documents:
            self.touched[document] = Touch(by, self.context.time_s)
        self.emit(Touched(tuple(document for document, _ in documents)))

    @operation
    def opened(self, user: str, document: str) -> None:
        """A person has opened a document."""
        known = self.recent.setdefault(user, {})
        known.pop(document, None)
        known[document] = self.context.time_s
        if len(known) > RECENT_MAX:
            del known[next(iter(known))]
        self.emit(OwnFilesChanged(user))

    @operation
    def favour(self, user: str, item: str, before: str) -> None:
        """A person likes a document or folder, and has it before this one; empty: at the end."""
        known = self.favourites.setdefault(user, [])
        left = [one for one in known if one != item]
        if len(left) >= FAVOURITES_MAX:
            raise AccountError("too_many", f"one has {FAVOURITES_MAX} favourites at most")
        place = left.index(before) if before in left else len(left)
        self.favourites[user] = [*left[:place], item, *left[place:]]
        self.emit(OwnFilesChanged(user))

    @operation
    def disfavour(self, user: str, item: str) -> None:
        """It is no favourite any more; nothing, if it is none."""
        known = self.favourites.get(user, [])
        if item in known:
            self.favourites[user] = [one for one in known if one != item]
            self.emit(OwnFilesChanged(user))

    def knows(self, user: str) -> bool:
        """Whether something is known of this person."""
        return user in self.recent or user in self.favourites

    @operation
    def forget_person(self, user: str) -> None:
        """What the person liked, and has opened last, is nobody's any more."""
        self.recent.pop(user, None)
        self.favourites.pop(user, None)

    @operation
    def forget(self, documents: list[str]) -> None:
        """These documents were deleted for good."""
        gone = set(documents)
        for document in documents:
            self.touched.pop(document, None)
        for user, known in self.recent.items():
            if not gone.isdisjoint(known):
                self.recent[user] = {doc: at_s for doc, at_s in known.items() if doc not in gone}
        for user, liked in self.favourites.items():
            if not gone.isdisjoint(liked):
                self.favourites[user] = [one for one in liked if one not in gone]
