"""A program whose node may order and not administer, in a cluster of the server's own nodes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from groupcore.aio import Node, read_key_file
from groupcore.aio.identity import (
    CERTIFICATE,
    NODE_CERTIFICATE,
    node_identity,
    node_key,
    operator_key,
    signed_up,
    write_record,
)
from groupcore.aio.private import make_folder
from groupcore.identity.signed import public_bytes
from groupcore.shared import ForbiddenError
from groupcore.shared.types import Counter
from server.accounts.accounts import NAME, Accounts
from server.accounts.people import HOME
from server.accounts.roles import ADMIN, USER, Role
from server.certificates_cli import run_certificates_command
from server.documents.catalogue import NODES, Nodes
from server.files.erasures import NAME as ERASURES
from server.files.erasures import Erasures
from tests.end_to_end.cluster import Cluster, eventually, running_cluster
from tests.server.accounts.people import PASSWORD, Browser

if TYPE_CHECKING:
    from server.serve import RunningNode

pytestmark = pytest.mark.process


def certified(cluster: Cluster, name: str, *, administers: bool) -> Path:
    """The folder of a node that the cluster's operator has certified."""
    folder = cluster.folder / name
    make_folder(folder)
    operator = operator_key(cluster.folder / "operator")
    public = public_bytes(node_key(folder))
    signed = signed_up(operator, public, "groupcore", name, days=1, administers=administers)
    write_record(folder / NODE_CERTIFICATE, CERTIFICATE, signed.packed)
    return folder


def thief(cluster: Cluster, folder: Path) -> Node:
    """A program of one's own with a node's certificate and key, in the cluster of the others."""
    operator = cluster.folder / "operator.pub"
    return Node(
        "groupcore",
        node_id=folder.name,
        key=read_key_file(Path(str(cluster.flags["key_file"]))),
        multicast=str(cluster.flags["multicast"]),
        identity=node_identity(folder, operator, "groupcore", folder.name),
        data_dir=folder,
        cluster_size=2,
    )


async def owner(town: Cluster) -> tuple[Browser, str]:
    """Ann, who owns it, at node a; and her id."""
    ann = Browser(cast("RunningNode", town.nodes["a"]))  # of the node only its address is asked
    _, link = await town.admin("a", "owner-link")
    new = {"name": "Ann", "email": "ann@example.org", "password": PASSWORD}
    status, answer = await ann.ask(
        "POST", "/users/first", {**new, "secret": str(link["url"]).split("#")[1]}
    )
    assert status == 201, answer
    _, session = await ann.ask("GET", "/session")
    return ann, str(session["principal"]).removeprefix(USER)


async def test_who_has_the_key_of_a_node_that_orders_administers_nothing(tmp_path: Path) -> None:
    """It is in the order, opens what nodes have open, and is refused there, at every replica."""
    async with running_cluster(tmp_path, "a", "b", accounts="on") as town:
        ann, user = await owner(town)
        async with ann, thief(town, certified(town, "x", administers=False)) as program:
            clicks = await program.open(Counter, "clicks")
            assert await clicks.add(1) == 1  # it orders
            accounts = await program.open(Accounts, NAME)
            nodes = await program.open(Nodes, NODES)
            erasures = await program.open(Erasures, ERASURES)
            url = nodes.get("b")
            for attempt in (
                accounts.make_user(ADMIN, "Eve", "eve@example.org", "verifier", "127.0.0.1"),
                accounts.set_role(ADMIN, HOME, user, Role.VIEWER, "127.0.0.1"),
                accounts.set_verifier(ADMIN, user, "mine", "", "127.0.0.1"),
                accounts.entrust(bytes(32), "mine"),
                nodes.set("b", "http://evil.example"),
                erasures.begin(["plan"], ["a", "b"]),
            ):
                with pytest.raises(ForbiddenError, match="the node has not signed it"):
                    await attempt
            assert nodes.get("b") == url
            status, made = await ann.ask(
                "POST", "/users", {"name": "Bob", "email": "bob@example.org", "password": PASSWORD}
            )
            assert status == 201, made

            async def is_noted() -> bool:
                _, said = await ann.ask("GET", "/audit?limit=50")
                found = [one for one in said["entries"] if one["what"] == "node.refused"]
                about = [(one["about"].split()[0], one["origin"]) for one in found]
                return about == [("not_authorized", "node x")]

            await eventually(is_noted, "the audit log has it, once")
            _, people = await ann.ask("GET", "/users")
            assert sorted(one["name"] for one in people["users"]) == ["Ann", "Bob"]


async def test_a_server_with_a_certificate_for_the_order_says_so_and_ends(tmp_path: Path) -> None:
    async with Cluster(tmp_path, size=1) as town:
        certified(town, "a", administers=False)
        node = await town.spawn("a")
        assert await node.exit_code() == 3
        assert "issue one without --orders-only" in node.output()


async def test_nodes_of_another_operator_go_on_by_the_word_of_the_one_before(
    tmp_path: Path,
) -> None:
    async with running_cluster(tmp_path, "a", accounts="on") as town:
        ann, _ = await owner(town)
        async with ann:
            status, _ = await ann.ask("POST", "/documents", {"title": "Plan"})
            assert status == 201
        await town.nodes["a"].kill()
        (tmp_path / "operator").rename(tmp_path / "former")
        (tmp_path / "a" / NODE_CERTIFICATE).unlink()
        town.operator()
        refused = await town.spawn("a")
        assert await refused.exit_code() == 3
        line = refused.output().strip().splitlines()[-1]
        assert "entrusted to another operator" in line
        run_certificates_command(
            [
                *("node-cert", "succeed", "--operator", str(tmp_path / "former")),
                *("--successor", str(tmp_path / "operator.pub")),
                *("--out", str(tmp_path / "a" / "succession")),
            ]
        )
        await town.start("a")
        ann = Browser(cast("RunningNode", town.nodes["a"]))  # of the node only its address is asked
        async with ann:
            assert (await ann.sign_in("ann@example.org"))[0] == 201
            _, files = await ann.ask("GET", "/files")
            assert [row["title"] for row in files["documents"]] == ["Plan"]
