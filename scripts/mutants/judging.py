"""Runs tests or a program against an edited module, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from scripts.mutants.hook import MODULE, SOURCE

ROOT = Path(__file__).resolve().parents[2]


def module_of(file: str) -> str:
    """The name under which a file of the work tree is imported."""
    return file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def complains(file: str, source: str, command: Sequence[str], limit_s: float) -> bool:
    """Whether `python COMMAND`, with this source in place of the file's, fails or takes too long.

    What an edit makes endless has been found, too.
    """
    with TemporaryDirectory() as folder:
        edited = Path(folder, Path(file).name)
        edited.write_text(source)
        environment = {**os.environ, MODULE: module_of(file), SOURCE: str(edited)}
        environment["PYTHONPATH"] = str(ROOT)
        process = subprocess.Popen(
            [sys.executable, *command],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            return process.wait(limit_s) != 0
        except subprocess.TimeoutExpired:
            return True
        finally:
            process.kill()
            process.wait()


def pytest_command(tests: Sequence[str]) -> list[str]:
    """Run these tests until the first that fails."""
    plugin = ["-p", "scripts.mutants.hook"]
    return ["-m", "pytest", "-q", "-x", *plugin, "-p", "no:cacheprovider", "--no-header", *tests]


def program_command(*arguments: str) -> list[str]:
    """Run a module as a program."""
    return ["-m", "scripts.mutants.hook", *arguments]
