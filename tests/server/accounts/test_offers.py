"""Roles for addresses that are not proved: offers, which take effect at the place of the proof."""

from __future__ import annotations

import random
from collections.abc import Awaitable
from contextlib import suppress
from functools import partial

import pytest

from groupcore.shared.access import Right
from server.accounts import offers
from server.accounts.accounts import Accounts
from server.accounts.errors import AccountError
from server.accounts.people import HOME
from server.accounts.proofs import RESET
from server.accounts.roles import USER, Role
from tests.server.accounts.offices import ORIGIN, Office, office
from tests.server.accounts.test_people import refused


async def claim(here: Office, email: str = "ceo@corp.example") -> str:
    """An account by an invitation for anybody; its address is a claim."""
    digest = f"open {email}"
    await here.accounts.add_workspace(here.as_ann, "lobby", "Lobby", ORIGIN)
    await here.accounts.invite(here.as_ann, digest, "lobby", Role.VIEWER, "", 900.0, ORIGIN)
    return await here.accounts.accept_as_new(digest, "Ceo", email, "verifier", "", ORIGIN)


def test_a_role_for_a_claimed_address_is_an_offer() -> None:  # O1
    async def main(here: Office) -> None:
        doc, user, by = await here.document(), await claim(here), here.as_ann
        accounts, as_user = here.accounts, USER + user
        assert not await accounts.give_document_role(by, doc, user, Role.EDITOR, ORIGIN)
        assert not await accounts.give_role(by, HOME, user, Role.OWNER, ORIGIN)
        assert accounts.document_role(as_user, doc) is Role.NONE
        assert as_user not in accounts.rights(doc)
        assert not accounts.manages(as_user)
        assert accounts.workspace_role(as_user, "lobby") is Role.VIEWER  # by a secret

    office(main)


def test_offers_become_roles_at_the_proof_and_take_none_that_is_more() -> None:  # O2, O3
    async def main(here: Office) -> None:
        doc, user, by = await here.document(), await claim(here), here.as_ann
        other, as_user = await here.document("other"), USER + user
        accounts = here.accounts
        await accounts.give_document_role(by, doc, user, Role.EDITOR, ORIGIN)
        await accounts.give_document_role(by, other, user, Role.VIEWER, ORIGIN)
        await accounts.give_role(by, HOME, user, Role.COMMENTER, ORIGIN)
        number = accounts.rights_number
        await accounts.confirm(by, user, False, ORIGIN)
        assert accounts.rights_number > number
        assert accounts.document_role(as_user, doc) is Role.EDITOR
        assert accounts.document_role(as_user, other) is Role.COMMENTER  # by HOME
        assert accounts.rights(doc)[as_user] is Right.WRITE
        assert accounts.workspace_role(as_user, HOME) is Role.COMMENTER
        assert accounts.document_offers == {}
        assert accounts.workspace_offers == {}
        assert await accounts.give_document_role(by, doc, user, Role.VIEWER, ORIGIN)
        assert accounts.document_role(as_user, doc) is Role.COMMENTER

    office(main)


def test_a_sharing_and_a_proof_that_meet_end_alike_at_all_nodes() -> None:
    """Whichever has the earlier place: the role is there in the end, and no offer."""

    async def main(here: Office) -> None:
        doc, user = await here.document(), await claim(here)
        one, other = here.at
        giving = one.give_document_role(here.as_ann, doc, user, Role.EDITOR, ORIGIN)
        proving = other.confirm(here.as_ann, user, False, ORIGIN)
        await giving
        await proving
        await one.refresh()
        assert one.document_role(USER + user, doc) is Role.EDITOR
        assert one.document_offers == {}

    for seed in range(8):
        office(main, seed, nodes=2)


def test_an_offer_is_taken_back_and_changed_by_owners_only() -> None:
    async def main(here: Office) -> None:
        doc, user, by = await here.document(), await claim(here), here.as_ann
        bob = USER + await here.hire("bob", Role.EDITOR)
        accounts = here.accounts
        asked = accounts.give_document_role(bob, doc, user, Role.VIEWER, ORIGIN)
        await refused("forbidden", asked)
        await refused("forbidden", accounts.give_role(bob, HOME, user, Role.VIEWER, ORIGIN))
        await accounts.give_document_role(by, doc, user, Role.EDITOR, ORIGIN)
        asked = accounts.give_document_role(bob, doc, user, Role.NONE, ORIGIN)
        await refused("forbidden", asked)
        assert accounts.document_offers[doc][user].role is Role.EDITOR
        await accounts.give_document_role(by, doc, user, Role.VIEWER, ORIGIN)
        assert accounts.document_offers[doc][user].role is Role.VIEWER
        assert await accounts.give_document_role(by, doc, user, Role.NONE, ORIGIN)
        assert accounts.document_offers == {}
        await accounts.confirm(by, user, False, ORIGIN)
        assert accounts.document_role(USER + user, doc) is Role.NONE

    office(main)


