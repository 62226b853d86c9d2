"""What `pip install groupcore` gives: the library and nothing else of the repository."""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.slow
def test_the_wheel_holds_the_library_only(tmp_path: Path) -> None:
    source = tmp_path / "source"
    ignored = shutil.ignore_patterns(".*", "__pycache__", "node_modules", "build", "*.egg-info")
    shutil.copytree(ROOT, source, ignore=ignored)
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", tmp_path, source],
        check=True,
        capture_output=True,
    )
    (wheel,) = tmp_path.glob("groupcore-*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    folders = {name.partition("/")[0] for name in names if ".dist-info/" not in name}
    assert folders == {"groupcore"}
    assert {"groupcore/py.typed", "groupcore/PROTOCOL.md"} <= set(names)
