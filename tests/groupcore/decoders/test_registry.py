"""No decoder is forgotten: modules that unpack bytes are in the registry, or named with why."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.groupcore.decoders.registry import DECODERS, READ_ELSEWHERE

ROOT = Path(__file__).parents[3]
READERS = {"unpackb", "Unpacker", "loads"}
"""Names of what makes values of bytes."""


def modules_that_read() -> set[str]:
    found = set()
    for package in ("groupcore", "server"):
        for path in sorted((ROOT / package).rglob("*.py")):
            name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            if not name.startswith("groupcore.sim.") and reads(path):
                found.add(name)
    return found


def reads(path: Path) -> bool:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            called = node.func
            name = called.id if isinstance(called, ast.Name) else getattr(called, "attr", "")
            if name in READERS or (name == "unpack" and is_struct(called)):
                return True
    return False


def is_struct(called: ast.expr) -> bool:
    """Whether it is called of something written in capitals, as structs are, or of a column."""
    owner = getattr(called, "value", None)
    return isinstance(owner, ast.Call) or (isinstance(owner, ast.Name) and owner.id.isupper())


def test_every_module_that_unpacks_bytes_is_fuzzed_or_says_why_not() -> None:
    fuzzed = {module for decoder in DECODERS for module in decoder.modules}
    found = modules_that_read()
    assert found - fuzzed == READ_ELSEWHERE.keys() & found, "register it, with valid seeds"
    assert not fuzzed & READ_ELSEWHERE.keys()


def test_nothing_is_excused_that_is_not_there() -> None:
    assert READ_ELSEWHERE.keys() - {"groupcore.aio.udp"} <= modules_that_read()
    for name in READ_ELSEWHERE:
        assert (ROOT / (name.replace(".", "/") + ".py")).is_file()


def test_decoders_have_names_of_their_own() -> None:
    names = [decoder.name for decoder in DECODERS]
    assert len(set(names)) == len(names)
