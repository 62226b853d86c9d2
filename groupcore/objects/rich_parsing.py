"""Rich text and edits of it as plain values: strict, and within limits.

On the wire an item is an integer (retain, delete), a string (insert without marks), [string, map]
(insert with marks) or [count, map] (retain, with marks set; nil removes one). Only the canonical
form is accepted. Which marks there are is up to who writes the text; what is checked is that they
can do no harm: `link` leads to a place that a browser may open from a foreign page, `embed` names
an embed.
"""

from __future__ import annotations

import re

from groupcore.objects.delta import check_text
from groupcore.objects.refusal import BadChangeError, OutOfRangeError, TooLargeError
from groupcore.objects.rich_delta import (
    EMBED,
    Format,
    MarkChanges,
    Rich,
    RichDelta,
    RichItem,
    Run,
    growth,
    length,
)

RICH_MAX = 100_000
"""Most code points in one text, unless the caller says otherwise."""
ITEMS_MAX = 20_000
"""Most items of a delta, and runs of a text."""
MARKS_MAX = 20
"""Most marks of a run."""
VALUE_MAX = 2_000
"""Most characters of a mark's value."""

_NAME = re.compile(r"[a-z][a-z0-9_.-]{0,31}")
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_LINK = re.compile(r"(?:https?://|mailto:|tel:|[/#])\S+", re.IGNORECASE)


def to_wire(delta: RichDelta) -> list[object]:
    """The plain values of a delta, or of a text."""
    return [_item_to_wire(item) for item in delta]


def parse_rich_delta(wire: object, text_max: int = RICH_MAX) -> RichDelta:
    """The delta that an array from outside stands for.

    Raises BadChangeError on any other than the canonical form, TooLargeError when it inserts more
    than `text_max` code points or has more than ITEMS_MAX items, OutOfRangeError when it reaches
    further than `text_max`.
    """
    if type(wire) is not list and type(wire) is not tuple:
        raise BadChangeError("a delta must be an array")
    if len(wire) > ITEMS_MAX:
        raise TooLargeError(f"a delta may have {ITEMS_MAX} items")
    delta = tuple([_parse_item(item) for item in wire])
    _check_form(delta, text_max)
    return delta


def parse_rich(wire: object, text_max: int = RICH_MAX) -> Rich:
    """The text that an array from outside stands for; raises as `parse_rich_delta`."""
    return _runs(parse_rich_delta(wire, text_max))


def check_rich_delta(items: tuple[object, ...], text_max: int = RICH_MAX) -> RichDelta:
    """The same delta, from a program that may have made it anyhow; raises as `parse_rich_delta`.

    TypeError, AttributeError or ValueError for what is not of its items at all.
    """
    if len(items) > ITEMS_MAX:
        raise TooLargeError(f"a delta may have {ITEMS_MAX} items")
    delta = tuple([_check_item(item) for item in items])
    _check_form(delta, text_max)
    return delta


def check_rich(items: tuple[object, ...], text_max: int = RICH_MAX) -> Rich:
    """As `check_rich_delta`, of a text."""
    return _runs(check_rich_delta(items, text_max))


def _runs(delta: RichDelta) -> Rich:
    runs = tuple([item for item in delta if isinstance(item, Run)])
    if len(runs) != len(delta):
        raise BadChangeError("a text holds inserts only")
    return runs


def _check_form(delta: RichDelta, text_max: int) -> None:
    """Canonical, and within the limits: what `canonical` would leave as it is."""
    held = reached = 0
    former: RichItem = 0
    for item in delta:
        if isinstance(item, Run):
            held += len(item.text)
            is_deleted = isinstance(former, int) and former < 0
            is_one = isinstance(former, Run) and former.marks == item.marks
            if not item.text or is_deleted or is_one:
                raise BadChangeError("a delta must be in canonical form")
        elif isinstance(item, Format):
            reached += item.size
            if isinstance(former, Format) and former.changes == item.changes:
                raise BadChangeError("a delta must be in canonical form")
        else:
            reached += abs(item)
            if not item or (isinstance(former, int) and former * item > 0):
                raise BadChangeError("a delta must be in canonical form")
        former = item
    if isinstance(former, int) and former > 0:
        raise BadChangeError("a delta must be in canonical form")
    if held > text_max:
        raise TooLargeError(f"a text may hold {text_max} code points")
    if reached > text_max:
        raise OutOfRangeError(f"a delta may reach {text_max} code points far")


