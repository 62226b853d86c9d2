"""The lock is what pyproject.toml asks for, and holds nothing of one machine."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from scripts.print_requirements import requirements

ROOT = Path(__file__).parent.parent.parent
LOCK = (ROOT / "requirements" / "dev.lock").read_text(encoding="utf-8")


def locked_versions() -> dict[str, str]:
    return dict(re.findall(r"^([a-z0-9.-]+)==(\S+)", LOCK, re.M))


def test_library_extras_and_groups_are_all_printed() -> None:
    project_file = {
        "project": {"dependencies": ["a"], "optional-dependencies": {"fast": ["b>=1"]}},
        "dependency-groups": {"server": ["c"], "test": ["d"]},
    }
    assert list(requirements(project_file)) == ["a", "b>=1", "c", "d"]


def test_the_lock_satisfies_every_requirement() -> None:
    project_file = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    locked = locked_versions()
    wanted = [Requirement(line) for line in requirements(project_file)]
    unmet = [str(w) for w in wanted if not w.specifier.contains(locked.get(w.name, "0"))]
    assert unmet == [], "run make lock"


def test_what_has_a_lock_of_its_own_is_printed_when_it_is_asked_for() -> None:
    groups = {"test": ["d"], "pipeline": ["e"], "java": ["f"]}
    project_file = {
        "project": {"dependencies": ["a"], "optional-dependencies": {}},
        "dependency-groups": groups,
    }
    assert list(requirements(project_file)) == ["a", "d"]
    assert list(requirements(project_file, ["pipeline", "java"])) == ["e", "f"]


def test_the_lock_of_the_pipeline_satisfies_it_and_moves_nothing_of_the_other() -> None:
    project_file = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    text = (ROOT / "requirements" / "pipeline.lock").read_text(encoding="utf-8")
    locked = dict(re.findall(r"^([a-z0-9.-]+)==(\S+)", text, re.M))
    wanted = [Requirement(line) for line in requirements(project_file, ["pipeline"])]
    unmet = [str(w) for w in wanted if not w.specifier.contains(locked.get(w.name, "0"))]
    assert unmet == [], "run make lock-pipeline"
    other = locked_versions()
    assert {name: other.get(name, version) for name, version in locked.items()} == locked


LOCKS = sorted((ROOT / "requirements").glob("*.lock"))


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.stem)
def test_every_locked_package_has_a_hash(lock: Path) -> None:
    text = lock.read_text(encoding="utf-8")
    entries = re.split(r"^(?=[a-z0-9.-]+==)", text, flags=re.M)[1:]
    assert len(entries) == len(re.findall("^[a-z0-9.-]+==", text, re.M)) > 0
    assert [entry for entry in entries if "--hash=sha256:" not in entry] == []


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.stem)
def test_the_lock_names_no_index_and_no_folder(lock: Path) -> None:
    assert re.findall(r"^\s*-(?!-hash)\S+|://", lock.read_text(encoding="utf-8"), re.M) == []
