"""What blocks of a document accept."""

from __future__ import annotations

import re
from collections.abc import Mapping

from groupcore.objects.delta import check_text
from groupcore.objects.parsing import is_identifier
from groupcore.objects.refusal import BadChangeError, TooLargeError
from groupcore.objects.rich_delta import Rich, length
from groupcore.objects.rich_parsing import size_bytes

BLOCK_MAX = 10_000
"""Most code points in one block."""
BLOCK_BYTES_MAX = 48_000
"""Largest text of one block: it has to fit into one message when it is handed over."""
ATTRIBUTES_MAX = 20
VALUE_MAX = 2_000
"""Most characters of an attribute's value."""

HERE = "here"
"""No block's id: under this name a document's people are, beside its blocks."""

_NAME = re.compile(r"[a-z][a-z0-9_.-]{0,31}")


def check_id(block: str) -> None:
    """BadChangeError when this cannot be the id of a block."""
    if not is_identifier(block) or block == HERE:
        raise BadChangeError("a block id must be 1 to 64 characters of A-Za-z0-9_-, and not 'here'")


def check_attributes(attributes: Mapping[str, object]) -> None:
    """BadChangeError and TooLargeError when a block cannot have these."""
    if len(attributes) > ATTRIBUTES_MAX:
        raise TooLargeError(f"a block may have {ATTRIBUTES_MAX} attributes")
    for name, value in attributes.items():
        if _NAME.fullmatch(name) is None:
            raise BadChangeError("an attribute's name must be 1 to 32 characters of a-z0-9_.-")
        if isinstance(value, str):
            check_text(value, VALUE_MAX)


def check_content(content: Rich) -> None:
    """TooLargeError when one block cannot hold this text."""
    if length(content) > BLOCK_MAX:
        raise TooLargeError(f"a block may hold {BLOCK_MAX} code points; split it")
    if size_bytes(content) > BLOCK_BYTES_MAX:
        raise TooLargeError(f"a block may hold {BLOCK_BYTES_MAX} bytes; split it")
