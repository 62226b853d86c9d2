"""`node-key` and `node-cert`: what an operator does, and what a node then takes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from groupcore.aio.identity import node_identity, node_key, read_list, read_succession_in
from groupcore.errors import KeyFileError
from groupcore.identity.signed import public_bytes
from server.certificates_cli import run_certificates_command
from server.errors import KeyProblem, ServerError, SettingsProblem
from server.main import command_of


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    command = command_of(str(arguments[0]))
    assert command is run_certificates_command
    command([str(each) for each in arguments])
    said: dict[str, Any] = json.loads(capsys.readouterr().out)
    return said


def issued(
    capsys: pytest.CaptureFixture[str], folder: Path, name: str, *flags: str
) -> dict[str, Any]:
    """A node of this name with a certificate, and what was said of it."""
    run(capsys, "node-cert", "operator", folder / "operator.key")
    key = run(capsys, "node-key", folder / name)["public_key"]
    return run(
        capsys,
        *("node-cert", "issue", "--operator", folder / "operator.key", "--node-id", name),
        *("--public-key", key, "--out", folder / name / "node.cert"),
        *flags,
    )


def test_a_node_with_a_certificate_by_the_commands_is_taken(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = issued(capsys, tmp_path, "a")
    identity = node_identity(tmp_path / "a", tmp_path / "operator.key.pub", "groupcore", "a")
    assert identity.certificate.serial.hex() == said["serial"]
    assert said["node"] == "a"
    assert run(capsys, "node-cert", "show", tmp_path / "a" / "node.cert") == said
    assert (tmp_path / "operator.key").stat().st_mode & 0o777 == 0o600
    assert public_bytes(node_key(tmp_path / "a")).hex() == said["public_key"]


def test_making_keys_again_changes_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    once = (
        run(capsys, "node-key", tmp_path / "a"),
        run(capsys, "node-cert", "operator", tmp_path / "o"),
    )
    again = (
        run(capsys, "node-key", tmp_path / "a"),
        run(capsys, "node-cert", "operator", tmp_path / "o"),
    )
    assert once == again


def test_what_is_revoked_stays_on_the_list(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = (issued(capsys, tmp_path, name)["serial"] for name in "ab")
    revoking = ("node-cert", "revoke", "--operator", tmp_path / "operator.key", "--list")
    listed = run(capsys, *revoking, tmp_path / "list", first)
    more = run(capsys, *revoking, tmp_path / "list", second)
    assert more["revoked"] == sorted([first, second])
    assert more["number"] > listed["number"]
    assert run(capsys, "node-cert", "show", tmp_path / "list")["genuine"]
    assert read_list(tmp_path / "list").is_genuine
    (tmp_path / "list").rename(tmp_path / "a" / "revoked")
    with pytest.raises(KeyFileError, match="the operator has revoked it"):
        node_identity(tmp_path / "a", tmp_path / "operator.key.pub", "groupcore", "a")


def test_a_certificate_for_the_order_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert issued(capsys, tmp_path, "a")["administers"] is True
    assert issued(capsys, tmp_path, "b", "--orders-only")["administers"] is False
    shown = node_identity(tmp_path / "b", tmp_path / "operator.key.pub", "groupcore", "b")
    assert not shown.certificate.administers


def test_an_operator_signs_who_follows_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before, after = (run(capsys, "node-cert", "operator", tmp_path / one) for one in "ab")
    said = run(
        capsys,
        *("node-cert", "succeed", "--operator", tmp_path / "a"),
        *("--successor", tmp_path / "b.pub", "--out", tmp_path / "succession"),
    )
    assert said == {
        "cluster": "groupcore",
        "operator": before["operator"],
        "successor": after["operator"],
    }
    assert read_succession_in(tmp_path / "succession").is_genuine


@pytest.mark.parametrize(
    ("arguments", "problem", "told"),
    [
        (("issue", "--public-key", "00"), SettingsProblem, "64 hexadecimal digits"),
        (("issue", "--node-id", "x" * 65), SettingsProblem, "--node-id"),
        (("issue", "--days", "0"), SettingsProblem, "--days 0"),
        (("issue", "--operator", "nowhere"), KeyProblem, "there is no nowhere"),
        (("revoke", "zz"), SettingsProblem, "SERIAL 'zz' is not 32 hexadecimal digits"),
        (("show", "nowhere"), KeyProblem, "cannot read nowhere"),
        ((), SettingsProblem, "node-cert"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    problem: type[ServerError],
    told: str,
) -> None:
    run(capsys, "node-cert", "operator", tmp_path / "o")
    flags_of: dict[str, dict[str, object]] = {
        "issue": {
            "--operator": tmp_path / "o",
            "--node-id": "a",
            "--public-key": "00" * 32,
            "--out": tmp_path / "c",
        },
        "revoke": {"--operator": tmp_path / "o", "--list": tmp_path / "l"},
    }
    usual = flags_of.get(arguments[0] if arguments else "", {})
    flags = [text for pair in usual.items() for text in pair]
    with pytest.raises(problem, match=told) as error:
        run(capsys, "node-cert", *arguments[:1], *flags, *arguments[1:])
    assert "\n" not in str(error.value)
    assert not (tmp_path / "c").exists()


def test_a_list_of_another_operator_is_not_gone_on_with(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    serial = issued(capsys, tmp_path, "a")["serial"]
    run(capsys, "node-cert", "operator", tmp_path / "other")
    listed = ("node-cert", "revoke", "--list", tmp_path / "list")
    run(capsys, *listed, "--operator", tmp_path / "operator.key", serial)
    with pytest.raises(SettingsProblem, match="another operator"):
        run(capsys, *listed, "--operator", tmp_path / "other", serial)
