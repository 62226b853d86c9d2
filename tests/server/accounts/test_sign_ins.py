"""Sign-ins, tokens and share links: good for a while, over for ever, and everybody is told."""

from __future__ import annotations

import pytest

from groupcore.shared import Changed
from server.accounts import sign_ins
from server.accounts.accounts import Accounts
from server.accounts.people import HOME
from server.accounts.records import Ended
from server.accounts.roles import LINK, USER, Role
from tests.server.accounts.offices import ORIGIN, Office, office
from tests.server.accounts.test_people import refused


class Ends:
    """The sign-ins that a node was told are over."""

    def __init__(self, accounts: Accounts) -> None:
        self.told: list[Ended] = []
        self._stream = accounts.changes()
        self._stream.tap = self._on_change

    def _on_change(self, change: object) -> None:
        if isinstance(change, Changed):
            self.told += [one for one in change.details if isinstance(one, Ended)]


async def sign_in(here: Office, digest: str, user: str) -> str:
    made = await here.accounts.sign_in(digest, user, "a", "Firefox", ORIGIN)
    return made.id


def now(here: Office) -> float:
    return here.accounts.time_s


def test_a_sign_in_is_good_until_it_is_signed_out_and_all_nodes_are_told() -> None:
    async def main(here: Office) -> None:
        other = Ends(here.at[1])
        id = await sign_in(here, "s1", here.ann)
        found = here.accounts.sign_in_of("s1", now(here))
        assert found is not None
        assert found.principal == here.as_ann
        assert here.accounts.sign_in_of("s2", now(here)) is None
        await here.accounts.sign_out("s1", ORIGIN)
        await here.accounts.sign_out("s1", ORIGIN)
        await here.world.settle()
        assert other.told == [Ended((id,), "signed_out")]
        assert here.at[1].sign_in_of("s1", now(here)) is None

    office(main, nodes=2)


def test_what_is_too_old_is_no_good_and_then_taken_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sign_ins, "SIGN_IN_S", 100.0)

    async def main(here: Office) -> None:
        ends = Ends(here.accounts)
        await sign_in(here, "s1", here.ann)
        await here.world.elapse(90)
        await here.accounts.seen("s1", "a")
        await here.world.elapse(90)
        assert here.accounts.sign_in_of("s1", now(here)) is not None
        assert not here.accounts.has_expired(now(here))
        await here.world.elapse(11)
        assert here.accounts.sign_in_of("s1", now(here)) is None
        await here.accounts.seen("s1", "a")  # too late
        assert here.accounts.has_expired(now(here))
        assert await here.accounts.expire() == 1
        assert ends.told[0].reason == "expired"
        assert not here.accounts.sign_ins

    office(main)


def test_seeing_a_sign_in_keeps_it_no_longer_than_the_longest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sign_ins, "SIGN_IN_S", 100.0)
    monkeypatch.setattr(sign_ins, "SIGN_IN_LONGEST_S", 150.0)

    async def main(here: Office) -> None:
        await sign_in(here, "s1", here.ann)
        await here.world.elapse(90)
        await here.accounts.seen("s1", "a")
        await here.world.elapse(61)
        assert here.accounts.sign_in_of("s1", now(here)) is None

    office(main)


def test_disabling_an_account_ends_its_sign_ins_and_tokens() -> None:
    async def main(here: Office) -> None:
        bob, ends = await here.hire("bob"), Ends(here.accounts)
        id = await sign_in(here, "s1", bob)
        await sign_in(here, "s2", here.ann)
        token = await here.accounts.add_token(
            USER + bob, "t1", bob, "ci", ("documents:read",), 99.0, ORIGIN
        )
        await here.accounts.set_disabled(here.as_ann, bob, True, ORIGIN)
        assert [one.sign_ins for one in ends.told] == [(id,), (token,)]
        assert here.accounts.token_of("t1", now(here)) is None
        await refused("bad_credentials", here.accounts.sign_in("s3", bob, "a", "", ORIGIN))
        assert list(here.accounts.sign_ins) == ["s2"]

    office(main)


def test_a_new_password_ends_all_other_sign_ins() -> None:
    async def main(here: Office) -> None:
        kept = await sign_in(here, "s1", here.ann)
        await sign_in(here, "s2", here.ann)
        await here.accounts.set_verifier(here.as_ann, here.ann, "new", kept, ORIGIN)
        assert list(here.accounts.sign_ins) == ["s1"]
        assert here.accounts.users[here.ann].verifier == "new"

    office(main)


