"""Real nodes whose folders are sealed: what their disks show while they run, and when killed."""

from __future__ import annotations

from pathlib import Path

import aiohttp

from server.main import main
from tests.end_to_end.cluster import LIMIT_S, NAMES, eventually, running_cluster
from tests.groupcore.aio.key_files import FORMER, bytes_below, key_file
from tests.management import credentials

TEXT = "what nobody but these people may read"
LONG = "\n\n".join([f"{TEXT} " * 200] * 8)


def shown(folder: Path) -> dict[str, int]:
    """How often the files of each node show the text, in each of its folders."""
    return {name: bytes_below(folder / name).count(TEXT.encode()) for name in NAMES}


async def test_running_and_killed_nodes_show_nothing_and_go_on(tmp_path: Path) -> None:
    key = key_file(tmp_path, FORMER)
    async with running_cluster(tmp_path, *NAMES, data_key_file=str(key)) as cluster:
        timeout = aiohttp.ClientTimeout(total=4 * LIMIT_S)
        async with aiohttp.ClientSession(timeout=timeout) as http:
            for number in range(6):
                url = f"{cluster.nodes['b'].url}/api/v1/documents"
                body = {"title": f"{TEXT} {number}", "markdown": LONG}
                async with http.post(url, json=body) as answer:
                    assert answer.status == 201, await answer.text()

            async def has_all() -> bool:
                where = f"{cluster.nodes['c'].admin_url}/metrics"
                return "groupcore_documents 6.0" in (await cluster.get(where))[1]

            await eventually(has_all, "c lists them")
            sizes = [(tmp_path / name / "log.sqlite3-wal").stat().st_size for name in NAMES]
            assert min(sizes) > 0
            assert shown(tmp_path) == dict.fromkeys(NAMES, 0), "while they run"
            where = f"{cluster.nodes['a'].admin_url}/admin/log"
            async with http.get(where, headers=credentials(where)) as answer:
                assert answer.status == 200
                assert TEXT in await answer.text(), "the node's own child finds the key"
        for name in NAMES:
            await cluster.nodes[name].kill()
        assert shown(tmp_path) == dict.fromkeys(NAMES, 0), "killed"
        for name in NAMES:
            assert main(["verify-log", str(tmp_path / name), f"--data-key-file={key}"]) == 0
        await cluster.start(*NAMES)
        await eventually(has_all, "all is there again")
        status = await cluster.status("a")
        assert status["at_rest"]["plain"] == {}
        assert shown(tmp_path) == dict.fromkeys(NAMES, 0), "after a restart"
