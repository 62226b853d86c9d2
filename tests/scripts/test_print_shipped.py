"""The list of what runs has what the server imports, and nothing of the tests."""

import re
import tomllib
from pathlib import Path

from scripts.print_shipped import needed, shipped

ROOT = Path(__file__).parent.parent.parent


def test_what_runs_is_in_it_and_what_tests_is_not() -> None:
    project_file = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    lock = (ROOT / "requirements" / "dev.lock").read_text(encoding="utf-8")
    text = shipped(project_file, lock)
    names = set(re.findall(r"^([a-z0-9.-]+)==", text, re.M))
    assert {"msgpack", "starlette", "anyio", "aiohttp", "yarl", "cffi"} <= names
    assert names.isdisjoint({"pytest", "mypy", "playwright", "pip-tools"})
    assert text.count("--hash=sha256:") > len(names)


def test_what_is_asked_for_is_followed_to_the_end_and_markers_are_looked_at() -> None:
    assert {"aiohttp", "yarl", "idna"} <= needed(["aiohttp"])
    assert needed(['aiohttp; sys_platform == "plan9"', "nowhere-to-be-found"]) == set()
