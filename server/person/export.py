"""All that a cluster holds of a person, as one zip: what they may have, and take elsewhere.

Idea. A node reads what its replicas say, and each document that is theirs: Markdown is made by the
node's workers (`server.work`), one document after the other, and the zip grows in a scratch file.
What is more than the bounds is named in the file, and can be had by itself. No secret is in it: no
verifier, no digest, no key of a factor.

    README.txt          what each file is, and what is not here
    account.json        the account, its second factors, tokens, sign-ins, failed sign-ins
    roles.json          workspaces and documents where they have a role, offers, links, invitations
    files.json          what they like, have opened last, and have changed last
    audit.json          entries of the audit log by them or about them, as far as nodes hold them
    documents/ID.md     documents that they made or own, and may read
    documents/ID.json   the same, block by block
    places/ID.json      places that they made or own, and may read, with all their things
    left-out.json       documents that are theirs and are not in this file, and why
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import asdict

from groupcore.objects.rich_parsing import to_wire
from server.accounts.accounts import Accounts
from server.accounts.records import User
from server.accounts.roles import USER, Role
from server.documents.catalogue import PLACE
from server.documents.work import exported
from server.documents.zipped import Zipped
from server.errors import BadMessageError
from server.node import Node
from server.places.reading import whole
from server.places.talk import shown as shown_remark
from server.places.talk import talk_of
from server.places.things import shown as shown_thing
from server.routes.shown import (
    Shown,
    instant,
    shown_invitation,
    shown_link,
    shown_self,
    shown_sign_in,
    shown_token,
)

DOCUMENTS_MAX = 1_000
BYTES_MAX = 256 << 20
"""Of texts, before they are packed."""
AT_ONCE = 2
"""So many people's are made at a node at a time."""
README = """\
What this server holds of you.

account.json    your account, second factors, tokens, browsers, failed sign-ins
roles.json      where you have a role, links you made, invitations to your address
files.json      what you like, opened last, and changed last
audit.json      the last entries of the server's log by you or about you
documents/      documents that you made or own, as Markdown and as JSON
places/         boards that you made or own, with everything on them, as JSON
left-out.json   what of yours did not fit in here; open and download it one by one

Not in here: texts that you wrote in documents of others. The server's own record says who sent each
edit until it is shortened; whoever runs the server can look it up. Drafts that were not sent are in
your browsers only. Secrets (passwords, keys, codes) are kept as digests, or not given out.
"""


class PersonExport:
    """The zips of one node."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._under_way: set[str] = set()

    async def begin(self, user: str) -> AsyncIterator[bytes]:
        """The pieces of one person's; BadMessageError `busy`, before anything is given."""
        if user in self._under_way or len(self._under_way) >= AT_ONCE:
            raise BadMessageError("busy", "data is being gathered already; try again soon")
        self._under_way.add(user)
        try:
            zipped = await self._gathered(user)
        finally:
            self._under_way.discard(user)

        async def pieces() -> AsyncIterator[bytes]:
            whole = iter(zipped.end())
            while piece := await asyncio.to_thread(next, whole, b""):
                yield piece

        return pieces()

    async def _gathered(self, user: str) -> Zipped:
        accounts, zipped = self._node.files.accounts, Zipped()
        person = accounts.users[user]
        parts = {
            "account.json": account_of(accounts, person),
            "roles.json": roles_of(accounts, person, self._titles()),
            "files.json": self._files(user),
            "audit.json": audit_of(accounts, user),
        }
        await _add(zipped, "README.txt", README.encode())
        for name, part in parts.items():
            await _add_json(zipped, name, part)
        await _add_json(zipped, "left-out.json", await self._add_documents(zipped, user))
        return zipped

    def _titles(self) -> dict[str, str]:
        return {doc: listed.title for doc, listed in self._node.whole_catalogue.items()}

    def _files(self, user: str) -> Shown:
        activity = self._node.files.activity
        changed = [
            {"document": doc, "at": instant(touch.at_s)}
            for doc, touch in activity.touched.items()
            if touch.by == USER + user
        ]
        recent = activity.recent.get(user, {}).items()
        return {
            "favourites": list(activity.favourites.get(user, ())),
            "opened": [{"document": doc, "at": instant(at_s)} for doc, at_s in recent],
            "changed_last_by_you": changed,
        }

    async def _add_documents(self, zipped: Zipped, user: str) -> list[Shown]:
        """Those of the person; which are left out, and why."""
        left: list[Shown] = []
        size = 0
        for number, (doc, title) in enumerate(own_documents(self._node, user)):
            if number >= DOCUMENTS_MAX or size >= BYTES_MAX:
                left.append({"id": doc, "title": title, "why": "too much for one file"})
                continue
            is_place = self._node.whole_catalogue.kind_of(doc) == PLACE
            add = self._add_place if is_place else self._add_document
            try:
                size += await add(zipped, user, doc)
            except BadMessageError as error:
                left.append({"id": doc, "title": title, "why": error.message})
        return left

    async def _add_place(self, zipped: Zipped, user: str, doc: str) -> int:
        """As `_add_document`; BadMessageError where it is too large, or does not come to rest."""
        del user
        async with self._node.keepers.places.reading(doc) as minding:
            things = [shown_thing(one) for one in await whole(minding)]
            talk, accounts = await talk_of(minding), self._node.files.accounts
            said = [shown_remark(accounts, one) for one in talk.remarks.values()]
            title = minding.place.outline.title
        fields = {"id": doc, "title": title, "things": things, "talk": said}
        packed = json.dumps(fields, ensure_ascii=False)
        await _add(zipped, f"places/{doc}.json", packed.encode())
        return len(packed)

    async def _add_document(self, zipped: Zipped, user: str, doc: str) -> int:
        """How many bytes of text it has; BadMessageError of the workers."""
        async with self._node.keeper.reading(doc) as document:
            title, shot = document.outline.title, await document.snapshot()
        blocks = [(attributes, text) for _, attributes, text in shot]
        source = (await exported(self._node.work, user, title, blocks)).encode()
        rows = [{"id": id, **dict(given), "content": to_wire(text)} for id, given, text in shot]
        packed = json.dumps({"id": doc, "title": title, "blocks": rows}, ensure_ascii=False)
        await _add(zipped, f"documents/{doc}.md", source)
        await _add(zipped, f"documents/{doc}.json", packed.encode())
        return len(source) + len(packed)


