"""Commands find what a node has left for them, and nothing else."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from server.accounts.secrets import digest_of
from server.errors import SettingsProblem
from server.main import main
from server.management import runtime
from server.management.finding import Shown, Way, way_to
from server.management.local import LocalSocket
from server.management.own_token import FILE, OwnToken
from server.management.runtime import Record, tell, told
from tests.server.support import Cluster

AT = "127.0.0.1:9123"


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A runtime folder of this test alone."""
    folder = tmp_path / "runtime"
    monkeypatch.setattr(runtime, "folders", lambda: [folder])
    return folder


def lived(folder: Path, address: str = AT) -> tuple[OwnToken, str]:
    """A node with this folder, and its token."""
    own = OwnToken(folder, address)
    assert own.begin()
    return own, (folder / FILE).read_text().strip()


def test_the_token_of_the_users_own_node_is_found_by_its_address(tmp_path: Path) -> None:
    _, token = lived(tmp_path / "a")
    for said in (f"http://{AT}", f"http://{AT}/", AT):
        assert way_to(said) == Way(f"http://{AT}", token=token)
    assert way_to("http://127.0.0.1:9124").token == ""


def test_localhost_becomes_the_address_that_the_node_listens_on(tmp_path: Path) -> None:  # F2
    _, token = lived(tmp_path / "a")
    assert way_to("http://localhost:9123") == Way(f"http://{AT}", token=token)
    _, six = lived(tmp_path / "b", "[::1]:9124")
    assert way_to("http://localhost:9124") == Way("http://[::1]:9124", token=six)
    assert way_to("http://[::1]:9124").token == six
    assert way_to("http://[::1]:9123").token == ""


def test_the_files_are_for_their_owner_alone(tmp_path: Path, place: Path) -> None:
    former = os.umask(0)
    try:
        own, _ = lived(tmp_path / "a")
    finally:
        os.umask(former)
    made = [tmp_path / "a", *(tmp_path / "a").iterdir(), place, *place.iterdir()]
    assert not [path for path in made if path.stat().st_mode & 0o077]
    own.end()
    assert not list(place.iterdir())
    assert not (tmp_path / "a" / FILE).exists()


def test_the_runtime_folder_has_no_secret(tmp_path: Path, place: Path) -> None:
    _, token = lived(tmp_path / "a")
    assert token not in "".join(path.read_text() for path in place.iterdir())


def test_a_record_of_a_former_life_is_good_for_nothing(tmp_path: Path) -> None:
    own, former = lived(tmp_path / "a")
    record = told(AT)[0]
    own.end()  # as a node that was killed, whose record stays
    tell(AT, record)
    assert way_to(AT).token == ""
    _, token = lived(tmp_path / "a", "127.0.0.1:9999")  # it is elsewhere now
    assert way_to(AT).token == ""
    assert token != former


def test_a_node_that_ends_leaves_the_record_of_its_successor(tmp_path: Path) -> None:
    first, _ = lived(tmp_path / "a")
    _, token = lived(tmp_path / "b")
    first.end()
    assert way_to(AT).token == token


def test_a_second_node_at_the_same_folder_takes_nothing_from_the_first(tmp_path: Path) -> None:
    _, token = lived(tmp_path / "a")
    second = OwnToken(tmp_path / "a", "127.0.0.1:9124")
    assert second.begin() == ""
    second.end()
    assert way_to(AT).token == token


@pytest.mark.parametrize("mode", [0o755, 0o770, 0o701])
def test_a_runtime_folder_that_others_get_at_is_not_used(
    tmp_path: Path, place: Path, mode: int
) -> None:
    place.mkdir()
    place.chmod(mode)
    record = Record(str(tmp_path), digest_of("x"))
    assert tell(AT, record) is None
    assert told(AT) == []


def test_a_runtime_folder_that_is_a_link_is_not_used(tmp_path: Path, place: Path) -> None:
    other = tmp_path / "other"
    other.mkdir(0o700)
    place.symlink_to(other)
    assert tell(AT, Record(str(tmp_path), digest_of("x"))) is None