def size_bytes(delta: RichDelta) -> int:
    """About what the delta, or text, takes when it travels; the same number everywhere."""
    total = 0
    for item in delta:
        total += 5
        if isinstance(item, int):
            continue
        if isinstance(item, Run):
            total += len(item.text) if item.text.isascii() else len(item.text.encode())
        for name, value in item[1]:
            total += len(name) + 6 + (len(value.encode()) if isinstance(value, str) else 0)
    return total


def check_growth(text: Rich, delta: RichDelta, text_max: int) -> None:
    """TooLargeError when the text would be longer than `text_max` code points."""
    if length(text) + growth(delta) > text_max:
        raise TooLargeError(f"a text may hold {text_max} code points")


def _item_to_wire(item: RichItem) -> object:
    if isinstance(item, int):
        return item
    if isinstance(item, Run):
        return [item.text, dict(item.marks)] if item.marks else item.text
    return [item.size, dict(item.changes)]


def _parse_item(wire: object) -> RichItem:
    if type(wire) is int:
        return wire
    if type(wire) is str:
        return Run(check_text(wire))
    if (type(wire) is not list and type(wire) is not tuple) or len(wire) != 2:
        raise BadChangeError("an item is an integer, a string, or one of them with marks")
    what, marks = wire
    if type(what) is str:
        return _run(check_text(what), _marks(marks, may_remove=False))
    if type(what) is int and what > 0:
        changes = _marks(marks, may_remove=True)
        if any(name == "embed" for name, _ in changes):
            raise BadChangeError("what an embed is cannot be changed; put another in its place")
        return Format(what, changes)
    raise BadChangeError("marks stand beside a string or a count")


def _check_item(item: object) -> RichItem:
    if type(item) is int:
        return item
    if type(item) is Run and not item.marks:
        check_text(item.text)
        return item
    parsed = _parse_item(_item_to_wire(item))  # type: ignore[arg-type]  # refused there
    return item if type(item) is type(parsed) and item == parsed else parsed


def _run(text: str, changes: MarkChanges) -> Run:
    marks = tuple([(name, value) for name, value in changes if value is not None])
    if dict(marks).get("embed") is not None and text.strip(EMBED):
        raise BadChangeError("an embed is U+FFFC and nothing else")
    return Run(text, marks)


def _marks(wire: object, may_remove: bool) -> MarkChanges:
    if type(wire) is not dict or not wire:
        raise BadChangeError("marks must be a map that is not empty")
    if len(wire) > MARKS_MAX:
        raise TooLargeError(f"a text may have {MARKS_MAX} marks at one place")
    changes: list[tuple[str, str | int | bool | None]] = []
    for name, value in wire.items():
        if type(name) is not str or _NAME.fullmatch(name) is None:
            raise BadChangeError("a mark's name must be 1 to 32 characters of a-z0-9_.-")
        if not (value is None and may_remove):
            _check_value(name, value)
        changes.append((name, value))
    return tuple(sorted(changes, key=lambda pair: pair[0]))


def _check_value(name: str, value: object) -> None:
    if type(value) is str:
        check_text(value, VALUE_MAX)
    elif type(value) is not bool and not (type(value) is int and abs(value) < 1 << 53):
        raise BadChangeError(f"the mark {name} must have a text, an integer or a bool")
    if name == "embed" and (type(value) is not str or _ID.fullmatch(value) is None):
        raise BadChangeError("an embed's id must be 1 to 64 characters of A-Za-z0-9_-")
    if name == "link" and (type(value) is not str or _LINK.fullmatch(value) is None):
        raise BadChangeError("a link must begin with http://, https://, mailto:, tel:, / or #")
