"""Passwords: argon2id verifiers, made and checked off the loop's thread.

Idea. Whether there is an account or not, one verification is done, so that neither the answer nor
the time it takes tells. A few at once, a bounded number waiting: sign-ins take no memory for more.
"""

from __future__ import annotations

import asyncio
import secrets
from base64 import b64encode
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError
from argon2.low_level import ARGON2_VERSION

from server.accounts.errors import AccountError

T = TypeVar("T")

LENGTH_MIN = 10
LENGTH_MAX = 200
AT_ONCE = 2
"""Verifications at once; each takes `memory_kib`."""
WAITING_MAX = 64
"""With so many waiting, more are refused as busy."""


def check_password(password: str, *known: str) -> str:
    """A password that may be chosen; `known`: what it must not be. AccountError says why not."""
    if not LENGTH_MIN <= len(password) <= LENGTH_MAX:
        raise AccountError(
            "weak_password", f"a password has {LENGTH_MIN} to {LENGTH_MAX} characters"
        )
    folded = password.casefold()
    if len(set(folded)) < 4 or any(len(one) > 3 and one.casefold() in folded for one in known):
        raise AccountError("weak_password", "this password is easily guessed; take another")
    return password


def verifier_of_nobody(hasher: PasswordHasher) -> str:
    """A verifier of these costs that no password is known to fit: its hash is drawn.

    It takes as long to check as any other, and nothing to make: a node begins sooner.
    """
    costs = f"m={hasher.memory_cost},t={hasher.time_cost},p={hasher.parallelism}"
    drawn = (secrets.token_bytes(length) for length in (hasher.salt_len, hasher.hash_len))
    salt, digest = (b64encode(one).decode().rstrip("=") for one in drawn)
    return f"$argon2id$v={ARGON2_VERSION}${costs}${salt}${digest}"


class Passwords:
    """Makes and checks verifiers. The defaults are those of RFC 9106 for little memory."""

    def __init__(self, time_cost: int = 3, memory_kib: int = 65_536, lanes: int = 4) -> None:
        self._hasher = PasswordHasher(time_cost, memory_kib, lanes)
        self._threads = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="passwords")
        self._waiting = 0
        self._of_nobody = verifier_of_nobody(self._hasher)

    async def verifier(self, password: str) -> str:
        """What is kept of a password. AccountError `busy` when too many wait."""
        return await self._run(lambda: self._hasher.hash(password))

    async def fits(self, verifier: str, password: str) -> bool:
        """Whether it is the password; an empty verifier fits none, and takes as long to say so."""
        found = await self._run(lambda: self._verify(verifier or self._of_nobody, password))
        return found and bool(verifier)

    def _verify(self, verifier: str, password: str) -> bool:
        try:
            return self._hasher.verify(verifier, password[:LENGTH_MAX])
        except (Argon2Error, InvalidHashError, UnicodeEncodeError):
            return False

    async def _run(self, work: Callable[[], T]) -> T:
        if self._waiting >= WAITING_MAX:
            raise AccountError("busy", "too many people sign in at once; try again")
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work)
        finally:
            self._waiting -= 1

    def close(self) -> None:
        """Let go of the threads."""
        self._threads.shutdown(wait=False, cancel_futures=True)
