"""Folders, the trash and the feed over HTTP: who sees and may what, at one node and at two."""

from __future__ import annotations

from typing import Any

from server.accounts.people import HOME
from server.pictures.register import Kept
from tests.server.accounts.people import Browser, found_home, hire, service
from tests.server.followers import Follower
from tests.server.support import Cluster, eventually

Row = dict[str, Any]


async def files(browser: Browser) -> Row:
    status, found = await browser.ask("GET", "/files")
    assert status == 200, found
    return dict(found)


async def row(browser: Browser, doc: str) -> Row | None:
    rows = (await files(browser))["documents"]
    return next((one for one in rows if one["id"] == doc), None)


async def make_folder(browser: Browser, name: str, parent: str = "") -> str:
    body = {"workspace": HOME, "name": name, **({"folder": parent} if parent else {})}
    status, made = await browser.ask("POST", "/folders", body)
    assert status == 201, made
    return str(made["id"])


async def act(browser: Browser, what: str, *items: str, **place: str) -> tuple[int, Any]:
    return await browser.ask("POST", f"/files/{what}", {"items": list(items), **place})


async def test_a_long_list_is_packed_for_who_reads_that(ann: Browser) -> None:
    for number in range(12):
        await make_folder(ann, f"Tours {number}")
    url = f"{ann.node.url}/api/v1/files"
    async with ann.http.get(url) as answer:
        assert answer.headers["Content-Encoding"] == "gzip"
        assert answer.headers["Vary"] == "Accept-Encoding"
        packed = await answer.json()
    async with ann.http.get(url, headers={"Accept-Encoding": "gzip;q=0, br"}) as answer:
        assert "Content-Encoding" not in answer.headers
        assert answer.headers["Vary"] == "Accept-Encoding"
        assert await answer.json() == packed


async def test_a_document_goes_through_folders_and_the_trash(ann: Browser) -> None:
    tours = await make_folder(ann, "Tours")
    spring = await make_folder(ann, "Spring", tours)
    body = {"title": "Plan", "markdown": "**one**\n\ntwo", "folder": spring}
    status, made = await ann.ask("POST", "/documents", body, Idempotency_Key="k")
    assert status == 201
    doc = made["id"]
    found = await row(ann, doc)
    assert found is not None
    assert (found["workspace"], found["folder"], found["by"]) == (HOME, spring, "Ann")
    _, place = await ann.ask("GET", f"/documents/{doc}/place")
    assert [one["name"] for one in place["path"]] == ["Tours", "Spring"]
    assert (place["role"], place["trashed"], place["workspace"]["name"]) == ("owner", None, "Home")

    assert (await act(ann, "move", tours, workspace=HOME, folder=spring))[1]["code"] == "cycle"
    assert (await act(ann, "move", doc, workspace=HOME))[0] == 204
    assert (await act(ann, "trash", doc, tours))[0] == 204
    found = await row(ann, doc)
    assert found is not None
    assert found["trashed"]["own"]
    _, place = await ann.ask("GET", f"/documents/{doc}/place")
    assert (place["role"], place["trashed"]["by"]) == ("viewer", "Ann")
    assert (await ann.ask("GET", "/documents"))[1] == {"documents": []}
    assert (await ann.ask("PATCH", f"/documents/{doc}", {"title": "New"}))[1]["code"] == "trashed"
    assert (await act(ann, "restore", doc))[0] == 204
    assert (await ann.ask("PATCH", f"/documents/{doc}", {"title": "New"}))[0] == 200

    assert (await act(ann, "delete", doc))[0] == 404
    await act(ann, "trash", doc)
    assert (await act(ann, "delete", doc)) == (200, {"documents": 1})
    accounts = service(ann.node).accounts
    await eventually(lambda: not accounts.doomed, "the document is wiped")
    assert doc not in ann.node.node.whole_catalogue
    assert (await ann.ask("GET", f"/documents/{doc}"))[0] == 404
    status, problem = await ann.ask("POST", "/documents", body, Idempotency_Key="k")
    assert (status, problem["code"]) == (409, "trashed")


