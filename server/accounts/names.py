"""What names, addresses and labels may look like; control characters are in none of them."""

from __future__ import annotations

import re
import unicodedata
from itertools import compress

from server.accounts.errors import AccountError

NAME_MAX = 80
EMAIL_MAX = 254
AGENT_MAX = 160
ORIGIN_MAX = 64
UNSEEN = {"Cc", "Cf", "Zl", "Zp"}
"""Unicode's categories of characters that one does not see."""


def _hidden() -> str:
    """All characters that one does not see, as ranges of a class of a regular expression."""
    codes = (*range(0x20000), *range(0xE0000, 0xE1000))  # there are none elsewhere
    # Every node does this when it begins: what is asked of each character is asked in C.
    categories = map(unicodedata.category, map(chr, codes))
    found: list[list[int]] = []
    for code in compress(codes, map(UNSEEN.__contains__, categories)):
        if found and found[-1][1] == code - 1:
            found[-1][1] = code
        else:
            found.append([code, code])
    return "".join(f"{_escaped(first)}-{_escaped(last)}" for first, last in found)


def _escaped(code: int) -> str:
    return f"\\u{code:04x}" if code <= 0xFFFF else chr(code)


HIDDEN = _hidden()
JOINERS = "\\u200c\\u200d"
"""Persian and Indic scripts are not written right without them, nor are some emoji."""
SPACE = f"[^\\S{HIDDEN}]"
VISIBLE = f"^{SPACE}*(?:[^\\s{HIDDEN}][{JOINERS}]?{SPACE}*)+$"
"""What a name looks like: characters that one sees, each with a joiner after it or not (at the end
of a word, too, as old spellings of Malayalam have it), and spaces between them.
"""
EMAIL = f"^[^@\\s{HIDDEN}]{{1,64}}@[^@\\s{HIDDEN}]{{1,189}}$"
"""What an address looks like."""
_EMAIL = re.compile(EMAIL)
_VISIBLE = re.compile(VISIBLE)
_HAS_HIDDEN = re.compile(f"[{HIDDEN}]")


def _has_control(text: str) -> bool:
    return _HAS_HIDDEN.search(text) is not None or (not text.isprintable() and _is_broken(text))


def _is_broken(text: str) -> bool:
    """Whether it holds half a character."""
    return any("\ud800" <= one <= "\udfff" for one in text)


def check_name(name: str, what: str = "name", most: int = NAME_MAX) -> str:
    """A name as a person writes it, 1 to `most` characters; AccountError."""
    clean = unicodedata.normalize("NFC", name).strip()
    if not 1 <= len(clean) <= most or not _VISIBLE.fullmatch(clean) or _is_broken(clean):
        raise AccountError("bad_request", f"{what} must have 1 to {most} visible characters")
    return clean


def check_email(email: str) -> str:
    """An address of mail, in the one spelling that is compared; AccountError."""
    clean = unicodedata.normalize("NFC", email).strip().casefold()
    if len(clean) > EMAIL_MAX or not _EMAIL.fullmatch(clean) or _has_control(clean):
        raise AccountError("bad_request", "email must look like ann@example.org")
    return clean


def is_address(text: str) -> bool:
    """Whether it is an address of mail in the spelling that is compared."""
    return len(text) <= EMAIL_MAX and _EMAIL.fullmatch(text) is not None


MAILED = set("abcdefghijklmnopqrstuvwxyz0123456789.!#$%&'*+-/=?^_`{|}~")
"""Of ASCII what stands in an address without quotes."""


def is_sendable(address: str) -> bool:
    """Whether the address is one mailbox when it stands in a header, however it is read.

    Accounts may have addresses that a mail program takes for two, or for a comment.
    """
    local, _, domain = address.rpartition("@")
    signs = set(f"{local}{domain}".casefold())
    is_plain = all(one in MAILED or (ord(one) > 127 and one.isalnum()) for one in signs)
    dots = any(
        part.startswith(".") or part.endswith(".") or ".." in part for part in (local, domain)
    )
    return bool(local) and bool(domain) and is_plain and not dots


def shortened(text: str, most: int = AGENT_MAX) -> str:
    """What a stranger calls itself, made short and harmless."""
    return "".join(one for one in text if not _has_control(one))[:most]
