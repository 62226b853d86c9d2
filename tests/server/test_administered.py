"""Who administers: nodes that the operator lets, each operation once, and nobody in their name."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import cast

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from groupcore.aio.identity import SUCCESSION, NodeIdentity, write_record
from groupcore.identity.authorization import authorize
from groupcore.identity.card import Credentials
from groupcore.identity.certificate import Certificate, issue
from groupcore.identity.revocations import revoke
from groupcore.identity.signed import public_bytes
from groupcore.identity.succession import succeed
from groupcore.identity.trust import Trust
from groupcore.shared import ForbiddenError, SharedObject
from groupcore.shared.messages import encode_authorized
from groupcore.shared.replica import Replica
from groupcore.shared.testing import BAD_WEATHER, World
from server.accounts.accounts import NAME, Accounts
from server.accounts.people import HOME
from server.accounts.roles import ADMIN, USER, Role
from server.administered import OWN_FIELDS, Administered, NotAuthorizedError
from server.authority import SUCCESSION as SUCCESSION_FILE
from server.authority import Authority
from server.backup.fields import packed_fields, parts_of
from server.documents.catalogue import NODES, Nodes
from server.errors import KeyProblem
from server.files.erasures import NAME as ERASURES
from server.files.erasures import Erasures
from tests.groupcore.identity.operators import node_key

CLUSTER = "home"
UNTIL = 1 << 39
ORIGIN = "127.0.0.1"


def operator(seed: bytes = b"o") -> Ed25519PrivateKey:
    """An operator's key."""
    return Ed25519PrivateKey.from_private_bytes(seed.ljust(32))


def certificate(
    name: str, by: Ed25519PrivateKey | None = None, *, administers: bool = True
) -> Certificate:
    """What the operator has signed for the node of this name."""
    serial, public = name.encode().ljust(16), public_bytes(node_key(name))
    return issue(by or operator(), CLUSTER, name, public, serial, UNTIL, administers=administers)


def identity(
    name: str, by: Ed25519PrivateKey | None = None, *, administers: bool = True
) -> NodeIdentity:
    """What the node of this name shows."""
    key = by or operator()
    trust = Trust(CLUSTER, [public_bytes(key)], lambda: 0.0)
    signed = certificate(name, key, administers=administers)
    return NodeIdentity(Credentials(node_key(name), signed, trust))


class House:
    """A cluster whose accounts are entrusted to an operator: a and b administer, c orders only."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.at: dict[str, Accounts] = {}
        self.authorities: dict[str, Authority] = {}

    async def begin(self, folder: Path) -> None:
        """The nodes have the accounts open."""
        for name in "abc":
            node = self.world.node(name)
            shown = identity(name, administers=name != "c")
            self.authorities[name] = authority = Authority(shown, folder / name)
            node.authorize = authority.authorize
            self.at[name] = await node.open(Accounts, NAME)
            await authority.begin(self.at[name])

    def shows(self, name: str, given: Callable[[str, bytes], bytes]) -> Accounts:
        """The accounts at this node, which shows that from now on."""
        self.world.node(name).authorize = given
        return self.at[name]


def house(main: Callable[[House], Coroutine[object, None, None]], folder: Path) -> None:
    """Run it, in weather; all replicas are equal in the end."""

    async def begin(world: World) -> None:
        made = House(world)
        await made.begin(folder)
        await main(made)
        await world.settle()
        world.assert_equal(NAME)

    for seed in (1, 2):
        World(seed, BAD_WEATHER).run(begin)


async def refused(why: str, pending: object) -> None:
    """The call is refused, and why."""
    with pytest.raises(ForbiddenError, match=why):
        await pending  # type: ignore[misc]


def test_nodes_that_may_administer_do_and_one_that_orders_does_not(tmp_path: Path) -> None:
    async def main(made: House) -> None:
        a, b, c = made.at["a"], made.at["b"], made.at["c"]
        await a.offer_ownership("first")
        ann = await b.found("first", "Ann", "ann@example.org", "verifier", "Home", ORIGIN)
        for attempt in (
            c.set_role(ADMIN, HOME, ann, Role.VIEWER, ORIGIN),
            c.make_user(ADMIN, "Eve", "eve@example.org", "verifier", ORIGIN),
            c.set_verifier(ADMIN, ann, "mine", "", ORIGIN),
            c.note(ADMIN, "all.well", "", ORIGIN),
            c.entrust(bytes(32), "mine"),
            c.take_back("users", True, b"\x80"),
        ):
            await refused("the node has not signed it", attempt)
        assert a.user(USER + ann) is not None
        assert a.manages(USER + ann)

    house(main, tmp_path)


def test_nobody_administers_with_a_certificate_for_the_order(tmp_path: Path) -> None:
    """Its key signs, and the operator has said that it may not."""

    async def main(made: House) -> None:
        signed = certificate("c", administers=False)
        c = made.shows("c", lambda name, text: authorize(node_key("c"), signed, 9, name, text))
        await refused("node c may order, not administer", c.offer_ownership("first"))

    house(main, tmp_path)


def test_nobody_administers_by_an_operator_of_their_own(tmp_path: Path) -> None:
    async def main(made: House) -> None:
        own = certificate("c", operator(b"mine"))
        c = made.shows("c", lambda name, text: authorize(node_key("c"), own, 9, name, text))
        await refused("node c has another operator", c.offer_ownership("first"))
        claimed = issue(
            operator(b"mine"), CLUSTER, "c", public_bytes(node_key("c")), bytes(16), UNTIL
        )
        forged = claimed.packed.replace(claimed.issuer, public_bytes(operator()))
        assert forged != claimed.packed
        lie = Certificate(
            CLUSTER, "c", claimed.public, claimed.serial, UNTIL, claimed.issuer, forged
        )
        c = made.shows("c", lambda name, text: authorize(node_key("c"), lie, 9, name, text))
        await refused("the operator has not signed the certificate", c.offer_ownership("first"))

    house(main, tmp_path)


def test_nobody_administers_with_anothers_certificate_or_words(tmp_path: Path) -> None:
    """Who orders a's messages has its certificate, and what it has authorized."""

    async def main(made: House) -> None:
        good = certificate("a")
        c = made.shows("c", lambda name, text: authorize(node_key("c"), good, 9, name, text))
        await refused("node a has signed something else", c.offer_ownership("first"))
        for name, text in ((NAME, b"else"), ("other", None)):
            said = authorize(node_key("a"), good, 1 << 62, name, text or b"")
            c = made.shows("c", lambda _, text, said=said: said)  # type: ignore[misc]
            await refused("node a has signed something else", c.offer_ownership("first"))

    house(main, tmp_path)


