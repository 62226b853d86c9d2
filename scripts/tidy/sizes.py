"""Files and functions stay short; what is too long already may only shrink.

The ratchet maps a file's path, or `path::function`, to its length in lines. An entry must equal
the present length, so that every gain is kept, and goes when the length is within the limit.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence

from scripts.tidy.sources import Finding, Source

FILE_LINES_MAX = 600
FUNCTION_LINES_MAX = 70
RATCHET_PATH = "tests/tidy_ratchet.toml"
BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
"""Where statements stand in others."""

Lengths = dict[str, tuple[str, int, int]]
"""Name in the ratchet to path, first line, and length in lines."""


def long_files(sources: Sequence[Source], ratchet: Mapping[str, int]) -> list[Finding]:
    """Find files over the limit that the ratchet does not list with their length."""
    lengths: Lengths = {file.path: (file.path, 1, len(file.lines)) for file in sources}
    return list(_compare(lengths, FILE_LINES_MAX, ratchet, "split it by idea"))


def long_functions(sources: Sequence[Source], ratchet: Mapping[str, int]) -> list[Finding]:
    """Find functions over the limit that the ratchet does not list with their length."""
    lengths: Lengths = {}
    for file in sources:
        for name, function in _functions(file.tree, ""):
            size = (function.end_lineno or function.lineno) - function.lineno + 1
            lengths[f"{file.path}::{name}"] = (file.path, function.lineno, size)
    return list(_compare(lengths, FUNCTION_LINES_MAX, ratchet, "give its steps names"))


def _functions(
    node: ast.AST, prefix: str
) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Functions, by name; only statements hold some, so expressions are not gone through."""
    for block in BLOCKS:
        for child in getattr(node, block, ()):
            inside = prefix
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                yield prefix + child.name, child
                inside = f"{prefix}{child.name}."
            elif isinstance(child, ast.ClassDef):
                inside = f"{prefix}{child.name}."
            yield from _functions(child, inside)


def _compare(
    lengths: Lengths, lines_max: int, ratchet: Mapping[str, int], advice: str
) -> Iterator[Finding]:
    for name, (path, line, length) in lengths.items():
        allowed = ratchet.get(name)
        if allowed is None and length > lines_max:
            yield Finding(path, line, f"{name} has {length} lines, limit {lines_max}: {advice}")
        elif allowed is not None and length > allowed:
            yield Finding(path, line, f"{name} grew from {allowed} to {length} lines: {advice}")
        elif allowed is not None and length <= lines_max:
            yield Finding(RATCHET_PATH, 1, f"{name} is within the limit now: remove its entry")
        elif allowed is not None and length < allowed:
            yield Finding(RATCHET_PATH, 1, f"{name} shrank: lower its entry to {length}")
    for name in ratchet.keys() - lengths.keys():
        yield Finding(RATCHET_PATH, 1, f"{name} does not exist: remove its entry")