def own_documents(node: Node, user: str) -> list[tuple[str, str]]:
    """Id and title of what the person made or owns by name, and may read."""
    accounts, principal = node.files.accounts, USER + user
    return [
        (doc, listed.title)
        for doc, listed in node.whole_catalogue.items()
        if doc in accounts.documents
        and (
            accounts.documents[doc].by == principal
            or accounts.document_roles.get(doc, {}).get(user) is Role.OWNER
        )
        and accounts.document_role(principal, doc) is not Role.NONE
    ]


def account_of(accounts: Accounts, person: User) -> Shown:
    """The account, and what it is signed in with."""
    principal, proof = USER + person.id, accounts.proofs.get(person.id)
    totp = accounts.totps.get(person.id)
    keys = [(accounts.passkeys[id], id) for id in accounts.passkeys_of(person.id)]
    proved: Shown = {} if proof is None else {"how": proof.how, "at": instant(proof.at_s)}
    return {
        **shown_self(accounts, person),
        "provider": person.subject or None,
        "address_proved": proved or None,
        "authenticator_since": None if totp is None else instant(totp.created_s),
        "recovery_codes_left": len(accounts.recovery.get(person.id, ())),
        "passkeys": [
            {"id": id, "name": one.name, "made": instant(one.created_s)} for one, id in keys
        ],
        "tokens": [shown_token(one) for one in accounts.tokens.values() if one.user == person.id],
        "sign_ins": [
            shown_sign_in(one) for one in accounts.sign_ins.values() if one.principal == principal
        ],
    }


def roles_of(accounts: Accounts, person: User, titles: dict[str, str]) -> Shown:
    """Where they have a role, and what they gave others."""
    user = person.id
    spaces = [
        {"id": id, "name": accounts.workspaces[id].name, "role": roles[user].name.lower()}
        for id, roles in accounts.roles.items()
        if user in roles and id in accounts.workspaces
    ]
    documents = [
        {"id": doc, "title": titles.get(doc, ""), "role": roles[user].name.lower()}
        for doc, roles in accounts.document_roles.items()
        if user in roles
    ]
    waiting = [
        {"where": place, "role": offers[user].role.name.lower(), "at": instant(offers[user].at_s)}
        for kept in (accounts.workspace_offers, accounts.document_offers)
        for place, offers in kept.items()
        if user in offers
    ]
    links = [shown_link(one) for one in accounts.links.values() if one.by == USER + user]
    came_by = [link for link, people in accounts.entered.items() if user in people]
    invited = [one for one in accounts.invitations.values() if one.email == person.email]
    return {
        "workspaces": spaces,
        "documents": documents,
        "waiting_for_your_address": waiting,
        "links_you_made": links,
        "links_you_came_by": came_by,
        "invitations_to_you": [shown_invitation(one) for one in invited],
    }


def audit_of(accounts: Accounts, user: str) -> list[Shown]:
    """By the person, or about them; of others who did something no address of theirs is told."""
    principal = USER + user
    found: list[Shown] = []
    for note in accounts.notes:
        is_own = note.by == principal
        if is_own or user in note.about.replace(principal, user).split():
            row = asdict(note)
            del row["chain"]
            found.append(row if is_own else {**row, "origin": ""})
    return found


async def _add_json(zipped: Zipped, name: str, part: object) -> None:
    text = json.dumps(part, ensure_ascii=False, indent=1)
    await _add(zipped, name, text.encode())


async def _add(zipped: Zipped, name: str, data: bytes) -> None:
    await asyncio.to_thread(zipped.add, name, data, packed=True)
