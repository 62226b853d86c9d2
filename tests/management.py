"""What tests show at a management address: what the commands find for it, by the same way."""

from __future__ import annotations

from urllib.parse import urlsplit

from server.management.finding import way_to


def credentials(url: str) -> dict[str, str]:
    """The headers for a request to this address; none for an address that is no node's own.

    None for the public one either: a node that was killed may have had its port for its management.
    """
    parts = urlsplit(url)
    if parts.path.startswith("/api/"):
        return {}
    return way_to(f"{parts.scheme}://{parts.netloc}").headers
