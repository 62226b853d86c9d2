"""Which web pages may use a node (docs/threats.md, T9).

A browser says in `Origin` whose page asks. It must be the very host that was asked, and that host
must be one that cannot be pointed here from outside: an IP address or `localhost`. Or it is one
that was named. What is no browser sends no Origin; it is let in from this machine only.
"""

from __future__ import annotations

from collections.abc import Container
from ipaddress import ip_address
from urllib.parse import urlsplit


def origin_allowed(
    origin: str | None, host: str | None, client: str | None, named: Container[str]
) -> bool:
    """Whether a request may come from where this one comes from.

    `origin` and `host` are its headers, `client` the address that it comes from, `named` the
    origins that are allowed anyway.
    """
    if origin is None:
        return client is not None and is_loopback(client)
    if origin in named:
        return True
    parts = urlsplit(origin)
    if parts.scheme not in ("http", "https") or parts.netloc != host:
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
