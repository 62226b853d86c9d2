"""Which files the rules read."""

import subprocess
from pathlib import Path

from scripts.tidy.sources import Source, read_sources


def test_new_files_are_read_and_ignored_ones_are_not(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    (tmp_path / ".gitignore").write_text("built.py\n")
    (tmp_path / "new.py").write_text("a = 1\n")
    (tmp_path / "built.py").write_text("b = 2\n")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG")
    assert [file.path for file in read_sources(tmp_path)] == [".gitignore", "new.py"]


def test_a_package_and_a_module_have_their_dotted_names() -> None:
    assert Source("a/b.py", "").module == "a.b"
    assert Source("a/b/__init__.py", "").module == "a.b"
