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

Source. Decision 27; operational transformation as in docs/decisions/0009.

Invariants.
  D1  A text is in one place: in a block, or in a parcel that a block owes and its receiver has not.
  D2  A parcel is taken once; the n-th of one block is taken behind the one before it.
  D3  A late edit is done where its text is, or comes back to its author; it never vanishes.
  D4  A parcel never fails to be taken: what cannot be done is refused or becomes a draft.
"""

from __future__ import annotations

from typing import NamedTuple

from groupcore.objects.refusal import (
    BadChangeError,
    BaseTooOldError,
    BlockDeletedError,
    BlockExistsError,
    NoSuchBlockError,
    OutOfRangeError,
    RefusalError,
    TooLargeError,
)
from groupcore.objects.rich_delta import (
    Rich,
    RichDelta,
    apply,
    base_length,
    canonical,
    cut,
    divide,
    growth,
    inserted,
    joined,
    length,
    shift,
    transform,
    transform_position,
)
from groupcore.objects.rich_parsing import size_bytes
from groupcore.sequencing.names import Process
from groupcore.shared.access import EVERYBODY, Right
from groupcore.shared.documents.parts import (
    TRAIL_MAX,
    Attributes,
    BlockClosed,
    BlockCut,
    BlockEdited,
    BlockOpened,
    Draft,
    Edited,
    Elsewhere,
    Frame,
    Kind,
    Outcome,
    Parcel,
    Received,
    Step,
    Value,
)
from groupcore.shared.object import SharedObject
from groupcore.shared.operations import operation
from groupcore.shared.types.history import edits_since, remember
from groupcore.shared.types.rich_text import RichContent, RichEdit

BLOCK_MAX = 10_000
"""Most code points in one block."""
BLOCK_BYTES_MAX = 48_000
"""Largest text of one block: it has to fit into one message when it is handed over."""
FRAMES_MAX = 1_000
"""So many texts that came from other blocks are known."""
ATTRIBUTES_MAX = 20

UNBORN, OPEN, JOINED, DELETED = "unborn", "open", "joined", "deleted"
KEEPERS = frozenset({"accept", "handed", "take_back", "follow"})
"""Operations that nodes call for themselves, as nobody in particular."""


def node_of(process: Process) -> str:
    """The name of a process's node, of this life of it."""
    return f"{process.node.name}#{process.node.incarnation:x}"


class _Located(NamedTuple):
    """A late edit: its part `here`, its parts for texts that have `gone`, and what is `lost`."""

    here: RichDelta
    gone: list[tuple[str, int, RichDelta]]
    lost: Rich


