"""Nodes with certificates on real sockets: who is let in, who is not, and what changes nothing."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from pathlib import Path

import pytest
import pytest_asyncio

from groupcore.aio import GroupNode, Node, development, revoking
from groupcore.aio.identity import (
    CERTIFICATE,
    LIST,
    NODE_CERTIFICATE,
    REVOKED,
    NodeIdentity,
    node_identity,
    node_key,
    operator_key,
    signed_up,
    write_operator,
    write_record,
)
from groupcore.aio.prober import probe
from groupcore.errors import GroupcoreError, KeyFileError, SettingsError
from groupcore.identity.certificate import Certificate
from groupcore.identity.revocations import revoke
from groupcore.identity.signed import public_bytes
from groupcore.sequencing.events import ServiceEvent
from tests.groupcore.aio.cluster import free_port

KEY = b"k" * 32
LIMIT_S = 20.0


class Operator:
    """An operator with a folder for its files and those of its nodes."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        self.folder = folder
        self.key = operator_key(folder / "operator.key")
        self.public = folder / "operator.pub"
        write_operator(self.public, public_bytes(self.key))
        self._number = 0

    def issue(self, name: str, days: int = 1) -> Certificate:
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        key = node_key(folder)
        certificate = signed_up(self.key, public_bytes(key), "certified", name, days)
        write_record(folder / NODE_CERTIFICATE, CERTIFICATE, certificate.packed)
        return certificate

    def identity(self, name: str) -> NodeIdentity:
        if not (self.folder / name / NODE_CERTIFICATE).exists():
            self.issue(name)
        return node_identity(self.folder / name, self.public, "certified", name)

    def revoke(self, at: str, *certificates: Certificate) -> None:
        """Put a list into the folder of that node."""
        self._number += 1
        serials = [each.serial for each in certificates]
        listed = revoke(self.key, "certified", self._number, serials)
        write_record(self.folder / at / REVOKED, LIST, listed.packed)


class Cluster:
    """Nodes on one multicast address; all that still run are closed when the test ends."""

    def __init__(self) -> None:
        self.group = f"228.8.8.29:{free_port()}"
        self.nodes: list[GroupNode] = []
        self.failed: dict[str, GroupcoreError] = {}
        self.changed = asyncio.Event()

    def make(self, name: str, identity: NodeIdentity | None) -> GroupNode:
        def receive(events: list[ServiceEvent]) -> None:
            self.changed.set()

        node = GroupNode(
            "certified",
            node_id=name,
            receiver=receive,
            multicast=self.group,
            key=KEY,
            identity=identity,
        )

        def fail(error: GroupcoreError) -> None:
            self.failed.setdefault(name, error)

        node.channel.on_failure = fail
        self.nodes.append(node)
        return node

    async def start(self, name: str, identity: NodeIdentity | None) -> GroupNode:
        node = self.make(name, identity)
        async with asyncio.timeout(LIMIT_S):
            await node.__aenter__()
        return node

    async def until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(LIMIT_S):
            while not holds():
                self.changed.clear()
                with suppress(TimeoutError):  # much of it changes without an event
                    async with asyncio.timeout(0.02):
                        await self.changed.wait()


def members(node: GroupNode) -> tuple[str, ...]:
    view = node.channel.view
    return () if view is None else view.names


def drops(node: GroupNode, reason: str) -> int:
    return node.counters().get(f"transport.drops.{reason}", 0)


@pytest_asyncio.fixture
async def cluster(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Cluster]:
    monkeypatch.setattr(revoking, "LOOK_S", 0.05)
    made = Cluster()
    yield made
    for node in made.nodes:
        with suppress(GroupcoreError):
            await node.close()


@pytest.fixture
def operator(tmp_path: Path) -> Operator:
    return Operator(tmp_path / "operator")


@pytest.mark.asyncio
async def test_nodes_of_one_operator_find_each_other_and_change_their_group_keys(
    cluster: Cluster, operator: Operator
) -> None:
    a = await cluster.start("a", operator.identity("a"))
    await cluster.start("b", operator.identity("b"))
    c = await cluster.start("c", operator.identity("c"))
    await cluster.until(lambda: members(a) == ("a", "b", "c"))
    await cluster.until(lambda: a.counters()["transport.group_keys"] > 0)
    before = a.counters()["transport.group_keys"]
    await c.close()
    await cluster.until(lambda: members(a) == ("a", "b"))
    await cluster.until(lambda: a.counters()["transport.group_keys"] > before)
    assert drops(a, "forged") == 0
    found = await probe(
        "certified", key=KEY, multicast=cluster.group, identity=operator.identity("c")
    )
    assert [report.address.name for report in found.reports] == ["a", "b"]


