"""What a new cluster begins with: the sample workspace, imported once, and the owner's link."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import aiohttp

from groupcore.aio.private import open_file
from server.accounts.people import HOME
from server.building import BUILDING, build
from server.errors import ServerError
from server.management.finding import way_to
from server.management_client import management_session

MARKER = "sample-imported"
"""File in the data folder that says that the import is done."""

FILES = ("README.md", "CONTRIBUTING.md", "groupcore/PROTOCOL.md")
WELCOME = "server/welcome.md"
"""The document that people see first, beside the folders."""
SHELF = "About Groupcore"
"""The folder of all of them, so that they are not among what people write."""


def sample_files(root: Path) -> list[Path]:
    """The Markdown files that make the sample workspace."""
    named = [root / name for name in FILES]
    return [path for path in [*named, *sorted((root / "docs").rglob("*.md"))] if path.is_file()]


async def owner_link(admin: str) -> str:
    """The link of the first owner, anew; empty where there are owners, or no accounts."""
    way = way_to(admin)
    timeout = aiohttp.ClientTimeout(total=30)
    try:
        async with (
            management_session(way, timeout) as session,
            session.post(f"{way.url}/admin/owner-link") as answer,
        ):
            if answer.status in (404, 405, 409):
                return ""
            if answer.status != 201:
                raise ServerError(f"no link for the first owner: {await answer.text()}")
            return str((await answer.json())["url"])
    except (aiohttp.ClientError, TimeoutError) as error:
        raise ServerError(f"no link for the first owner: {error!r}") from None


async def announce(admin: str, root: Path, data: Path) -> int:
    """Import what has not been imported, by a management address; how many documents and places.

    Documents are in a folder, and in it in folders as below `docs`; places are the rooms of a small
    building. Each file and folder has an
    Idempotency-Key, so an import that was broken off can be done again.
    """
    marker = data / MARKER
    if marker.exists():
        return 0
    folders: dict[str, str] = {}
    count = 0
    timeout = aiohttp.ClientTimeout(total=60)
    way = way_to(admin)
    async with management_session(way, timeout, f"{way.url}/admin/") as session:
        shelf = await _folder(session, SHELF)
        for path in sample_files(root):
            name = path.relative_to(root).as_posix()
            part = _part_of(name)
            if part and part not in folders:
                folders[part] = await _folder(session, part.capitalize(), shelf)
            await _import(session, name, path.read_bytes(), folders.get(part, shelf))
            count += 1
        count += await build(session, await _folder(session, BUILDING))
        welcome = root / WELCOME
        if welcome.is_file():  # the last, so that it is the first of what is new
            await _import(session, WELCOME, welcome.read_bytes())
            count += 1
    with open_file(marker, "w") as file:
        file.write("see README.md\n")
    return count


def _part_of(name: str) -> str:
    """The folder below `docs` in which a file is; empty: none."""
    parts = PurePosixPath(name).parts
    return parts[1] if parts[0] == "docs" and len(parts) > 2 else ""


async def _folder(session: aiohttp.ClientSession, name: str, parent: str = "") -> str:
    """Make a folder of the first workspace; its id."""
    body = {"workspace": HOME, "name": name, **({"folder": parent} if parent else {})}
    headers = {"Idempotency-Key": f"sample:{name}/"}
    try:
        async with session.post("folders", json=body, headers=headers) as answer:
            if answer.status != 201:
                raise ServerError(f"no folder {name}: {await answer.text()}")
            return str((await answer.json())["id"])
    except (aiohttp.ClientError, TimeoutError) as error:
        raise ServerError(f"no folder {name}: {error!r}") from None


async def _import(
    session: aiohttp.ClientSession, name: str, source: bytes, folder: str = ""
) -> None:
    headers = {"Content-Type": "text/markdown", "Idempotency-Key": f"sample:{name}"}
    place = {"workspace": HOME, **({"folder": folder} if folder else {})}
    try:
        async with session.post(
            "documents/import", params=place, data=source, headers=headers
        ) as answer:
            if answer.status != 201:
                raise ServerError(f"{name} cannot be imported: {await answer.text()}")
    except (aiohttp.ClientError, TimeoutError) as error:
        raise ServerError(f"{name} cannot be imported: {error!r}") from None