class Block(SharedObject):
    """A block; a new object is `unborn` until it has taken a text from the outline or a block.

    `status`: unborn, open, joined (its text went to `into`) or deleted. `owes` are the parcels
    that other blocks have not got yet, oldest first. Changes' details are those of `parts`.
    """

    name: str = ""
    status: str = UNBORN
    into: str = ""
    content: RichContent = ()
    attributes: dict[str, str | int | bool]
    version: int = 0
    owes: dict[str, list[Parcel]]
    frames: dict[str, Frame]
    drafts: dict[str, Draft]
    received: dict[str, int]
    rights: dict[str, Right]
    rights_version: int = 0
    _recent: list[Step]
    _given: dict[str, int]

    # --- edits ----------------------------------------------------------------------------------

    @operation
    def edit(self, base: int, delta: RichEdit, author: str = "") -> Edited:
        """Apply an edit that was made against version `base`; what has become of it.

        Raises NoSuchBlockError before the block has a text, BaseTooOldError, OutOfRangeError and
        TooLargeError; nothing of the edit is done then, and its author keeps it.
        """
        self._require_born()
        return self._do(self._located(base, delta), author)

    def _located(self, base: int, delta: RichDelta) -> _Located:
        """The part of a late edit that is for this block as it is now, and those for others."""
        gone: list[tuple[str, int, RichDelta]] = []
        lost: Rich = ()
        for step in edits_since(base, self.version, self._recent):
            behind: RichDelta = ()
            match step.kind:
                case "edit":
                    delta = transform(delta, step.delta, other_first=True)
                case "cut":
                    delta, behind = divide(delta, step.at)
                case "all":
                    delta, behind = (), delta
                case _:
                    lost, delta = joined(lost, inserted(delta)), ()
            if behind:
                gone.append((step.new, step.frame, behind))
        if self.status == OPEN:
            if base_length(delta) > length(self.content):
                raise OutOfRangeError(f"the edit reaches behind {length(self.content)} code points")
            self._check_room(delta)
        else:
            lost = joined(lost, inserted(delta))
        return _Located(delta, gone, lost)

    def _do(self, edit: _Located, author: str) -> Edited:
        moved = [
            (block, self._owe(block, "edit", delta, frame=frame, author=author))
            for block, frame, delta in edit.gone
        ]
        if self.status == OPEN and edit.here:
            self._apply(edit.here)
        return Edited(self.version, tuple(moved), edit.lost)

    def _note(self, step: Step) -> None:
        self.version += 1
        remember(step, self._recent)

    def _apply(self, delta: RichDelta) -> None:
        self.content = apply(delta, self.content)
        self._note(Step("edit", delta))
        self.emit(BlockEdited(self.version, delta))

    def _check_room(self, delta: RichDelta) -> None:
        if length(self.content) + growth(delta) > BLOCK_MAX:
            raise TooLargeError(f"a block may hold {BLOCK_MAX} code points; split it")
        if size_bytes(self.content) + size_bytes(delta) > BLOCK_BYTES_MAX:
            after = size_bytes(apply(delta, self.content))
            if after > BLOCK_BYTES_MAX and after > size_bytes(self.content):
                raise TooLargeError(f"a block may hold {BLOCK_BYTES_MAX} bytes; split it")

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
        if len(self.attributes) > ATTRIBUTES_MAX:
            raise TooLargeError(f"a block may have {ATTRIBUTES_MAX} attributes")

    # --- splitting, joining, deleting -----------------------------------------------------------

    @operation
    def split(
        self, base: int, at: int, new: str, attributes: Attributes = ()
    ) -> Elsewhere | None:
        """Give all from `at` of version `base` on to the new block `new`, which begins with it.

        None: it is done. Raises BlockDeletedError, BlockExistsError, NoSuchBlockError,
        BaseTooOldError, OutOfRangeError.
        """
        self._require_born()
        if new in self._given or new in self.received or new == self.name or not new:
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
        self.emit(BlockCut(self.version, at, new))
        return None

    @operation
    def join(self, into: str) -> bool:
        """Give the whole text to the end of `into`, and close; False when it is not open.

        Raises BadChangeError for a join into itself, NoSuchBlockError.
        """
        self._require_born()
        if into in (self.name, ""):
            raise BadChangeError("a block cannot be joined into itself")
        if self.status != OPEN:
            return False
        content = self.content
        number = self._owe(into, "append", content)
        self.status, self.into, self.content = JOINED, into, ()
        self._note(Step("all", new=into, frame=number))
        self.emit(BlockClosed(into, content))
        return True

    @operation
    def delete(self) -> bool:
        """Delete the block with what it holds at this place; False when it is not open."""
        self._require_born()
        if self.status != OPEN:
            return False
        self.emit(BlockClosed(None, self.content))
        self.status, self.content = DELETED, ()
        self._note(Step("gone"))
        return True

    # --- handing over ---------------------------------------------------------------------------

    def _owe(
        self,
        block: str,
        kind: Kind,
        delta: RichDelta,
        frame: int = 0,
        attributes: Attributes = (),
        author: str = "",
        trail: tuple[str, ...] = (),
    ) -> int:
        number = self._given.get(block, 0) + 1
        self._given[block] = number
        by = node_of(self.context.process)
        parcel = Parcel(number, kind, delta, frame, attributes, by, author, trail)
        self.owes.setdefault(block, []).append(parcel)
        return number

    @operation
    def accept(self, source: str, name: str, parcel: Parcel) -> Outcome:
        """Take a parcel from the block `source` (empty: the outline); `name` is this block's.

        Each is taken once (D2); again, it gives what has become of it. A number that is left out
        was taken back.
        """
        known = self.received.get(source, 0)
        if parcel.number <= known:
            return self._outcome(source, parcel)
        self.received[source] = parcel.number
        self.name = name
        match parcel.kind:
            case "birth" if self.status == UNBORN:
                self._be_born(source, parcel)
            case "birth" | "append":
                self._append(source, parcel)
            case _:
                self._edit_late(source, parcel)
        outcome = self._outcome(source, parcel)
        self.emit(Received(source, parcel.number, outcome))
        return outcome

    def _outcome(self, source: str, parcel: Parcel) -> Outcome:
        if f"{source}:{parcel.number}" in self.drafts:
            return "drafted"
        named = parcel.frame if parcel.kind == "edit" else parcel.number
        frame = self.frames.get(f"{source}:{named}")
        return "refused" if frame is not None and frame.refused else "done"

    def _frame(self, source: str, number: int, frame: Frame) -> None:
        self.frames[f"{source}:{number}"] = frame
        if len(self.frames) > FRAMES_MAX:
            del self.frames[next(iter(self.frames))]

    def _be_born(self, source: str, parcel: Parcel) -> None:
        self.status, self.content = OPEN, inserted(parcel.delta)
        self.attributes = dict(parcel.attributes)
        self._frame(source, parcel.number, Frame(self.version, 0))
        self.emit(BlockOpened(self.version, self.content))

    def _append(self, source: str, parcel: Parcel) -> None:
        """D1: at the end of this text, or of the one that this one has gone to; or refused."""
        text = inserted(parcel.delta)
        trail = (*parcel.trail, source)
        if self.status == JOINED and self.into not in trail and len(trail) < TRAIL_MAX:
            number = self._owe(self.into, "append", text, trail=trail)
            self._frame(source, parcel.number, Frame(to=self.into, frame=number))
            return
        offset = length(self.content)
        delta = canonical((offset, *text))
        try:
            if self.status != OPEN:
                raise BlockDeletedError("the block is not open")
            self._check_room(delta)
        except RefusalError:
            self._frame(source, parcel.number, Frame(refused=True))
            return
        self._apply(delta)
        self._frame(source, parcel.number, Frame(self.version, offset))

    def _edit_late(self, source: str, parcel: Parcel) -> None:
        """D3: at its frame, or where that went; D4: what cannot be done is a draft."""
        frame = self.frames.get(f"{source}:{parcel.frame}")
        try:
            if frame is None:
                raise BaseTooOldError("the text that it edits came too long ago")
            if frame.refused:
                return
            if frame.to:
                edit = _Located((), [(frame.to, frame.frame, parcel.delta)], ())
            else:
                edit = self._located(frame.version, shift(parcel.delta, frame.offset))
        except RefusalError:
            self._keep_draft(source, parcel, inserted(parcel.delta))
            return
        self._keep_draft(source, parcel, self._do(edit, parcel.author).draft)

    def _keep_draft(self, source: str, parcel: Parcel, content: Rich) -> None:
        if content:
            self.drafts[f"{source}:{parcel.number}"] = Draft(parcel.author, content)

    @operation
    def handed(self, block: str, number: int) -> None:
        """The block has all parcels up to this number: they are owed no more."""
        left = [parcel for parcel in self.owes.get(block, []) if parcel.number > number]
        if left:
            self.owes[block] = left
        else:
            self.owes.pop(block, None)

    @operation
    def take_back(self, block: str, number: int) -> bool:
        """The block has refused the text with this number: be open with it (again).

        False: it was taken back already.
        """
        mine = self.owes.get(block, [])
        text = next((one for one in mine if one.number == number and one.kind == "append"), None)
        if text is None:
            return False
        late = [one for one in mine if one.kind == "edit" and one.frame == number]
        kept = [one for one in mine if one is not text and one not in late]
        if kept:
            self.owes[block] = kept
        else:
            del self.owes[block]
        offset = self._reopened(block, text)
        base = self.version
        for key, frame in list(self.frames.items()):
            if frame.to == block and frame.frame == number:
                self.frames[key] = Frame(base, offset)
        for parcel in late:
            try:
                edit = self._located(base, shift(parcel.delta, offset))
            except RefusalError:
                edit = _Located((), [], inserted(parcel.delta))
            self._keep_draft(block, parcel, self._do(edit, parcel.author).draft)
        self.emit(BlockOpened(self.version, self.content))
        return True

    def _reopened(self, block: str, text: Parcel) -> int:
        """Be open with a text that was refused; gives where it stands."""
        own = [
            place
            for place, step in enumerate(self._recent)
            if step.kind == "all" and (step.new, step.frame) == (block, text.number)
        ]
        if own and self.status == JOINED:  # it was never away: late edits are for here
            self._recent[own[0]] = Step("edit")
            self.status, self.content = OPEN, inserted(text.delta)
            return 0
        self.status = OPEN
        offset = length(self.content)
        self._apply(canonical((offset, *inserted(text.delta))))
        return offset

    @operation
    def took_draft(self, key: str) -> None:
        """Its author has what is in the draft."""
        self.drafts.pop(key, None)

    # --- who may --------------------------------------------------------------------------------

    @operation
    def follow(self, version: int, rights: dict[str, Right]) -> None:
        """The document's access list, as of this version of it; an older one does nothing."""
        if version > self.rights_version:
            self.rights_version, self.rights = version, rights

    def may_call(self, principal: str, operation: str) -> bool:
        """By the list; what nodes do for themselves, by nobody in particular, always."""
        if not self.rights or (not principal and operation in KEEPERS):
            return True
        return self._right(principal) >= Right.WRITE

    def may_read(self, principal: str) -> bool:
        """By the list; nodes, by nobody in particular, always."""
        return not self.rights or not principal or self._right(principal) >= Right.READ

    def _right(self, principal: str) -> Right:
        rights = self.rights
        return max(rights.get(principal, Right.NONE), rights.get(EVERYBODY, Right.NONE))

    def value(self, name: str, default: Value) -> Value:
        """An attribute."""
        return self.attributes.get(name, default)
