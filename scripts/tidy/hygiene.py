"""What must not be in the repository: leftovers, secrets, one machine's paths, dead links."""

import json
import re
from collections.abc import Collection
from posixpath import dirname, join, normpath

from scripts.tidy.sources import Finding, Source

# Written so that the patterns do not match their own text.
LEFTOVER = re.compile(r"\b(FIXM[E]|TOD[O]|XX[X])\b")
PRIVATE = {
    re.compile(r"BEGIN [A-Z ]*PRIVATE KEY"): "a private key: make it at run time",
    re.compile(r"\bAKIA[0-9A-Z]{16}\b|\bgh[pousr]_\w{36}\b"): "a token: read it from a setting",
    re.compile(r"(?<![\w.$}])/(?:work|root|home/\w+)/"): "a path of one machine: make it relative",
    re.compile(r"registry\.npmjs|registry\.yarnpkg|pypi\.org/simple|files\.pythonhosted"): (
        "a registry's host: leave it to the client's settings"
    ),
}

LINK = re.compile(r"\]\((?![a-z]+:|#)([^)#\s]+)")


def leftovers(file: Source) -> list[Finding]:
    """Find notes that somebody meant to come back to."""
    return [
        Finding(file.path, number, f"{found[0]} is left over: do it or file an issue")
        for number, line in enumerate(file.lines, 1)
        if (found := LEFTOVER.search(line))
    ]


def private_words(file: Source) -> list[Finding]:
    """Find secrets and what is true on one machine only."""
    return [
        Finding(file.path, number, f"holds {remedy}")
        for number, line in enumerate(file.lines, 1)
        for pattern, remedy in PRIVATE.items()
        if pattern.search(line)
    ]


def resolved_hosts(package_lock: Source) -> list[Finding]:
    """Find packages that the npm lock binds to one registry's address."""
    packages = json.loads(package_lock.text)["packages"]
    return [
        Finding(package_lock.path, 1, f"{name} has 'resolved': omit it with npm's own setting")
        for name, package in packages.items()
        if "://" in package.get("resolved", "")
    ]


def dead_links(document: Source, paths: Collection[str]) -> list[Finding]:
    """Find links of a Markdown file to files or folders that `paths` does not have."""
    return [
        Finding(document.path, number, f"links to {link}, which does not exist: correct the link")
        for number, line in enumerate(document.lines, 1)
        for link in LINK.findall(line)
        if not _exists(normpath(join(dirname(document.path), link)), paths)
    ]


def _exists(target: str, paths: Collection[str]) -> bool:
    return target in paths or any(path.startswith(f"{target}/") for path in paths)