@pytest.mark.parametrize("text", ["", "[]", "{}", "null", "x" * 20_000, '{"data": 1}'])
def test_a_record_that_is_none_is_passed_over(place: Path, text: str) -> None:
    place.mkdir(0o700)
    (place / f"admin-{AT}").write_text(text)
    assert told(AT) == []


def test_a_folder_that_cannot_be_written_costs_the_token_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    own = OwnToken(tmp_path / "file" / "a", AT)
    assert own.begin() == ""
    own.end()
    assert "commands find no credentials" in caplog.text


def test_a_token_goes_to_another_machine_by_tls_alone(tmp_path: Path) -> None:  # F1
    file = tmp_path / "token"
    file.write_text("gcm_x\n")
    with pytest.raises(SettingsProblem, match="https"):
        way_to("http://10.0.0.7:9000", Shown(token_file=file))
    assert way_to("https://10.0.0.7:9000", Shown(token_file=file)).token == "gcm_x"
    lived(tmp_path / "a", "10.0.0.7:9000")
    assert way_to("http://10.0.0.7:9000").token == ""


@pytest.mark.parametrize("text", ["", "two words", "\xff", "x" * 300])
def test_a_file_without_a_token_is_named(tmp_path: Path, text: str) -> None:
    file = tmp_path / "token"
    file.write_text(text)
    with pytest.raises(SettingsProblem, match="--token-file"):
        way_to(AT, Shown(token_file=file))
    with pytest.raises(SettingsProblem, match="--token-file"):
        way_to(AT, Shown(token_file=tmp_path / "nothing"))


@pytest.mark.parametrize(
    "said", ["", "http://", "ftp://127.0.0.1:1", "http://127.0.0.1:x", "http://[::1", "http://a@b"]
)
def test_what_is_no_address_is_named(said: str) -> None:
    with pytest.raises(SettingsProblem, match="no address"):
        way_to(said)


def test_what_killed_nodes_have_left_is_cleared_away_and_nothing_else(
    tmp_path: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runtime, "LEFT_MAX", 4)
    lived(tmp_path / "a")
    (tmp_path / "b").mkdir()
    living, killed = LocalSocket(tmp_path / "a"), LocalSocket(tmp_path / "b")
    killed.listener.close()
    for number in range(3):
        tell(f"127.0.0.1:{number + 1}", Record(str(tmp_path / "b"), digest_of("x")))
    (place / "admin-127.0.0.1:4").write_text("")
    kept = {living.path.name, f"admin-{AT}"}
    lived(tmp_path / "c", "127.0.0.1:9124")
    assert len(list(place.iterdir())) == 8  # they may be of nodes that begin now
    for path in place.iterdir():
        os.utime(path, (0, 0))
    lived(tmp_path / "d", "127.0.0.1:9125")
    assert {path.name for path in place.iterdir()} == {
        *kept,
        "admin-127.0.0.1:9124",
        "admin-127.0.0.1:9125",
    }
    living.close()


async def test_who_finds_nothing_is_told_what_to_show(
    cluster: Cluster, tmp_path: Path, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    node = await cluster.start("a")
    at = ["--admin", node.admin_url]
    assert await asyncio.to_thread(main, ["node", "ls", *at]) == 0
    for record in await asyncio.to_thread(lambda: list(place.glob("admin-*"))):
        record.unlink()
    for words in (["node", "ls"], ["backup", "create", str(tmp_path / "b.tar")], ["recover"]):
        assert await asyncio.to_thread(main, [*words, *at]) == 1
        assert "--token-file FILE" in capsys.readouterr().err
    assert await asyncio.to_thread(main, ["dump-log", *at]) == 1
    shown = ["--token-file", str(tmp_path / "a" / FILE)]
    for words in (["node", "ls"], ["backup", "create", str(tmp_path / "b.tar")], ["recover"]):
        assert await asyncio.to_thread(main, [*words, *at, *shown]) == 0
