"""Mutants that stand in lists in the work tree: those that may survive, and a sample of others."""

from __future__ import annotations

import json
import tomllib
from functools import cache
from pathlib import Path

ACCEPTED = Path(__file__).with_name("accepted.toml")
SAMPLE = Path(__file__).with_name("sample.toml")
HEAD = """\
# A few mutants and the test that finds each: `make test` puts them to it.
# `python -m scripts.run_mutants --draw-sample 16` writes this anew.

[sample]
"""


@cache
def accepted() -> dict[str, str]:
    """The reason of each that may survive, by the mutant's name."""
    table = tomllib.loads(ACCEPTED.read_text())
    return {name: group["reason"] for group in table["group"] for name in group["mutants"]}


def sample() -> dict[str, str]:
    """The test that finds each of the fixed few, by the mutant's name."""
    return dict(tomllib.loads(SAMPLE.read_text())["sample"])


def write_sample(finders: dict[str, str]) -> None:
    """Keep other ones."""
    lines = [f"{json.dumps(name)} = {json.dumps(test)}\n" for name, test in finders.items()]
    SAMPLE.write_text(HEAD + "".join(lines))
