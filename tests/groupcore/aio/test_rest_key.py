"""The key of what lies on disks: changed without data written anew, told from others, kept."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from groupcore.aio.data_key import NAMES, DataKey, refuse_without_key
from groupcore.aio.errors import BrokenSealError, RestKeyError
from groupcore.aio.rest_key import RestKey, print_of
from groupcore.errors import KeyFileError
from tests.groupcore.aio.key_files import FORMER, LATER, key_file


def folder_bytes(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_data_key_is_random_a_folder_and_stands_nowhere_as_it_is(tmp_path: Path) -> None:
    rest = RestKey(key_file(tmp_path, FORMER))
    one, other = DataKey(tmp_path / "a", rest), DataKey(tmp_path / "b", rest)
    assert one._key != other._key
    for data in folder_bytes(tmp_path / "a").values():
        assert one._key not in data
        assert one._key.hex().encode() not in data
    assert all((tmp_path / "a" / name).stat().st_mode & 0o777 == 0o600 for name in NAMES)


def test_it_is_opened_again_and_says_what_is_whole(tmp_path: Path) -> None:
    rest = RestKey(key_file(tmp_path, FORMER))
    made = DataKey(tmp_path / "a", rest)
    made.note_whole("log")
    again = DataKey(tmp_path / "a", rest)
    assert again.whole == {"log"}
    assert again.box("log").open(made.box("log").seal(b"text")) == b"text"


def test_another_key_is_told_from_damage_and_nothing_is_written(tmp_path: Path) -> None:
    DataKey(tmp_path / "a", RestKey(key_file(tmp_path, FORMER)))
    before = folder_bytes(tmp_path / "a")
    with pytest.raises(RestKeyError, match=f"under the key {print_of(FORMER)}.* put that key"):
        DataKey(tmp_path / "a", RestKey(key_file(tmp_path, LATER)))
    with pytest.raises(RestKeyError, match="is sealed"):
        refuse_without_key(tmp_path / "a")
    assert folder_bytes(tmp_path / "a") == before


def test_every_damaged_byte_is_told_as_damage(tmp_path: Path) -> None:
    rest = RestKey(key_file(tmp_path, FORMER))
    DataKey(tmp_path / "a", rest)
    path = tmp_path / "a" / NAMES[0]
    (tmp_path / "a" / NAMES[1]).unlink()
    whole = path.read_bytes()
    for at in range(len(whole) - 1):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        with pytest.raises(BrokenSealError):
            DataKey(tmp_path / "a", rest)


@pytest.mark.parametrize("lost", NAMES)
def test_one_of_the_two_copies_is_enough_and_the_other_is_made_again(
    tmp_path: Path, lost: str
) -> None:
    rest = RestKey(key_file(tmp_path, FORMER))
    made = DataKey(tmp_path / "a", rest)
    (tmp_path / "a" / lost).write_bytes(b"damaged")
    again = DataKey(tmp_path / "a", rest)
    assert again._key == made._key
    assert again.renew()
    assert not DataKey(tmp_path / "a", rest).renew()


def test_a_key_is_changed_by_a_new_line_and_the_former_may_go_then(tmp_path: Path) -> None:
    made = DataKey(tmp_path / "a", RestKey(key_file(tmp_path, FORMER)))
    assert DataKey(tmp_path / "a", RestKey(key_file(tmp_path, FORMER, LATER))).renew()
    again = DataKey(tmp_path / "a", RestKey(key_file(tmp_path, LATER)))
    assert again._key == made._key
    with pytest.raises(RestKeyError):
        DataKey(tmp_path / "a", RestKey(key_file(tmp_path, FORMER)))


class PowerCutError(Exception):
    """The machine is off."""


@pytest.mark.parametrize("step", range(1, 9))
def test_a_power_cut_at_any_step_of_a_key_change_leaves_it_readable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    """Steps: what is written, synced, renamed and synced, of each of the two files."""
    made = DataKey(tmp_path / "a", RestKey(key_file(tmp_path, FORMER)))
    both = RestKey(key_file(tmp_path, FORMER, LATER))
    changing, done = DataKey(tmp_path / "a", both), 0

    def counted(work: object) -> object:
        def step_of(*given: object) -> object:
            nonlocal done
            done += 1
            if done == step:
                raise PowerCutError
            return work(*given)  # type: ignore[operator]

        return step_of

    with monkeypatch.context() as patched:
        patched.setattr("groupcore.aio.data_key.os.fdopen", counted(os.fdopen))
        patched.setattr("groupcore.aio.data_key.os.fsync", counted(os.fsync))
        patched.setattr(Path, "replace", counted(Path.replace))
        with pytest.raises(PowerCutError):
            changing.renew()
    again = DataKey(tmp_path / "a", both)
    assert again._key == made._key
    again.renew()
    assert DataKey(tmp_path / "a", RestKey(key_file(tmp_path, LATER)))._key == made._key


def test_the_key_file_is_judged_as_the_clusters_is(tmp_path: Path) -> None:
    path = key_file(tmp_path, FORMER)
    path.chmod(0o640)
    with pytest.raises(KeyFileError, match="chmod 600"):
        RestKey(path)
    path.write_text("no key")
    path.chmod(0o600)
    with pytest.raises(KeyFileError, match="openssl rand"):
        RestKey(path)
    with pytest.raises(KeyFileError, match="cannot read"):
        RestKey(tmp_path / "none")
