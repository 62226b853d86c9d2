"""How a command reaches a node's management address, and what it shows there.

Idea. `--admin` says where; what is shown is said by options, or else found: of a node of this user
on this machine the token is in its folder, which its record names (`server.management.runtime`).
Who finds nothing asks all the same, and the node says what it wants.

Invariants.
  F1  A token goes to another machine by TLS alone.
  F2  A token that was found goes to the very address that its node listens on: `localhost` is one
      of two, and anybody may listen on the other.
"""

from __future__ import annotations

import ssl
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

from groupcore.origins import is_loopback
from server.errors import SettingsProblem
from server.management.local import socket_of
from server.management.own_token import read_token, token_of
from server.management.runtime import told

UNIX = "unix:"
LOCALHOST = ("127.0.0.1", "[::1]")


@dataclass(frozen=True, slots=True)
class Shown:
    """What a command was told to show: files, None for what was left out."""

    token_file: Path | None = None
    ca: Path | None = None
    cert: Path | None = None
    cert_key: Path | None = None


@dataclass(frozen=True, slots=True)
class Way:
    """`url` without a slash at its end; `socket`: by this Unix socket; `token`: empty: none."""

    url: str
    socket: Path | None = None
    token: str = ""
    tls: ssl.SSLContext | None = None

    @property
    def headers(self) -> dict[str, str]:
        """What each request carries."""
        return {"Authorization": f"Bearer {self.token}"} if self.token else {}

    @property
    def text(self) -> str:
        """Where it leads, for people."""
        return self.url if self.socket is None else f"{UNIX}{self.socket}"


def way_to(admin: str, shown: Shown | None = None) -> Way:
    """The way to the node that `--admin` says; SettingsProblem names the option that is wrong."""
    given = shown or Shown()
    token = "" if given.token_file is None else _token_of(given.token_file)
    if admin.startswith(UNIX):
        return Way("http://localhost", _socket(Path(admin.removeprefix(UNIX))), token)
    way = Way(_checked(admin), token=token)
    if way.url.startswith("https:"):
        way = replace(way, tls=_tls_of(given))
    elif given.ca or given.cert:
        raise SettingsProblem(f"--admin {admin}: certificates need https")
    elif token and not _is_here(way.url):
        raise SettingsProblem(f"--admin {admin}: a token goes to another machine by https only")
    return way if token or given.cert else _found(way)


def _socket(path: Path) -> Path:
    """The path of a socket, or of the one that the node with this folder has."""
    if not path.is_dir():
        return path
    try:
        found = socket_of(path)
    except OSError as error:
        raise SettingsProblem(f"--admin {UNIX}{path}: {error.strerror}") from None
    if found is None:
        raise SettingsProblem(f"--admin {UNIX}{path}: no node runs there, or none with a socket")
    return found


def _checked(admin: str) -> str:
    """The address with its scheme; http where none was said."""
    url = (admin if "://" in admin else f"http://{admin}").rstrip("/")
    try:
        parts = urlsplit(url)
        is_one = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        is_one = False
    if not is_one or "@" in parts.netloc:
        example = "http://127.0.0.1:9000, or unix: and the node's --data folder"
        raise SettingsProblem(f"--admin {admin!r} is no address; write for example {example}")
    return url


def _is_here(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    return host == "localhost" or is_loopback(host)


def _found(way: Way) -> Way:
    """With the token of the node of this user that listens there, if there is one."""
    parts = urlsplit(way.url)
    if parts.scheme == "http" and not _is_here(way.url):
        return way  # F1
    port = parts.port or (443 if parts.scheme == "https" else 80)
    host = parts.hostname or ""
    is_localhost = host == "localhost"
    named = f"[{host}]" if ":" in host else host
    for one in LOCALHOST if is_localhost else (named,):
        for record in told(f"{one}:{port}"):
            if token := token_of(record):
                url = f"{parts.scheme}://{one}:{port}" if is_localhost else way.url  # F2
                return replace(way, url=url, token=token)
    return way


def _token_of(path: Path) -> str:
    try:
        return read_token(path)
    except (OSError, ValueError) as error:
        raise SettingsProblem(f"--token-file {path} cannot be read: {error}") from None


def _tls_of(given: Shown) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=given.ca)
    except OSError as error:
        raise SettingsProblem(f"--ca {given.ca} cannot be read: {error}") from None
    if given.cert is None:
        return context
    try:
        context.load_cert_chain(given.cert, given.cert_key)
    except OSError as error:
        raise SettingsProblem(f"--cert {given.cert} cannot be used: {error}") from None
    return context