def test_what_a_node_has_authorized_is_done_once(tmp_path: Path) -> None:
    """A2: who orders it again, as its own or as that node's, is refused."""

    async def main(made: House) -> None:
        a = made.at["a"]
        kept: list[tuple[bytes, bytes]] = []
        given = made.authorities["a"].authorize

        def keep(name: str, text: bytes) -> bytes:
            kept.append((text, given(name, text)))
            return kept[-1][1]

        made.shows("a", keep)
        await a.note(ADMIN, "plan.made", "", ORIGIN)
        noted, (text, shown) = a.noted, kept[-1]
        for name in ("a", "c"):
            caller = cast("SharedObject", made.at[name])._shared.caller
            cast("Replica[Accounts]", caller).port.send(encode_authorized(text, shown))
        await made.world.settle()
        assert made.at["b"].noted == noted

    house(main, tmp_path)


def test_authorizations_go_on_behind_a_clock_that_went_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main(made: House) -> None:
        await made.at["a"].note(ADMIN, "one", "", ORIGIN)
        monkeypatch.setattr("server.authority.time.time", lambda: 1.0)
        again = Authority(identity("a"), tmp_path / "a")
        await again.begin(made.at["a"])
        made.shows("a", again.authorize)
        await made.at["a"].note(ADMIN, "two", "", ORIGIN)
        await made.at["a"].note(ADMIN, "three", "", ORIGIN)
        await made.world.settle()
        assert made.at["b"].notes[-1].what == "three"
        monkeypatch.undo()

    house(main, tmp_path)


def test_who_is_revoked_administers_no_more(tmp_path: Path) -> None:
    async def main(made: House) -> None:
        a, b = made.at["a"], made.at["b"]
        await b.note(ADMIN, "one", "", ORIGIN)
        listed = revoke(operator(), CLUSTER, 3, [certificate("b").serial])
        forged = revoke(operator(b"mine"), CLUSTER, 4, [certificate("a").serial])
        with pytest.raises(NotAuthorizedError, match="another operator"):
            await made.at["c"].take_revocations(forged.packed)
        assert await made.at["c"].take_revocations(listed.packed)  # the operator's word is enough
        assert not await a.take_revocations(listed.packed)
        await refused("node b is revoked", b.note(ADMIN, "two", "", ORIGIN))
        await a.note(ADMIN, "three", "", ORIGIN)
        older = revoke(operator(), CLUSTER, 2, [])
        assert not await a.take_revocations(older.packed)
        await refused("node b is revoked", b.note(ADMIN, "four", "", ORIGIN))

    house(main, tmp_path)


