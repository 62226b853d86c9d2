"""Which web pages may use this node (threat model T9).

A browser says in `Origin` whose page asks. It must be the very host that was asked, and that host
must be one that cannot be pointed here from outside: an IP address or `localhost`. Or it is the
public URL of a node of this cluster (a page goes to another node when its own is gone), or one of
`--origins`. What is no browser sends no Origin; it is let in from this machine only.
"""

from __future__ import annotations

from collections.abc import Collection
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.requests import HTTPConnection

from server.settings import Settings


def origin_allowed(
    connection: HTTPConnection, settings: Settings, public_urls: Collection[str]
) -> bool:
    """Whether a session or a write may come from where this one comes from."""
    origin = connection.headers.get("origin")
    if origin is None:
        return connection.client is not None and is_loopback(connection.client.host)
    if origin in settings.origins or origin in public_urls:
        return True
    parts = urlsplit(origin)
    if parts.scheme not in ("http", "https") or parts.netloc != connection.headers.get("host"):
        return False
    return parts.hostname == "localhost" or is_address(parts.hostname or "")


def is_address(host: str) -> bool:
    """Whether the host is an IP address, not a name."""
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def is_loopback(host: str) -> bool:
    """Whether the address is this machine's own."""
    return is_address(host) and ip_address(host).is_loopback
