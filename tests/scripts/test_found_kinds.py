"""Each sentence of the audit on a violation has a form at the console, which has words for it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
TRANSFORMS = ROOT / "pipeline" / "transforms"
FORMS = ROOT / "webui" / "src" / "words" / "found-forms.ts"
SAYS = 2
"""Which argument of `findings` is the sentence."""


def is_call(node: ast.AST, name: str) -> bool:
    """Whether it calls a function or method of this name."""
    if not isinstance(node, ast.Call):
        return False
    function = node.func
    return getattr(function, "attr", getattr(function, "id", "")) == name


def text_of(node: ast.expr) -> str:
    """A constant text, or a formatted one, with a place for each value."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    assert isinstance(node, ast.JoinedStr)
    return "".join(
        str(part.value) if isinstance(part, ast.Constant) else "%" for part in node.values
    )


def sentences_in(says: ast.expr) -> Iterator[str]:
    """The sentences that an expression can give."""
    assert isinstance(says, ast.Call), ast.unparse(says)
    name = getattr(says.func, "attr", "")
    if name in ("format_string", "lit"):
        yield text_of(says.args[0])
    elif name == "concat":
        first = says.args[0]
        assert isinstance(first, ast.Call)
        yield text_of(first.args[0]) + "%s"
    elif name == "otherwise":  # F.when(..., one).otherwise(other)
        assert isinstance(says.func, ast.Attribute)
        when = says.func.value
        assert isinstance(when, ast.Call)
        yield text_of(when.args[1])
        yield text_of(says.args[0])
    else:
        assert ast.unparse(says) == "F.col('text')", "sentences that `_said` has made"


def said() -> set[str]:
    """All sentences of the audit; `%` stands for a value."""
    found: set[str] = set()
    for path in TRANSFORMS.glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if is_call(node, "findings"):
                assert isinstance(node, ast.Call)
                found |= set(sentences_in(node.args[SAYS]))
            elif isinstance(node, ast.FunctionDef) and node.name == "_said":
                returns = [one.value for one in ast.walk(node) if isinstance(one, ast.Return)]
                found |= {text_of(one) for one in returns if one is not None}
    return {re.sub("%[ds]", "%", sentence) for sentence in found}


def test_each_sentence_of_the_audit_has_a_form_at_the_console_and_each_form_a_sentence() -> None:
    source = FORMS.read_text(encoding="utf-8")
    forms = re.findall(r'^ {2}\w+:\s+"(.+)",$', source, re.MULTILINE)
    assert len(forms) > 20
    assert {re.sub("%[ds]", "%", form) for form in forms} == said()
