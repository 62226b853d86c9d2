"""Who has claimed somebody else's address gets nothing that is meant for that address.

The attack: a squatter takes an open invitation as ceo@corp.example, with a password of his own,
and waits for the person with that address.
"""

from __future__ import annotations

import pytest

from server.accounts.people import HOME
from tests.server.accounts.idp import TestProvider, through
from tests.server.accounts.people import PASSWORD, Browser, hire, service

pytestmark = pytest.mark.slow

CEO = "ceo@corp.example"


async def squat(ann: Browser, squatter: Browser, role: str = "viewer") -> str:
    """By an invitation for whoever has it, to another workspace; the account."""
    status, space = await ann.ask("POST", "/workspaces", {"name": "Visitors"})
    assert status == 201, space
    invitations = f"/workspaces/{space['id']}/invitations"
    _, made = await ann.ask("POST", invitations, {"role": role})
    body = {"secret": made["secret"], "name": "The CEO", "email": CEO, "password": PASSWORD}
    status, session = await squatter.ask("POST", "/invitations/accept", body)
    assert status == 201, session
    return str(session["user"]["id"])


async def test_an_account_whose_address_is_not_proved_is_not_linked(
    ann_with_idp: Browser, idp: TestProvider
) -> None:
    idp.email, idp.name = CEO, "The CEO"
    async with Browser(ann_with_idp.node) as squatter, Browser(ann_with_idp.node) as ceo:
        user = await squat(ann_with_idp, squatter)
        assert await through(ceo, idp) == "/sign-in#error=unproved"
        assert (await ceo.ask("GET", "/session"))[1]["principal"] is None
        _, invited = await ann_with_idp.ask(
            "POST", f"/workspaces/{HOME}/invitations", {"role": "viewer", "email": CEO}
        )
        there = await through(ceo, idp, {"invitation": invited["secret"]})
        assert there == "/sign-in#error=unproved"  # nor by an invitation
        assert service(ceo.node).accounts.users[user].subject == ""


async def test_what_is_shared_with_an_address_waits_until_it_is_proved(ann: Browser) -> None:
    async with Browser(ann.node) as squatter:
        user = await squat(ann, squatter)
        doc = await ann.create("Board only", "fire everybody")
        body = {"email": CEO, "role": "editor"}
        status, shared = await ann.ask("POST", f"/documents/{doc}/members", body)
        assert (status, shared["role"], shared["pending"]) == (201, "none", "editor")
        assert (await squatter.ask("GET", f"/documents/{doc}"))[0] == 404
        status, _ = await ann.ask("PUT", f"/documents/{doc}/members/{user}", {"role": "viewer"})
        assert status == 204  # nor by the id of the account
        assert (await squatter.ask("GET", f"/documents/{doc}"))[0] == 404
        _, found = await ann.ask("GET", f"/documents/{doc}/members")
        (row,) = [one for one in found["members"] if one["id"] == user]
        assert (row["proved"], row["pending"], row["role"]) == (False, "viewer", "none")
        status, joined = await ann.ask("POST", f"/workspaces/{HOME}/members", body)
        assert (status, joined["pending"]) == (201, "editor")
        assert (await squatter.ask("GET", f"/documents/{doc}"))[0] == 404
        status, _ = await squatter.ask("GET", f"/workspaces/{HOME}/members")
        assert status == 404


async def test_a_pending_role_stands_beside_that_of_the_workspace(ann: Browser) -> None:
    async with Browser(ann.node) as squatter, Browser(ann.node) as bob:
        await hire(ann, "bob", "viewer")
        await bob.sign_in("bob@example.org")
        invitations = f"/workspaces/{HOME}/invitations"
        _, made = await ann.ask("POST", invitations, {"role": "viewer"})
        body = {"secret": made["secret"], "name": "The CEO", "email": CEO, "password": PASSWORD}
        await squatter.ask("POST", "/invitations/accept", body)
        doc = await ann.create()
        await ann.ask("POST", f"/documents/{doc}/members", {"email": CEO, "role": "editor"})
        _, found = await ann.ask("GET", f"/documents/{doc}/members")
        (row,) = [one for one in found["members"] if one["name"] == "The CEO"]
        assert (row["role"], row["here"], row["pending"]) == ("viewer", "none", "editor")
        for browser, told in ((bob, False), (squatter, True)):  # one's own row, and no offer
            _, found = await browser.ask("GET", f"/documents/{doc}/members")
            (row,) = [one for one in found["members"] if one["name"] == "The CEO"]
            assert "pending" not in row
            assert ("proved" in row) is told
        assert (await ann.ask("DELETE", f"/documents/{doc}/members/{row['id']}"))[0] == 204
        _, found = await ann.ask("GET", f"/documents/{doc}/members")
        assert not [one for one in found["members"] if "pending" in one]


