"""Marks of a text as inline Markdown, both ways: bold, italic, code, strike and links.

What has no mark here (images, HTML, links to places that a page may not open) is kept as its
source. A text is written as it stands where that reads back as the same text, else with its
punctuation escaped; so Markdown that comes in goes out as it was, and nothing that looks like
Markdown becomes it. But for HTML and for such links: programs that show Markdown would do what
here is a text, so they are always escaped.
"""

from __future__ import annotations

import re
from itertools import pairwise

from markdown_it.token import Token

from groupcore.objects.refusal import RefusalError
from groupcore.objects.rich_delta import Marks, MarkValue, Rich, Run, canonical, inserted, plain
from groupcore.objects.rich_parsing import parse_rich
from server.documents.parsing import Env, parse_text

BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
SPECIAL = re.compile(r"[\\`*_\[\]<>~&!]")
LIVE = re.compile(r"<[A-Za-z/!?]|\]\(\s*<?\s*(?!https?:|mailto:|data:image/)[^)\s]*:")
"""What other programs take for HTML, or for a link to a place that no page of ours opens."""
OPEN = {"strong_open": "bold", "em_open": "italic", "s_open": "strike"}
CLOSE = {"strong_close": "bold", "em_close": "italic", "s_close": "strike"}
SIGNS = {"bold": "**", "italic": "*", "strike": "~~"}
NESTED = ("link", "bold", "italic", "strike")
"""The marks, outermost first where they end at one place; `code` is innermost."""
KNOWN = {*NESTED, "code"}


def is_row(line: str) -> bool:
    """Whether the line is a row of a table."""
    return line.startswith("|")


def broken(text: str) -> str:
    """Lines that stay lines: each but the last with the backslash of a hard break, or a row."""
    lines = text.split("\n")
    pairs = pairwise(lines)
    kept = [one if is_row(one) and is_row(two) else one + "\\" for one, two in pairs]
    return "\n".join([*kept, lines[-1]])


def read_inline(source: str, env: Env | None = None, *, lines: bool = False) -> Rich:
    """The text of a paragraph; `env` knows the links that the document defines.

    `lines`: a tag `<br>` is a line feed, as it has to be said in tables.

    Soft line breaks become spaces; hard ones stay, and those between the rows of a table: Markdown
    is often wrapped at a column, which means nothing.
    """
    children = parse_text(source, {} if env is None else env)
    reader = _Reader(lines)
    for place, child in enumerate(children):
        following = children[place + 1] if place + 1 < len(children) else None
        reader.take(child, "" if following is None else following.content)
    return inserted(canonical(reader.runs()))


class _Reader:
    """Walks the tokens of one paragraph."""

    def __init__(self, lines: bool) -> None:
        self._has_lines = lines
        self._runs: list[Run] = []
        self._pieces: list[str] = []
        """Of the run that goes on, put together once."""
        self._piece_marks: Marks = ()
        self._marks: dict[str, MarkValue] = {}
        self._in_row = False
        self._begins_line = True
        self._sources: list[str | None] = []

    def take(self, token: Token, following: str) -> None:
        match token.type:
            case "softbreak":
                self._add("\n" if self._in_row and is_row(following) else " ")
            case "hardbreak":
                self._add("\n")
            case "code_inline":
                self._add(token.content, code=True)
            case "link_open":
                self._open_link(str(token.attrGet("href") or ""))
            case "link_close":
                self._close_link()
            case "image":
                self._add(f"![{token.content}]({token.attrGet('src')})")
            case "html_inline" if self._has_lines and BREAK.fullmatch(token.content):
                self._add("\n")
            case kind if kind in OPEN:
                self._marks[OPEN[kind]] = True
            case kind if kind in CLOSE:
                self._marks.pop(CLOSE[kind], None)
            case _:
                self._add(token.content)

    def _open_link(self, href: str) -> None:
        if is_allowed(href):
            self._marks["link"] = href
            self._sources.append(None)
        else:
            self._add("[")
            self._sources.append(f"]({href})")

    def _close_link(self) -> None:
        source = self._sources.pop()
        if source is None:
            self._marks.pop("link", None)
        else:
            self._add(source)

    def _add(self, text: str, **more: MarkValue) -> None:
        if text:
            marks = tuple(sorted({**self._marks, **more}.items()))
            if marks != self._piece_marks:
                self._end_run()
                self._piece_marks = marks
            self._pieces.append(text)
            last = text.rpartition("\n")[2]
            if len(last) < len(text) or self._begins_line:  # the line itself is not kept: it grows
                self._in_row = is_row(last)
                self._begins_line = not last

    def _end_run(self) -> None:
        if self._pieces:
            self._runs.append(Run("".join(self._pieces), self._piece_marks))
            self._pieces = []

    def runs(self) -> list[Run]:
        """What was read so far."""
        self._end_run()
        return self._runs


