"""Every Python module is imported by another or is a program, a test, or a benchmark."""

import ast
from collections.abc import Sequence
from pathlib import PurePosixPath

from scripts.tidy.sources import Finding, Source


def unreached_modules(sources: Sequence[Source]) -> list[Finding]:
    """Find modules that nothing imports and nobody can start."""
    imported = {name for file in sources for name in imported_names(file)}
    return [
        Finding(file.path, 1, "nothing imports this module and it is no program: remove it")
        for file in sources
        if not is_entry_point(file) and file.module not in imported
    ]


def is_entry_point(file: Source) -> bool:
    """Programs, tests and benchmark cases are started by name; a package is its modules."""
    name = PurePosixPath(file.path).name
    if name in ("__main__.py", "__init__.py", "conftest.py") or file.path.startswith("bench/"):
        return True
    return name.startswith("test_") or _is_program(file.tree)


def _is_program(tree: ast.Module) -> bool:
    return any(
        isinstance(node, ast.If) and ast.unparse(node.test) == "__name__ == '__main__'"
        for node in tree.body
    )


def imported_names(file: Source) -> set[str]:
    """Collect the dotted names that a file imports; `from a import b` may mean `a.b`."""
    names: set[str] = set()
    for node in ast.walk(file.tree):
        match node:
            case ast.Import(names=aliases):
                names.update(alias.name for alias in aliases)
            case ast.ImportFrom(names=aliases):
                base = _absolute(node, file)
                names.add(base)
                names.update(f"{base}.{alias.name}" for alias in aliases)
            case _:
                continue
    return names - {file.module}


def _absolute(node: ast.ImportFrom, file: Source) -> str:
    if node.level == 0:
        return node.module or ""
    parts = file.module.split(".")
    depth = node.level - 1 if file.path.endswith("/__init__.py") else node.level
    package = parts[: len(parts) - depth]
    return ".".join([*package, node.module] if node.module else package)
