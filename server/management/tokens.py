"""Tokens of the management address at one node: made, listed, revoked, and known by their digests.

They are in a file of the node's folder, not in the cluster's state: the address has to be of use
when the cluster is not there. Who compares takes as long for a wrong token as for a right one.
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from groupcore.aio.private import make_folder, open_file
from server.accounts.errors import AccountError, missing
from server.accounts.secrets import SECRET_MAX, digest_of, equal, new_secret
from server.errors import DamagedStoreError
from server.management.identity import OWN_FILE, Identity
from server.management.ranks import GIVEN

FILE = "admin-tokens.json"
FORMAT = 1
KIND = "gcm"
"""How a token begins."""
TOKENS_MAX = 100
DAY_S = 24 * 3600.0


@dataclass(frozen=True, slots=True)
class ManagementToken:
    """What is kept of a token; times are Unix time."""

    id: str
    name: str
    rank: str
    digest: str
    created_s: float
    expires_s: float

    def shown(self) -> dict[str, object]:
        """As a list has it: without what it is recognised by."""
        return {name: value for name, value in asdict(self).items() if name != "digest"}


class ManagementTokens:
    """Of the node with this folder. `own`: the digest of the token that is in its file."""

    def __init__(self, folder: Path, now_s: Callable[[], float] = time.time) -> None:
        self.own = ""
        self._path = folder / FILE
        self._now_s = now_s
        self._tokens = _read(self._path)
        self._writing = asyncio.Lock()

    def find(self, secret: str) -> Identity | None:
        """Whose token this is; None: nobody's, or not any more."""
        if not 0 < len(secret) <= SECRET_MAX:
            return None
        digest, now = digest_of(secret), self._now_s()
        found = OWN_FILE if equal(self.own, digest) else None
        for one in self._tokens:
            if equal(one.digest, digest) and one.expires_s > now:
                found = Identity("token", one.name, GIVEN[one.rank])
        return found

    def listed(self) -> list[ManagementToken]:
        """Those that are good, the oldest first."""
        now = self._now_s()
        return [one for one in self._tokens if one.expires_s > now]

    async def make(self, name: str, rank: str, days: int) -> tuple[ManagementToken, str]:
        """A new one, and its secret, which is kept nowhere. AccountError, OSError."""
        async with self._writing:
            living = self.listed()
            if any(one.name == name for one in living):
                raise AccountError("taken", f"there is a token {name}; revoke it first")
            if len(living) >= TOKENS_MAX:
                raise AccountError("too_many", f"a node has at most {TOKENS_MAX} tokens")
            secret, now = new_secret(KIND), self._now_s()
            until_s = now + days * DAY_S
            id = secrets.token_hex(4)
            token = ManagementToken(id, name, rank, digest_of(secret), now, until_s)
            await self._keep([*living, token])
            return token, secret

    async def revoke(self, id: str) -> ManagementToken:
        """It is good no more. AccountError where there is none, OSError."""
        async with self._writing:
            for one in self.listed():
                if one.id == id:
                    await self._keep([other for other in self.listed() if other.id != id])
                    return one
        raise missing("token")

    async def _keep(self, tokens: list[ManagementToken]) -> None:
        """On the disk first: nobody is given a token that the next start does not know."""
        await asyncio.to_thread(_write, self._path, tokens)
        self._tokens = tokens


def _read(path: Path) -> list[ManagementToken]:
    """DamagedStoreError for what is no list of tokens."""
    remedy = "remove it, and make the tokens anew"
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if found["format"] != FORMAT:
            raise DamagedStoreError(f"{path} is of another version of this program; {remedy}")
        tokens = [ManagementToken(**one) for one in found["tokens"]]
        if not all(one.rank in GIVEN for one in tokens):
            raise ValueError("a rank that there is not")
    except FileNotFoundError:
        return []
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise DamagedStoreError(f"{path} cannot be read: {error}; {remedy}") from None
    return tokens


def _write(path: Path, tokens: list[ManagementToken]) -> None:
    make_folder(path.parent)
    aside = path.with_suffix(".new")
    with open_file(aside, "w") as file:
        json.dump({"format": FORMAT, "tokens": [asdict(one) for one in tokens]}, file)
        file.flush()
        os.fsync(file.fileno())
    aside.rename(path)
