"""Java is found in one order, and what is missing is said."""

from pathlib import Path

import pytest

from pipeline import java
from pipeline.errors import PipelineError
from pipeline.java import ensure_java, parse_version


@pytest.mark.parametrize(
    ("said", "version"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('openjdk version "21" 2023-09-19', 21),
        ('java version "1.8.0_391"', 8),
        ("no such thing", 0),
    ],
)
def test_the_major_version_is_read(said: str, version: int) -> None:
    assert parse_version(said) == version


def fake_java(folder: Path, version: str) -> Path:
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
    program.chmod(0o755)
    return folder


def test_java_home_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path / "chosen", "21.0.1")))
    monkeypatch.setenv("PATH", str(fake_java(tmp_path / "other", "17.0.1") / "bin"))
    assert ensure_java() == tmp_path / "chosen"


def test_an_old_java_home_is_not_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path, "11.0.2")))
    with pytest.raises(PipelineError, match="found: 11") as error:
        ensure_java()
    assert error.value.code == "java_old"


def test_the_path_comes_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", f"{fake_java(tmp_path, '17.0.1') / 'bin'}:/usr/bin:/bin")
    assert ensure_java() == tmp_path


def test_without_any_java_both_ways_to_get_one_are_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(java, "find_spec", lambda name: None)
    with pytest.raises(PipelineError, match=r"make pipeline.*openjdk-17") as error:
        ensure_java()
    assert error.value.code == "java_missing"
