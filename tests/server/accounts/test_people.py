"""Accounts, the first owner, invitations: who may come in, once, and what names may be."""

from __future__ import annotations

import re

import pytest

from groupcore.shared.testing import World
from server.accounts import people
from server.accounts.accounts import NAME, Accounts
from server.accounts.errors import AccountError
from server.accounts.names import VISIBLE
from server.accounts.people import HOME
from server.accounts.roles import ADMIN, USER, Role
from tests.server.accounts.offices import ORIGIN, Office, office


async def refused(code: str, pending: object) -> None:
    """The call ends with this code."""
    with pytest.raises(AccountError) as caught:
        await pending  # type: ignore[misc]
    assert caught.value.code == code


def test_of_two_nodes_that_offer_ownership_one_does() -> None:
    async def main(world: World) -> None:
        one, other = [await world.node(name).open(Accounts, NAME) for name in "ab"]
        offers = one.offer_ownership("x"), other.offer_ownership("y")
        assert sorted([await offer for offer in offers]) == [False, True]

    World(3).run(main)


def test_the_owners_link_is_good_once_and_for_a_day(monkeypatch: pytest.MonkeyPatch) -> None:
    assert people.OWNER_LINK_S == 24 * 3600
    monkeypatch.setattr(people, "OWNER_LINK_S", 600.0)  # the kit's days are shorter

    async def main(world: World) -> None:
        accounts = await world.node("a").open(Accounts, NAME)
        assert await accounts.offer_ownership("old")
        await world.elapse(601)
        late = accounts.found("old", "Eve", "eve@example.org", "v", "Home", ORIGIN)
        await refused("expired", late)
        assert await accounts.offer_ownership("new")
        await refused("expired", accounts.found("new1", "E", "e@e.org", "v", "Home", ORIGIN))
        user = await accounts.found("new", "Ann", "ann@example.org", "v", "Home", ORIGIN)
        assert accounts.manages(USER + user)
        again = accounts.found("new", "Eve", "eve@example.org", "v", "Home", ORIGIN)
        await refused("expired", again)
        assert not await accounts.offer_ownership("more", anew=True)

    World(1).run(main)


def test_a_link_that_was_lost_can_be_made_anew_while_nobody_owns() -> None:
    async def main(world: World) -> None:
        accounts = await world.node("a").open(Accounts, NAME)
        assert await accounts.offer_ownership("lost")
        assert not await accounts.offer_ownership("second")
        assert await accounts.offer_ownership("third", anew=True)
        await refused("expired", accounts.found("lost", "E", "e@e.org", "v", "Home", ORIGIN))

    World(1).run(main)


def test_an_address_has_one_account_however_it_is_written() -> None:
    async def main(here: Office) -> None:
        accounts = here.accounts
        email = " ANN@Example.org"
        await refused("taken", accounts.make_user(here.as_ann, "A", email, "v", ORIGIN))
        assert accounts.by_email("ann@example.org") == accounts.users[here.ann]

    office(main)


@pytest.mark.parametrize(
    "name",
    [
        *(
            "",
            " ",
            "x" * 81,
            "a\nb",
            "a\u202eb",
            "a\u200eb",
            "a\u2067b",
            "a\x00",
            "a\u200bb",
        ),
        # A joiner joins two characters that one sees, and none is a name.
        *("\u200c", "\u200d\u200d", " \u200d ", "\u200ca", "a \u200cb", "a\u200d\u200db"),
    ],
)
def test_names_that_are_none_are_refused(name: str) -> None:
    async def main(here: Office) -> None:
        asked = here.accounts.make_user(here.as_ann, name, "new@example.org", "v", ORIGIN)
        await refused("bad_request", asked)
        assert len(here.accounts.users) == 1

    office(main)


@pytest.mark.parametrize(
    "name",
    [
        "\u0639\u0644\u06cc\u200c\u0631\u0636\u0627",  # Persian
        "\u0dc1\u0dca\u200d\u0dbb\u0dd3 Lanka",  # Sinhala
        "\u0d2e\u0d4b\u0d39\u0d28\u0d4d\u200d",  # Malayalam
        "\U0001f469\u200d\U0001f469\u200d\U0001f467 Ann",
    ],
)
def test_names_are_written_with_the_joiners_that_they_need(name: str) -> None:
    async def main(here: Office) -> None:
        email = "new@example.org"
        user = await here.accounts.make_user(here.as_ann, f" {name} ", email, "v", ORIGIN)
        assert here.accounts.users[user].name == name

    office(main)
    assert re.search(VISIBLE, name)


@pytest.mark.parametrize("email", ["", "ann", "a@b@c", "a b@c", "a@" + "b" * 300, "a@b\x00"])
def test_addresses_that_are_none_are_refused(email: str) -> None:
    async def main(here: Office) -> None:
        await refused("bad_request", here.accounts.make_user(ADMIN, "A", email, "v", ORIGIN))

    office(main)


