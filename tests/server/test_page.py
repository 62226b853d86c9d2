"""The page on the wire: packed, kept as long as it may be, and shown where nothing is."""

from __future__ import annotations

import gzip
from pathlib import Path

import aiohttp
import pytest
from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response

from server.routes.asks import Ask, Row
from server.routes.packed import packed, packing_of
from tests.server.support import Cluster

CODE = b"let x;" * 400
INDEX = "<title>Groupcore</title>"
HTML = {"Accept": "text/html,*/*;q=0.8"}


def lay(folder: Path) -> Path:
    """A built page: one file with its packed ones."""
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text(INDEX)
    file = folder / "assets" / "main-AbCd_12-.js"
    file.write_bytes(CODE)
    file.with_name(file.name + ".gz").write_bytes(gzip.compress(CODE))
    file.with_name(file.name + ".br").write_bytes(b"brotli")
    (folder / "assets" / "plain.js").write_bytes(b"1")
    return folder


async def test_the_pages_files_go_out_as_small_as_who_asks_can_read_them(
    cluster: Cluster, tmp_path: Path
) -> None:
    node = await cluster.start("a", page=str(lay(tmp_path / "page")))
    url = f"{node.url}/assets/main-AbCd_12-.js"
    tags = set()
    async with aiohttp.ClientSession(auto_decompress=False) as http:
        for accepted, packing in (("gzip, br", "br"), ("gzip", "gzip"), ("br;q=0", "")):
            async with http.get(url, headers={"Accept-Encoding": accepted}) as answer:
                assert answer.status == 200
                assert answer.headers.get("Content-Encoding", "") == packing
                assert answer.headers["Vary"] == "Accept-Encoding"
                assert answer.content_type == "text/javascript"
                kept = answer.headers["Cache-Control"]
                assert kept == "public, max-age=31536000, immutable"
                body = await answer.read()
                tags.add(answer.headers["ETag"])
            size = {"br": 6, "gzip": len(gzip.compress(CODE)), "": len(CODE)}[packing]
            assert len(body) == size
        assert len(tags) == 3
        same = {"Accept-Encoding": "gzip", "If-None-Match": ", ".join(tags)}
        async with http.get(url, headers=same) as answer:
            assert answer.status == 304
        for path in ("/", "/assets/plain.js"):
            async with http.get(node.url + path) as answer:
                assert answer.headers["Cache-Control"] == "no-cache"
                assert "Content-Encoding" not in answer.headers


async def test_the_worker_lies_at_the_top_and_is_asked_for_anew_and_the_policy_lets_it_in(
    cluster: Cluster, tmp_path: Path
) -> None:
    folder = lay(tmp_path / "page")
    node = await cluster.start("a", page=str(folder))
    async with aiohttp.ClientSession() as http:
        async with http.get(f"{node.url}/worker.js") as answer:
            assert answer.status == 404
        (folder / "worker.js").write_text("1")
        async with http.get(f"{node.url}/worker.js") as answer:
            assert (answer.status, answer.content_type) == (200, "text/javascript")
            assert answer.headers["Cache-Control"] == "no-cache"
            policy = answer.headers["Content-Security-Policy"].split("; ")
    assert "worker-src 'self'" in policy
    assert any(one.startswith("trusted-types") and "groupcore-worker" in one for one in policy)


async def test_a_person_at_an_unknown_address_is_shown_the_page_and_a_program_is_told(
    cluster: Cluster, tmp_path: Path
) -> None:
    node = await cluster.start("a", page=str(lay(tmp_path / "page")))
    async with aiohttp.ClientSession(headers=HTML) as http:
        async with http.get(f"{node.url}/nothing/at/all") as answer:
            assert (answer.status, await answer.text()) == (404, INDEX)
            assert answer.content_type == "text/html"
        for path in ("/api/v1/nothing", "/assets/nothing.js"):
            async with http.get(node.url + path) as answer:
                assert (answer.status, answer.content_type) == (404, "application/problem+json")
        async with http.post(f"{node.url}/nothing") as answer:
            assert (answer.status, answer.content_type) == (404, "application/problem+json")
        async with http.get(f"{node.url}/nothing", headers={"Accept": "*/*"}) as answer:
            assert (answer.status, answer.content_type) == (404, "application/problem+json")


@pytest.mark.parametrize(
    ("accepted", "packing"),
    [
        ("gzip, deflate, br", "br"),
        ("GZIP;q=0.5", "gzip"),
        ("br;q=0, *", "gzip"),
        ("br;q=0.0, gzip; q=0", ""),
        ("identity", ""),
        ("", ""),
    ],
)
def test_a_packing_is_one_that_who_asks_can_read(accepted: str, packing: str) -> None:
    assert packing_of(Headers({"accept-encoding": accepted}), ("br", "gzip")) == packing


async def test_only_long_texts_are_packed() -> None:
    reads = Headers({"accept-encoding": "gzip"})
    long = await packed(JSONResponse(["word"] * 1000), reads)
    assert gzip.decompress(bytes(long.body)) == JSONResponse(["word"] * 1000).body
    assert long.headers["content-length"] == str(len(long.body))
    for other in (JSONResponse(["word"]), Response(bytes(5000), media_type="image/png")):
        assert "content-encoding" not in (await packed(other, reads)).headers


def test_what_holds_a_secret_or_says_again_what_it_was_asked_is_not_packed() -> None:
    async def answer(_: Ask) -> Response:
        return Response()

    def may(method: str, scope: str) -> bool:
        return Row(method, "/x", answer, scope, "").may_be_packed

    assert may("GET", "documents:read")
    assert may("GET", "accounts:read")
    assert not may("POST", "documents:read")
    assert not any(may("GET", scope) for scope in ("session", "public", "documents:write"))
