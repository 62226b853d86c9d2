"""The rules of stack strings: words, options in brackets, and what is refused with which text."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupcore.errors import CompositionError
from groupcore.stack_string import Word, parse_stack, unknown_word, with_settings


@dataclass(frozen=True)
class Inner:
    depth: int = 1


@dataclass(frozen=True)
class LayerOptions:
    credit_bytes: int = 10
    wait_s: float = 0.5
    strict: bool = False
    label: str = "plain"
    mode: Literal["all", "none"] = "all"
    inner: Inner = field(default_factory=Inner)


def test_a_string_names_the_layers_from_the_lowest_to_the_highest() -> None:
    assert parse_stack("UDP:PING:FD") == (Word("UDP", {}), Word("PING", {}), Word("FD", {}))


def test_a_list_holds_the_parts_between_the_colons() -> None:
    parts = ["UDP", "FC(credit_bytes=200000, wait_s=1)", "FRAG"]
    assert parse_stack(parts) == parse_stack(":".join(parts))


def test_options_stand_in_brackets_with_commas_or_semicolons_between_them() -> None:
    (word,) = parse_stack("FC( credit_bytes = 200000 ; wait_s=1.5, label=a:b )")
    assert word == Word("FC", {"credit_bytes": "200000", "wait_s": "1.5", "label": "a:b"})
    assert parse_stack("FC()") == (Word("FC", {}),)


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        ("A::B", "'' is not a part of a stack"),
        ("A:B C", "'B C' is not a part of a stack"),
        ("A:B(x=1", r"'B\(x=1' is not a part of a stack"),
        ("A)B(", "is not a part of a stack"),
        ("A(x)", "A: 'x' is not name=value"),
        ("A(x=1,)", "A: '' is not name=value"),
        ("A(x=1=2)", "A: 'x=1=2' is not name=value"),
        ("A(x=1,x=2)", "A: x is given twice; take one out"),
    ],
)
def test_what_is_no_stack_string_is_refused_with_its_part(spec: str, complaint: str) -> None:
    with pytest.raises(CompositionError, match=complaint):
        parse_stack(spec)


@given(st.text(max_size=40))
def test_no_text_does_anything_but_parse_or_be_refused(spec: str) -> None:
    with contextlib.suppress(CompositionError):
        assert all(isinstance(word, Word) for word in parse_stack(spec))


def test_an_unknown_word_is_told_with_the_nearest_that_exists() -> None:
    known = ("NAKACK", "SEQUENCER")
    assert str(unknown_word("sequencer", known)) == (
        "no layer is called sequencer; did you mean SEQUENCER? there are NAKACK, SEQUENCER"
    )
    assert str(unknown_word("XYZ", known)) == "no layer is called XYZ; there are NAKACK, SEQUENCER"


def test_values_take_the_type_of_the_option() -> None:
    settings = {"credit_bytes": "7", "wait_s": "2", "strict": "True", "label": "x", "mode": "none"}
    expected = LayerOptions(7, 2.0, True, "x", "none")
    assert with_settings(Word("FC", settings), LayerOptions()) == expected


@pytest.mark.parametrize(
    ("name", "value", "complaint"),
    [
        ("credit_bytes", "1.5", r"FC\(credit_bytes=1.5\): give a whole number"),
        ("credit_bytes", "-1", "give a number that is 0 or more"),
        ("wait_s", "soon", r"FC\(wait_s=soon\): give a number"),
        ("wait_s", "nan", "give a number that is 0 or more"),
        ("strict", "1", "give true or false"),
        ("mode", "some", r"FC\(mode=some\): give all or none"),
        ("inner", "1", "this option is not a plain value; set it in StackOptions"),
        ("credit", "1", "FC has no option 'credit'; did you mean credit_bytes[?] it has"),
    ],
)
def test_a_wrong_option_is_refused_with_what_it_should_be(
    name: str, value: str, complaint: str
) -> None:
    with pytest.raises(CompositionError, match=complaint):
        with_settings(Word("FC", {name: value}), LayerOptions())


def test_only_the_fields_that_are_the_layers_may_be_given() -> None:
    word = Word("FC", {"label": "x"})
    assert with_settings(word, LayerOptions(), ("label",)).label == "x"
    with pytest.raises(CompositionError, match="FC has no option 'label'; it has strict"):
        with_settings(word, LayerOptions(), ("strict",))
