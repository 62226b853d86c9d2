"""One block of a document: a text with marks, attributes, and what it hands over to other blocks.

Idea. Each block is a group of its own, so nothing is done in two blocks at one place of one order.
What leaves a block (the end of a text that was split off, the whole text of a block that was
joined to another one, an edit that came late to either) becomes a numbered parcel that the block
owes to the other one. Owing is part of the block's state. Whoever has both open carries the
parcel over; the receiver takes each number once and in order, so several may carry, and any may
die. When the receiver has it, the block is told so and owes it no more.

A late edit is carried over the steps since its base. A step that cut the text divides it: one part
goes on here, the other becomes a parcel for where the text went, as an edit of the text as it
came there (a frame), from which the receiver carries it over its own steps.

Source. Decision 28; operational transformation as in docs/decisions/0009.

Invariants.
  D1  A text is in one place: in a block, or in a parcel that a block owes and its receiver has not.
  D2  A parcel is taken once; the n-th of one block is taken behind the one before it.
  D3  A late edit is done where its text is, or comes back to its author; it never vanishes.
  D4  A parcel never fails to be taken: what cannot be done is refused or becomes a draft.
  D5  What comes late to letters that were cut out goes to where they were pasted, once that is
      known.
"""

from __future__ import annotations

from collections.abc import Mapping

from groupcore.objects.refusal import (
    BadChangeError,
    BlockDeletedError,
    BlockExistsError,
    NoSuchBlockError,
    OutOfRangeError,
)
from groupcore.objects.rich_delta import cut, length, transform_position
from groupcore.shared.access import EVERYBODY, Right
from groupcore.shared.documents.handing import DELETED, JOINED, OPEN, UNBORN, Handing
from groupcore.shared.documents.late_edits import taken_out
from groupcore.shared.documents.limits import BLOCK_MAX, check_attributes, check_id
from groupcore.shared.documents.parts import (
    UNSEEN,
    Again,
    Attributes,
    BlockClosed,
    BlockCut,
    BlockSet,
    Edited,
    Elsewhere,
    Step,
)
from groupcore.shared.operations import operation
from groupcore.shared.types.history import edits_since
from groupcore.shared.types.rich_text import RichEdit

KEEPERS = frozenset({"accept", "handed", "take_back", "follow"})
"""Operations that nodes call for themselves, as nobody in particular."""
NODES_TOO = frozenset({"delete"})
"""What nodes call for themselves, where the outline has left a block out, and who may write."""


_FIRST = ("name", "status", "into", "content", "attributes", "version", "owes", "frames")
_SECOND = ("drafts", "received", "_recent", "_given")
_RIGHTS = ("rights", "rights_version")
FORMERLY: Mapping[str, tuple[str, ...]] = {
    "1b268bd8eccab121": (*_FIRST, *_SECOND, *_RIGHTS),
    "eff251e595e3f3f7": (*_FIRST, *_SECOND, "again", *_RIGHTS),
}
"""The fields of former versions: in the first no letters were known to stand again, in the second
no edit said that it extends what its author wrote last."""


