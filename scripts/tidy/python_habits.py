"""Habits in Python code: no sleeping tests, no global randomness, docstrings on what is public."""

import ast
from collections.abc import Iterator, Sequence

from scripts.tidy.sources import Finding, Source

Documented = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def sleeping_calls(test: Source) -> list[Finding]:
    """Find sleeps of a fixed length in a test; `asyncio.sleep(0)` only gives way, so it may stay.

    A helper that polls for a condition until a deadline takes the interval as a parameter.
    """
    return [
        Finding(test.path, node.lineno, "a test does not sleep: wait for what should happen")
        for node in ast.walk(test.tree)
        if isinstance(node, ast.Call) and _sleeps(node)
    ]


def _sleeps(call: ast.Call) -> bool:
    match call:
        case ast.Call(func=ast.Attribute(attr="wait_for_timeout")):
            return True
        case ast.Call(func=ast.Attribute(value=ast.Name(id="time"), attr="sleep")):
            return True
        case ast.Call(
            func=ast.Name(id="sleep") | ast.Attribute(attr="sleep"), args=[ast.Constant(value=v)]
        ):
            return v != 0
        case ast.Call(
            func=ast.Name(id="sleep") | ast.Attribute(attr="sleep"), args=[ast.Name(id=name)]
        ):
            return name.isupper()
        case _:
            return False


def global_randomness(file: Source) -> list[Finding]:
    """Find chance that does not come from a `random.Random` given to the code by its caller."""
    nodes = [node for node in ast.walk(file.tree) if isinstance(node, ast.expr | ast.stmt)]
    has_module = any(_imports_random(node) for node in nodes)
    return [
        Finding(file.path, node.lineno, f"{what}: take a seeded random.Random as a parameter")
        for node in nodes
        if (what := _chance(node, has_module))
    ]


def _imports_random(node: ast.expr | ast.stmt) -> bool:
    return isinstance(node, ast.Import) and any(alias.name == "random" for alias in node.names)


def _chance(node: ast.expr | ast.stmt, has_module: bool) -> str:
    match node:
        case ast.Attribute(value=ast.Name(id="random"), attr=name):
            # Without the module, `random` is somebody's generator.
            return f"random.{name} is global" if has_module and name != "Random" else ""
        case ast.ImportFrom(module="random", names=names):
            others = [alias.name for alias in names if alias.name != "Random"]
            return f"random.{others[0]} is global" if others else ""
        case ast.Call(
            func=ast.Name(id="Random") | ast.Attribute(attr="Random"), args=[], keywords=[]
        ):
            return "Random() is seeded by the operating system"
        case _:
            return ""


def undocumented(sources: Sequence[Source]) -> list[Finding]:
    """Find public modules, classes, functions and methods without a docstring.

    A method that overrides a documented one inherits its text. In a protocol layer a handler's
    name is its text (`on_<header>`); the module describes the protocol.
    """
    documented = _documented_methods(sources)
    findings = []
    for file in sources:
        if ast.get_docstring(file.tree) is None:
            findings.append(
                Finding(file.path, 1, "the module has no docstring: say what it is for")
            )
        for name, node, owner in _public(file.tree):
            if ast.get_docstring(node) is None and not _inherits(owner, node, documented, file):
                remedy = f"{name} has no docstring: one sentence, then meaning with units"
                findings.append(Finding(file.path, node.lineno, remedy))
    return findings


def _public(
    node: ast.Module | ast.ClassDef, prefix: str = ""
) -> Iterator[tuple[str, Documented, ast.ClassDef | None]]:
    owner = node if isinstance(node, ast.ClassDef) else None
    for child in node.body:
        if not isinstance(child, Documented) or child.name.startswith("_"):
            continue
        if not isinstance(child, ast.ClassDef) and _is_variant(child):
            continue
        yield prefix + child.name, child, owner
        if isinstance(child, ast.ClassDef):
            yield from _public(child, f"{prefix}{child.name}.")


def _is_variant(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Overloads, overrides and setters repeat a function that is documented elsewhere."""
    return any(
        ast.unparse(decorator).rpartition(".")[2] in ("overload", "override", "setter", "deleter")
        for decorator in function.decorator_list
    )


def _documented_methods(sources: Sequence[Source]) -> dict[str, set[str]]:
    """Class name to the methods that it or a base documents; classes are known by simple name."""
    classes = {
        node.name: node
        for file in sources
        for node in ast.walk(file.tree)
        if isinstance(node, ast.ClassDef)
    }

    def collect(name: str, seen: frozenset[str]) -> set[str]:
        node = classes.get(name)
        if node is None or name in seen:
            return set()
        own = {
            child.name
            for child in node.body
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
            and ast.get_docstring(child)
        }
        bases = [ast.unparse(base).partition("[")[0].rpartition(".")[2] for base in node.bases]
        return own.union(*(collect(base, seen | {name}) for base in bases))

    return {name: collect(name, frozenset()) for name in classes}


def _inherits(
    owner: ast.ClassDef | None, node: Documented, documented: dict[str, set[str]], file: Source
) -> bool:
    if owner is None or isinstance(node, ast.ClassDef):
        return False
    is_handler = file.path.startswith("groupcore/layers/") and node.name.startswith("on_")
    return is_handler or node.name in documented.get(owner.name, set())
