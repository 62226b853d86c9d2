"""Rules for the Markdown documents: their length, their index, and the paths that they name."""

import re
from collections.abc import Collection
from posixpath import dirname, join, normpath
from typing import Final

from scripts.tidy.hygiene import LINK
from scripts.tidy.sources import Finding, Source

README_WORDS: Final = 900

PATH: Final = re.compile(
    r"`([A-Za-z][\w./-]*/|[A-Za-z][\w./-]*\.(?:py|ts|svelte|js|mjs|md|json|toml|yml))`"
)
"""What stands between backticks and looks like a file of a kind that the tree has, or a folder."""


def too_many_words(document: Source, limit: int) -> list[Finding]:
    """Find a document with more words than `limit`; a word is what stands between spaces."""
    words = len(document.text.split())
    if words <= limit:
        return []
    remedy = f"has {words} words, more than {limit}: move what is not for a first reading to docs/"
    return [Finding(document.path, 1, remedy)]


def unlisted(index: Source, paths: Collection[str]) -> list[Finding]:
    """Find documents of the index's folder that it does not link to; those of an index below it
    (a README.md in a deeper folder) are that one's."""
    folder = dirname(index.path)
    inside = {path for path in paths if path.startswith(f"{folder}/") and path.endswith(".md")}
    below = {dirname(path) for path in inside if path.endswith("/README.md")} - {folder}
    linked = {normpath(join(folder, link)) for link in LINK.findall(index.text)}
    return [
        Finding(index.path, 1, f"does not link to {path}: give it a line")
        for path in sorted(inside - linked - {index.path})
        if path.endswith("/README.md") or dirname(path) not in below
    ]


def missing_paths(document: Source, paths: Collection[str]) -> list[Finding]:
    """Find files and folders between backticks that the tree, from its root, does not have."""
    return [
        Finding(
            document.path, number, f"names {path}, which does not exist: write it from the root"
        )
        for number, line in enumerate(document.lines, 1)
        for path in PATH.findall(line)
        if path not in paths and not any(one.startswith(f"{path.rstrip('/')}/") for one in paths)
    ]


def unused_words(glossary: Source, sources: Collection[Source]) -> list[Finding]:
    """Find words of a glossary that none of the files of their row uses.

    A row is of a table whose first cell has the words, between commas, and whose last cell names
    the files, or folders, between backticks. Case, spaces, hyphens and underscores do not count.
    """
    findings: list[Finding] = []
    for number, line in enumerate(glossary.lines, 1):
        cells = line.strip("| ").split(" | ")
        named = tuple(PATH.findall(cells[-1]))
        if not line.startswith("| ") or not named:
            continue
        text = _letters("".join(file.path + file.text for file in sources if _is_of(file, named)))
        findings += [
            Finding(glossary.path, number, f"has {word}, which {', '.join(named)} do not use")
            for word in cells[0].split(", ")
            if _letters(word) not in text
        ]
    return findings


def _is_of(file: Source, named: tuple[str, ...]) -> bool:
    return any(file.path == one or (one[-1] == "/" and file.path.startswith(one)) for one in named)


def _letters(text: str) -> str:
    return re.sub(r"[\W_]", "", text).lower()
