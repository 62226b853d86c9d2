"""A text that can be handed over: what a block owes to others, and takes from them.

See `groupcore.shared.documents.block` for the idea and the invariants.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias

from groupcore.objects.refusal import (
    BaseTooOldError,
    BlockDeletedError,
    OutOfRangeError,
    RefusalError,
    TooLargeError,
)
from groupcore.objects.rich_delta import (
    Rich,
    RichDelta,
    Run,
    apply,
    base_length,
    canonical,
    compose,
    growth,
    inserted,
    joined,
    length,
    shift,
    span,
)
from groupcore.objects.rich_parsing import size_bytes
from groupcore.shared.documents.late_edits import Located, carried, followed, taken_out
from groupcore.shared.documents.limits import BLOCK_BYTES_MAX, BLOCK_MAX, check_content
from groupcore.shared.documents.parts import (
    PART,
    TEXTS,
    TRAIL_MAX,
    UNSEEN,
    Again,
    Attributes,
    BlockEdited,
    BlockOpened,
    Draft,
    Edited,
    Frame,
    Handed,
    Kind,
    LettersAgain,
    Outcome,
    Parcel,
    Received,
    Step,
    node_of,
)
from groupcore.shared.object import SharedObject
from groupcore.shared.operations import operation
from groupcore.shared.types.history import edits_since, remember
from groupcore.shared.types.rich_text import RichContent

FRAMES_MAX = 1_000
"""So many texts that came from other blocks are known."""
AGAIN_MAX = 200
"""Of so many stretches of letters a block knows that they stand again elsewhere, the last ones."""
BACK = ">"
"""Before a block's id: not its parcels, but those of this block that it has refused."""

Place: TypeAlias = tuple[str, int]
NOWHERE: Place = ("", 0)
"""A block and the number of its parcel; none."""

UNBORN, OPEN, JOINED, DELETED = "unborn", "open", "joined", "deleted"