def test_another_operator_takes_over_by_the_word_of_the_one_before(tmp_path: Path) -> None:
    async def main(made: House) -> None:
        a, following = made.at["a"], operator(b"next")
        own = succeed(following, CLUSTER, public_bytes(following))
        with pytest.raises(NotAuthorizedError, match="another operator"):
            await made.at["c"].take_succession(own.packed)
        folder = tmp_path / f"new{id(made)}"
        folder.mkdir()
        new = Authority(identity("a", following), folder)
        with pytest.raises(KeyProblem, match="entrusted to another operator"):
            await new.begin(a)
        said = succeed(operator(), CLUSTER, public_bytes(following))
        write_record(folder / SUCCESSION_FILE, SUCCESSION, said.packed)
        await new.begin(a)
        made.shows("a", new.authorize)
        await a.note(ADMIN, "one", "", ORIGIN)
        await refused("node b has another operator", made.at["b"].note(ADMIN, "2", "", ORIGIN))
        await new.begin(a)  # the file may stay

    house(main, tmp_path)


def test_an_operator_that_was_followed_never_comes_back(tmp_path: Path) -> None:
    """Else who has kept an old succession could put its successor in place again."""

    async def main(made: House) -> None:
        c, first, second = made.at["c"], operator(), operator(b"next")
        await c.take_succession(succeed(first, CLUSTER, public_bytes(second)).packed)
        with pytest.raises(NotAuthorizedError, match="was followed"):
            await c.take_succession(succeed(second, CLUSTER, public_bytes(first)).packed)
        assert c.operator == public_bytes(second)

    house(main, tmp_path)


def test_where_nodes_have_no_operator_all_administer(tmp_path: Path) -> None:
    """With the cluster key alone, and with certificates of a development operator."""

    async def main(world: World) -> None:
        shown = identity("a")
        own = NodeIdentity(shown.credentials, development=True)
        for name, given in (("a", own), ("b", None)):
            authority = Authority(given, tmp_path)
            node = world.node(name)
            node.authorize = authority.authorize
            accounts = await node.open(Accounts, NAME)
            await authority.begin(accounts)
            await accounts.note(ADMIN, "one", "", ORIGIN)
            assert accounts.operator == b""

    World(1).run(main)


def test_a_node_without_an_operator_does_not_begin_where_there_is_one(tmp_path: Path) -> None:
    async def main(made: House) -> None:
        with pytest.raises(KeyProblem, match="start with --operator-key"):
            await Authority(None, tmp_path).begin(made.at["b"])

    house(main, tmp_path)


@pytest.mark.parametrize(("kind", "name"), [(Nodes, NODES), (Erasures, ERASURES)])
def test_addresses_and_erasures_are_for_nodes_that_administer(
    kind: type[Administered], name: str, tmp_path: Path
) -> None:
    """A false address would send pages elsewhere; what is listed as erased is taken out."""

    async def main(world: World) -> None:
        made = {}
        for node_id in "ac":
            authority = Authority(identity(node_id, administers=node_id != "c"), tmp_path)
            node = world.node(node_id)
            node.authorize = authority.authorize
            made[node_id] = await node.open(kind, name)
            await authority.begin(made[node_id])
        a, c = made["a"], made["c"]
        if isinstance(a, Nodes) and isinstance(c, Nodes):
            await a.set("a", "http://a")
            await refused("not signed", c.set("a", "http://evil.example"))
            assert c.get("a") == "http://a"
        elif isinstance(a, Erasures) and isinstance(c, Erasures):
            await refused("not signed", c.begin(["plan"], ["a"]))
            await a.begin(["plan"], ["a"])
            assert c.of("a") == ["plan"]

    World(1).run(main)


def test_a_backup_brings_no_operator_of_another_cluster(tmp_path: Path) -> None:
    async def main(world: World) -> None:
        accounts = await world.node("a").open(Accounts, NAME)
        kept: dict[str, object] = {field: getattr(accounts, field) for field in OWN_FIELDS}
        there = await world.node("b").open(Accounts, "elsewhere")
        assert await there.entrust(public_bytes(operator()), CLUSTER)
        for field, is_first, part in parts_of(packed_fields(there)):
            await accounts.take_back(field, is_first, part)
        assert {field: getattr(accounts, field) for field in OWN_FIELDS} == kept

    World(1).run(main)
