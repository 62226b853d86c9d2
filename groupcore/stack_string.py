"""Stack strings: the words of a stack, lowest first, and the options behind them.

`UDP:PING:FD(timeout_s=2.0):NAKACK` in one string, or a list of the parts between the colons. What
stands in brackets is checked by name and type against the fields of the layer's options.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from math import isfinite
from typing import TYPE_CHECKING, Literal, TypeVar, get_args, get_origin, get_type_hints

from groupcore.errors import CompositionError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Options = TypeVar("Options", bound="DataclassInstance")
Value = int | float | bool | str

_PART = re.compile(r"\s*(\w+)\s*(?:\((.*)\))?\s*", re.DOTALL)
_SETTING = re.compile(r"\s*(\w+)\s*=\s*([^=]*?)\s*")
_BOOLEANS = {"true": True, "false": False}


@dataclass(frozen=True, slots=True)
class Word:
    """One part of a stack string: the layer's word, and its options as they were written."""

    name: str
    settings: dict[str, str]


def parse_stack(spec: str | Sequence[str]) -> tuple[Word, ...]:
    """The words of a stack string or list, lowest first.

    CompositionError for a part that is not `WORD` or `WORD(name=value, …)`.
    """
    parts = _split(spec) if isinstance(spec, str) else list(spec)
    return tuple(_parse_part(part) for part in parts)


def _split(spec: str) -> list[str]:
    """The parts between the colons that stand outside brackets."""
    parts, depth = [""], 0
    for character in spec:
        depth += (character == "(") - (character == ")")
        if character == ":" and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def _parse_part(part: str) -> Word:
    matched = _PART.fullmatch(part)
    if matched is None:
        raise CompositionError(
            f"{part!r} is not a part of a stack; write WORD or WORD(name=value, name=value), "
            "with colons between the parts"
        )
    name, inside = matched.groups()
    settings: dict[str, str] = {}
    for item in re.split("[,;]", inside) if inside and inside.strip() else ():
        setting = _SETTING.fullmatch(item)
        if setting is None:
            raise CompositionError(f"{name}: {item.strip()!r} is not name=value")
        if setting[1] in settings:
            raise CompositionError(f"{name}: {setting[1]} is given twice; take one out")
        settings[setting[1]] = setting[2]
    return Word(name, settings)


def unknown_word(name: str, known: Iterable[str]) -> CompositionError:
    """The error for a word that no layer has, with the nearest one that exists."""
    words = list(known)
    near = get_close_matches(name.upper(), words, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]}? " if near else ""
    return CompositionError(f"no layer is called {name}; {hint}there are {', '.join(words)}")


def with_settings(word: Word, options: Options, names: Sequence[str] | None = None) -> Options:
    """The options, with what the word's brackets say.

    `names`: which of the fields may be given there, None for all. CompositionError for a name
    that is no option of this layer, and for a value of another type or below 0.
    """
    kinds = get_type_hints(type(options))
    allowed = [field.name for field in fields(options) if names is None or field.name in names]
    values: dict[str, Value] = {}
    for name, text in word.settings.items():
        if name not in allowed:
            raise _no_such_option(word.name, name, allowed)
        values[name] = _value(f"{word.name}({name}={text})", text, kinds[name])
    return replace(options, **values)


def with_field(options: Options, name: str, value: object) -> Options:
    """The options, with another value for one field."""
    return replace(options, **{name: value})


def _no_such_option(layer: str, name: str, allowed: Sequence[str]) -> CompositionError:
    if not allowed:
        return CompositionError(f"{layer} has no options; take {name} out of its brackets")
    near = get_close_matches(name, allowed, n=1)
    hint = f"did you mean {near[0]}? " if near else ""
    return CompositionError(
        f"{layer} has no option {name!r}; {hint}it has {', '.join(sorted(allowed))}"
    )


def _value(written: str, text: str, kind: object) -> Value:
    """The text as a value of that type."""
    if kind is bool:
        if text.lower() not in _BOOLEANS:
            raise CompositionError(f"{written}: give true or false")
        return _BOOLEANS[text.lower()]
    if kind is str:
        return text
    if get_origin(kind) is Literal:
        if text not in get_args(kind):
            raise CompositionError(f"{written}: give {' or '.join(get_args(kind))}")
        return text
    if kind is not int and kind is not float:
        raise CompositionError(
            f"{written}: this option is not a plain value; set it in StackOptions"
        )
    try:
        number = int(text) if kind is int else float(text)
    except ValueError:
        wanted = "a whole number" if kind is int else "a number"
        raise CompositionError(f"{written}: give {wanted}") from None
    if not isfinite(number) or number < 0:
        raise CompositionError(f"{written}: give a number that is 0 or more")
    return number
