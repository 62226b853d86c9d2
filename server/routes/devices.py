"""The browsers that an account's person has signed in with: each keeps a mark of the account.

Idea. A mark is drawn at a sign-in and signed with a key that the nodes share. It lets nobody in: it
says that the browser is known, so that its tries are counted by themselves, and what strangers try
does not keep the person out (`server.accounts.guard`). The cookie has marks of a few accounts, and
says nothing of which: only who names the account can check one.

Source. OWASP, "Slow down online guessing attacks with device cookies".
"""

from __future__ import annotations

import re
import secrets
import time

from starlette.requests import Request
from starlette.responses import Response

from server.accounts.accounts import Accounts
from server.accounts.secrets import equal
from server.routes.auth import COOKIE, Gatehouse

DAYS = 180
DAY_S = 24 * 3600
MARKS_MAX = 5
"""Accounts of one browser; the one that has signed in longest ago makes room."""
MARK = re.compile(r"[0-9a-f]{1,8}-[0-9a-f]{16}")
VALUE_MAX = 1_000
BETWEEN, SIGNED = "~", "."


class Devices:
    """The cookie, at one node."""

    def __init__(self, gate: Gatehouse) -> None:
        self._gate = gate

    @property
    def cookie(self) -> str:
        """Its name; AccountError where none can be given safely."""
        return f"{self._gate.cookie}-device"

    @property
    def _accounts(self) -> Accounts:
        return self._gate.service.accounts

    def mark(self, request: Request, user: str) -> str:
        """The mark by which this browser is known to the account; empty where it is not."""
        for mark, code in self._kept(request):
            if self._is_good(user, mark, code):
                return mark
        return ""

    def _kept(self, request: Request) -> list[tuple[str, str]]:
        value = request.cookies.get(self.cookie, "")
        parts = value.split(BETWEEN)[:MARKS_MAX] if len(value) <= VALUE_MAX else []
        pairs = [one.partition(SIGNED) for one in parts]
        return [(mark, code) for mark, _, code in pairs if MARK.fullmatch(mark)]

    def _is_good(self, user: str, mark: str, code: str) -> bool:
        day = int(mark.partition("-")[0], 16)
        wanted = self._accounts.device_code(user, mark)
        return bool(wanted) and 0 <= _today() - day <= DAYS and equal(code, wanted)

    def keep(self, request: Request, response: Response, user: str) -> None:
        """The person has signed in here: a new mark, behind which no try has failed."""
        mark = f"{_today():x}-{secrets.token_hex(8)}"
        code = self._accounts.device_code(user, mark)
        if not code:
            return
        rest = [one for one in self._kept(request) if not self._is_good(user, *one)]
        kept = [(mark, code), *rest][:MARKS_MAX]
        response.set_cookie(
            self.cookie,
            BETWEEN.join(SIGNED.join(one) for one in kept),
            max_age=DAYS * DAY_S,
            path="/",
            secure=self._gate.cookie == COOKIE,
            httponly=True,
            samesite="lax",
        )


def _today() -> int:
    return int(time.time()) // DAY_S
