"""Documents are erased in backups by their keys: nobody reads them, and all else is as it was."""

from __future__ import annotations

import asyncio
import os
import tarfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupcore.aio.rest_key import RestKey
from groupcore.shared.messages import pack
from server.backup import keys as keys_module
from server.backup import sealing as sealing_module
from server.backup.archive import Reader, Writer, summary
from server.backup.cli import create, make_parser, put_back
from server.backup.entry_sealing import EntrySealing
from server.backup.kept import KeptBackups
from server.backup.keys import Keys, erase, keys_path, open_entry, read_keys
from server.backup.sealing import FORMER as FORMER_MAGIC
from server.backup.sealing import Sealing, backup_key, block_of, open_backup
from server.errors import DamagedStoreError, KeyProblem
from server.main import main
from server.management.finding import way_to
from server.rest import VARIABLE
from tests.groupcore.aio.key_files import FORMER, LATER, key_file
from tests.server.pictures.files import photo
from tests.server.pictures.test_pictures_http import upload
from tests.server.support import Cluster, eventually, get, post
from tests.server.support import create as make

SECRET = b"what is to be erased"
PICTURES = {name: b"the picture " + name.encode() for name in "abc"}


@pytest.fixture
def key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = key_file(tmp_path, FORMER)
    monkeypatch.setenv(VARIABLE, str(path))
    return path


def hash_like(name: str) -> str:
    return name * 64


def pieces() -> Iterator[bytes]:
    """A backup of documents one, which has pictures a and b, and two, which has b and c."""
    writer = Writer({"cluster": "c", "taken_s": 1})
    yield writer.begin()
    yield writer.entry("objects/documents", pack({"_items": []}))
    for doc in ("one", "two"):
        writer.manifest.documents[doc] = {"blocks": 1, "sha256": ""}
        yield writer.entry(f"documents/{doc}", SECRET + doc.encode())
    uses = [
        [doc, [[hash_like(name), [1, 0.0]] for name in names]]
        for doc, names in (("one", "ab"), ("two", "bc"))
    ]
    yield writer.entry("objects/pictures", pack({"uses": uses}))
    for name, data in PICTURES.items():
        yield writer.entry(f"pictures/{hash_like(name)}", data)
    yield writer.end()


def sealed(path: Path, key: Path) -> Path:
    with path.open("wb") as file:
        sealing = Sealing(file, RestKey(key))
        for piece in pieces():
            sealing.write(piece)
        sealing.end()
    sealing.write_keys(path)
    return path


def erased(path: Path, key: Path, *documents: str) -> int:
    return erase(path, backup_key(path, RestKey(key)), documents)


def entries(path: Path, key: Path) -> dict[str, bytes]:
    """What can be read in a backup, of documents and pictures."""
    reader = Reader(path, rest=RestKey(key))
    return dict(reader.read(lambda name: name.startswith(("documents/", "pictures/"))))


def test_an_erased_document_cannot_be_read_with_the_key_and_all_else_can(
    tmp_path: Path, key: Path
) -> None:
    path = sealed(tmp_path / "b.tar", key)
    before, was = path.read_bytes(), entries(path, key)
    assert set(was) == {
        "documents/one",
        "documents/two",
        *(f"pictures/{hash_like(name)}" for name in "abc"),
    }
    assert erased(path, key, "one") == 1
    left = entries(path, key)
    assert set(was) - set(left) == {"documents/one", f"pictures/{hash_like('a')}"}, (
        "b is two's, too"
    )
    assert all(left[name] == was[name] for name in left)
    assert path.read_bytes() == before, "the backup is never written"
    assert erased(path, key, "one") == 0
    found = summary(Reader(path, rest=RestKey(key)))
    assert (found["documents"], found["erased"], found["pictures"]) == (1, 1, 2)
    assert erased(path, key, "two", "other") == 1
    assert entries(path, key) == {}


def test_the_backup_itself_opened_with_its_key_shows_nothing_of_a_document(
    tmp_path: Path, key: Path
) -> None:
    """What whoever has the key file finds, and who has no keys file."""
    path = sealed(tmp_path / "b.tar", key)
    with open_backup(path, RestKey(key)) as file:
        inside = file.read()
    assert SECRET not in inside
    assert PICTURES["a"] not in inside
    with open_backup(path, RestKey(key)) as file, tarfile.open(fileobj=file) as tar:
        assert "documents/one" in tar.getnames(), "any program can look at its entries"


