"""A layer is one page of protocol: its text, its invariants, its headers in PROTOCOL.md."""

import ast
import re
from collections.abc import Iterator, Sequence

from scripts.tidy.sources import Finding, Source

SECTIONS = ("Idea.", "Place.", "Source.", "Invariants.")
LAYERS = "groupcore/layers/"
PROTOCOL_PATH = "groupcore/PROTOCOL.md"


def layer_files(sources: Sequence[Source]) -> list[Source]:
    """Pick the files that hold a layer.

    `membership_headers.py` beside `membership.py` is a part of that layer, not one of its own.
    """
    files = [
        file
        for file in sources
        if file.path.startswith(LAYERS)
        and file.path.endswith(".py")
        and "__init__" not in file.path
    ]
    names = {file.module for file in files}
    return [file for file in files if not _is_part_of_another(file.module, names)]


def _is_part_of_another(module: str, names: set[str]) -> bool:
    return any(module.startswith(f"{name}_") for name in names if name != module)


def missing_sections(layer: Source) -> list[Finding]:
    """Find what the layer's text lacks: a section, or a numbered invariant."""
    text = ast.get_docstring(layer.tree) or ""
    missing = [name for name in SECTIONS if not re.search(rf"^{re.escape(name)}", text, re.M)]
    findings = [
        Finding(layer.path, 1, f"the module's text has no paragraph that begins with '{name}'")
        for name in missing
    ]
    if not missing and not invariants(layer):
        findings.append(Finding(layer.path, 1, "no invariant is numbered: write '  I1  …'"))
    return findings


def invariants(layer: Source) -> dict[str, int]:
    """Read the invariants' numbers, `I1` and so on, and the lines where they stand."""
    text = ast.get_docstring(layer.tree) or ""
    _, _, listed = text.partition("Invariants.")
    numbers = re.findall(r"^\s*(I\d+)\b", listed, re.M)
    return {number: _line_of(layer, number) for number in numbers}


def _line_of(layer: Source, number: str) -> int:
    pattern = re.compile(rf"^\s*{number}\b")
    return next((i for i, line in enumerate(layer.lines, 1) if pattern.match(line)), 1)


def untested_invariants(layer: Source, sources: Sequence[Source]) -> list[Finding]:
    """Find invariants whose number the layer's own test file does not mention."""
    name = layer.module.rpartition(".")[2]
    test_path = f"tests/{LAYERS}test_{name}.py"
    test = next((file for file in sources if file.path == test_path), None)
    if test is None:
        return [Finding(layer.path, 1, f"has no test file {test_path}: write one")]
    return [
        Finding(
            layer.path, line, f"{number} is not tested: put '# {number}' at a test in {test_path}"
        )
        for number, line in invariants(layer).items()
        if not re.search(rf"\b{number}\b|\btest_(?:\w*_)?{number.lower()}(?:_|\b)", test.text)
    ]


def header_classes(sources: Sequence[Source]) -> Iterator[tuple[Source, ast.ClassDef, str | None]]:
    """Yield every class derived from `Header`, with its `kind` if it has one."""
    for file in sources:
        for node in ast.walk(file.tree):
            if isinstance(node, ast.ClassDef) and "Header" in map(_last_name, node.bases):
                yield file, node, _kind(node)


def _last_name(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def _kind(node: ast.ClassDef) -> str | None:
    for statement in node.body:
        match statement:
            case (
                ast.AnnAssign(target=ast.Name(id="kind"), value=ast.Constant(value=str(kind)))
                | ast.Assign(targets=[ast.Name(id="kind")], value=ast.Constant(value=str(kind)))
            ):
                return kind
            case _:
                continue
    return None


def undescribed_headers(sources: Sequence[Source], protocol_text: str) -> list[Finding]:
    """Find headers without a `kind`, with another's `kind`, or not named in PROTOCOL.md."""
    findings = []
    owners: dict[str, str] = {}
    for file, node, kind in header_classes(sources):
        if kind is None:
            remedy = f"header {node.name} has no kind: write kind: ClassVar[str] = 'layer.verb'"
            findings.append(Finding(file.path, node.lineno, remedy))
            continue
        if kind in owners:
            remedy = f"kind {kind!r} is {owners[kind]}'s already: choose another"
            findings.append(Finding(file.path, node.lineno, remedy))
        owners[kind] = f"{file.path}::{node.name}"
        if not re.search(rf"(?<![\w.]){re.escape(kind)}(?![\w])", protocol_text):
            remedy = f"{PROTOCOL_PATH} does not name {kind!r}: describe the header there"
            findings.append(Finding(file.path, node.lineno, remedy))
    return findings


def unlisted_headers(sources: Sequence[Source], listed: set[str]) -> list[Finding]:
    """Find headers that cannot travel, as they have no code.

    `listed`: those that have one, as `module.Class`.
    """
    return [
        Finding(file.path, node.lineno, f"{node.name} has no code: write @travels(CODE) above it")
        for file, node, _ in header_classes(sources)
        if f"{file.module}.{node.name}" not in listed
    ]
