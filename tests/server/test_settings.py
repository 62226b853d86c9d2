"""Settings: one table, clear refusals; and the exit codes of real processes."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sqlite3
import sys
from pathlib import Path

import pytest

from groupcore.aio.log_database import TABLES, LogStore
from groupcore.aio.log_records import VERSION
from groupcore.probe import make_parser
from groupcore.sequencing.log import LogPart
from server.errors import SettingsProblem
from server.settings import SETTINGS, read_settings
from server.settings_help import help_text
from server.supervise import (
    FINAL_CODES,
    PROBE_DEFAULTS,
    Line,
    make_arguments,
    make_variables,
    probe_command,
    read_procfile,
)

ROOT = Path(__file__).resolve().parents[2]


def test_a_flag_wins_over_the_environment_and_that_over_the_default() -> None:
    environment = {"GROUPCORE_K": "2", "GROUPCORE_RATE": "50", "PATH": "/bin"}
    settings = read_settings(["--node-id", "a", "--k=3"], environment)
    assert (settings.k, settings.rate, settings.burst) == (3, 50, 1000)


def test_the_help_names_every_setting_with_its_default_and_variable() -> None:
    text = help_text()
    for row in SETTINGS:
        assert row.flag + " " in text
        assert row.variable in text
        assert row.text in text


def test_the_help_names_the_commands_of_the_worst_day_and_every_exit_code_that_is_final() -> None:
    text = help_text()
    for words in ("recover", "operation", "backup", "dump-log", "audit"):
        assert f" {words} " in text
    exit_codes = text[text.index("Exit codes") :]
    for code in FINAL_CODES:
        assert f" {code} " in exit_codes.replace("\n", " ")


WRONG = [
    ([], {}, "--node-id"),
    (["--node-id", "a b"], {}, "--node-id"),
    (["--node-id", "a", "--colour", "red"], {}, "--colour"),
    (["--node-id", "a", "--http"], {}, "--http"),
    (["--node-id", "a", "--http", "nowhere"], {}, "--http"),
    (["--node-id", "a", "--multicast", "10.0.0.1:5"], {}, "--multicast"),
    (["--node-id", "a", "--k", "-1"], {}, "--k"),
    (["--node-id", "a", "--cluster-size", "3", "--multicast", "none"], {}, "--multicast"),
    (["--node-id", "a"], {"GROUPCORE_COLOUR": "red"}, "GROUPCORE_COLOUR"),
    (["--node-id", "a"], {"GROUPCORE_K": "many"}, "GROUPCORE_K"),
    (["--node-id", "a", "--admin", "127.0.0.1:8000"], {}, "--admin"),
    (["--node-id", "a", "--admin", "0.0.0.0:9000"], {}, "--admin"),
    (["--node-id", "a", "--admin", "10.0.0.7:9000"], {}, "--admin"),
    (["--node-id", "a", "--admin", "[::]:9000"], {}, "--admin"),
    (["--node-id", "a", "--admin", "node.example:9000"], {}, "--admin"),
    (["--node-id", "a", "--admin-cert", "cert"], {}, "--admin-cert"),
    (["--node-id", "a", "--admin-key", "key"], {}, "--admin-cert"),
    (["--node-id", "a", "--admin-clients", "ca"], {}, "--admin-clients"),
    (["--node-id", "a", "--burst", "1"], {}, "--burst"),
    (["--node-id", "a", "--cluster-size", "3", "--k", "2"], {}, "--k"),
    (["--node-id", "a", "--public-url", "example.org"], {}, "--public-url"),
    (["--node-id", "a", "--key-file", "k", "--data-key-file", "./k"], {}, "--data-key-file"),
]


@pytest.mark.parametrize(("arguments", "environment", "named"), WRONG)
def test_a_wrong_setting_is_named(
    arguments: list[str], environment: dict[str, str], named: str
) -> None:
    with pytest.raises(SettingsProblem, match=f"^{named} "):
        read_settings(arguments, environment)


async def run_server(*arguments: str) -> tuple[int, str, str]:
    """Exit code, output and errors of a server that ends by itself."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "server",
        *arguments,
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={name: text for name, text in os.environ.items() if "GROUPCORE" not in name},
    )
    try:
        output, errors = await asyncio.wait_for(process.communicate(), 60)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert process.returncode is not None
    assert "Traceback" not in errors.decode()
    return process.returncode, output.decode(), errors.decode().splitlines()[-1] if errors else ""