def test_a_keys_file_opens_beside_its_own_backup_only_and_is_not_done_without(
    tmp_path: Path, key: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, other = sealed(tmp_path / "b.tar", key), sealed(tmp_path / "o.tar", key)
    assert keys_path(path).stat().st_mode & 0o077 == 0
    own = keys_path(path).read_bytes()
    keys_path(path).write_bytes(keys_path(other).read_bytes())
    assert main(["backup", "verify", str(path)]) == 4
    assert "of another backup" in capsys.readouterr().err
    keys_path(path).write_bytes(own[:-1])
    assert main(["backup", "verify", str(path)]) == 4
    keys_path(path).unlink()
    assert main(["backup", "verify", str(path)]) == 3
    assert "keep the two files together" in capsys.readouterr().err
    keys_path(path).write_bytes(own)
    assert main(["backup", "verify", str(path)]) == 0


STEPS = ("open_file", "fsync", "replace", "_sync", "_write_over")


class PowerCutError(Exception):
    """The power is cut here."""


@pytest.mark.parametrize("step", STEPS)
def test_a_power_cut_at_each_step_leaves_the_former_keys_or_the_new_ones(
    tmp_path: Path, key: Path, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = sealed(tmp_path / "b.tar", key)
    before = len(entries(path, key))

    def cut(*arguments: object) -> None:
        raise PowerCutError

    with monkeypatch.context() as patch:
        if step == "fsync":
            patch.setattr(os, "fsync", cut)
        elif step == "replace":
            patch.setattr(Path, "replace", cut)
        else:
            patch.setattr(keys_module, step, cut)
        with pytest.raises(PowerCutError):
            erased(path, key, "one")
    came = step in ("_sync", "_write_over")
    assert len(entries(path, key)) == before - 2 * came
    erased(path, key, "one")
    assert len(entries(path, key)) == before - 2
    assert sorted(one.name for one in tmp_path.iterdir()) == ["b.tar", "b.tar.keys", "rest-key"]


def test_the_former_keys_are_written_over(tmp_path: Path, key: Path) -> None:
    path = sealed(tmp_path / "b.tar", key)
    with keys_path(path).open("rb") as former:
        assert former.read().strip(b"\0")
        erased(path, key, "one")
        former.seek(0)
        assert not former.read().strip(b"\0")


def test_a_key_change_keeps_what_is_erased_erased(tmp_path: Path, key: Path) -> None:
    path = sealed(tmp_path / "b.tar", key)
    erased(path, key, "one")
    key_file(tmp_path, FORMER, LATER)
    assert main(["rekey", str(path)]) == 0
    key_file(tmp_path, LATER)
    assert set(entries(path, key)) == {
        "documents/two",
        *(f"pictures/{hash_like(name)}" for name in "bc"),
    }
    assert erased(path, key, "two") == 1


def former_version(path: Path, key: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A sealed backup as former versions have made it: without keys of its own for documents."""

    def plain(self: EntrySealing, data: bytes) -> bytes:
        return data

    with monkeypatch.context() as patch:
        patch.setattr(EntrySealing, "feed", plain)
        patch.setattr(sealing_module, "block_of", lambda a, b: block_of(a, b, FORMER_MAGIC))
        with path.open("wb") as file:
            sealing = Sealing(file, RestKey(key))
            for piece in pieces():
                sealing.write(piece)
            sealing.end()
    return path


def test_what_a_former_version_has_sealed_is_read_and_cannot_be_erased_by_key(
    tmp_path: Path,
    key: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = former_version(tmp_path / "b.tar", key, monkeypatch)
    assert len(entries(path, key)) == 5
    assert main(["backup", "erase", str(path), "one"]) == 2
    assert "no keys of its own for documents" in capsys.readouterr().err
    key_file(tmp_path, FORMER, LATER)
    assert main(["rekey", str(path)]) == 0
    key_file(tmp_path, LATER)
    assert len(entries(path, key)) == 5


def test_erasing_what_is_not_there_is_told(
    tmp_path: Path, key: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = sealed(tmp_path / "b.tar", key)
    assert main(["backup", "erase", str(path), "three"]) == 2
    assert "none of these documents" in capsys.readouterr().err
    assert main(["backup", "erase", str(tmp_path / "none.tar"), "one"]) == 2
    assert main(["backup", "erase", str(path), "one", "--json"]) == 0
    assert '"erased": 1' in capsys.readouterr().out


async def test_a_backup_that_cannot_be_opened_is_tried_again_and_said_once(
    tmp_path: Path, key: Path, caplog: pytest.LogCaptureFixture
) -> None:
    sealed(tmp_path / "b.tar", key)
    (tmp_path / "plain.tar").write_bytes(b"".join(pieces()))
    keyless = KeptBackups(tmp_path, None)
    assert not await keyless.erase(["one"])
    assert not await keyless.erase(["one"])
    assert caplog.text.count("cannot be erased") == 1
    assert await KeptBackups(tmp_path, RestKey(key)).erase(["one"])
    assert await KeptBackups(None, None).erase(["one"])
    assert "documents/one" not in entries(tmp_path / "b.tar", key)


@given(st.lists(st.integers(1, 3_000), max_size=40))
def test_a_backup_may_pass_in_pieces_of_any_size(sizes: list[int]) -> None:
    whole = b"".join(pieces())
    sealing, passed, at = EntrySealing(), bytearray(), 0
    for size in sizes:
        passed += sealing.feed(whole[at : at + size])
        at += size
    passed += sealing.feed(whole[at:]) + sealing.end()
    assert set(sealing.keys.documents) == {"one", "two"}
    assert sealing.keys.uses == {
        "one": [hash_like("a"), hash_like("b")],
        "two": [hash_like("b"), hash_like("c")],
    }
    with tarfile.open(fileobj=BytesIO(bytes(passed))) as tar:
        entry = tar.extractfile("documents/one")
        assert entry is not None
        opened = open_entry(sealing.keys.documents["one"], "documents/one", entry.read())
    assert opened == SECRET + b"one"


def test_bytes_that_are_no_backup_are_told(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="no backup"):
        EntrySealing().feed(b"x" * 512)


def test_a_picture_that_two_documents_have_goes_with_the_last_of_them() -> None:
    keys = Keys({"one": b"1", "two": b"2"}, {"p": b"3"}, {"one": ["p"], "two": ["p"]})
    assert keys.erase(["one"]) == 1
    assert keys.pictures == {"p": b"3"}
    assert keys.erase(["one", "two"]) == 1
    assert keys.pictures == {}


async def test_what_is_deleted_for_good_is_erased_in_the_backups_that_nodes_keep(
    tmp_path: Path, key: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.files.eraser.LOOK_S", 0.05)
    monkeypatch.setattr("server.pictures.service.ERASED_S", 0.0)
    cluster = Cluster(tmp_path / "cluster")
    kept = tmp_path / "kept"
    node = await cluster.start("a", data_key_file=str(key), backups=str(kept))
    try:
        doc, stays = await make(node, "Severance"), await make(node, "Lunch", "what stays")
        await upload(node, doc, photo())
        status, _ = await post(f"{node.admin_url}/admin/operations", {"what": "backup"})
        assert status == 202
        await eventually(lambda: bool(list(kept.glob("*.tar"))), "the console's backup")
        (path,) = kept.glob("*.tar")
        own = tmp_path / "own.tar"
        await create(way_to(node.admin_url), own)
        for what in ("trash", "delete"):
            status, _ = await post(f"{node.admin_url}/admin/files/{what}", {"items": [doc]})
            assert status in (200, 204)

        async def is_erased() -> bool:
            # In this order: what the node says may be from before it has heard of the deletion.
            if not node.node.files.accounts.gone:
                return False
            _, told = await get(f"{node.admin_url}/admin/status")
            return bool(told["erasing"] == {})

        await eventually(is_erased, "the node has erased it")
        assert set(entries(path, key)) == {f"documents/{stays}"}
        assert len(entries(own, key)) == 3, "a copy elsewhere is its owner's"
        assert main(["backup", "erase", str(own), doc]) == 0
        assert set(entries(own, key)) == {f"documents/{stays}"}
    finally:
        await cluster.close()
    arguments = ["restore", str(own), "--data", str(tmp_path / "new")]
    restored = await asyncio.to_thread(put_back, make_parser().parse_args(arguments))
    assert (restored["documents"], restored["pictures"]) == (1, 0)
    again = await Cluster(tmp_path / "again").start(
        "a", data=str(tmp_path / "new"), data_key_file=str(key)
    )
    listed = dict(again.node.whole_catalogue.items())
    await again.stop()
    assert {one: row.title for one, row in listed.items()} == {stays: "Lunch"}


def test_damage_in_an_entry_is_told_as_damage(tmp_path: Path, key: Path) -> None:
    path = sealed(tmp_path / "b.tar", key)
    sealed_under = backup_key(path, RestKey(key))
    keys = read_keys(path, sealed_under)
    keys.documents["one"], keys.documents["two"] = keys.documents["two"], keys.documents["one"]
    keys_module.write_keys(path, sealed_under, keys)
    with pytest.raises(DamagedStoreError, match="documents/one"):
        Reader(path, rest=RestKey(key))
    with pytest.raises(KeyProblem):
        Reader(path)
