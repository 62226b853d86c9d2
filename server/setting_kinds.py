"""How settings are read: each parser takes a text, and raises ValueError with what is wrong."""

from __future__ import annotations

import re
from collections.abc import Callable
from ipaddress import ip_address
from pathlib import Path

from server.accounts.flow import is_safe
from server.accounts.names import is_sendable
from server.management.listening import NOWHERE

IDENTIFIER = re.compile(r"[A-Za-z0-9_-]{1,64}")


def parse_host_port(text: str) -> str:
    """`HOST:PORT` as it is, ValueError otherwise; port 0 lets the system choose."""
    host, colon, port = text.rpartition(":")
    if not (colon and host and port.isdigit() and int(port) < 65536):
        raise ValueError("is not ADDRESS:PORT; write for example 127.0.0.1:8000")
    return text


def parse_public(text: str) -> str:
    """`HOST:PORT`, or a port alone on 127.0.0.1."""
    return parse_host_port(f"127.0.0.1:{text}" if text.isdigit() else text)


def parse_admin(text: str) -> str:
    """As `parse_public`, or `none`."""
    return text if text == NOWHERE else parse_public(text)


def parse_multicast(text: str) -> str | None:
    """A group address with its port, or `none`."""
    if text == "none":
        return None
    host = parse_host_port(text).rpartition(":")[0]
    first = host.split(".")[0]
    if not (first.isdigit() and 224 <= int(first) <= 239):
        raise ValueError("is not a multicast address; use 224.0.0.0 to 239.255.255.255, or none")
    return text


def parse_identifier(text: str) -> str:
    """1 to 64 characters of the identifier alphabet."""
    if not IDENTIFIER.fullmatch(text):
        raise ValueError("must be 1 to 64 characters of A-Z a-z 0-9 _ -")
    return text


def parse_switch(text: str) -> bool:
    """`on` or `off`."""
    if text not in ("on", "off"):
        raise ValueError("must be on or off")
    return text == "on"


def parse_addresses(text: str) -> tuple[str, ...]:
    """IP addresses between commas."""
    return tuple(str(ip_address(item)) for item in parse_list(text))


def parse_server(text: str) -> str:
    """`HOST:PORT` of a server elsewhere, or empty."""
    if text and int(parse_host_port(text).rpartition(":")[2]) == 0:
        raise ValueError("has no port; write for example mail.example.org:587")
    return text


def parse_tls(text: str) -> str:
    """How a mail server is spoken to."""
    if text not in ("starttls", "tls", "none"):
        raise ValueError("must be starttls, tls or none")
    return text


def parse_sender(text: str) -> str:
    """An address of mail, or empty."""
    if text and not is_sendable(text):
        raise ValueError("is no address of mail; write for example docs@example.org")
    return text


def parse_issuer(text: str) -> str:
    """An https address, or http on this machine, or empty."""
    if text and not is_safe(text):
        raise ValueError("must look like https://id.example.org")
    return text


def between(lowest: int, highest: int) -> Callable[[str], int]:
    """A parser of integers in this closed interval."""

    def parse(text: str) -> int:
        if not re.fullmatch(r"[0-9]{1,12}", text) or not lowest <= int(text) <= highest:
            raise ValueError(f"must be an integer from {lowest} to {highest}")
        return int(text)

    return parse


def parse_list(text: str) -> tuple[str, ...]:
    """Items between commas, without blanks."""
    return tuple(item for item in (part.strip() for part in text.split(",")) if item)


def parse_hosts(text: str) -> tuple[str, ...]:
    """`HOST:PORT` items between commas."""
    return tuple(parse_host_port(item) for item in parse_list(text))


def optional_path(text: str) -> Path | None:
    """A path, or none when empty."""
    return Path(text) if text else None


def parse_contact(text: str) -> str:
    """An address that security.txt can name (RFC 9116, 2.5.3), or empty."""
    if text and not re.fullmatch(
        r"(mailto:[^@\s]+@[^@\s]+|https://[^/\s]+\S*|tel:\+[0-9-]+)", text
    ):
        raise ValueError("must look like mailto:security@example.org, https://… or tel:+…")
    return text


def optional_url(text: str) -> str:
    """An http or https address without a path, or empty."""
    if text and not re.fullmatch(r"https?://[^/\s]+/?", text):
        raise ValueError("must look like https://docs.example.org")
    return text.rstrip("/")
