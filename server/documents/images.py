"""Pictures in Markdown: `![what it shows](pictures/HASH)`, and what stands below it is the caption.

A picture may also be in the text itself, as a `data:` address: then its file goes in with the
document. Pictures of other places stay what they are in a text: their source.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass

from markdown_it.token import Token

from groupcore.shared.documents.limits import VALUE_MAX
from server.documents.parsing import Env, check_length, parse_text
from server.pictures.naming import hash_of, is_hash

FOLDER = "pictures/"
DATA = re.compile(r"data:image/(?:png|jpeg|gif|webp);base64,([A-Za-z0-9+/=]+)")
ALT_MAX = 1000
SPECIAL = re.compile(r"[\\\[\]`*_<>&!~]")
assert ALT_MAX <= VALUE_MAX


@dataclass(frozen=True, slots=True)
class Image:
    """A picture as Markdown names it; `file` is there where it is in the text itself."""

    picture: str
    alt: str
    caption: str
    file: bytes | None = None


def read_image(source: str, env: Env) -> Image | None:
    """The picture that a paragraph begins with, and what follows it; None where there is none."""
    if not source.startswith("!["):
        return None
    first, _, rest = source.partition("\n")
    line = first.rstrip(" \\")
    if "](data:" not in line:  # a file in the text may be as large as pictures are
        check_length(line)
    children = parse_text(line, env)
    if len(children) != 1 or children[0].type != "image":
        return None
    target = str(children[0].attrGet("src") or "")
    alt = " ".join(alt_of(children[0]).split())[:ALT_MAX]
    name = target.removeprefix(FOLDER)
    if target.startswith(FOLDER) and is_hash(name):
        return Image(name, alt, rest)
    file = file_of(target)
    return None if file is None else Image(hash_of(file), alt, rest, file)


def alt_of(token: Token) -> str:
    """The words of the description, without signs."""
    return "".join(child.content for child in token.children or [])


def file_of(target: str) -> bytes | None:
    """What a `data:` address holds."""
    found = DATA.fullmatch(target)
    if found is None:
        return None
    try:
        return base64.b64decode(found[1], validate=True)
    except (binascii.Error, ValueError):
        return None


def write_image(attributes: Mapping[str, object]) -> str:
    """The line of a picture."""
    alt = SPECIAL.sub(r"\\\g<0>", str(attributes.get("alt") or ""))
    return f"![{alt}]({FOLDER}{attributes.get('picture')})"
