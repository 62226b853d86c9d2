"""What the rules read and what they return."""

import ast
import subprocess
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

TEXT_SUFFIXES = frozenset(
    {".cfg", ".css", ".html", ".ini", ".js", ".json", ".lock", ".md", ".mjs", ".py", ".sh"}
    | {".sql", ".svelte", ".svg", ".toml", ".ts", ".txt", ".yaml", ".yml"}
)
"""Endings of files that are read; a file without an ending (Makefile, scripts) is read too."""


@dataclass(frozen=True)
class Source:
    """One text file: its path from the repository's root, with slashes, and its text."""

    path: str
    text: str

    @cached_property
    def lines(self) -> list[str]:
        """The text's lines without their ends."""
        return self.text.splitlines()

    @cached_property
    def tree(self) -> ast.Module:
        """The syntax tree of a Python file."""
        return ast.parse(self.text, filename=self.path)

    @property
    def module(self) -> str:
        """The dotted name of a Python file: `a/b.py` and `a/b/__init__.py` are both `a.b`."""
        return self.path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """A rule that is broken: where, and what to do about it."""

    path: str
    line: int
    remedy: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.remedy}"


def tracked_paths(root: Path) -> list[str]:
    """List every file of the work tree that Git does not ignore, committed or not.

    Raises `CalledProcessError` outside a Git work tree: the rules are for the repository.
    """
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    )
    names = {name for name in listing.stdout.split("\0") if name}
    return sorted(name for name in names if (root / name).is_file())


def read_sources(root: Path) -> list[Source]:
    """Read every text file that `tracked_paths` lists."""
    return [
        Source(name, (root / name).read_text(encoding="utf-8"))
        for name in tracked_paths(root)
        if Path(name).suffix in TEXT_SUFFIXES | {""}
    ]
