"""Objects out of a node's log: at the end, at a number, at a time; held against live copies."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from groupcore.sequencing.names import Process
from groupcore.shared.machine import Machine, digest_of
from groupcore.shared.messages import Check, Verify, encode, encode_operate
from groupcore.view import Address
from server.documents.catalogue import NAME, Catalogue
from server.dump import Logged, LoggedState
from server.errors import ServerError, SettingsProblem
from server.rebuild_cli import run_rebuild_command
from server.rebuilding import kind_of, rebuild
from tests.server.support import Cluster, Page, create

WHO = Process(Address("a", 1), 2)


def rebuilt(
    capsys: pytest.CaptureFixture[str], folder: Path, *words: str
) -> dict[str, dict[str, Any]]:
    capsys.readouterr()
    run_rebuild_command(["rebuild", str(folder), *words])
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    return {row["name"]: row for row in rows}


async def test_a_block_as_it_was_at_any_place(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    node = await cluster.start("a")
    doc = await create(node, markdown="Milk")
    name = f"doc/{doc}/b1"
    async with Page(node.url, client="client-of-sixteen") as page:
        version = (await page.open("Block", name))["state"]["version"]
        await page.call(name, "edit", version, [4, " and bread"])
        await page.hear("saved", name=name)
    block = await node.node.objects.open(kind_of(name), name)  # type: ignore[arg-type]
    live = block._shared.caller.body.machine  # type: ignore[attr-defined]
    position, packed = live.position, live.packed()
    await cluster.stop("a")
    folder = cluster.folder / "a"

    at_end = rebuilt(capsys, folder, "--name", f"doc/{doc}*")
    assert {row["class"] for row in at_end.values()} == {"DocumentOutline", "Block"}
    assert "Milk and bread" in json.dumps(at_end[name]["fields"])
    there = rebuilt(capsys, folder, "--name", name, "--at-seq", str(position))[name]
    assert there["position"] == position
    assert there["hash"] == digest_of(packed).hex()
    before = rebuilt(capsys, folder, "--name", name, "--at-seq", "4")[name]
    assert "bread" not in json.dumps(before["fields"])
    long_ago = rebuilt(capsys, folder, "--name", name, "--at-time", "2020-01-01")[name]
    assert "Milk" not in json.dumps(long_ago["fields"])
    everything = rebuilt(capsys, folder, "--no-fields")
    assert {NAME, name, f"doc/{doc}"} <= set(everything)
    assert "fields" not in everything[name]
    with pytest.raises(ServerError, match="no object of that name"):
        run_rebuild_command(["rebuild", str(folder), "--name", "doc/none"])


def logged(position: int, payload: bytes | None, what: int = 1) -> Logged:
    return Logged(7, NAME, 1, position, WHO, position, payload, what)


def test_what_live_replicas_say_of_their_states_is_compared() -> None:
    kind = kind_of(NAME)
    assert kind is Catalogue
    machine = Machine(kind(), 7)
    operation = encode_operate(5_000, [("nothing", [])])
    entries = [
        logged(1, None),
        logged(2, operation),
        logged(3, encode(Verify(True))),
    ]
    (first,) = rebuild(entries, NAME.__eq__)
    assert (first.problem, first.machine.position, first.agreed) == ("", 3, 0)
    good, bad = first.hashes[3], bytes(8)
    checks = [logged(4, encode(Check(3, good))), logged(5, encode(Check(3, bad)))]
    (both,) = rebuild([*entries, *checks], NAME.__eq__)
    assert (both.agreed, both.differed) == (1, [("a#1/2", 3)])
    assert machine.position == 0


def test_numbers_that_the_log_lacks_are_named() -> None:
    (made,) = rebuild([logged(1, None), logged(3, encode(Verify(True)))], NAME.__eq__)
    assert made.problem == "the log lacks numbers 2 to 2"
    state = LoggedState(7, NAME, 10, b"\xc0")
    (made,) = rebuild([state], NAME.__eq__, position_max=4)
    assert "begins behind that" in made.problem
    (made,) = rebuild([state], NAME.__eq__)
    assert made.problem
    assert not list(rebuild([logged(1, None)], lambda name: False))


def test_groups_without_a_state_are_left_out() -> None:
    assert kind_of("presence/x") is None
    with pytest.raises(SettingsProblem):
        run_rebuild_command(["rebuild", "/nowhere", "--name", "x"])
