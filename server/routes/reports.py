"""`/reports`: what browsers say of the page's own policy that was broken.

A broken policy is somebody's script in our page, or a bug of ours: either way those who run the
server want to know. Anybody can send such reports, so they cost little, and say little in the log.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

PATH = "/reports"
REPORT_MAX = 16 * 1024
LOGGED_PER_MINUTE = 10
TEXT_MAX = 100

logger = logging.getLogger("server")


class Reports:
    """Counts reports, and logs some of them."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.count = 0
        self._clock = clock
        self._minute = -1
        self._logged = 0

    def routes(self) -> list[Route]:
        """`POST /reports`."""
        return [Route(PATH, self._take, methods=["POST"])]

    async def _take(self, request: Request) -> Response:
        """204 for whatever comes; what is too large is not read to its end."""
        body = bytearray()
        async for part in request.stream():
            body += part
            if len(body) > REPORT_MAX:
                return Response(status_code=413)
        self.take(bytes(body))
        return Response(status_code=204)

    def take(self, body: bytes) -> None:
        """Count a report; log it, unless there are many."""
        self.count += 1
        if self._may_log():
            for line in lines_of(body):
                logger.warning("%s", line)

    def _may_log(self) -> bool:
        minute = int(self._clock() // 60)
        if minute != self._minute:
            self._minute, self._logged = minute, 0
        self._logged += 1
        return self._logged <= LOGGED_PER_MINUTE


def lines_of(body: bytes) -> list[str]:
    """A line for each violation in a report, of either format; none when it is no report."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return []
    reports = found if isinstance(found, list) else [found]
    return [line for report in reports[:LOGGED_PER_MINUTE] if (line := _line(report)) is not None]


def _line(report: object) -> str | None:
    if not isinstance(report, dict):
        return None
    body = report.get("csp-report", report.get("body"))
    if not isinstance(body, dict):
        return None
    directive = body.get("effectiveDirective", body.get("effective-directive"))
    blocked = body.get("blockedURL", body.get("blocked-uri"))
    place = body.get("documentURL", body.get("document-uri"))
    return (
        f"a page broke its policy: {_plain(directive)} by {_address(blocked)} in {_address(place)}"
    )


def _address(value: object) -> str:
    """Without what may be secret in it: queries and what stands behind the #."""
    try:
        parts = urlsplit(str(value))
    except ValueError:
        return "an address that cannot be read"
    host = parts.netloc.rpartition("@")[2]
    return _plain(f"{parts.scheme}://{host}{parts.path}" if host else parts.path or parts.scheme)


def _plain(value: object) -> str:
    """A short text that cannot break the log."""
    return "".join(one if one.isprintable() else "?" for one in str(value)[:TEXT_MAX])
