"""Puts a mutant into modules that are loaded: its function gets the code of the edited source."""

from __future__ import annotations

import gc
from collections import defaultdict
from collections.abc import Iterator
from importlib import import_module
from types import CodeType, FunctionType

from scripts.mutants.judging import ROOT, module_of
from scripts.mutants.mutant import Mutant


class Functions:
    """All functions of some files, wherever decorators and tables hold them."""

    def __init__(self, files: list[str]) -> None:
        for file in files:
            import_module(module_of(file))
        wanted = {str(ROOT / file) for file in files}
        self._found: dict[tuple[str, str, int], list[FunctionType]] = defaultdict(list)
        gc.unfreeze()
        for one in gc.get_objects():
            if isinstance(one, FunctionType) and one.__code__.co_filename in wanted:
                code = one.__code__
                self._found[code.co_filename, code.co_qualname, code.co_firstlineno].append(one)
        gc.freeze()

    def patch(self, mutant: Mutant) -> None:
        """From now on in this process the mutant runs."""
        path = str(ROOT / mutant.file)
        code = _function(compile(mutant.source(), path, "exec"), mutant)
        functions = self._found[path, mutant.edit.function, code.co_firstlineno]
        assert functions, f"{mutant.name} is in no function that was loaded"
        if len(code.co_freevars) != len(functions[0].__code__.co_freevars):
            code = _function(
                compile(mutant.edit.apply_beside(mutant.unedited), path, "exec"), mutant
            )
        for function in functions:
            function.__code__ = code


def _function(module: CodeType, mutant: Mutant) -> CodeType:
    """The code of the function that the edit is in: the last of its name that begins above it."""
    own = [
        code
        for code in _codes(module)
        if code.co_qualname == mutant.edit.function and code.co_firstlineno <= mutant.edit.line
    ]
    return max(own, key=lambda code: code.co_firstlineno)


def _codes(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes(constant)
