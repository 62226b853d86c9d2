"""A node's management address, as commands ask it."""

from __future__ import annotations

from io import BytesIO

import aiohttp

from server.errors import ServerError

LIMIT_S = 30.0
Shown = dict[str, object]


class ManagementClient:
    """Asks one node; `absent` is what to say where it knows no such address."""

    def __init__(self, http: aiohttp.ClientSession, url: str, absent: str) -> None:
        self._http = http
        self._url = url.rstrip("/")
        self._absent = absent

    async def ask(self, method: str, path: str, body: object = None) -> Shown:
        """The answer; `body` is JSON, or bytes as they are.

        ServerError with the node's words when it refuses, or when no node is there.
        """
        url = f"{self._url}/admin{path}"
        data, json = (BytesIO(body), None) if isinstance(body, bytes) else (None, body)
        try:
            async with self._http.request(method, url, data=data, json=json) as answer:
                found = {} if answer.status == 204 else await answer.json(content_type=None)
                status = answer.status
        except (aiohttp.ClientError, TimeoutError, ValueError) as error:
            raise ServerError(f"no node answers at {self._url}: {error}; see --admin") from None
        if status == 404 and found.get("detail") == "Not Found":
            raise ServerError(self._absent)
        if status >= 400:
            raise ServerError(str(found.get("detail", status)))
        return dict(found)
