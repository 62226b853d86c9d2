"""The chat of a place: the last remarks that people made there, one small group of its own.

Idea. Who may read the place reads them, who may write there makes them. The access list is the
outline's; the nodes that have the chat open tell it, as they tell the cells. Of somebody with an
account a remark has the account's id alone: pages ask what it is called now, so an account that is
erased leaves no name here. Guests of a server without accounts are called as they call themselves.

Invariants.
  R1  Remarks stand in the order in which they were ordered, each under an id that no other had.
  R2  There are at most REMARKS_MAX, of TALK_BYTES_MAX together: the oldest make room.
  R3  Who made a remark takes it back; else only who manages the place takes it away.
"""

from __future__ import annotations

from dataclasses import dataclass

from groupcore.objects.delta import check_text
from groupcore.objects.refusal import RefusalError
from groupcore.shared.access import EVERYBODY, Right
from groupcore.shared.object import SharedObject
from groupcore.shared.operations import operation
from groupcore.shared.places.behaviours import GUEST, acting
from groupcore.shared.places.limits import (
    REMARK_MAX,
    REMARKS_MAX,
    SPEAKER_MAX,
    TALK_BYTES_MAX,
)
from groupcore.shared.places.parts import name_of
from groupcore.shared.places.refusals import BadRemarkError, NotYoursError

KEEPERS = frozenset({"bring_back", "follow"})
"""Operations that nodes call for themselves, as nobody in particular."""
TALK = "talk"
"""The last part of the name of a chat's object; no cell is called so."""
BY_MAX = 200
"""Most characters of what tells apart who shares a principal."""


@dataclass(frozen=True, slots=True)
class Remark:
    """What somebody said, at `time_ms` in the order's time: milliseconds since 1970.

    `author`: in whose name, as votes are counted (`behaviours.acting`). `name`: what a guest is
    called, who has no account; else empty.
    """

    id: str
    author: str
    name: str
    time_ms: int
    text: str


@dataclass(frozen=True, slots=True)
class Remarked:
    """A detail of a change: there is one more remark, for which these made room."""

    remark: Remark
    dropped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """A detail of a change: these remarks were taken back, or away."""

    remarks: tuple[str, ...]


class PlaceTalk(SharedObject):
    """The chat of a place. `remarks`: by id, oldest first; `said` counts all that ever were."""

    for_nodes = KEEPERS
    rights: dict[str, Right]
    rights_version: int = 0
    remarks: dict[str, Remark]
    said: int = 0

    @operation
    def say(self, text: str, name: str = "", by: str = "") -> str:
        """Make a remark; gives its id. `name`: what a guest is called; `by` tells guests apart.

        Raises BadRemarkError where it says nothing, or is larger than may be.
        """
        if not text.strip():
            raise BadRemarkError("a remark says something")
        _check(text, REMARK_MAX)
        _check(name, SPEAKER_MAX)
        context = self.context
        self.said += 1
        author = _author(context.principal, by, name_of(context.process))
        called = name if context.principal in ("", GUEST) else ""
        time_ms = round(context.time_s * 1000)
        remark = Remark(f"{self.said:x}", author, called, time_ms, text)
        self._add(remark)
        return remark.id

    def _add(self, remark: Remark) -> None:
        self.remarks[remark.id] = remark
        self.emit(Remarked(remark, self._make_room()))

    def _make_room(self) -> tuple[str, ...]:
        """R2; the newest stays, whatever its size."""
        sizes = {one.id: len(one.text.encode()) for one in self.remarks.values()}
        left, gone = sum(sizes.values()), list[str]()
        for one, size in sizes.items():
            if len(sizes) - len(gone) <= REMARKS_MAX and left <= TALK_BYTES_MAX:
                break
            gone.append(one)
            left -= size
        for one in gone:
            del self.remarks[one]
        return tuple(gone)

    @operation
    def take_back(self, remark: str, by: str = "") -> bool:
        """Take back what oneself has said (R3); False where it is there no more. NotYoursError."""
        found = self.remarks.get(remark)
        if found is None:
            return False
        context = self.context
        if found.author != _author(context.principal, by, name_of(context.process)):
            raise NotYoursError("only who made a remark takes it back")
        self._withdraw([remark])
        return True

    @operation
    def remove(self, remarks: list[str]) -> list[str]:
        """Take away what anybody has said, for who manages the place; gives those that were there.

        Raises BadRemarkError for more than there may be.
        """
        if len(remarks) > REMARKS_MAX:
            raise BadRemarkError(f"there are at most {REMARKS_MAX} remarks")
        gone = [one for one in dict.fromkeys(remarks) if one in self.remarks]
        self._withdraw(gone)
        return gone

    def _withdraw(self, remarks: list[str]) -> None:
        for one in remarks:
            del self.remarks[one]
        if remarks:
            self.emit(Withdrawn(tuple(remarks)))

    # --- by nodes -------------------------------------------------------------------------------

    @operation
    def bring_back(self, remarks: list[Remark], said: int) -> None:
        """Put remarks of a backup behind those that are there; `said` as it was then.

        What has an id that is taken is left out. Raises BadRemarkError.
        """
        if len(remarks) > REMARKS_MAX:
            raise BadRemarkError(f"there are at most {REMARKS_MAX} remarks")
        for remark in remarks:
            _check(remark.text, REMARK_MAX)
            if not is_number(remark.id):
                raise BadRemarkError("remarks have their numbers as ids")
            if remark.id not in self.remarks:
                self._add(remark)
        self.said = max(self.said, said)

    @operation
    def follow(self, version: int, rights: dict[str, Right]) -> None:
        """The place's access list, as of this version of it; an older one does nothing."""
        if version > self.rights_version:
            self.rights_version, self.rights = version, rights

    def may_call(self, principal: str, operation: str) -> bool:
        """By the list; what nodes do for themselves, only by nobody in particular."""
        if not self.rights:
            return True
        if operation in KEEPERS:
            return not principal
        needed = Right.MANAGE if operation == "remove" else Right.WRITE
        return self._right(principal) >= needed

    def may_read(self, principal: str) -> bool:
        """By the list; nodes, by nobody in particular, always."""
        return not self.rights or not principal or self._right(principal) >= Right.READ

    def _right(self, principal: str) -> Right:
        rights = self.rights
        return max(rights.get(principal, Right.NONE), rights.get(EVERYBODY, Right.NONE))


def is_number(remark: str) -> bool:
    """Whether an id of a remark is a number in the order of all that was said, in hexadecimal."""
    return 0 < len(remark) <= 12 and all(letter in "0123456789abcdef" for letter in remark)


def _author(principal: str, by: str, process: str) -> str:
    if len(by) > BY_MAX:
        raise BadRemarkError(f"what tells guests apart has at most {BY_MAX} characters")
    return acting(principal, by, process)


def _check(text: str, most: int) -> None:
    try:
        check_text(text, most)
    except RefusalError as error:
        raise BadRemarkError(str(error)) from None
