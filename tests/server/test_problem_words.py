"""Each code of the API that a page may come across has words in the page's catalogue."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RAISED = re.compile(
    r"""(?:Account|BadMessage|Picture)Error\(\s*"(\w+)"|^[ ]{4}"(\w+)":[ ]\d{3},$"""
    r"""|problem\(\d+,[ ]"(\w+)\"""",
    re.MULTILINE,
)
OPERATORS = {"unknown_group", "unknown_node", "moving"}
"""Of the management address, which no page asks."""


def test_each_code_that_a_page_may_come_across_has_words() -> None:
    files = [file for file in (ROOT / "server").glob("*/*.py") if file.name != "admin.py"]
    text = "\n".join(file.read_text(encoding="utf-8") for file in files)
    codes = {"".join(found) for found in RAISED.findall(text)} - OPERATORS
    assert {"weak_password", "taken", "internal", "not_ready"} <= codes
    words = (ROOT / "webui" / "src" / "words" / "en" / "problems.ts").read_text(encoding="utf-8")
    missing = codes - set(re.findall(r"^  (\w+):", words, re.MULTILINE))
    assert not missing, f"add {sorted(missing)} to webui/src/words/*/problems.ts (docs/words.md)"
