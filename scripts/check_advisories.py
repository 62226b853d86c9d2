"""Ask for known advisories of all locked packages, and say of which none could be asked.

pip-audit ends well where its source knows none of the packages, and npm where it cannot be reached
says it in a value. So what counts is the answer for each package. Exit code 0: all were checked and
none has a known advisory; 1: one has; 3: not all could be checked, and nothing was found.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parent.parent
LOCKS: Final = ("dev", "pipeline", "java", "supply")
FOUND: Final = 1
NOT_CHECKED: Final = 3
LIMIT_S: Final = 600.0


@dataclass(frozen=True)
class Checked:
    """What came of one lock. `found`: a line an advisory; `why_not`: of what was not checked."""

    lock: str
    checked: int = 0
    found: Sequence[str] = ()
    unchecked: int = 0
    why_not: str = ""

    def lines(self) -> list[str]:
        """For people: what was found, then what was checked, and what not."""
        lines = [f"{self.lock}: {line}" for line in self.found]
        if self.checked:
            lines.append(
                f"{self.lock}: {self.checked} packages checked, {len(self.found)} advisories"
            )
        if self.why_not:
            count = f"{self.unchecked} packages " if self.unchecked else ""
            lines.append(f"{self.lock}: {count}not checked: {self.why_not}")
        return lines


def of_python(lock: str, output: str, complaint: str) -> Checked:
    """What pip-audit's JSON says."""
    try:
        packages: list[dict[str, Any]] = json.loads(output)["dependencies"]
    except (ValueError, KeyError, TypeError):
        return Checked(lock, why_not=last_line(complaint) or "pip-audit gave no answer")
    skipped = [one["skip_reason"] for one in packages if "skip_reason" in one]
    found = [
        f"{one['name']} {one['version']}: {advisory['id']}, mended in "
        f"{', '.join(advisory['fix_versions']) or 'no version'}"
        for one in packages
        for advisory in one.get("vulns", ())
    ]
    why_not = f"{skipped[0]}" if skipped else ""
    return Checked(lock, len(packages) - len(skipped), found, len(skipped), why_not)


def of_page(output: str, complaint: str) -> Checked:
    """What npm's JSON says."""
    lock = "page"
    try:
        said: Mapping[str, Any] = json.loads(output)
        counted = said["metadata"]["dependencies"]
        found = [
            f"{name} {one['range']}: {one['severity']}"
            for name, one in said["vulnerabilities"].items()
        ]
    except (ValueError, KeyError, TypeError):
        return Checked(
            lock, why_not=message_of(output) or last_line(complaint) or "npm gave no answer"
        )
    return Checked(lock, int(counted["total"]), found)


def message_of(output: str) -> str:
    """Why npm could not ask."""
    try:
        said = json.loads(output)
    except ValueError:
        return ""
    return str(said.get("message", "")) if isinstance(said, dict) else ""


def last_line(text: str) -> str:
    """The last line that says something."""
    return next((line for line in reversed(text.splitlines()) if line.strip()), "")


def outcome(all_checked: Sequence[Checked]) -> int:
    """The exit code."""
    if any(one.found for one in all_checked):
        return FOUND
    return NOT_CHECKED if any(one.why_not for one in all_checked) else 0


@dataclass
class Asking:
    """Asks the tools. `pip_audit`: its command."""

    pip_audit: str
    said: list[Checked] = field(default_factory=list)

    def ask(self) -> None:
        """All locks, then the page's."""
        for lock in LOCKS:
            file = ROOT / "requirements" / f"{lock}.lock"
            words = ("--requirement", str(file), "--require-hashes", "--disable-pip")
            output, complaint = run(
                [self.pip_audit, *words, "--format", "json", "--progress-spinner", "off"], ROOT
            )
            self.say(of_python(lock, output, complaint))
        self.say(of_page(*run(["npm", "audit", "--json"], ROOT / "webui")))

    def say(self, checked: Checked) -> None:
        """As soon as it is known: a lock takes a while."""
        self.said.append(checked)
        print("\n".join(checked.lines()), flush=True)


def run(words: Sequence[str], folder: Path) -> tuple[str, str]:
    """What it prints, and what it complains of."""
    try:
        ended = subprocess.run(
            words, cwd=folder, capture_output=True, text=True, timeout=LIMIT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return "", str(error)
    return ended.stdout, ended.stderr


if __name__ == "__main__":
    asking = Asking(sys.argv[1])
    asking.ask()
    sys.exit(outcome(asking.said))
