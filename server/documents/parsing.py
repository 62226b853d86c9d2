"""The Markdown parsers, set so that what a text costs grows with its length and no faster.

Markdown comes from strangers. The parser of blocks leaves the texts within them alone: what is
made of them is not the parser's but ours (`inline`, `images`), and reads each once. The parser of
texts nests as deep as CommonMark's preset. Tables whose rows are shorter than their header make
cells out of nothing, so these are counted over the whole document.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any, ClassVar

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_block.table import table
from markdown_it.token import Token

from groupcore.objects.refusal import RefusalError, TooLargeError

DEPTH_MAX = 100
"""So deep the parser of blocks goes: a list takes two, an item's text one."""
NESTING_MAX = 20
"""So deep the parser of texts goes: each bracket costs it up to so many looks at what follows."""
TEXT_MAX = 200_000
"""Most characters of Markdown in one paragraph, heading or cell. A block has 48,000 bytes; with
every character escaped and marked it has fewer than these."""
EMPTY_CELLS_MAX = 65_536
"""Most cells of all tables that no text stands for."""
_EMPTY = "empty_cells"

Env = MutableMapping[str, Any]
"""What the parsers know of a document: links that it defines, cells that were counted."""


class TooComplexError(RefusalError):
    """It would take too long, or too much memory, for what it is; make it simpler or divide it."""

    code: ClassVar[str] = "too_complex"


def check_length(source: str) -> str:
    """The Markdown of one text; TooLargeError when no block can hold what comes of it."""
    if len(source) > TEXT_MAX:
        raise TooLargeError(
            f"a paragraph of Markdown may have {TEXT_MAX} characters, one has {len(source)}"
        )
    return source


def parse_blocks(source: str, env: Env) -> list[Token]:
    """The blocks, with the Markdown of their texts; TooComplexError, TooLargeError."""
    tokens = _blocks.parse(source, env)
    if any(token.level >= DEPTH_MAX - 1 for token in tokens):
        raise TooLargeError("the Markdown has lists or quotes in each other more than 40 deep")
    return tokens


def parse_text(source: str, env: Env) -> list[Token]:
    """What a paragraph holds."""
    [token] = _texts.parseInline(source, env)
    return token.children or []


def _counted_table(state: StateBlock, line: int, end: int, silent: bool) -> bool:
    """The parser's table, whose empty cells are counted."""
    before = len(state.tokens)
    found = table(state, line, end, silent)
    if found and not silent:
        made = state.tokens[before:]
        empty = sum(token.type == "inline" and not token.content for token in made)
        total = state.env[_EMPTY] = state.env.get(_EMPTY, 0) + empty
        if total > EMPTY_CELLS_MAX:
            raise TooComplexError(
                f"the tables have more than {EMPTY_CELLS_MAX} empty cells; divide the document"
            )
    return found


_blocks = MarkdownIt("commonmark", {"maxNesting": DEPTH_MAX}).enable("table")
_blocks.disable(["inline", "text_join"])
_blocks.block.ruler.at("table", _counted_table, {"alt": ["paragraph", "reference"]})
_texts = MarkdownIt("commonmark", {"maxNesting": NESTING_MAX}).enable("strikethrough")