@pytest.mark.asyncio
async def test_who_has_the_cluster_key_alone_is_refused_and_named(
    cluster: Cluster, operator: Operator, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        a = await cluster.start("a", operator.identity("a"))
        rogue = await cluster.start("b", None)
        await cluster.until(lambda: drops(a, "no_certificate") > 0)
        await cluster.until(lambda: drops(rogue, "has_certificate") > 0)
    assert (members(a), members(rogue)) == (("a",), ("b",))
    assert "a node with the cluster key alone" in caplog.text
    found = await probe("certified", key=KEY, multicast=cluster.group, timeout_s=0.3)
    assert [report.address.name for report in found.reports] == ["b"]


@pytest.mark.asyncio
async def test_a_node_of_another_operator_is_refused(
    cluster: Cluster, operator: Operator, tmp_path: Path
) -> None:
    a = await cluster.start("a", operator.identity("a"))
    b = await cluster.start("b", Operator(tmp_path / "other").identity("b"))
    await cluster.until(lambda: drops(a, "foreign_certificate") > 0)
    assert (members(a), members(b)) == (("a",), ("b",))


@pytest.mark.asyncio
async def test_a_node_that_is_revoked_while_it_runs_is_out_and_the_others_go_on(
    cluster: Cluster, operator: Operator
) -> None:
    certificate = operator.issue("c")
    a = await cluster.start("a", operator.identity("a"))
    b = await cluster.start("b", operator.identity("b"))
    c = await cluster.start("c", operator.identity("c"))
    await cluster.until(lambda: members(a) == ("a", "b", "c"))
    operator.revoke("a", certificate)
    await cluster.until(lambda: members(a) == members(b) == ("a", "b"))
    await cluster.until(lambda: b.revocations.shown()["revoked"] == 1)
    operator.revoke("c", certificate)
    await cluster.until(lambda: "c" in cluster.failed)
    assert "revoked this node's certificate" in str(cluster.failed["c"])
    await c.close()
    with pytest.raises(KeyFileError, match="the operator has revoked it"):
        operator.identity("c")
    # Its folder as it was before knows of nothing; the others do, a node that comes later too.
    (operator.folder / "c" / REVOKED).unlink()
    again = cluster.make("c", operator.identity("c"))
    joining = asyncio.create_task(again.__aenter__())
    await cluster.until(lambda: drops(a, "revoked_certificate") > 1)
    d = await cluster.start("d", operator.identity("d"))
    await cluster.until(lambda: members(a) == ("a", "b", "d"))
    await cluster.until(lambda: d.revocations.shown()["revoked"] == 1)
    joining.cancel()
    await asyncio.wait([joining])


@pytest.mark.asyncio
async def test_a_list_that_is_not_the_operators_revokes_nobody(
    cluster: Cluster, operator: Operator, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    certificate = operator.issue("b")
    a = await cluster.start("a", operator.identity("a"))
    await cluster.start("b", operator.identity("b"))
    await cluster.until(lambda: members(a) == ("a", "b"))
    other = Operator(tmp_path / "other")
    listed = revoke(other.key, "certified", 1, [certificate.serial])
    write_record(operator.folder / "a" / REVOKED, LIST, listed.packed)
    await cluster.until(lambda: "revocations are not taken" in caplog.text)
    assert members(a) == ("a", "b")


@pytest.mark.asyncio
async def test_without_any_setting_nodes_have_certificates_of_the_users_own_operator(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(development, "folders", lambda: [tmp_path / "mine" / "groupcore"])
    async with (
        Node("open", node_id="a", multicast=cluster.group) as a,
        Node("open", node_id="b", multicast=cluster.group) as b,
    ):
        await cluster.until(lambda: members(a.groups) == members(b.groups) == ("a", "b"))
        assert a.groups.revocations.shown()["by"] == "development"
        monkeypatch.setattr(development, "folders", lambda: [tmp_path / "another user's"])
        async with Node("open", node_id="c", multicast=cluster.group) as c:
            await cluster.until(lambda: drops(a.groups, "foreign_certificate") > 0)
            assert members(c.groups) == ("c",)
            assert members(a.groups) == ("a", "b")
    key = tmp_path / "mine" / "groupcore" / development.FILE
    assert key.stat().st_mode & 0o777 == 0o600
    assert key.parent.stat().st_mode & 0o777 == 0o700


def test_where_no_folder_is_the_users_alone_the_cluster_key_is_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    wide = tmp_path / "groupcore"
    wide.mkdir()
    wide.chmod(0o755)
    monkeypatch.setattr(development, "folders", lambda: [wide])
    assert development.development_identity("open", "a") is None
    assert "no folder is this user's alone" in caplog.text


# --- files ----------------------------------------------------------------------------------------


def test_a_node_without_a_certificate_is_told_how_it_gets_one(operator: Operator) -> None:
    folder = operator.folder / "a"
    folder.mkdir()
    with pytest.raises(KeyFileError, match="node-cert issue --cluster certified --node-id a"):
        node_identity(folder, operator.public, "certified", "a")
    assert (folder / "node.key").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (lambda folder: (folder / "node.key").chmod(0o644), "others may read the key"),
        (lambda folder: (folder / "node.key").write_text("hello"), "does not begin with ed25519:"),
        (lambda folder: (folder / "node.key").write_text("ed25519:00"), "64 hexadecimal digits"),
        (lambda folder: (folder / "node.key").unlink(), "is for another key"),
        (lambda folder: (folder / "node.cert").write_text("certificate:%"), "and base64"),
        (lambda folder: (folder / "node.cert").write_text("certificate:AAAA"), "no certificate of"),
        (lambda folder: (folder / "node.cert").write_bytes(b"\xff" * 200_000), "does not begin"),
        (lambda folder: (folder / "revoked").write_text("revocations:AAAA"), "no list of"),
    ],
)
def test_a_file_that_is_damaged_is_named(
    operator: Operator, spoil: Callable[[Path], object], told: str
) -> None:
    operator.identity("a")
    spoil(operator.folder / "a")
    with pytest.raises(KeyFileError, match=told) as error:
        operator.identity("a")
    assert str(operator.folder) in str(error.value)


def test_a_certificate_that_is_over_is_named_at_the_start(operator: Operator) -> None:
    operator.issue("a", days=0)
    with pytest.raises(KeyFileError, match="expired_certificate"):
        operator.identity("a")


def test_a_certificate_of_another_node_is_refused_before_a_socket_is_opened(
    operator: Operator,
) -> None:
    with pytest.raises(SettingsError, match="for node 'a' of cluster 'certified'"):
        GroupNode(
            "certified",
            node_id="b",
            receiver=lambda events: None,
            key=KEY,
            identity=operator.identity("a"),
        )