class Block(Handing):
    """A block; a new object is `unborn` until it has taken a text from the outline or a block.

    `status`: unborn, open, joined (its text went to `into`) or deleted. `owes` are the parcels
    that other blocks have not got yet, oldest first. Changes' details are those of `parts`.
    """

    for_nodes = KEEPERS
    formerly = FORMERLY
    rights: dict[str, Right]
    rights_version: int = 0

    # --- edits ----------------------------------------------------------------------------------

    @operation
    def edit(self, base: int, delta: RichEdit, author: str = "", extends: bool = False) -> Edited:
        """Apply an edit that was made against version `base`; what has become of it.

        What two insert at one place stands in the order in which it was done, but for an edit that
        `extends` what its author wrote last: that stands left, next to it (decision 202).

        Raises NoSuchBlockError before the block has a text, BaseTooOldError, OutOfRangeError and
        TooLargeError; nothing of the edit is done then, and its author keeps it.
        """
        self._require_born()
        return self._do(self._located(base, delta, extends), author)

    def _require_born(self) -> None:
        if self.status == UNBORN:
            raise NoSuchBlockError("the block has no text yet")

    @operation
    def set(self, changes: dict[str, str | int | bool | None]) -> None:
        """Set attributes; None removes one. Nothing happens to a block that is not open."""
        if self.status != OPEN:
            return
        for name, value in changes.items():
            if value is None:
                self.attributes.pop(name, None)
            else:
                self.attributes[name] = value
        check_attributes(self.attributes)
        self.emit(BlockSet(tuple(changes.items())))

    # --- splitting, joining, deleting -----------------------------------------------------------

    @operation
    def split(self, base: int, at: int, new: str, attributes: Attributes = ()) -> Elsewhere | None:
        """Give all from `at` of version `base` on to the new block `new`, which begins with it.

        None: it is done. Raises BlockDeletedError, BlockExistsError, NoSuchBlockError,
        BaseTooOldError, OutOfRangeError, BadChangeError, TooLargeError.
        """
        self._require_born()
        check_id(new)
        check_attributes(dict(attributes))
        if new in self._given or new in self.received or new == self.name:
            raise BlockExistsError(f"there is a block {new} already")
        for step in edits_since(base, self.version, self._recent):
            match step.kind:
                case "edit":
                    at = transform_position(at, step.delta)
                case "cut" if at > step.at:
                    return Elsewhere(step.new, step.frame, at - step.at)
                case "all":
                    return Elsewhere(step.new, step.frame, at)
                case "gone":
                    raise BlockDeletedError("the text was deleted")
        if self.status != OPEN:
            raise BlockDeletedError("the block is closed")
        if not 0 <= at <= length(self.content):
            raise OutOfRangeError(f"the split is at {at} of {length(self.content)} code points")
        behind = cut(self.content, at, length(self.content))
        number = self._owe(new, "birth", behind, attributes=attributes)
        self.content = cut(self.content, 0, at)
        self._note(Step("cut", new=new, frame=number, at=at))
        self.emit(BlockCut(self.version, at, new, attributes))
        return None

    @operation
    def join(self, into: str) -> bool:
        """Give the whole text to the end of `into`, and close; False when it is not open.

        Raises BadChangeError for a join into itself, NoSuchBlockError.
        """
        self._require_born()
        check_id(into)
        if into == self.name:
            raise BadChangeError("a block cannot be joined into itself")
        if self.status != OPEN:
            return False
        content = self.content
        number = self._owe(into, "append", content)
        self.status, self.into, self.content = JOINED, into, ()
        self._note(Step("all", new=into, frame=number))
        self.emit(BlockClosed(into, content, self.version, number))
        return True

    @operation
    def delete(self) -> bool:
        """Delete the block with what it holds at this place; False when it is not open."""
        self._require_born()
        if self.status != OPEN:
            return False
        content = self.content
        self.status, self.content = DELETED, ()
        self._note(Step("gone"))
        self.emit(BlockClosed(None, content, self.version))
        return True

    # --- letters that stand again ---------------------------------------------------------------

    @operation
    def letters(
        self,
        base: int,
        start: int,
        count: int,
        block: str,
        version: int,
        at: int,
        seen: bool = False,
    ) -> None:
        """Letters of version `base`, which were cut out, stand again in `block`, pasted there.

        They are the `count` letters from `start` on, and stand from `at` of its `version` on. What
        is done to them late is done there (D5). Of letters that are not taken out yet that is
        remembered. `seen`: who pasted them had version `base`, and nothing of their own besides:
        what others have written between them since then goes after them when the block is deleted.
        A block without a text is deleted by this: nothing else can have cut it. `block` may be this
        one: letters that were taken out of it and are back, by undo, of which anchors are told.

        Raises BadChangeError, BaseTooOldError.
        """
        check_id(block)
        is_own = block == self.name and base < version <= self.version
        is_one = is_own or block != self.name
        if not is_one or min(start, version, at) < 0 or not 0 < count <= BLOCK_MAX:
            raise BadChangeError("these can be no letters of one block in another one")
        steps = edits_since(base, self.version, self._recent)
        if self.status == UNBORN:
            self.status = DELETED
            self._note(step := Step("gone"))
            self.emit(BlockClosed(None, (), self.version))
            steps = [step]
        origin = start if seen else UNSEEN
        named = [Again(0, start, count, block, version, at, base, origin)]
        if is_own:  # what was taken out behind that version is not what is back with it
            steps = steps[: version - base]
        for number, step in enumerate(steps, base + 1):
            out, named = taken_out(named, step, number)
            self._stand(self.again, out, [], step)
        if is_own:
            return
        self._stand(self.again, [], named, Step("edit"))

    # --- who may --------------------------------------------------------------------------------

    @operation
    def follow(self, version: int, rights: dict[str, Right]) -> None:
        """The document's access list, as of this version of it; an older one does nothing."""
        if version > self.rights_version:
            self.rights_version, self.rights = version, rights

    def may_call(self, principal: str, operation: str) -> bool:
        """By the list; what nodes do for themselves, only by nobody in particular."""
        if not self.rights:
            return True
        if operation in KEEPERS or (not principal and operation in NODES_TOO):
            return not principal
        return self._right(principal) >= Right.WRITE

    def may_read(self, principal: str) -> bool:
        """By the list; nodes, by nobody in particular, always."""
        return not self.rights or not principal or self._right(principal) >= Right.READ

    def _right(self, principal: str) -> Right:
        rights = self.rights
        return max(rights.get(principal, Right.NONE), rights.get(EVERYBODY, Right.NONE))
