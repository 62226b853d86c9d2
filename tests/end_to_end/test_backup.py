"""A backup of real nodes goes on behind a view from which its node was left out."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path

import aiohttp

from server.backup.archive import Reader
from tests.end_to_end.cluster import LIMIT_S, NAMES, eventually, running_cluster
from tests.management import credentials

DOCUMENTS = 40
TEXT = "\n\n".join(["word " * 1_000] * 4)


async def test_a_backup_survives_the_exclusion_of_its_node(tmp_path: Path) -> None:
    async with running_cluster(tmp_path, *NAMES) as cluster:
        timeout = aiohttp.ClientTimeout(total=4 * LIMIT_S)
        async with aiohttp.ClientSession(timeout=timeout) as http:
            url = f"{cluster.nodes['b'].url}/api/v1/documents"
            for number in range(DOCUMENTS):
                body = {"title": f"Plan {number}", "markdown": TEXT}
                async with http.post(url, json=body) as answer:
                    assert answer.status == 201, await answer.text()

            async def has_all() -> bool:
                where = f"{cluster.nodes['c'].admin_url}/metrics"
                return f"groupcore_documents {DOCUMENTS}.0" in (await cluster.get(where))[1]

            await eventually(has_all, "c lists them")
            assert (await cluster.status("c"))["last_backup_s"] is None
            file = tmp_path / "backup.tar"
            with file.open("wb") as to:
                where = f"{cluster.nodes['c'].admin_url}/admin/backup"
                async with http.get(where, headers=credentials(where)) as answer:
                    assert answer.status == 200
                    to.write(await answer.content.readany())
                    cluster.nodes["c"].signal(signal.SIGSTOP)
                    try:
                        await cluster.view_of("a", "a", "b")
                    finally:
                        cluster.nodes["c"].signal(signal.SIGCONT)
                    async for part in answer.content.iter_any():
                        to.write(part)
        manifest = (await asyncio.to_thread(Reader, file)).manifest
        assert len(manifest.documents) == DOCUMENTS
        assert (await cluster.status("c"))["last_backup_s"] is not None
