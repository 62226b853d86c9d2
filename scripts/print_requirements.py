"""Print what pyproject.toml asks for, one requirement a line, as the input of `make lock`.

The library's dependencies, its extras and the dependency groups are all in pyproject.toml and
nowhere else; pip-compile reads no dependency groups, so this puts them into its own format.
"""

import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def requirements(project_file: dict[str, Any]) -> Iterator[str]:
    """Yield the library's requirements, then those of its extras and dependency groups."""
    project = project_file["project"]
    yield from project["dependencies"]
    for extra in project["optional-dependencies"].values():
        yield from extra
    for group in project_file["dependency-groups"].values():
        yield from group


if __name__ == "__main__":
    text = Path(__file__).parent.parent.joinpath("pyproject.toml").read_text(encoding="utf-8")
    sys.stdout.writelines(f"{line}\n" for line in sorted(set(requirements(tomllib.loads(text)))))