def is_allowed(href: str) -> bool:
    """Whether a text may have a link to there."""
    try:
        parse_rich([["x", {"link": href}]])
    except RefusalError:
        return False
    return True


# --- writing ------------------------------------------------------------------------------------


def write_inline(text: Rich, *, lines: bool = False) -> str:
    """The text as Markdown that reads back as it; line feeds stay what they are.

    `lines`: they will be tags `<br>`, as they have to be said in tables. Where Markdown cannot say
    a mark at its place, the text goes without its marks.
    """
    wanted = _trimmed(text)
    for escaped in (False, True):
        if not escaped and any(LIVE.search(run.text) for run in wanted if not is_code(run)):
            continue
        written = _write(wanted, escaped)
        source = written.replace("\n", "<br>") if lines else broken(written)
        if read_inline(source, lines=lines) == wanted:
            return written
    return _escape(plain(text))


def is_code(run: Run) -> bool:
    """Whether the run is code, which stands between backticks."""
    return bool(dict(run.marks).get("code"))


def _trimmed(text: Rich) -> Rich:
    """The text with the marks that Markdown has, and none of them on blanks where it begins or
    ends."""
    known = [
        (run.text, {name: value for name, value in run.marks if name in KNOWN}) for run in text
    ]
    runs: list[Run] = []
    for place, (words, marks) in enumerate(known):
        if "code" in marks:
            runs.append(Run(words, tuple(sorted(marks.items()))))
            continue
        before = known[place - 1][1] if place else {}
        behind = known[place + 1][1] if place + 1 < len(known) else {}
        inner = words.strip()
        start = len(words) - len(words.lstrip()) if inner else len(words)
        runs.append(Run(words[:start], _both(marks, before)))
        runs.append(Run(inner, tuple(sorted(marks.items()))))
        runs.append(Run(words[start + len(inner) :], _both(marks, behind)))
    return inserted(canonical([run for run in runs if run.text]))


def _both(marks: dict[str, MarkValue], others: dict[str, MarkValue]) -> Marks:
    return tuple(sorted((n, v) for n, v in marks.items() if others.get(n) == v and n != "code"))


def _write(text: Rich, escaped: bool) -> str:
    """The text with signs; what goes on for longer is opened before what ends sooner."""
    written = ""
    opened: list[tuple[str, MarkValue]] = []
    extents = _extents(text)
    for place, run in enumerate(text):
        wanted = [one for one in run.marks if one[0] in NESTED]
        kept = 0
        while kept < len(opened) and opened[kept] in wanted:
            kept += 1
        written += _closing(opened[kept:])
        fresh = [one for one in wanted if one not in opened[:kept]]
        fresh.sort(key=lambda one: (-extents[place][one], NESTED.index(one[0])))
        written += "".join("[" if name == "link" else SIGNS[name] for name, _ in fresh)
        opened = opened[:kept] + fresh
        if is_code(run):
            written += _code(run.text)
        else:
            written += _escape(run.text) if escaped else run.text
    return written + _closing(opened)


def _extents(text: Rich) -> list[dict[tuple[str, MarkValue], int]]:
    """Of each run the marks, and in how many runs from this one on each is."""
    found: list[dict[tuple[str, MarkValue], int]] = []
    behind: dict[tuple[str, MarkValue], int] = {}
    for run in reversed(text):
        behind = {mark: behind.get(mark, 0) + 1 for mark in run.marks}
        found.append(behind)
    return found[::-1]


def _closing(marks: list[tuple[str, MarkValue]]) -> str:
    ends = [f"](<{value}>)" if _is_odd(str(value)) else f"]({value})" for _, value in marks]
    pairs = zip(marks, ends, strict=True)
    closed = [end if name == "link" else SIGNS[name] for (name, _), end in pairs]
    return "".join(reversed(closed))


def _is_odd(href: str) -> bool:
    """Whether a link needs angle brackets around it."""
    return any(sign in href for sign in "() <>")


def _code(text: str) -> str:
    runs = {len(run) for run in re.findall(r"`+", text)}
    fence = "`" * next(size for size in range(1, len(runs) + 2) if size not in runs)
    needs_room = text[:1] in ("`", " ") or text[-1:] in ("`", " ")
    return f"{fence} {text} {fence}" if needs_room and text.strip() else f"{fence}{text}{fence}"


def _escape(text: str) -> str:
    """An entity for `<`: where a line begins with it, `markdown.escape` doubles a backslash."""
    return SPECIAL.sub(lambda found: "&lt;" if found[0] == "<" else "\\" + found[0], text)
