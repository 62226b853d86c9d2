"""What somebody may do to a document: the most of workspace, document and link; exact edges."""

from __future__ import annotations

import random

from groupcore.shared.access import Right
from server.accounts.people import HOME
from server.accounts.roles import ADMIN, KEEPER, LINK, USER, Role, right_of
from tests.server.accounts.offices import ORIGIN, Office, office
from tests.server.accounts.test_people import refused


def test_who_makes_a_document_owns_it_at_once() -> None:
    async def main(here: Office) -> None:
        bob = USER + await here.hire("bob", Role.EDITOR)
        await here.accounts.file_document(bob, "plan", HOME, ORIGIN)
        assert here.accounts.document_role(bob, "plan") is Role.OWNER
        assert here.accounts.rights("plan") == {
            KEEPER: Right.MANAGE,
            here.as_ann: Right.WRITE,
            bob: Right.WRITE,
        }

    office(main)


def test_viewers_and_strangers_make_no_documents() -> None:
    async def main(here: Office) -> None:
        eve = USER + await here.hire("eve", Role.VIEWER)
        await refused("forbidden", here.accounts.file_document(eve, "d", HOME, ORIGIN))
        out = USER + await here.hire("out", Role.NONE)
        await refused("not_found", here.accounts.file_document(out, "d", HOME, ORIGIN))
        await refused("not_found", here.accounts.file_document("link:1", "d", HOME, ORIGIN))
        assert not here.accounts.documents

    office(main)


def test_filing_twice_is_filing_once_and_nobody_takes_anothers_id() -> None:
    async def main(here: Office) -> None:
        doc, bob = await here.document(), USER + await here.hire("bob")
        await here.document()
        await refused("taken", here.accounts.file_document(bob, doc, HOME, ORIGIN))
        assert here.accounts.documents[doc].by == here.as_ann

    office(main)


def test_the_effective_role_is_the_highest_of_all() -> None:
    async def main(here: Office) -> None:
        doc, user = await here.document(), await here.hire("bob", Role.VIEWER)
        accounts, by, bob = here.accounts, here.as_ann, USER + user
        assert accounts.document_role(bob, doc) is Role.VIEWER
        link = await accounts.add_link(by, "l", doc, Role.COMMENTER, 1000.0, "", ORIGIN)
        await accounts.enter_link(link, user, ORIGIN)
        assert accounts.document_role(bob, doc) is Role.COMMENTER
        await accounts.set_document_role(by, doc, user, Role.EDITOR, ORIGIN)
        assert accounts.document_role(bob, doc) is Role.EDITOR
        await accounts.set_document_role(by, doc, user, Role.NONE, ORIGIN)
        assert accounts.document_role(bob, doc) is Role.COMMENTER
        await accounts.set_role(by, HOME, user, Role.NONE, ORIGIN)
        assert accounts.document_role(bob, doc) is Role.COMMENTER
        await accounts.revoke_link(by, doc, link, ORIGIN)
        assert accounts.document_role(bob, doc) is Role.NONE
        assert bob not in accounts.rights(doc)

    office(main)


def test_commenters_read_editors_and_owners_write_nobody_manages_a_list() -> None:
    found = [right_of(role) for role in Role]
    assert found == [Right.NONE, Right.READ, Right.READ, Right.WRITE, Right.WRITE]


def test_a_visitor_has_what_the_link_gives_for_its_document_only() -> None:
    async def main(here: Office) -> None:
        doc, other = await here.document("plan"), await here.document("other")
        link = await here.accounts.add_link(here.as_ann, "l", doc, Role.VIEWER, 1000.0, "", ORIGIN)
        assert here.accounts.document_role(LINK + link, doc) is Role.VIEWER
        assert here.accounts.document_role(LINK + link, other) is Role.NONE
        assert here.accounts.document_role(LINK + "none", doc) is Role.NONE
        assert here.accounts.document_role("", doc) is Role.NONE

    office(main)


def test_a_disabled_account_is_on_no_list() -> None:
    async def main(here: Office) -> None:
        doc, user = await here.document(), await here.hire("bob", Role.EDITOR)
        await here.accounts.set_disabled(here.as_ann, user, True, ORIGIN)
        assert USER + user not in here.accounts.rights(doc)
        await here.accounts.set_disabled(here.as_ann, user, False, ORIGIN)
        assert here.accounts.rights(doc)[USER + user] is Right.WRITE

    office(main)


def test_what_one_may_not_see_is_not_there() -> None:
    async def main(here: Office) -> None:
        doc, out = await here.document(), await here.hire("out", Role.NONE)
        seen, by = await here.hire("seen", Role.VIEWER), USER + out
        asked = here.accounts.set_document_role(by, doc, out, Role.OWNER, ORIGIN)
        await refused("not_found", asked)
        await refused(
            "not_found", here.accounts.add_link(by, "l", doc, Role.VIEWER, 9.0, "", ORIGIN)
        )
        asked = here.accounts.set_document_role(USER + seen, doc, seen, Role.OWNER, ORIGIN)
        await refused("forbidden", asked)

    office(main)


def test_documents_from_before_are_filed_with_the_first_owner() -> None:
    async def main(here: Office) -> None:
        assert await here.accounts.adopt_documents(["old", "older"], ORIGIN) == 2
        assert await here.accounts.adopt_documents(["old", "older"], ORIGIN) == 0
        assert here.accounts.document_role(here.as_ann, "old") is Role.OWNER

    office(main)


def test_lists_are_equal_at_all_nodes_whatever_was_asked_where() -> None:
    """Random changes at two nodes at once: a model of the roles says who may what in the end."""

    async def main(here: Office) -> None:
        draw = random.Random(here.world.draw.random())
        people = [await here.hire(name, Role.NONE) for name in ("b", "c", "d")]
        doc = await here.document()
        for _ in range(40):
            at, user = draw.choice(here.at), draw.choice(people)
            role = draw.choice([Role.NONE, Role.VIEWER, Role.EDITOR])
            match draw.randrange(3):
                case 0:
                    at.set_role(here.as_ann, HOME, user, role, ORIGIN)
                case 1:
                    at.set_document_role(here.as_ann, doc, user, role, ORIGIN)
                case _:
                    at.set_disabled(ADMIN, user, draw.random() < 0.5, ORIGIN)
            await here.world.elapse(draw.random() / 20)
        await here.world.settle()
        one, other = here.at
        assert one.rights(doc) == other.rights(doc)
        for user in people:
            roles = (
                one.roles[HOME].get(user, Role.NONE),
                one.document_roles[doc].get(user, Role.NONE),
            )
            best = Role.NONE if one.users[user].is_disabled else max(roles)
            assert one.rights(doc).get(USER + user, Right.NONE) is right_of(best)

    for seed in range(6):
        office(main, seed, nodes=2)
