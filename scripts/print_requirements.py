"""Print what pyproject.toml asks for, one requirement a line, as the input of pip-compile.

The library's dependencies, its extras and the dependency groups are all in pyproject.toml and
nowhere else; pip-compile reads no dependency groups, so this puts them into its own format.
Without an argument: what requirements/dev.lock holds. With names of groups: just these.
"""

import sys
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

OWN_LOCKS: Final = ("pipeline", "java", "supply")
"""Groups with a lock of their own: large, and no server needs them."""


def requirements(project_file: dict[str, Any], only: Sequence[str] = ()) -> Iterator[str]:
    """Yield the library's requirements, then those of its extras and dependency groups.

    With `only` just those of these groups. A group with a lock of its own has to be asked for.
    """
    groups = project_file["dependency-groups"]
    if only:
        for name in only:
            yield from groups[name]
        return
    yield from runtime_requirements(project_file, groups=())
    for name, group in groups.items():
        if name not in OWN_LOCKS:
            yield from group


def runtime_requirements(
    project_file: dict[str, Any], groups: Sequence[str] = ("server",)
) -> Iterator[str]:
    """Yield what the library, its extras and these groups ask for."""
    project = project_file["project"]
    yield from project["dependencies"]
    for extra in project["optional-dependencies"].values():
        yield from extra
    for name in groups:
        yield from project_file["dependency-groups"][name]


if __name__ == "__main__":
    text = Path(__file__).parent.parent.joinpath("pyproject.toml").read_text(encoding="utf-8")
    wanted = requirements(tomllib.loads(text), sys.argv[1:])
    sys.stdout.writelines(f"{line}\n" for line in sorted(set(wanted)))
