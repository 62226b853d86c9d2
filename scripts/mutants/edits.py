"""Every single edit of a module that a mutant may have: found in its syntax tree, made in its text.

An edit replaces the source of one expression or statement. What only counts, traces, describes or
sets a limit is left alone: a mutant there says nothing about the protocol.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass

COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
"""What a comparison becomes: its boundary moves, or it is turned round."""
SILENT = frozenset({"counters", "numbers", "trace", "watch", "meter"})
"""Attributes by which code counts or reports: a statement on one of them is left alone."""
DROPPED = "pass"
"""What is left of a statement that an edit drops."""
UNTOUCHED = frozenset({"__str__", "__repr__", "counters"})
"""Functions that only say or count something."""


@dataclass(frozen=True, slots=True)
class Edit:
    """Bytes `start` to `end` of a module's source become `text`; `kind` and the lines say what.

    `function`: the method or function of the module that the edit is in, the outermost one.
    """

    kind: str
    function: str
    line: int
    last_line: int
    start: int
    end: int
    text: str

    def was(self, source: str) -> str:
        """What stands there without the edit."""
        return source.encode()[self.start : self.end].decode()

    def apply(self, source: str) -> str:
        """The module's source with the edit."""
        return self._with(self.text, source)

    def apply_beside(self, source: str) -> str:
        """The same module, in which what was there still stands and is never done.

        The function refers to the same names around it as without the edit, `super()` among them.
        """
        was = self.was(source)
        if self.text == DROPPED:
            return self._with(f"if False: {was}", source)
        return self._with(f"({self.text} if True else ({was}))", source)

    def _with(self, text: str, source: str) -> str:
        data = source.encode()
        return (data[: self.start] + text.encode() + data[self.end :]).decode()


def edits(source: str) -> list[Edit]:
    """All edits of a module, in the order of its text."""
    finder = _Finder(source)
    finder.visit(ast.parse(source))
    return sorted(finder.found, key=lambda edit: (edit.start, edit.end, edit.kind, edit.text))


class _Finder(ast.NodeVisitor):
    """Looks at the bodies of functions; `found` has what there is to edit."""

    def __init__(self, source: str) -> None:
        self.found: list[Edit] = []
        self._data = source.encode()
        self._starts = [0]
        for line in self._data.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))
        self._inside = 0
        self._names: list[str] = []

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """What its methods do."""
        self._names.append(node.name)
        super().generic_visit(node)
        self._names.pop()

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        """Only what a function does: no decorators, defaults or annotations."""
        if node.name in UNTOUCHED:
            return
        self._names += [] if self._inside else [node.name]
        self._inside += 1
        for statement in node.body[:-1] if _ends(node.body[-1]) else node.body:
            self.visit(statement)
        self._inside -= 1
        if not self._inside:
            self._names.pop()

    def visit_Assert(self, node: ast.Assert) -> None:
        """What only an own bug can break is no behaviour."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        """The value, not the type."""
        if node.value is not None:
            self.visit(node.value)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Text for people."""

    def visit_match_case(self, node: ast.match_case) -> None:
        """The pattern stays: it says which type something is."""
        if node.guard is not None:
            self.visit(node.guard)
        for statement in node.body:
            self.visit(statement)

    def generic_visit(self, node: ast.AST) -> None:
        """Make the edits of this node, then of those in it."""
        if self._inside and not _is_silent(node):
            self._edit(node)
        if not (self._inside and _is_silent(node)):
            super().generic_visit(node)

    def _edit(self, node: ast.AST) -> None:
        match node:
            case ast.Compare(ops=[operator]):
                for other in COMPARISONS.get(type(operator), ()):
                    compared = deepcopy(node)
                    compared.ops = [other()]
                    self._replace("comparison", node, compared)
            case ast.BoolOp():
                turned = deepcopy(node)
                turned.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
                self._replace("and-or", node, turned)
                for place in range(len(node.values)):
                    fewer = deepcopy(node)
                    del fewer.values[place]
                    one = fewer if len(fewer.values) > 1 else fewer.values[0]
                    self._replace("dropped condition", node, one)
            case ast.BinOp(op=ast.Add() | ast.Sub(), right=ast.Constant(value=1)):
                self._replace("boundary", node, node.left)
            case ast.UnaryOp(op=ast.Not()):
                self._replace("negation", node, node.operand)
            case ast.Call(func=ast.Name(id="max" | "min" as name)):
                called = deepcopy(node)
                called.func = ast.Name("min" if name == "max" else "max")
                self._replace("min-max", node, called)
            case ast.Constant(value=bool() as value):
                self._replace("constant", node, ast.Constant(not value))
            case ast.Constant(value=int() as value):
                self._replace("constant", node, ast.Constant(value + 1))
            case ast.If() | ast.While() if not isinstance(node.test, ast.UnaryOp):
                self._replace("negated", node.test, ast.UnaryOp(ast.Not(), node.test))
            case ast.Expr(value=ast.Call()) | ast.AugAssign() | ast.Delete():
                self._drop("dropped statement", node)
            case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
                self._drop("dropped assignment", node)
            case ast.Return(value=None) | ast.Continue() | ast.Break():
                self._drop("no early exit", node)
            case ast.Return(value=ast.Constant(value=None)):
                self._drop("no early exit", node)

    def _replace(self, kind: str, node: ast.expr, changed: ast.expr) -> None:
        self._add(kind, node, f"({ast.unparse(ast.fix_missing_locations(changed))})")

    def _drop(self, kind: str, node: ast.stmt) -> None:
        self._add(kind, node, DROPPED)

    def _add(self, kind: str, node: ast.expr | ast.stmt, text: str) -> None:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        start = self._starts[node.lineno - 1] + node.col_offset
        end = self._starts[node.end_lineno - 1] + node.end_col_offset
        function = ".".join(self._names)
        self.found.append(Edit(kind, function, node.lineno, node.end_lineno, start, end, text))


def _ends(node: ast.stmt) -> bool:
    """Whether a function's last statement only says that it ends there."""
    match node:
        case ast.Return(value=None | ast.Constant(value=None)):
            return True
    return False


def _is_silent(node: ast.AST) -> bool:
    """Whether a statement only counts or reports."""
    match node:
        case ast.AugAssign(target=target):
            return bool(SILENT & set(_names(target)))
        case ast.Expr(value=ast.Constant()):
            return True
        case ast.Expr(value=ast.Call(func=func)):
            return bool(SILENT & set(_names(func)))
    return False


def _names(node: ast.expr) -> Iterator[str]:
    """The names in a chain of attributes and subscripts."""
    while True:
        match node:
            case ast.Attribute(value=value, attr=name):
                yield name
                node = value
            case ast.Subscript(value=value):
                node = value
            case ast.Name(id=name):
                yield name
                return
            case _:
                return
