"""Print the locked packages that run: those of the library, its extras and the server.

requirements/dev.lock has the tests' and the checks' as well. What of it runs is what these ask for,
by the packages' own metadata. Run by the environment that holds the locked packages.
"""

import re
import sys
import tomllib
from collections.abc import Iterable, Sequence
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path
from typing import Any, Final

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from scripts.print_requirements import runtime_requirements

ROOT: Final = Path(__file__).parent.parent


def needed(roots: Iterable[str]) -> set[str]:
    """The names of all packages that these requirements lead to here, themselves included."""
    names: set[str] = set()
    seen: set[tuple[str, frozenset[str]]] = set()
    due = [Requirement(line) for line in roots]
    while due:
        one = due.pop()
        extras = frozenset(one.extras)
        name = canonicalize_name(one.name)
        if (name, extras) in seen or (one.marker and not applies(one, ())):
            continue
        seen.add((name, extras))
        try:
            asked = requires(name) or []
        except PackageNotFoundError:
            continue  # of another platform
        names.add(name)
        wanted = [Requirement(line) for line in asked]
        due += [again(other) for other in wanted if applies(other, tuple(extras))]
    return names


def applies(requirement: Requirement, extras: Sequence[str]) -> bool:
    """Whether it is asked for on this machine, with these extras."""
    marker = requirement.marker
    return marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *extras))


def again(requirement: Requirement) -> Requirement:
    """Without its marker, which has been looked at."""
    requirement.marker = None
    return requirement


def entries(lock: str) -> dict[str, str]:
    """Of each package its lines in a lock."""
    parts = re.split(r"^(?=[a-z0-9.-]+==)", lock, flags=re.M)[1:]
    return {part[: part.index("==")]: part for part in parts}


def shipped(project_file: dict[str, Any], lock: str) -> str:
    """The part of the lock that runs."""
    names = needed(runtime_requirements(project_file))
    return "".join(part for name, part in entries(lock).items() if canonicalize_name(name) in names)


if __name__ == "__main__":
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    sys.stdout.write(
        shipped(project, (ROOT / "requirements" / "dev.lock").read_text(encoding="utf-8"))
    )