async def test_a_duplicate_has_everything_and_is_beside_the_other(ann: Browser) -> None:
    tours = await make_folder(ann, "Tours")
    body = {"title": "Plan", "markdown": "# A\n\n- [x] **one**\n\n```py\nx\n```\n", "folder": tours}
    doc = (await ann.ask("POST", "/documents", body))[1]["id"]
    for key in ("again", "again"):
        status, made = await ann.ask("POST", f"/documents/{doc}/duplicate", {}, Idempotency_Key=key)
        assert status == 201
    _, old = await ann.ask("GET", f"/documents/{doc}")
    _, new = await ann.ask("GET", f"/documents/{made['id']}")
    assert new["title"] == "Copy of Plan"
    shown = [{**block, "id": ""} for block in new["blocks"]]
    assert shown == [{**block, "id": ""} for block in old["blocks"]]
    rows = (await files(ann))["documents"]
    assert [one["folder"] for one in rows] == [tours, tours]


async def test_a_duplicate_shows_the_pictures_of_the_other(ann: Browser) -> None:
    doc, picture = await ann.create(), "a" * 64
    pictures = ann.node.node.pictures
    await pictures.register.put(doc, picture, Kept("image/png", 1, 1, 70), 1 << 20)
    async with await ann.page() as page:
        await page.open("DocumentOutline", f"doc/{doc}")
        block = ["i1", [["picture", picture], ["type", "image"]], []]
        answer = await page.call(f"doc/{doc}", "insert", "b1", [block])
        assert answer["t"] == "result", answer
    _, made = await ann.ask("POST", f"/documents/{doc}/duplicate", {})
    assert pictures.register.of(made["id"], picture) is not None


async def test_what_one_may_not_see_is_in_no_answer_and_not_told(
    cluster: Cluster, ann: Browser
) -> None:
    await hire(ann, "bob")
    await hire(ann, "out", "")
    async with Browser(ann.node) as bob, Browser(ann.node) as out:
        await bob.sign_in("bob@example.org")
        await out.sign_in("out@example.org")
        hidden = Follower(ann.node.url, await out.ticket())
        async with Follower(ann.node.url, await bob.ticket()) as seen, hidden:
            await seen.begun()
            await hidden.begun()
            tours = await make_folder(ann, "Tours")
            doc = await ann.create("Plan")
            told = await seen.hear(lambda one: any(o["id"] == doc for o in one["documents"]))
            assert told["documents"][0]["title"] == "Plan"
            assert await row(out, doc) is None
            assert (await act(out, "trash", doc))[0] == 404
            assert (await act(out, "move", doc, workspace=HOME))[0] == 404
            assert (await out.ask("GET", f"/documents/{doc}/place"))[0] == 404
            assert (await out.ask("PUT", f"/me/favourites/{doc}", {}))[0] == 404
            body = {"email": "out@example.org", "role": "viewer"}
            assert (await ann.ask("POST", f"/documents/{doc}/members", body))[0] == 201
            told = await hidden.hear(lambda one: bool(one.get("documents")))
            assert told["folders"] == []
            shared = told["documents"][0]
            assert (shared["workspace"], shared["folder"], shared["role"]) == (
                None,
                None,
                "viewer",
            )
            await act(ann, "trash", doc, tours)
            await hidden.hear(lambda one: doc in one.get("gone", ()))
            told = await seen.hear(lambda one: bool(one["documents"] and one["folders"]))
            assert "trashed" in told["documents"][0]
            assert (await bob.ask("DELETE", "/session"))[0] == 204
            assert await seen.close_code() == 4403
    stranger = Follower(ann.node.url, "gcs_none")
    async with stranger:
        assert await stranger.close_code() == 4401


