"""The programs of docs/examples print what their page says, and end by themselves."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import pytest

from groupcore import aio
from tests.groupcore.aio.cluster import free_port
from tests.groupcore.aio.pages import DOCS, set_apart

pytestmark = pytest.mark.slow

FOLDER = DOCS / "examples"
EXAMPLES = sorted(FOLDER.glob("*.py"))
SECTION = re.compile(r"^## \[(\w+\.py)\]\(\1\)$.*?^```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PRINTED: dict[str, str] = dict(SECTION.findall((FOLDER / "README.md").read_text(encoding="utf-8")))


def test_the_page_has_every_example_and_no_other() -> None:
    assert sorted(PRINTED) == [path.name for path in EXAMPLES]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_prints_what_its_page_says(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    set_apart(monkeypatch)
    group = f"228.8.8.8:{free_port()}"

    class ApartGroupNode(aio.GroupNode):
        def __init__(self, cluster: str, **settings: Any) -> None:  # noqa: ANN401
            super().__init__(cluster, **{"multicast": group, **settings})

    monkeypatch.setattr(aio, "GroupNode", ApartGroupNode)
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out == PRINTED[path.name]