def addresses() -> list[str]:
    return ["--http", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--multicast", "228.8.8.17:45991"]


@pytest.mark.process
async def test_wrong_settings_exit_2(tmp_path: Path) -> None:
    code, _, error = await run_server("--node-id", "a", "--k", "x")
    assert (code, "--k" in error) == (2, True)


@pytest.mark.process
async def test_a_node_begins_without_what_only_commands_and_providers_need() -> None:
    program = "import sys, server.main; print({'aiohttp', 'joserfc'} & set(sys.modules))"
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", program, cwd=ROOT, stdout=asyncio.subprocess.PIPE
    )
    output, _ = await process.communicate()
    assert output == b"set()\n"


@pytest.mark.process
async def test_a_taken_address_exits_7(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        data = str(tmp_path)
        code, _, error = await run_server("--node-id", "a", "--http", address, "--data", data)
    assert code == 7
    assert f"--http {address} cannot be used" in error


@pytest.mark.process
@pytest.mark.parametrize("kind", ["missing", "open", "wrong"])
async def test_a_wrong_key_exits_3(tmp_path: Path, kind: str) -> None:
    key = tmp_path / "key"
    if kind != "missing":
        key.write_text("00" * 32 if kind == "open" else "secret")
        key.chmod(0o644 if kind == "open" else 0o600)
    data = str(tmp_path / "d")
    code, _, error = await run_server(
        "--node-id", "a", "--key-file", str(key), "--data", data, *addresses()
    )
    assert code == 3
    assert error.startswith("groupcore: --key-file")
    assert "secret" not in error


@pytest.mark.process
async def test_leaving_loopback_without_a_key_exits_3(tmp_path: Path) -> None:
    data = str(tmp_path / "d")
    code, _, error = await run_server(
        "--node-id", "a", "--bind", "192.0.2.1", "--data", data, *addresses()
    )
    assert code == 3
    assert "key" in error


def write_log(folder: Path) -> None:
    """The folder of a node "a" that has run."""
    folder.mkdir()
    store = LogStore(folder / "log.sqlite3")
    store.prepare(TABLES, VERSION, {"cluster": "groupcore", "node": "a"})
    store.begin()
    store.append([LogPart(1, b"x")])
    store.commit()
    store.close()


@pytest.mark.process
async def test_a_damaged_store_exits_4_and_another_version_5(tmp_path: Path) -> None:
    for name, damage in (
        ("damaged", "UPDATE log SET part = x'01'"),
        ("newer", "PRAGMA user_version = 9"),
    ):
        write_log(tmp_path / name)
        database = sqlite3.connect(tmp_path / name / "log.sqlite3")
        database.execute(damage)
        database.commit()
        database.close()
    codes = []
    for name in ("damaged", "newer"):
        data = str(tmp_path / name)
        code, _, error = await run_server("--node-id", "a", "--data", data, *addresses())
        codes.append(code)
        assert "log.sqlite3" in error
        codes.append((await run_server("verify-log", data))[0])
    assert codes == [4, 4, 5, 5]


@pytest.mark.process
async def test_a_folder_of_another_node_exits_2_and_one_of_a_former_version_5(
    tmp_path: Path,
) -> None:
    write_log(tmp_path / "a")
    data = str(tmp_path / "a")
    code, _, error = await run_server("--node-id", "b", "--data", data, *addresses())
    assert (code, "belongs to node 'a'" in error) == (2, True)
    (tmp_path / "former").mkdir()
    (tmp_path / "former" / "journal.sqlite3").touch()
    data = str(tmp_path / "former")
    code, _, error = await run_server("--node-id", "a", "--data", data, *addresses())
    assert (code, "former version" in error) == (5, True)


@pytest.mark.process
async def test_a_node_runs_refuses_a_second_one_in_its_folder_and_leaves_on_sigterm(
    tmp_path: Path,
) -> None:
    data = str(tmp_path / "d")
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "server", "--node-id", "a", "--data", data, *addresses(),
        cwd=ROOT, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert process.stderr is not None
    async with asyncio.timeout(60):
        async for line in process.stderr:
            if b"is serving" in line:
                break
        code, _, error = await run_server("--node-id", "a", "--data", data, *addresses())
        assert code == 6
        assert "another process uses the folder" in error
        process.send_signal(signal.SIGTERM)
        await process.communicate()
    assert process.returncode == 0
    code, output, _ = await run_server("verify-log", data)
    assert (code, output.startswith("good: node a of groupcore")) == (0, True)


def test_the_procfile_becomes_commands_with_the_variables_filled_in() -> None:
    variables = make_variables({"PORT_BASE": "8100", "DATA_DIR": "/d"}, Path("/root"))
    [line] = read_procfile("# nodes\n\na: python -m server --http $HTTP_2 --data ${DATA_DIR}/a\n")
    assert make_arguments(line, variables) == [
        sys.executable, "-m", "server", "--http", "127.0.0.1:8102", "--data", "/d/a",
    ]  # fmt: skip
    with pytest.raises(SettingsProblem, match="NOBODY"):
        make_arguments(Line("a", "python $NOBODY"), variables)
    with pytest.raises(SettingsProblem, match="Procfile"):
        read_procfile("what is this")
    with pytest.raises(SettingsProblem, match="PORT_BASE"):
        make_variables({"PORT_BASE": "80"}, Path("/root"))


def test_nodes_that_are_run_together_log_no_link_of_the_first_owner() -> None:
    # The one that is printed when all are ready makes every former one void.
    variables = make_variables({"GROUPCORE_OWNER_LINK": "on"}, Path("/root"))
    assert not read_settings(["--node-id", "a"], variables).owner_link
    assert read_settings(["--node-id", "a"], {}).owner_link


def test_the_command_that_probes_the_nodes_has_what_the_probe_does_not_know_by_itself() -> None:
    root = Path(sys.executable).parent.parent.parent
    plain = f"{Path(sys.executable).relative_to(root)} -m groupcore.probe"

    def command(**environment: str) -> str:
        return probe_command(make_variables(environment, root), root)

    assert command() == plain
    assert command(PORT_BASE="8200") == f"{plain} --multicast 228.8.8.8:18200"
    assert command(GROUPCORE_KEY_FILE="a key", GROUPCORE_TTL="1") == (
        f"{plain} --key-file 'a key' --ttl 1"
    )
    hosts = {"GROUPCORE_MULTICAST": "none", "GROUPCORE_INITIAL_HOSTS": "h:1, h:2"}
    assert command(**hosts) == f"{plain} --multicast none --host h:1 --host h:2"


def test_the_command_that_probes_the_nodes_is_one_that_the_probe_takes() -> None:
    given = make_parser().parse_args([])
    for flag, default in PROBE_DEFAULTS.items():
        value = getattr(given, flag.replace("-", "_"))
        assert ("" if value is None else str(value)) == default


def test_the_nodes_of_make_run_write_a_trace_when_they_are_asked_to() -> None:
    assert "GROUPCORE_TRACE" not in make_variables({}, Path("/root"))
    asked = make_variables({"TRACE": "1", "DATA_DIR": "/d"}, Path("/root"))
    assert asked["GROUPCORE_TRACE"] == "/d/trace"
    given = make_variables({"TRACE": "1", "GROUPCORE_TRACE": "/t"}, Path("/root"))
    assert given["GROUPCORE_TRACE"] == "/t"


@pytest.mark.parametrize(
    ("flags", "named"),
    [
        (["--smtp", "mail.example.org"], "--smtp"),
        (["--smtp", "mail.example.org:587"], "--smtp-from"),
        (["--smtp", "mail.example.org:0"], "--smtp"),
        (["--smtp-from", "a,b@example.org"], "--smtp-from"),
        (["--smtp-tls", "maybe"], "--smtp-tls"),
        (["--smtp", "m.org:25", "--smtp-from", "a@b.org", "--smtp-tls", "none"], "--smtp-tls"),
        (["--smtp", "m.org:25", "--smtp-from", "a@b.org", "--smtp-user", "u"], "--smtp-user"),
        (["--smtp", "m.org:25", "--smtp-from", "a@b.org", "--accounts", "off"], "--smtp"),
    ],
)
def test_a_mail_server_that_cannot_be_used_is_refused(flags: list[str], named: str) -> None:
    with pytest.raises(SettingsProblem, match=named):
        read_settings(["--node-id", "a", *flags], {})


def test_mails_need_no_tls_on_this_machine_only() -> None:
    flags = ["--smtp", "127.0.0.1:25", "--smtp-from", "a@b.org", "--smtp-tls", "none"]
    assert read_settings(["--node-id", "a", *flags], {}).smtp_tls == "none"
    flags[1] = "mail.example.org:587"
    assert read_settings(["--node-id", "a", *flags[:4]], {}).smtp_tls == "starttls"