def test_only_who_manages_accounts_makes_disables_and_renames_others() -> None:
    async def main(here: Office) -> None:
        bob = await here.hire("bob", Role.EDITOR)
        accounts, as_bob = here.accounts, USER + bob
        await refused("forbidden", accounts.make_user(as_bob, "E", "e@e.org", "v", ORIGIN))
        await refused("forbidden", accounts.set_disabled(as_bob, here.ann, True, ORIGIN))
        await refused("forbidden", accounts.rename_user(as_bob, here.ann, "X", ORIGIN))
        await refused("forbidden", accounts.set_verifier(as_bob, here.ann, "x", "", ORIGIN))
        await accounts.rename_user(as_bob, bob, "Robert", ORIGIN)
        assert accounts.users[bob].name == "Robert"

    office(main)


def test_the_last_owner_can_neither_leave_nor_be_disabled() -> None:
    async def main(here: Office) -> None:
        accounts, ann = here.accounts, here.ann
        leave = accounts.set_role(here.as_ann, HOME, ann, Role.NONE, ORIGIN)
        await refused("last_owner", leave)
        await refused("last_owner", accounts.set_disabled(ADMIN, ann, True, ORIGIN))
        assert accounts.manages(here.as_ann)
        bob = await here.hire("bob", Role.OWNER)
        await accounts.set_disabled(USER + bob, ann, True, ORIGIN)
        assert not accounts.manages(here.as_ann)
        await refused("last_owner", accounts.set_role(ADMIN, HOME, bob, Role.EDITOR, ORIGIN))

    office(main)


def test_of_two_owners_who_take_each_others_role_one_stays() -> None:
    async def main(here: Office) -> None:
        bob = await here.hire("bob", Role.OWNER)
        one, other = here.at
        first = one.set_role(here.as_ann, HOME, bob, Role.EDITOR, ORIGIN)
        second = other.set_role(USER + bob, HOME, here.ann, Role.EDITOR, ORIGIN)
        ended = []
        for pending in (first, second):
            try:
                await pending
                ended.append("done")
            except AccountError as error:
                ended.append(error.code)
        assert sorted(ended) == ["done", "forbidden"]

    for seed in range(8):
        office(main, seed, nodes=2)


def test_an_invitation_is_good_once_for_whom_it_is_for() -> None:
    async def main(here: Office) -> None:
        accounts, by = here.accounts, here.as_ann
        bob = "bob@example.org"
        await accounts.invite(by, "i1", HOME, Role.VIEWER, bob, 100.0, ORIGIN)
        eve = accounts.accept_as_new("i1", "Eve", "eve@example.org", "v", "", ORIGIN)
        await refused("forbidden", eve)
        user = await accounts.accept_as_new("i1", "Bob", bob, "v", "", ORIGIN)
        assert accounts.workspace_role(USER + user, HOME) is Role.VIEWER
        await refused("expired", accounts.accept("i1", user, ORIGIN))

    office(main)


def test_an_invitation_ends_when_it_is_withdrawn_or_too_old() -> None:
    async def main(here: Office) -> None:
        accounts, by = here.accounts, here.as_ann
        id = await accounts.invite(by, "i1", HOME, Role.VIEWER, "", 1000.0, ORIGIN)
        await accounts.withdraw(by, HOME, id, ORIGIN)
        await accounts.invite(by, "i2", HOME, Role.VIEWER, "", 10.0, ORIGIN)
        await here.world.elapse(11)
        for digest in ("i1", "i2"):
            asked = accounts.accept_as_new(digest, "Bob", "b@b.org", "v", "", ORIGIN)
            await refused("expired", asked)

    office(main)


def test_an_invitation_lowers_nobodys_role() -> None:
    async def main(here: Office) -> None:
        await here.accounts.invite(here.as_ann, "i", HOME, Role.VIEWER, "", 9.0, ORIGIN)
        await here.accounts.accept("i", here.ann, ORIGIN)
        assert here.accounts.workspace_role(here.as_ann, HOME) is Role.OWNER

    office(main)


def test_only_owners_invite() -> None:
    async def main(here: Office) -> None:
        bob = USER + await here.hire("bob", Role.EDITOR)
        eve = USER + await here.hire("eve", Role.NONE)
        for by, code in ((bob, "forbidden"), (eve, "not_found"), ("link:1", "not_found")):
            asked = here.accounts.invite(by, "i", HOME, Role.VIEWER, "", 9.0, ORIGIN)
            await refused(code, asked)

    office(main)


def test_no_page_can_have_the_accounts_open() -> None:
    async def main(world: World) -> None:
        accounts = await world.node("a").open(Accounts, NAME)
        assert not accounts.may_read("user:1")
        assert not accounts.may_call(ADMIN, "make_user")

    World(1).run(main)
