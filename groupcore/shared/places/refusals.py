"""Why an operation of a place does nothing: one class a reason, each with a stable `code`."""

from __future__ import annotations

from typing import ClassVar

from groupcore.objects.refusal import RefusalError


class PlaceRefusalError(RefusalError):
    """Base of all refusals of places."""


class BadThingError(PlaceRefusalError):
    """A thing or an edit is not of the documented form; the text names the field and its limits."""

    code = "bad_thing"


class NoSuchThingError(PlaceRefusalError):
    """The thing is not in this cell: deleted, or in another one by now; look where it is shown."""

    code = "no_such_thing"


class ThingExistsError(PlaceRefusalError):
    """There is a thing of this id in the cell already; draw a new id."""

    code = "thing_exists"


class NotHereError(PlaceRefusalError):
    """This cell holds nothing (any more): the place is divided otherwise; ask its outline."""

    code = "not_here"


class ThingLockedError(PlaceRefusalError):
    """The thing is locked; unlock it first."""

    code = "thing_locked"


class ThingHeldError(PlaceRefusalError):
    """Somebody else has grabbed the thing; `holder` names who."""

    code: ClassVar[str] = "thing_held"

    def __init__(self, thing: str, holder: str) -> None:
        super().__init__(f"{thing} is held by {holder}; wait until it is let go of")
        self.thing = thing
        self.holder = holder


class ThingBusyError(PlaceRefusalError):
    """The thing is being moved together with things of other cells; try again."""

    code = "thing_busy"


class CellFullError(PlaceRefusalError):
    """The cell has as many things as it may have; put the new ones elsewhere."""

    code = "cell_full"


class BadActionError(PlaceRefusalError):
    """The thing cannot do this; the text says what it can."""

    code = "bad_action"


class NotMemberError(PlaceRefusalError):
    """Who asks is not in the cell's group (yet), so nobody would notice its end; try again."""

    code = "not_member"


class BadPathError(PlaceRefusalError):
    """There can be no cell of this name."""

    code = "bad_path"


class BadRemarkError(PlaceRefusalError):
    """A remark says nothing, or is larger than may be; the text names the limit."""

    code = "bad_remark"


class NotYoursError(PlaceRefusalError):
    """Somebody else made the remark; who manages the place can take it away."""

    code = "not_yours"
