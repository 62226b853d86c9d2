"""Markdown to blocks and back.

Blocks carry the structure (headings, paragraphs, lists with depth, task lists, quotes, code,
dividers, tables), texts have marks (`server.documents.inline`). What CommonMark has and blocks have
not (raw HTML) becomes paragraphs that hold the source.

A text whose line would begin a block on the way back is escaped with one backslash, and the
import takes exactly that backslash off again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from markdown_it.token import Token

from groupcore.objects.changes import DEFAULT_LIMITS
from groupcore.objects.refusal import TooLargeError
from groupcore.objects.rich_delta import Rich, plain, rich
from groupcore.shared.documents.outline import BLOCKS_MAX
from groupcore.shared.documents.parts import Value
from server.documents.grids import Rows, cells_beyond, read_cell, table_lines, tables_of
from server.documents.images import Image, read_image, write_image
from server.documents.inline import broken, read_inline, write_inline
from server.documents.parsing import Env, check_length, parse_blocks

if TYPE_CHECKING:
    from server.documents.making import NewBlock

TITLE_MAX = DEFAULT_LIMITS.title
DEPTH_MAX = 8
SEPARATOR = "<!-- -->"
LIST_KINDS = {"bullet", "numbered", "todo"}
TASK = re.compile(r"\[([ xX])\](?: |$)")
STARTS_BLOCK = re.compile(
    r"\\*(?:#{1,6}(?=\s|$)|>|[-+*](?=\s|$)|\d{1,9}[.)](?=\s|$)|`{3,}|~{3,}|<|\[[ xX]\]"
    r"|([-*_])[ \t]*(?:\1[ \t]*){2,}$|[-=]+[ \t]*$|[|:-][-:| \t]*$|\[[^\]]*\]:)"
)
"""The beginning of a line that would be, or is escaped from being, more than text."""
STARTS_IMAGE = re.compile(r"\\*+!\[")
HASHED = re.compile(r"\]\(pictures/[0-9a-f]{64}")


@dataclass(slots=True)
class Imported:
    """A document as it comes out of Markdown."""

    title: str
    blocks: list[NewBlock]
    files: dict[str, bytes] = field(default_factory=dict)
    """Pictures that are in the text itself, by the hash that their blocks name."""


@dataclass(slots=True)
class _Reader:
    """Walks the tokens; keeps the open lists and whether the next text begins an item."""

    blocks: list[NewBlock] = field(default_factory=list)
    lists: list[str] = field(default_factory=list)
    quotes: int = 0
    item: bool = False
    heading: int = 0
    env: Env = field(default_factory=dict)
    source: list[str] = field(default_factory=list)
    row: list[int] | None = None
    """The lines of the row that is being read."""
    rows: Rows | None = None
    """Of the table that is being read, the names of its columns first."""
    files: dict[str, bytes] = field(default_factory=dict)

    def add(self, attributes: dict[str, Value], text: Rich) -> None:
        self.blocks.append(_block(attributes, text))
        if len(self.blocks) > BLOCKS_MAX:
            raise TooLargeError(f"a document may have {BLOCKS_MAX} blocks, this one has more")

    def read(self, tokens: list[Token]) -> None:
        for token in tokens:
            match token.type:
                case "table_open":
                    self.rows = []
                case "tr_open" if self.rows is not None:
                    self.rows.append([])
                    self.row = token.map
                case "inline" if self.rows is not None:
                    self.rows[-1].append(read_cell(token.content, self.env))
                case "tr_close" if self.rows is not None:
                    self.beyond(self.rows)
                case "table_close" if self.rows is not None:
                    self.blocks += [_block(*made) for made in tables_of(self.rows)]
                    self.rows = None
                    self.item = False
                case "bullet_list_open" | "ordered_list_open":
                    if self.item:  # an item that begins with a list has no words of its own
                        self.text("")
                    self.lists.append("bullet" if token.type[0] == "b" else "numbered")
                case "bullet_list_close" | "ordered_list_close":
                    self.lists.pop()
                case "list_item_open":
                    self.item = True
                case "list_item_close":
                    if self.item:
                        self.text("")
                case "blockquote_open":
                    self.quotes += 1
                case "blockquote_close":
                    self.quotes -= 1
                case "heading_open":
                    self.heading = int(token.tag[1])
                case "inline":
                    self.text(token.content)
                case "fence" | "code_block":
                    self.code(token)
                case "html_block" if token.content.strip() != SEPARATOR:
                    source = " ".join(token.content.rstrip("\n").split("\n"))
                    self.add(self.attributes(), rich(source))
                case "hr":
                    self.add({"type": "divider"}, ())

    def text(self, content: str) -> None:
        attributes = self.attributes()
        image = read_image(content, self.env)
        if image is not None and attributes["type"] == "paragraph":
            self.image(image)
            return
        task = TASK.match(content)
        if task and attributes["type"] == "bullet":
            attributes |= {"type": "todo", "checked": task[1] != " "}
            content = content[task.end() :]
        self.add(attributes, read_inline(unescape(check_length(content)), self.env))

    def beyond(self, rows: Rows) -> None:
        """The cells of the last row that the header has no columns for."""
        if self.row is None or len(rows) < 2:
            return
        line = self.source[self.row[0]]
        rows[-1] += [read_cell(cell, self.env) for cell in cells_beyond(line, len(rows[0]))]

    def image(self, image: Image) -> None:
        attributes: dict[str, Value] = {"type": "image", "picture": image.picture}
        if image.alt:
            attributes["alt"] = image.alt
        if image.file is not None:
            self.files[image.picture] = image.file
        self.add(attributes, read_inline(unescape(image.caption), self.env))

    def attributes(self) -> dict[str, Value]:
        """Those of the block that comes now."""
        attributes: dict[str, Value] = {"type": "paragraph"}
        if self.item and self.lists:
            self.item = False
            attributes = {"type": self.lists[-1], "depth": min(len(self.lists) - 1, DEPTH_MAX)}
        elif self.heading:
            attributes = {"type": "heading", "level": self.heading}
        elif self.quotes:
            attributes = {"type": "quote"}
        self.heading = 0
        return attributes

    def code(self, token: Token) -> None:
        attributes: dict[str, Value] = {"type": "code"}
        words = token.info.split()
        if words and len(words[0]) <= 40:
            attributes["language"] = words[0]
        self.item = False
        self.add(attributes, rich(token.content.removesuffix("\n")))


def _block(attributes: dict[str, Value], text: Rich) -> NewBlock:
    return tuple(sorted(attributes.items())), text


def import_markdown(source: str, title: str = "") -> Imported:
    """The blocks of a Markdown text.

    A heading of level 1 at the very beginning is the title, unless one is given; without either
    the title is `Untitled`. TooLargeError for what no document can hold, TooComplexError.
    """
    source = source.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "\ufffd")
    reader = _Reader(source=source.split("\n"))
    reader.read(parse_blocks(source, reader.env))
    blocks = reader.blocks
    if blocks and dict(blocks[0][0]).get("level") == 1:
        first = " ".join(plain(blocks[0][1]).split())
        if first and title in ("", first):
            title, blocks = first, blocks[1:]
    return Imported(clean_title(title), blocks, reader.files)


def clean_title(title: str) -> str:
    """One line of 1 to TITLE_MAX characters."""
    return " ".join(title.split())[:TITLE_MAX].strip() or "Untitled"


def export_markdown(title: str, blocks: list[NewBlock]) -> str:
    """The document as Markdown, its title as the first heading."""
    return "\n".join(["# " + escape(write_inline(rich(title))), *_lines(blocks)]) + "\n"


def _lines(blocks: list[NewBlock]) -> Iterator[str]:
    """The lines of all blocks; neighbours of one list or quote without an empty line."""
    margins: list[int] = []
    previous = ""
    marker = ""
    for given, content in blocks:
        attributes = dict(given)
        kind = str(attributes.get("type", "paragraph"))
        if kind not in LIST_KINDS:
            yield ""
            if kind == "quote" and previous == "quote":
                # Two quotes in a row would be one: an empty comment keeps them apart.
                yield SEPARATOR
                yield ""
            margins = []
            yield from _plain(kind, attributes, content)
        else:
            depth = min(int(str(attributes.get("depth") or 0)), len(margins))
            if previous not in LIST_KINDS:
                yield ""
            margin = sum(margins[:depth])
            marker = _marker(kind, attributes)
            body = _broken(content)
            yield (" " * margin + marker + body[0]).rstrip()
            inner = margin + (3 if kind == "numbered" else 2)
            yield from (" " * inner + line for line in body[1:])
            margins = [*margins[:depth], inner - margin]
        previous = kind


def _marker(kind: str, attributes: dict[str, Value]) -> str:
    if kind == "todo":
        return "- [x] " if attributes.get("checked") else "- [ ] "
    return "1. " if kind == "numbered" else "- "


def _plain(kind: str, attributes: dict[str, Value], content: Rich) -> list[str]:
    """The lines of a block that is no list item."""
    match kind:
        case "heading":
            level = int(str(attributes.get("level") or 1))
            line = " ".join(escape(write_inline(content)).split("\n"))
            return [("#" * level + " " + line).rstrip()]
        case "quote":
            return [("> " + line).rstrip() for line in _broken(content)]
        case "divider":
            return ["---"]
        case "table":
            return table_lines(content, attributes.get("header") is not False)
        case "image":
            image = [write_image(attributes)]
            return [*image, *_broken(content)] if content else image
        case "code":
            text = plain(content)
            runs = [len(run) for run in re.findall(r"`+", text)]
            fence = "`" * max([3, *(run + 1 for run in runs)])
            return [fence + str(attributes.get("language") or ""), *text.split("\n"), fence]
        case _:
            return _broken(content)


def _broken(content: Rich) -> list[str]:
    """The lines of a text, none of which begins a block."""
    return escape(broken(write_inline(content))).split("\n")


def starts_block(line: str) -> bool:
    """Whether a line would begin a block, or is escaped from it.

    Of a picture's line each part is looked at once, which no one pattern does.
    """
    if STARTS_BLOCK.match(line):
        return True
    start, end = STARTS_IMAGE.match(line), line.rstrip(" \\")
    if start is None or not end.endswith(")"):
        return False
    before = end.rfind(")", start.end(), len(end) - 1) + 1 or start.end()
    hashed = end.rfind("](pictures/", before)
    if hashed >= 0 and HASHED.fullmatch(end[hashed:-1]):
        return True
    return end.find("](data:image/", before) >= 0


def escape(text: str) -> str:
    """The text with a backslash before every line that would begin a block."""
    return "\n".join("\\" + line if starts_block(line) else line for line in text.split("\n"))


def unescape(text: str) -> str:
    """Take off the backslashes that `escape` has put on."""
    return "\n".join(
        line[1:] if line.startswith("\\") and starts_block(line[1:]) else line
        for line in text.split("\n")
    )
