"""What a sign-in at an identity provider carries there and back (`oidc`).

It stands apart from the provider: only a node that has one loads what talks to it.
"""

from __future__ import annotations

import base64
import json
from dataclasses import asdict, dataclass
from urllib.parse import urlsplit

from groupcore.origins import is_loopback
from server.accounts.errors import AccountError


def answer_refused(why: str) -> AccountError:
    """What a person is told when the provider's answer is not believed."""
    return AccountError("provider", f"the identity provider's answer was refused: {why}")


@dataclass(frozen=True, slots=True)
class Flow:
    """What a browser keeps while it is at the provider; `link`: the account to be linked."""

    state: str
    nonce: str
    verifier: str
    invitation: str = ""
    link: str = ""

    def packed(self) -> str:
        """For the cookie."""
        return base64.urlsafe_b64encode(json.dumps(asdict(self)).encode()).decode()

    @staticmethod
    def unpacked(text: str) -> Flow:
        """From the cookie; AccountError when it is none of ours."""
        try:
            read = json.loads(base64.urlsafe_b64decode(text.encode()))
            flow = Flow(**read)
            if all(isinstance(one, str) for one in asdict(flow).values()):
                return flow
        except (ValueError, TypeError, RecursionError):
            pass
        raise answer_refused("this browser has not begun here, or too long ago")


@dataclass(frozen=True, slots=True)
class Identity:
    """A person at the provider; `email` empty where the provider has not verified one."""

    subject: str
    email: str
    name: str


def is_safe(url: str) -> bool:
    """Whether what is sent there stays between the two: https, or this very machine."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    local = host == "localhost" or is_loopback(host)
    return parts.scheme == "https" or (parts.scheme == "http" and local)
