"""Loads one module from an edited source, and all others as they are.

As a plugin of pytest (`-p scripts.mutants.hook`), or before a program (`python -m
scripts.mutants.hook MODULE ARGUMENTS`). Which module it is, and the file of its edited source, say
the environment variables `MUTANT_MODULE` and `MUTANT_SOURCE`; without them nothing is changed.
"""

from __future__ import annotations

import os
import runpy
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder, SourceLoader
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from pathlib import Path
from types import ModuleType

MODULE, SOURCE = "MUTANT_MODULE", "MUTANT_SOURCE"


class _Loader(SourceLoader):
    """The edited source; no compiled module is read or written."""

    def __init__(self, path: str) -> None:
        self._path = path

    def get_filename(self, fullname: str) -> str:
        return self._path

    def get_data(self, path: str) -> bytes:
        return Path(path).read_bytes()


class _Finder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != os.environ.get(MODULE):
            return None
        return spec_from_loader(fullname, _Loader(os.environ[SOURCE]))


def install() -> None:
    """Load the mutant from now on; the module must not have been loaded."""
    module = os.environ.get(MODULE)
    if module is not None:
        assert module not in sys.modules, f"{module} is loaded already"
        sys.meta_path.insert(0, _Finder())


install()

if __name__ == "__main__":
    sys.argv = sys.argv[1:]
    sys.path.insert(0, os.getcwd())
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