def test_who_has_a_role_by_a_secret_keeps_it_and_owners_change_it() -> None:
    async def main(here: Office) -> None:
        user, by, accounts = await claim(here), here.as_ann, here.accounts
        assert await accounts.give_role(by, "lobby", user, Role.EDITOR, ORIGIN)
        assert accounts.workspace_role(USER + user, "lobby") is Role.EDITOR
        assert await accounts.give_role(USER + user, "lobby", user, Role.NONE, ORIGIN)  # leaves

    office(main)


def test_offers_count_among_the_people_of_a_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offers, "MEMBERS_MAX", 2)

    async def main(here: Office) -> None:
        doc, by, accounts = await here.document(), here.as_ann, here.accounts
        one, other = await claim(here), await claim(here, "cfo@corp.example")
        await accounts.give_document_role(by, doc, one, Role.VIEWER, ORIGIN)
        asked = accounts.give_document_role(by, doc, other, Role.VIEWER, ORIGIN)
        await refused("too_many", asked)

    office(main)


def test_a_place_that_is_full_keeps_nobody_from_proving(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main(here: Office) -> None:
        doc, user, accounts = await here.document(), await claim(here), here.accounts
        await accounts.give_document_role(here.as_ann, doc, user, Role.VIEWER, ORIGIN)
        monkeypatch.setattr(offers, "MEMBERS_MAX", 1)
        await accounts.confirm(here.as_ann, user, False, ORIGIN)
        assert accounts.is_proved(user)
        assert accounts.document_role(USER + user, doc) is Role.NONE
        monkeypatch.undo()

    office(main)


def test_what_is_deleted_takes_its_offers_along() -> None:
    async def main(here: Office) -> None:
        doc, user, by, accounts = (
            await here.document(),
            await claim(here),
            here.as_ann,
            here.accounts,
        )
        await accounts.add_workspace(by, "choir", "Choir", ORIGIN)
        await accounts.give_document_role(by, doc, user, Role.VIEWER, ORIGIN)
        await accounts.give_role(by, "choir", user, Role.VIEWER, ORIGIN)
        await accounts.throw_away(by, [doc], ORIGIN)
        await accounts.delete_for_good(by, [doc], ORIGIN)
        await accounts.remove_workspace(by, "choir", False, ORIGIN)
        assert accounts.document_offers == {}
        assert accounts.workspace_offers == {}
        await accounts.confirm(by, user, False, ORIGIN)

    office(main)


def test_whatever_meets_no_claimed_address_has_a_role_and_no_proved_one_an_offer() -> None:
    """O1, O3 at each replica behind each step, with two nodes that know late of each other."""

    async def play(here: Office, draw: random.Random) -> None:
        docs = [await here.document(name) for name in ("plan", "board")]
        people = [await claim(here, f"p{number}@corp.example") for number in range(4)]
        for accounts in here.at:
            await accounts.refresh()
        for step in range(40):
            pending: Awaitable[object]
            at, user, role = draw.choice(here.at), draw.choice(people), draw.choice(list(Role))
            doc, email = draw.choice(docs), f"p{people.index(user)}@corp.example"
            match draw.randrange(9):
                case 0 | 1 | 2 | 3:
                    pending = at.give_document_role(here.as_ann, doc, user, role, ORIGIN)
                case 4 | 5:
                    pending = at.give_role(here.as_ann, HOME, user, role, ORIGIN)
                case 6:
                    pending = at.link_by_address(f"idp|{user}", email, ORIGIN)
                case 7:
                    pending = at.write_letter(f"l{step}", user, RESET, ORIGIN)
                case _ if step > 20:
                    pending = at.confirm(here.as_ann, user, draw.random() < 0.5, ORIGIN)
                case _:
                    continue
            if draw.random() < 0.5:
                with suppress(AccountError):
                    await pending
            for accounts in here.at:
                check(accounts, people)
        for accounts in here.at:
            await accounts.refresh()
            check(accounts, people)

    for seed in range(10):
        office(partial(play, draw=random.Random(seed)), seed, nodes=2)


def check(accounts: Accounts, people: list[str]) -> None:
    """The rules, in what one replica has."""
    offered = [*accounts.document_offers.values(), *accounts.workspace_offers.values()]
    assert all(offers for offers in offered)
    given = [*accounts.document_roles.values(), accounts.roles[HOME]]
    for user in people:
        if accounts.is_proved(user):
            assert not any(user in offers for offers in offered)
        else:
            assert not any(user in roles for roles in given)
            assert accounts.users[user].subject == ""