class Handing(SharedObject):
    """The part of a block that is its text, its history, and its parcels."""

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
    _recent: list[Step]
    _given: dict[str, int]
    again: list[Again]

    # --- late edits -----------------------------------------------------------------------------

    def _located(self, base: int, delta: RichDelta, extends: bool) -> Located:
        """The part of a late edit that is for this block as it is now, and those for others."""
        steps = edits_since(base, self.version, self._recent)
        here, gone, lost, _ = carried(delta, steps, base, self.again, self.name, extends)
        if self.status == OPEN:
            if base_length(here) > length(self.content):
                raise OutOfRangeError(f"the edit reaches behind {length(self.content)} code points")
            self._check_room(here)
        else:
            lost = joined(lost, inserted(here))
        return Located(here, gone, lost, extends)

    def recent(self, base: int) -> list[Step] | None:
        """The steps behind version `base`, for who has that; None when they are not all kept."""
        try:
            return list(edits_since(base, self.version, self._recent))
        except RefusalError:
            return None

    def _do(
        self, edit: Located, author: str, trail: tuple[str, ...] = (), came: Place = NOWHERE
    ) -> Edited:
        """`came`: the block that had its text, and the parcel that it is of that."""
        kind: Kind = "extend" if edit.extends else "edit"
        moved = [
            (block, self._owe(block, kind, delta, frame=frame, author=author, trail=trail))
            for block, frame, delta in edit.gone
        ]
        if self.status == OPEN and edit.here:
            self._apply(edit.here, *came, at=PART if came[0] else 0)
        return Edited(self.version, tuple(moved), edit.lost)

    def _note(self, step: Step) -> None:
        self.version += 1
        remember(step, self._recent)
        here = [one for one in self.again if not one.step]
        if here:
            out, left = taken_out(here, step, self.version)
            self._stand([one for one in self.again if one.step], out, left, step)

    def _stand(self, known: list[Again], out: list[Again], left: list[Again], step: Step) -> None:
        """Letters that stand elsewhere are `out` by a step, or `left` here for now."""
        self.again = [*known, *out, *left][-AGAIN_MAX:]
        sent = self._send_after(out) if step.kind == "gone" else []
        if out:
            self.emit(LettersAgain(tuple(out), tuple(sent)))

    def _send_after(self, out: list[Again]) -> list[tuple[str, int]]:
        """What others wrote among letters while these were being cut out goes after them."""
        sent: list[tuple[str, int]] = []
        seen = [one for one in out if one.origin != UNSEEN]
        for base in sorted({one.base for one in seen}):
            letters = [replace(one, start=one.origin) for one in seen if one.base == base]
            try:
                steps = edits_since(base, self.version, self._recent)
            except RefusalError:
                continue
            delta: RichDelta = ()
            for step in steps:
                if step.kind == "edit":
                    delta = compose(delta, step.delta)
            words = canonical(item if isinstance(item, Run) else span(item) for item in delta)
            for block, frame, edit in followed(words, letters, is_all=True)[0]:
                sent.append((block, self._owe(block, "edit", edit, frame=frame)))
        return sent

    def _apply(self, delta: RichDelta, source: str = "", number: int = 0, at: int = 0) -> None:
        """Change the text; `source`: the block whose parcel of this number it is."""
        self.content = apply(delta, self.content)
        self._note(Step("edit", delta, new=source, frame=number, at=at))
        self.emit(BlockEdited(self.version, delta))

    def _check_room(self, delta: RichDelta) -> None:
        """TooLargeError, unless the text gets no longer by it."""
        if length(self.content) + growth(delta) > BLOCK_MAX and growth(delta) > 0:
            raise TooLargeError(f"a block may hold {BLOCK_MAX} code points; split it")
        if size_bytes(self.content) + size_bytes(delta) > BLOCK_BYTES_MAX:
            after = apply(delta, self.content)
            if size_bytes(after) > size_bytes(self.content):
                check_content(after)

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
        if self._has(source, parcel.number):
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
        key = f"{source}:{parcel.number}"
        frame = self.frames.get(key, Frame())
        is_text = parcel.kind in TEXTS
        moved = () if is_text else self._moved(key)
        draft = self._draft_of(source, parcel.number)
        place = (frame.to, frame.frame)
        self.emit(Received(source, parcel.number, outcome, *place, is_text, moved, draft))
        return outcome

    def _moved(self, key: str) -> tuple[tuple[str, int], ...]:
        """Where parts of a late edit went on to."""
        parts: list[tuple[str, int]] = []
        while (frame := self.frames.get(f"{key}:{len(parts)}")) is not None:
            parts.append((frame.to, frame.frame))
        return tuple(parts)

    def _has(self, source: str, number: int) -> bool:
        """D2."""
        return number <= self.received.get(source, 0)

    def _outcome(self, source: str, parcel: Parcel) -> Outcome:
        if f"{source}:{parcel.number}" in self.drafts:
            return "drafted"
        named = parcel.number if parcel.kind in TEXTS else parcel.frame
        frame = self.frames.get(f"{source}:{named}")
        return "refused" if frame is not None and frame.refused else "done"

    def _frame(self, source: str, number: int | str, frame: Frame) -> None:
        self.frames[f"{source}:{number}"] = frame
        if len(self.frames) > FRAMES_MAX:
            del self.frames[next(iter(self.frames))]

    def _be_born(self, source: str, parcel: Parcel) -> None:
        self.status, self.content = OPEN, inserted(parcel.delta)
        self.attributes = dict(parcel.attributes)
        self._frame(source, parcel.number, Frame(self.version, 0))
        self.emit(BlockOpened(self.version, self.content, tuple(self.attributes.items())))

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
        self._apply(delta, source, parcel.number)
        self._frame(source, parcel.number, Frame(self.version, offset))

    def _edit_late(self, source: str, parcel: Parcel) -> None:
        """D3: at its frame, or where that went; D4: what cannot be done is a draft."""
        frame = self.frames.get(f"{source}:{parcel.frame}")
        trail = (*parcel.trail, source)
        if parcel.frame < 0:
            frame = Frame(-1 - parcel.frame, 0)
        extends = parcel.kind == "extend"
        try:
            if frame is None or len(trail) > TRAIL_MAX:
                raise BaseTooOldError("the text that it edits came too long ago")
            if frame.refused:
                return
            if frame.to:
                edit = Located((), [(frame.to, frame.frame, parcel.delta)], (), extends)
            else:
                late = shift(parcel.delta, frame.offset)
                edit = self._located(frame.version, late, extends)
        except RefusalError:
            self._keep_draft(source, parcel, inserted(parcel.delta))
            return
        self._do_late(source, parcel, edit, trail)

    def _do_late(
        self, source: str, parcel: Parcel, edit: Located, trail: tuple[str, ...] = ()
    ) -> None:
        """Do it, and remember for its author what has become of it."""
        came = NOWHERE if source.startswith(BACK) else (source, parcel.number)
        done = self._do(edit, parcel.author, trail, came)
        self._keep_draft(source, parcel, done.draft)
        for part, (block, number) in enumerate(done.moved):
            self._frame(source, f"{parcel.number}:{part}", Frame(to=block, frame=number))

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
        self.emit(Handed(block, number))

    @operation
    def take_back(self, block: str, number: int) -> bool:
        """The block has refused the text with this number: be open with it (again).

        False: it was taken back already.
        """
        mine = self.owes.get(block, [])
        text = next((one for one in mine if one.number == number and one.kind == "append"), None)
        if text is None:
            return False
        late = [one for one in mine if one.kind not in TEXTS and one.frame == number]
        kept = [one for one in mine if one is not text and one not in late]
        if kept:
            self.owes[block] = kept
        else:
            del self.owes[block]
        place = (block, number)
        came = [key for key, one in self.frames.items() if (one.to, one.frame) == place]
        offset = self._reopened(block, text, came)
        base = self.version
        for key in came:
            self.frames[key] = Frame(base, offset)
        source = f"{BACK}{block}"
        for parcel in late:
            try:
                extends = parcel.kind == "extend"
                edit = self._located(base, shift(parcel.delta, offset), extends)
            except RefusalError:
                edit = Located((), [], inserted(parcel.delta))
            self._do_late(source, parcel, edit)
            self._frame(source, f"{parcel.number}:back", Frame(to=self.name))
        done = tuple((block, one.number, self._draft_of(source, one.number)) for one in late)
        attributes = tuple(self.attributes.items())
        self.emit(BlockOpened(self.version, self.content, attributes, done, place))
        return True

    def _draft_of(self, source: str, number: int) -> RichContent:
        draft = self.drafts.get(f"{source}:{number}")
        return () if draft is None else draft.content

    def _reopened(self, block: str, text: Parcel, came: list[str]) -> int:
        """Be open with a text that was refused; gives where it stands.

        `came`: the parcel in which it was another block's. It is here now as any text that comes.
        """
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
        source, _, number = (came[0] if came else ":0").rpartition(":")
        self._apply(canonical((offset, *inserted(text.delta))), source, int(number))
        return offset

    @operation
    def took_draft(self, key: str) -> None:
        """Its author has what is in the draft."""
        self.drafts.pop(key, None)
