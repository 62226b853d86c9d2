"""What names, addresses and labels may look like; control characters are in none of them."""

from __future__ import annotations

import re
import unicodedata

from server.accounts.errors import AccountError

NAME_MAX = 80
EMAIL_MAX = 254
AGENT_MAX = 160
ORIGIN_MAX = 64
_EMAIL = re.compile(r"[^@\s]{1,64}@[^@\s]{1,189}")


def _has_control(text: str) -> bool:
    return any(unicodedata.category(one) in ("Cc", "Cf", "Cs", "Zl", "Zp") for one in text)


def check_name(name: str, what: str = "name") -> str:
    """A name as a person writes it, 1 to NAME_MAX characters; AccountError."""
    clean = unicodedata.normalize("NFC", name).strip()
    if not 1 <= len(clean) <= NAME_MAX or _has_control(clean):
        raise AccountError("bad_request", f"{what} must have 1 to {NAME_MAX} visible characters")
    return clean


def check_email(email: str) -> str:
    """An address of mail, in the one spelling that is compared; AccountError."""
    clean = unicodedata.normalize("NFC", email).strip().casefold()
    if len(clean) > EMAIL_MAX or not _EMAIL.fullmatch(clean) or _has_control(clean):
        raise AccountError("bad_request", "email must look like ann@example.org")
    return clean


def shortened(text: str, most: int = AGENT_MAX) -> str:
    """What a stranger calls itself, made short and harmless."""
    return "".join(one for one in text if not _has_control(one))[:most]
