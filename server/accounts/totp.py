"""Codes by time (RFC 6238): six digits, 30 seconds, SHA-1, as every authenticator has them."""

from __future__ import annotations

import re
import secrets

import pyotp

from server.accounts.errors import AccountError
from server.accounts.factors import RECOVERY_COUNT
from server.accounts.secrets import digest_of, equal

STEP_S = 30
LATE_STEPS = 1
"""So many steps a clock may be off, before and behind."""
SECRET_CHARACTERS = 32
"""160 bits, as RFC 4226 asks for."""
TOTP_SECRET = f"^[A-Z2-7]{{{SECRET_CHARACTERS}}}$"
"""What a key looks like."""
DIGITS = re.compile(r"[0-9]{6}")
ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"
"""Of codes for recovery: nothing that is taken for another sign."""


def new_totp_secret() -> str:
    """What an authenticator is to compute codes from."""
    return pyotp.random_base32(SECRET_CHARACTERS)


def check_totp_secret(secret: str) -> str:
    """A secret that this server may have given; AccountError."""
    if not re.fullmatch(TOTP_SECRET, secret):
        raise AccountError("bad_request", "begin again: this is no key of a second factor")
    return secret


def totp_address(secret: str, email: str) -> str:
    """What an authenticator reads from the picture."""
    return pyotp.TOTP(secret).provisioning_uri(name=email, issuer_name="Groupcore")


def step_of(secret: str, code: str, after: int, now_s: float) -> int:
    """The step behind `after` whose code this is; -1: of none that is near `now_s`."""
    given = tidy(code)
    if not DIGITS.fullmatch(given):
        return -1
    here, found = int(now_s // STEP_S), -1
    for step in range(here - LATE_STEPS, here + LATE_STEPS + 1):
        if equal(pyotp.HOTP(secret).at(step), given) and step > after:
            found = max(found, step)
    return found


def tidy(code: str) -> str:
    """A code as it is compared: people write spaces, dashes and capitals."""
    return re.sub(r"[\s-]", "", code).lower()


def new_recovery_codes() -> list[str]:
    """Codes of 78 bits each, for who has lost the device."""
    drawn = ("".join(secrets.choice(ALPHABET) for _ in range(16)) for _ in range(RECOVERY_COUNT))
    return ["-".join(one[at : at + 4] for at in range(0, 16, 4)) for one in drawn]


def recovery_digest(code: str) -> str:
    """What is kept of one."""
    return digest_of(tidy(code))


def drawn(text: str) -> tuple[int, str]:
    """The text as a QR code: its width, and a path of SVG in that many units, quiet zone in it."""
    import segno  # nodes begin sooner without it

    rows = [list(row) for row in segno.make(text, error="m", micro=False).matrix_iter(border=4)]
    path = "".join(
        f"M{x} {y}h1v1h-1z" for y, row in enumerate(rows) for x, dark in enumerate(row) if dark
    )
    return len(rows), path
