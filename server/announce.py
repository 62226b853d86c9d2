"""What a new cluster begins with: the sample workspace, imported once, and the owner's link."""

from __future__ import annotations

from pathlib import Path

import aiohttp

from server.errors import ServerError

MARKER = "sample-imported"
"""File in the data folder that says that the import is done."""

FILES = ("README.md", "CONTRIBUTING.md", "groupcore/PROTOCOL.md")


def sample_files(root: Path) -> list[Path]:
    """The Markdown files that make the sample workspace."""
    named = [root / name for name in FILES]
    return [path for path in [*named, *sorted((root / "docs").rglob("*.md"))] if path.is_file()]


async def owner_link(admin: str) -> str:
    """The link of the first owner, anew; empty where there are owners, or no accounts."""
    timeout = aiohttp.ClientTimeout(total=30)
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout) as session,
            session.post(f"{admin}/admin/owner-link") as answer,
        ):
            if answer.status in (404, 405, 409):
                return ""
            if answer.status != 201:
                raise ServerError(f"no link for the first owner: {await answer.text()}")
            return str((await answer.json())["url"])
    except (aiohttp.ClientError, TimeoutError) as error:
        raise ServerError(f"no link for the first owner: {error!r}") from None


async def announce(admin: str, root: Path, data: Path) -> int:
    """Import what has not been imported, by a management address; how many documents that were.

    Each file has an Idempotency-Key, so an import that was broken off can be done again.
    """
    marker = data / MARKER
    if marker.exists():
        return 0
    count = 0
    timeout = aiohttp.ClientTimeout(total=60)
    async with aiohttp.ClientSession(timeout=timeout) as session:
        for path in sample_files(root):
            name = path.relative_to(root).as_posix()
            headers = {"Content-Type": "text/markdown", "Idempotency-Key": f"sample:{name}"}
            address = f"{admin}/admin/documents/import"
            try:
                async with session.post(address, data=path.read_bytes(), headers=headers) as answer:
                    if answer.status != 201:
                        raise ServerError(f"{name} cannot be imported: {await answer.text()}")
            except (aiohttp.ClientError, TimeoutError) as error:
                raise ServerError(f"{name} cannot be imported: {error!r}") from None
            count += 1
    marker.write_text("see README.md\n", encoding="utf-8")
    return count
