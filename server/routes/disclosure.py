"""Where whoever finds a fault of security reports it: `/.well-known/security.txt`.

Source. RFC 9116.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

PATH: Final = "/.well-known/security.txt"
GOOD_FOR: Final = timedelta(days=180)
"""How long what a node says may be believed; RFC 9116, 2.5.5, recommends less than a year."""


def disclosure_routes(contact: str, url: str) -> list[Route]:
    """`contact`: empty where the operator has named none, then there is no such file.

    `url`: as which browsers know the node.
    """

    async def answer(request: Request) -> Response:
        if not contact:
            raise HTTPException(404)
        return PlainTextResponse(security_text(contact, url, datetime.now(UTC)))

    return [Route(PATH, answer)]


def security_text(contact: str, url: str, now: datetime) -> str:
    """The file; an https address of the node is named as its own, as 2.5.2 asks."""
    expires = (now + GOOD_FOR).strftime("%Y-%m-%dT%H:%M:%SZ")
    lines = [f"Contact: {contact}", f"Expires: {expires}"]
    if url.startswith("https://"):
        lines.append(f"Canonical: {url}{PATH}")
    return "".join(f"{line}\n" for line in lines)
