"""One mutant: an edit of a file of the work tree, with a name that lines above do not change."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from pathlib import Path

from scripts.mutants.edits import Edit, edits
from scripts.mutants.judging import ROOT

PACKAGES: dict[str, int] = {
    "groupcore/sequencing": 2,
    "groupcore/layers": 1,
    "groupcore/shared/documents": 1,
    "groupcore/membership": 1,
}
"""What is edited, and each package's share of the mutants that are drawn."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One edit of one file.

    `name` tells it from all others and stays while its function has the same text in that place:
    lists of mutants that are kept in the work tree go by it.
    """

    name: str
    file: str
    edit: Edit
    unedited: str = field(repr=False)

    def source(self) -> str:
        """The file with the edit."""
        return self.edit.apply(self.unedited)

    def place(self) -> str:
        """File and line, for people."""
        return f"{self.file}:{self.edit.line}"


@cache
def mutants_of(file: str) -> list[Mutant]:
    """Every mutant of a file, in the order of its text."""
    source = (ROOT / file).read_text()
    seen: Counter[str] = Counter()
    mutants = []
    for edit in edits(source):
        was = " ".join(edit.was(source).split())
        name = f"{file} {edit.function}: {edit.kind}: {was} -> {edit.text}"
        seen[name] += 1
        several = f" ({seen[name]})" if seen[name] > 1 else ""
        mutants.append(Mutant(name + several, file, edit, source))
    return mutants


def files_of(package: str) -> list[str]:
    """The modules of a package that are edited."""
    paths = sorted((ROOT / package).glob("*.py"))
    return [str(path.relative_to(ROOT)) for path in paths if path.name != "__init__.py"]


def all_mutants(packages: list[str]) -> list[Mutant]:
    """Every mutant of these packages, in the order of files and lines."""
    return [
        mutant for package in packages for file in files_of(package) for mutant in mutants_of(file)
    ]


def package_of(file: str) -> str:
    """The package that a file is in."""
    return str(Path(file).parent)


def drawn(packages: list[str], number: int, seed: int) -> list[Mutant]:
    """So many mutants of these packages, each package its share.

    A mutant is drawn by its name: others are no others when code somewhere else changes.
    """
    shares = sum(PACKAGES[package] for package in packages)

    def rank(mutant: Mutant) -> bytes:
        return sha256(f"{seed} {mutant.name}".encode()).digest()

    chosen = []
    for package in packages:
        share = -(-number * PACKAGES[package] // shares)
        chosen += sorted(all_mutants([package]), key=rank)[:share]
    return sorted(chosen, key=rank)
