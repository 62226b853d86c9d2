"""What `--help` says: the commands, and the table of settings."""

from __future__ import annotations

from server.settings import SETTINGS


def help_text() -> str:
    """The whole table, for `--help`."""
    lines = [
        "usage: python -m server --node-id ID [--flag VALUE ...]",
        "       python -m server verify-log DIR | dump-log DIR ... | export-log DIR FILE",
        "       python -m server rebuild DIR ... (see rebuild --help)",
        "       python -m server user | token | audit ... (see user --help)",
        "       python -m server access ls | create | revoke ... (see access --help)",
        "       python -m server doc list | show | export | import | trash ... (see doc --help)",
        "       python -m server plan apply | list | status | cancel ... (see plan --help)",
        "       python -m server status | node | group | migration | session ... (see node --help)",
        "       python -m server trace list | prune DIR ... (see trace --help)",
        "       python -m server backup create | verify | restore FILE ... (see backup --help)",
        "       python -m server recover | operation ... (see recover --help)",
        "       python -m server rekey DIR ... (see rekey --help)",
        "",
        "Every flag is also an environment variable; the flag wins.",
        "",
    ]
    for row in SETTINGS:
        unit = f" [{row.unit}]" if row.unit else ""
        default = row.default or "empty"
        lines.append(f"  {row.flag} VALUE{unit}  (default {default}; {row.variable})")
        lines.append(f"      {row.text}")
    lines += ["", "What reads data that is sealed takes --data-key-file, too, or the variable."]
    lines += ["", "Exit codes: 0 left, 1 other, 2 settings, 3 key, 4 damaged store, 5 version,"]
    lines.append("6 id in use, 7 address taken.")
    return "\n".join(lines)