async def test_an_owner_gives_the_account_to_its_person_and_the_squatter_is_out(
    ann_with_idp: Browser, idp: TestProvider
) -> None:
    idp.email, idp.name = CEO, "The CEO"
    node = ann_with_idp.node
    async with Browser(node) as squatter, Browser(node) as ceo:
        user = await squat(ann_with_idp, squatter)
        token = {"name": "mine", "scopes": ["documents:read"]}
        _, made = await squatter.ask("POST", "/tokens", token)
        doc = await ann_with_idp.create("Board only", "fire everybody")
        body = {"email": CEO, "role": "viewer"}
        await ann_with_idp.ask("POST", f"/documents/{doc}/members", body)
        status, shown = await ann_with_idp.ask(
            "POST", f"/users/{user}/confirm", {"hand_over": True}
        )
        assert (status, shown["proved"]) == (200, True)
        assert (await squatter.ask("GET", "/session"))[1]["principal"] is None
        assert (await squatter.sign_in(CEO))[0] == 401
        bearer = {"Authorization": f"Bearer {made['secret']}"}
        assert (await squatter.ask("GET", "/documents", **bearer))[0] == 401
        assert await through(ceo, idp) == "/"
        assert (await ceo.ask("GET", f"/documents/{doc}"))[0] == 200  # the offer is a role now


async def test_who_signs_in_by_the_password_links_the_account_and_proves_it(
    ann_with_idp: Browser, idp: TestProvider
) -> None:
    idp.email, idp.name = CEO, "The CEO"
    async with Browser(ann_with_idp.node) as ceo, Browser(ann_with_idp.node) as other:
        user = await squat(ann_with_idp, ceo)  # no squatter this time
        doc = await ann_with_idp.create()
        body = {"email": CEO, "role": "viewer"}
        await ann_with_idp.ask("POST", f"/documents/{doc}/members", body)
        assert await through(ceo, idp, {"link": True}) == "/account"
        _, own = await ceo.ask("GET", "/me")
        assert (own["proved"], own["linked"], own["has_password"]) == (True, True, True)
        assert (await ceo.ask("GET", f"/documents/{doc}"))[0] == 200
        assert await through(other, idp) == "/"
        assert (await other.ask("GET", "/session"))[1]["principal"] == f"user:{user}"


async def test_a_provider_with_another_address_proves_nothing(
    ann_with_idp: Browser, idp: TestProvider
) -> None:
    """The squatter links his own account at the provider: it is cleared at the proof."""
    idp.email = "eve@example.org"
    async with Browser(ann_with_idp.node) as squatter:
        user = await squat(ann_with_idp, squatter)
        assert await through(squatter, idp, {"link": True}) == "/account"
        assert (await squatter.ask("GET", "/me"))[1]["proved"] is False
        await ann_with_idp.ask("POST", f"/users/{user}/confirm", {"hand_over": True})
        assert await through(squatter, idp) == "/sign-in#error=no_account"


async def test_nobody_links_an_account_for_who_is_not_signed_in(
    ann_with_idp: Browser, idp: TestProvider
) -> None:
    async with Browser(ann_with_idp.node) as nobody:
        assert (await nobody.ask("POST", "/session/oidc", {"link": True}))[0] == 401
        await squat(ann_with_idp, nobody)
        _, begun = await nobody.ask("POST", "/session/oidc", {"link": True})
        await nobody.ask("DELETE", "/session")
        url = f"{nobody.node.url}/api/v1/session/oidc/callback"
        brought = idp.authorize(begun["url"])
        async with nobody.http.get(url, params=brought, allow_redirects=False) as answer:
            assert answer.headers["Location"] == "/sign-in#error=unauthenticated"
    assert not service(ann_with_idp.node).accounts.subjects


async def test_an_address_that_an_owner_invited_is_proved(ann: Browser) -> None:
    """Who manages accounts gives the secret to the person with the address."""
    async with Browser(ann.node) as bob:
        invited = {"role": "viewer", "email": "bob@example.org"}
        _, made = await ann.ask("POST", f"/workspaces/{HOME}/invitations", invited)
        new = {"name": "Bob", "email": "bob@example.org", "password": PASSWORD}
        await bob.ask("POST", "/invitations/accept", {"secret": made["secret"], **new})
        assert (await bob.ask("GET", "/me"))[1]["proved"] is True


async def test_only_who_manages_accounts_confirms_addresses(ann: Browser) -> None:
    async with Browser(ann.node) as squatter:
        user = await squat(ann, squatter, "owner")  # of a workspace of his own
        assert (await squatter.ask("POST", f"/users/{user}/confirm", {}))[0] == 403
        space = (await squatter.ask("GET", "/workspaces"))[1]["workspaces"][0]["id"]
        _, made = await squatter.ask(
            "POST", f"/workspaces/{space}/invitations", {"role": "viewer", "email": CEO}
        )
        assert (await squatter.ask("POST", "/invitations/accept", {"secret": made["secret"]}))[
            0
        ] == 201  # his own word for his own address
        assert (await squatter.ask("GET", "/me"))[1]["proved"] is False