def test_one_ends_ones_own_sign_ins_and_managers_anybodys() -> None:
    async def main(here: Office) -> None:
        bob = await here.hire("bob")
        as_bob, anns = USER + bob, await sign_in(here, "s1", here.ann)
        await sign_in(here, "s2", bob)
        await sign_in(here, "s3", bob)
        await refused("not_found", here.accounts.end_sign_in(as_bob, anns, ORIGIN))
        await refused("forbidden", here.accounts.end_all(as_bob, here.as_ann, ORIGIN))
        valid_s, scopes = 3600.0, ("documents:read",)
        token = await here.accounts.add_token(as_bob, "t", bob, "x", scopes, valid_s, ORIGIN)
        ends = Ends(here.at[1])
        assert await here.accounts.end_all(here.as_ann, as_bob, ORIGIN) == 2
        await here.world.settle()
        assert {id for one in ends.told for id in one.sign_ins} >= {token}
        assert sum(len(one.sign_ins) for one in ends.told) == 3
        assert here.accounts.token_of("t", now(here)) is not None

    office(main, nodes=2)


def test_nobody_has_more_sign_ins_than_there_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sign_ins, "SIGN_INS_MAX", 2)

    async def main(here: Office) -> None:
        for digest in ("s1", "s2"):
            await sign_in(here, digest, here.ann)
            await here.world.elapse(1)
        await here.accounts.seen("s1", "a")
        await sign_in(here, "s3", here.ann)
        assert sorted(here.accounts.sign_ins) == ["s1", "s3"]

    office(main)


def test_tokens_have_scopes_that_there_are_and_end_when_revoked() -> None:
    async def main(here: Office) -> None:
        accounts, by, ann = here.accounts, here.as_ann, here.ann
        for scopes in ((), ("everything",), ("documents:read", "root")):
            asked = accounts.add_token(by, "t", ann, "ci", scopes, 99.0, ORIGIN)
            await refused("bad_request", asked)
        id = await accounts.add_token(by, "t", ann, "ci", ("documents:read",), 99.0, ORIGIN)
        assert accounts.token_of("t", now(here)) is not None
        bob = USER + await here.hire("bob")
        await refused("not_found", accounts.revoke_token(bob, id, ORIGIN))
        await accounts.revoke_token(by, id, ORIGIN)
        assert accounts.token_of("t", now(here)) is None

    office(main)


def test_a_link_that_is_revoked_puts_its_visitors_out() -> None:
    async def main(here: Office) -> None:
        accounts, doc, ends = here.accounts, await here.document(), Ends(here.accounts)
        id = await accounts.add_link(here.as_ann, "l", doc, Role.EDITOR, 99.0, "", ORIGIN)
        visit = await accounts.visit(id, "v", "a", "Firefox", ORIGIN)
        assert LINK + id in accounts.rights(doc)
        await accounts.revoke_link(here.as_ann, doc, id, ORIGIN)
        assert ends.told == [Ended((visit.id,), "link")]
        assert LINK + id not in accounts.rights(doc)
        assert accounts.link_by("l", now(here)) is None
        await refused("not_found", accounts.visit(id, "v2", "a", "", ORIGIN))
        await refused("not_found", accounts.enter_link(id, here.ann, ORIGIN))

    office(main)


def test_a_link_that_is_too_old_gives_nothing_and_is_taken_off_the_list() -> None:
    async def main(here: Office) -> None:
        accounts, doc = here.accounts, await here.document()
        id = await accounts.add_link(here.as_ann, "l", doc, Role.EDITOR, 10.0, "", ORIGIN)
        await accounts.visit(id, "v", "a", "Firefox", ORIGIN)
        await here.world.elapse(11)
        assert accounts.link_by("l", now(here)) is None
        assert accounts.sign_in_of("v", now(here)) is None
        assert await accounts.expire() == 1
        assert LINK + id not in accounts.rights(doc)
        assert not accounts.links
        assert not accounts.link_digests
        assert not accounts.document_links

    office(main)


def test_a_link_gives_no_more_than_editing_and_only_owners_make_one() -> None:
    async def main(here: Office) -> None:
        doc, bob = await here.document(), USER + await here.hire("bob", Role.EDITOR)
        owns = here.accounts.add_link(here.as_ann, "l", doc, Role.OWNER, 9.0, "", ORIGIN)
        await refused("bad_request", owns)
        theirs = here.accounts.add_link(bob, "l", doc, Role.VIEWER, 9.0, "", ORIGIN)
        await refused("forbidden", theirs)

    office(main)


def test_leaving_the_workspace_takes_the_list_with_it() -> None:
    async def main(here: Office) -> None:
        doc, bob = await here.document(), await here.hire("bob", Role.EDITOR)
        await here.accounts.set_role(USER + bob, HOME, bob, Role.NONE, ORIGIN)
        assert USER + bob not in here.accounts.rights(doc)

    office(main)
