"""Pictures in Markdown, out and in again; in one file; and what is not to be had."""

from __future__ import annotations

import base64
import zipfile
from io import BytesIO

import aiohttp
import pytest

from groupcore.objects.rich_delta import plain, rich
from server.documents.markdown import export_markdown, import_markdown
from tests.server.pictures.files import made
from tests.server.pictures.test_pictures_http import download, upload
from tests.server.support import Cluster, create, get, post

HASH = "ab" * 32
CASES = [
    ("", ""),
    ("a cat", ""),
    ("a [cat] with `signs` \\ *x* <b>", ""),
    ("", "Our cat"),
    ("a cat", "Our cat\non two lines"),
    ("a cat", "# no heading"),
]


@pytest.mark.parametrize(("alt", "caption"), CASES)
def test_an_image_comes_back_from_markdown_as_it_was(alt: str, caption: str) -> None:
    attributes = {"type": "image", "picture": HASH} | ({"alt": alt} if alt else {})
    before = (("type", "paragraph"),), rich("before")
    block = tuple(sorted(attributes.items())), rich(caption)
    source = export_markdown("Plan", [before, block, before])
    assert f"](pictures/{HASH})" in source
    assert import_markdown(source).blocks == [before, block, before]


@pytest.mark.parametrize(
    "text",
    [
        f"![a cat](pictures/{HASH})",
        f"![a cat](pictures/{HASH})\nand words",
        "![a cat](https://example.org/cat.png)",
        f"words ![a cat](pictures/{HASH})",
    ],
)
def test_a_text_that_looks_like_an_image_stays_a_text(text: str) -> None:
    block = (("type", "paragraph"),), rich(text)
    assert import_markdown(export_markdown("Plan", [block])).blocks == [block]


def test_an_image_of_another_place_is_its_source() -> None:
    [(attributes, text)] = import_markdown("![x](https://example.org/x.png)").blocks
    assert dict(attributes)["type"] == "paragraph"
    assert plain(text) == "![x](https://example.org/x.png)"


async def test_pictures_go_out_in_one_file_and_come_in_with_the_text(cluster: Cluster) -> None:
    node = await cluster.start("a")
    file = made("PNG")
    address = f"data:image/png;base64,{base64.b64encode(file).decode()}"
    doc = await create(node, "Plan", f"first\n\n![a cat]({address})\nOur cat")
    api = f"{node.url}/api/v1/documents"
    _, read = await get(f"{api}/{doc}")
    image = read["blocks"][1]
    assert (image["type"], image["alt"], image["text"]) == ("image", "a cat", "Our cat")
    assert (image["width"], image["height"]) == (40, 30)
    name = image["picture"]
    assert (await download(node, doc, name))[1] == file
    _, source = await get(f"{api}/{doc}/markdown")
    assert f"![a cat](pictures/{name})\nOur cat" in source
    # Into another document by its hash, for who may read the first.
    again = await create(node, "Again", source)
    assert (await download(node, again, name))[1] == file
    async with aiohttp.ClientSession() as http, http.get(f"{api}/{doc}/export.zip") as answer:
        assert answer.content_type == "application/zip"
        with zipfile.ZipFile(BytesIO(await answer.read())) as zipped:
            assert zipped.namelist() == [f"{doc}.md", f"pictures/{name}"]
            assert zipped.read(f"{doc}.md").decode() == source
            assert zipped.read(f"pictures/{name}") == file


async def test_what_is_no_picture_and_what_there_is_not_make_no_image(cluster: Cluster) -> None:
    node = await cluster.start("a")
    api = f"{node.url}/api/v1/documents"
    bad = base64.b64encode(b"no picture at all").decode()
    body = {"title": "Bad", "markdown": f"![x](data:image/png;base64,{bad})"}
    status, problem = await post(api, body)
    assert (status, problem["code"]) == (415, "not_a_picture")
    assert len(node.node.whole_catalogue) == 0
    doc = await create(node, "Plan", f"![a cat](pictures/{HASH})\nOur cat")
    _, read = await get(f"{api}/{doc}")
    assert [(block["type"], block["text"]) for block in read["blocks"]] == [
        ("paragraph", "a cat Our cat")
    ]
    assert (await upload(node, doc, b"x"))[0] == 415