async def test_favourites_are_ones_own_and_in_ones_own_order(ann: Browser) -> None:
    docs = [await ann.create(title) for title in ("one", "two", "three")]
    for doc in docs:
        assert (await ann.ask("PUT", f"/me/favourites/{doc}", {}))[0] == 204
    await ann.ask("PUT", f"/me/favourites/{docs[2]}", {"before": docs[0]})
    await ann.ask("DELETE", f"/me/favourites/{docs[1]}")
    assert (await files(ann))["favourites"] == [docs[2], docs[0]]
    await act(ann, "trash", docs[0])
    assert (await files(ann))["favourites"] == [docs[2]]


async def test_who_opened_and_changed_what_is_known(ann: Browser) -> None:
    one, two = await ann.create("one"), await ann.create("two")
    async with await ann.page() as page:
        await page.open("DocumentOutline", f"doc/{one}")
        await page.open("DocumentOutline", f"doc/{two}")
        await page.open("Block", f"doc/{two}/b1")
        await page.call(f"doc/{two}/b1", "edit", 0, ["x"])

        async def is_told() -> bool:
            found = await row(ann, two)
            assert found is not None
            recent = [one["id"] for one in (await files(ann))["recent"]]
            return recent == [two, one] and found["changed_by"] == "Ann"

        await eventually(is_told, "it is known", 0.1)


async def test_open_pages_of_a_trashed_document_cannot_write_and_can_again(
    cluster: Cluster, cheap_passwords: None
) -> None:
    cluster.size = 2
    a, b = await cluster.start_all("a", "b")
    async with Browser(a) as ann, Browser(b) as away:
        await found_home(ann)
        await service(b).accounts.refresh()
        await away.sign_in("ann@example.org")
        doc = await ann.create()
        async with await away.page() as page:
            name = f"doc/{doc}/b1"
            await page.open("DocumentOutline", f"doc/{doc}")
            await page.open("Block", name)
            assert (await page.call(name, "edit", 0, ["a"]))["t"] == "result"
            await act(ann, "trash", doc)
            outline = await page.hear("changes", name=f"doc/{doc}")
            while "entitle" not in [item[2] for item in outline["items"]]:
                outline = await page.hear("changes", name=f"doc/{doc}")

            async def is_refused() -> bool:
                return bool((await page.call(name, "edit", 1, ["b"])).get("code") == "forbidden")

            await eventually(is_refused, "it is refused", 0.05)
            await act(ann, "restore", doc)

            async def is_taken() -> bool:
                return bool((await page.call(name, "edit", 1, ["c"]))["t"] == "result")

            await eventually(is_taken, "it is taken again", 0.05)


async def test_a_workspace_is_made_and_deleted_with_what_is_in_it(ann: Browser) -> None:
    _, made = await ann.ask("POST", "/workspaces", {"name": "Choir"})
    body = {"title": "Song", "workspace": made["id"]}
    doc = (await ann.ask("POST", "/documents", body))[1]["id"]
    path = f"/workspaces/{made['id']}/trash"
    assert (await ann.ask("POST", path, {}))[1]["code"] == "not_empty"
    assert await ann.ask("POST", path, {"documents": True}) == (200, {"gone": False})
    found = await files(ann)
    assert [one.get("trashed", {}).get("own") for one in found["workspaces"]] == [None, True]
    assert (await act(ann, "restore", made["id"]))[0] == 204
    assert await row(ann, doc) is not None
    await ann.ask("POST", path, {"documents": True})
    assert (await act(ann, "delete", made["id"])) == (200, {"documents": 1})
    assert len((await files(ann))["workspaces"]) == 1


async def test_a_token_reads_or_writes_files_by_its_scopes(ann: Browser) -> None:
    doc = await ann.create()
    body = {"name": "robot", "scopes": ["documents:read"]}
    secret = (await ann.ask("POST", "/tokens", body))[1]["secret"]
    async with Browser(ann.node) as robot:
        bearer = {"Authorization": f"Bearer {secret}"}
        assert (await robot.ask("GET", "/files", **bearer))[0] == 200
        items = {"items": [doc]}
        assert (await robot.ask("POST", "/files/trash", items, **bearer))[0] == 403
