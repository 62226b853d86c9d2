"""Each code that a page may come across has words in the page's catalogue."""

from __future__ import annotations

import re
from pathlib import Path

from server.accounts.roles import Role

ROOT = Path(__file__).resolve().parents[2]
RAISED = re.compile(
    r"""(?:Account|BadMessage|Picture)Error\(\s*"(\w+)"|^[ ]{4}"(\w+)":[ ]\d{3},$"""
    r"""|problem\(\d+,[ ]"(\w+)\"""",
    re.MULTILINE,
)
AUDITED = re.compile(
    r'"((?!\w+\.(?:jsonl?|html|svg|key)"|websocket\.)[a-z_]+\.[a-z_]+|signed_in|signed_out)"'
)
"""What is noted; names of files and of messages to a WebSocket look alike."""
AREAS = ("problems", "faults", "credentials", "uploads", "board")
"""Areas of words that say what codes mean."""
OF_BLOCKS = {
    *("bad_change", "base_too_old", "block_deleted", "block_exists", "no_such_block"),
    "out_of_range",
}
"""Of operations on the text: pages call them over the socket, and make what was refused a draft."""
OF_CELLS = {
    *("bad_thing", "bad_action", "bad_path", "cell_full", "no_such_thing", "not_here"),
    *("bad_remark", "not_yours"),
    *("not_member", "thing_busy", "thing_exists", "thing_held", "thing_locked"),
}
"""Of operations on things, and in chats: pages call them over the socket, and say it there."""


def test_each_code_that_a_page_may_come_across_has_words() -> None:
    files = [file for file in (ROOT / "server").glob("*/*.py") if file.name != "admin.py"]
    text = "\n".join(file.read_text(encoding="utf-8") for file in files)
    codes = {"".join(found) for found in RAISED.findall(text)}
    assert {"weak_password", "taken", "internal", "not_ready"} <= codes
    told = {word for area in AREAS for word in words(area)}
    missing = codes - OF_BLOCKS - OF_CELLS - told
    assert not missing, f"add {sorted(missing)} to webui/src/words/*/problems.ts (docs/words.md)"


def test_each_code_of_the_audit_log_has_words() -> None:
    folders = (ROOT / "server" / name for name in ("accounts", "routes"))
    files = [file for folder in folders for file in folder.glob("*.py")]
    files.append(ROOT / "server" / "noticed.py")
    text = "\n".join(file.read_text(encoding="utf-8") for file in files)
    codes = set(
        re.findall(
            r'"((?!\w+\.(?:jsonl?|html|svg|key)"|websocket\.)[a-z_]+\.[a-z_]+|signed_in|signed_out)"',
            text,
        )
    )
    assert {"signed_in", "token.created", "link.denied", "audit.read"} <= codes
    codes |= {f"role.{role.name.lower()}" for role in Role}
    missing = {code.replace(".", "_") for code in codes} - words("audit")
    assert not missing, f"add {sorted(missing)} to webui/src/words/*/audit.ts (docs/words.md)"


def words(area: str) -> set[str]:
    """The keys of an area of the catalogue."""
    file = ROOT / "webui" / "src" / "words" / "en" / f"{area}.ts"
    return set(re.findall(r"^  (\w+):", file.read_text(encoding="utf-8"), re.MULTILINE))
