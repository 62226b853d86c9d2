"""Write the index of the decisions: title and state of each, from their own texts.

A decision says how it stands to others in the paragraph below its title: *Amends*, *Supersedes*,
*Closes the Open of*, *Amended by*, *Superseded by*, each before links to them. One side is enough.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from scripts.tidy.sources import Finding, Source, read_sources

ROOT: Final = Path(__file__).parent.parent
FOLDER: Final = "docs/decisions"
INDEX: Final = f"{FOLDER}/README.md"
COMMAND: Final = "python -m scripts.index_decisions"

TITLE: Final = re.compile(r"# (\d+)\. (.+)")
RELATION: Final = re.compile(
    r"(?P<verb>\b(?:amends|supersedes|closes the \*open\* of|amended by|superseded by)\b)"
    r"|\[\d+\]\((?P<number>\d{4})-",
    re.IGNORECASE,
)
HEAD: Final = """\
# Decisions

What was decided, and why. A decision is in force unless its state says otherwise; an amended one
holds but for what the later one says. A number that is not here has no decision. This file is
written by `python -m scripts.index_decisions`.

| | decision | state |
|---|---|---|
"""


def is_decision(path: str) -> bool:
    """Whether a path is that of a decision's text."""
    return path.startswith(f"{FOLDER}/") and path.endswith(".md") and path != INDEX


def render(sources: Sequence[Source]) -> str:
    """The index of these decisions, by number.

    Raises `ValueError` if a text has no title with its number, or names a decision that is none.
    """
    titles: dict[int, tuple[str, str]] = {}
    amended: dict[int, set[int]] = {}
    superseded: dict[int, set[int]] = {}
    for file in sorted(sources, key=lambda file: file.path):
        name = file.path.removeprefix(f"{FOLDER}/")
        title = TITLE.fullmatch(file.lines[0]) if file.lines else None
        if title is None or int(title[1]) != int(name[:4]):
            raise ValueError(f"{file.path}: the first line has to be '# {int(name[:4])}. Title'")
        number = int(title[1])
        titles[number] = (title[2], name)
        for verb, other in relations(file):
            old, new = (number, other) if verb.endswith("by") else (other, number)
            table = superseded if verb.startswith("supersede") else amended
            table.setdefault(old, set()).add(new)
    unknown = (set(amended) | set(superseded)).union(*amended.values(), *superseded.values())
    if lacking := sorted(unknown - set(titles)):
        raise ValueError(f"decisions {lacking} are named and do not exist")

    def state(number: int) -> str:
        for word, table in (("superseded", superseded), ("amended", amended)):
            if by := sorted(table.get(number, ())):
                return f"{word} by {', '.join(f'[{one}]({titles[one][1]})' for one in by)}"
        return "in force"

    rows = [f"| {n} | [{titles[n][0]}]({titles[n][1]}) | {state(n)} |\n" for n in sorted(titles)]
    return HEAD + "".join(rows)


def relations(file: Source) -> list[tuple[str, int]]:
    """Verbs, in small letters, and numbers of other decisions, of the paragraph below the title."""
    _title, _, text = file.text.partition("\n\n")
    paragraph, _, _rest = text.partition("\n\n")
    if not RELATION.match(paragraph):
        return []
    found: list[tuple[str, int]] = []
    verb = ""
    for part in RELATION.finditer(paragraph):
        if part["verb"]:
            verb = part["verb"].lower()
        else:
            found.append((verb, int(part["number"])))
    return found


def differing(sources: Sequence[Source]) -> list[Finding]:
    """Find the first line in which the index is not what the texts say."""
    wanted = render([file for file in sources if is_decision(file.path)]).splitlines()
    lines = next((file.lines for file in sources if file.path == INDEX), [])
    for number in range(max(len(wanted), len(lines))):
        if wanted[number : number + 1] != lines[number : number + 1]:
            return [Finding(INDEX, number + 1, f"is not what the decisions say: run {COMMAND}")]
    return []


if __name__ == "__main__":
    texts = [file for file in read_sources(ROOT) if is_decision(file.path)]
    (ROOT / INDEX).write_text(render(texts), encoding="utf-8")
