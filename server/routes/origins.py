"""Which web pages may use this node: those of its own host, and those that settings name.

The public URL of a node of this cluster is one of them, as a page goes to another node when its
own is gone. `groupcore.origins` has the rule.
"""

from __future__ import annotations

from collections.abc import Container

from starlette.requests import HTTPConnection

from groupcore import origins


def origin_allowed(connection: HTTPConnection, named: Container[str]) -> bool:
    """Whether a session or a write may come from where this one comes from."""
    headers, client = connection.headers, connection.client
    host = None if client is None else client.host
    return origins.origin_allowed(headers.get("origin"), headers.get("host"), host, named)
