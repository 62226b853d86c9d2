"""Accounts at one node: who asks, who may, and what happens here when that changes.

Idea. The object of all accounts is open here as nobody in particular. What changes in it this node
carries out at once: sockets of sign-ins that are over are closed, pages let go of what they may
not have open, the documents' lists follow, and the audit log goes to the node's file. Who asks is
decided by this node's replica; what they may, by the object at the call's place in the order.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from groupcore.errors import GroupcoreError
from groupcore.shared import Changed
from groupcore.shared.changes import Change, Replaced
from groupcore.shared.object import is_current
from groupcore.web import Badge
from server.accounts.accounts import Accounts
from server.accounts.audit_file import AuditFile
from server.accounts.erased_file import NAME as ERASED
from server.accounts.erased_file import write_erased
from server.accounts.guard import Guard
from server.accounts.lists import Lists, Shelf
from server.accounts.passwords import Passwords
from server.accounts.records import Ended, Erased, RightsChanged
from server.accounts.roles import USER, Role
from server.accounts.secrets import digest_of, new_secret
from server.accounts.standing import Standing
from server.accounts.tickets import Tickets
from server.errors import BadMessageError
from server.rest import Seals

if TYPE_CHECKING:
    from server.mail.mailer import Mailer

logger = logging.getLogger("server")

SWEEP_S = 1.0
"""How often a node looks for what is too old."""
OTHERS_SWEEPS = 3
"""After so many looks the others do what the oldest node should have done."""
SEEN_S = 3600.0
"""How often it is written down that a sign-in is in use."""
KNOWN_MAX = 100_000
"""So many answers to who may read what are kept, until a role changes."""
SIGNED_OUT = 4403
"""With this code the sockets of a sign-in that is over are closed."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks: a principal, by a sign-in or a token; `secret` is what they showed."""

    principal: str
    digest: str
    key: str
    secret: str
    scopes: frozenset[str] | None = None

    @property
    def user(self) -> str:
        """The id of the account, empty for a visitor."""
        return self.principal.removeprefix(USER) if self.principal.startswith(USER) else ""


class Pages(Protocol):
    """The gateway, as far as accounts move it."""

    def dismiss(self, wanted: Callable[[Badge], bool], code: int, reason: str) -> int:
        """End the sessions of these pages."""

    def recheck(self) -> None:
        """Have pages let go of what they may not have open."""


class Feed(Protocol):
    """Pages that follow something else than objects."""

    def dismiss(self, wanted: Callable[[Badge], bool], code: int, reason: str) -> None:
        """Close these."""


class AccountService:
    """The accounts at a node. `begin` before anything else; `pages` when there is a gateway."""

    def __init__(self, node_id: str, folder: Path, public_url: str, passwords: Passwords) -> None:
        self.node_id = node_id
        self.passwords = passwords
        self.tickets = Tickets()
        self.guard = Guard(lambda: asyncio.get_running_loop().time())
        self.offers = True
        self.cluster_keys: Callable[[], tuple[bytes, ...]] = tuple
        self.own_audit_key = False
        self.silent_s: Callable[[], float] = lambda: 0.0
        self.seals: Seals | None = None
        self.mailer: Mailer | None = None
        self.pages: Pages | None = None
        self.feed: Feed | None = None
        self._accounts: Accounts | None = None
        self._lists: Lists | None = None
        self._standing: Standing | None = None
        self._folder = folder
        self._known: dict[tuple[str, str], bool] = {}
        self._known_of = -1
        self._public_url = public_url
        self._file: AuditFile | None = None
        self._sweeping: asyncio.Task[None] | None = None
        self._offering: asyncio.Task[None] | None = None
        self._drawing: asyncio.Task[None] | None = None

    @property
    def accounts(self) -> Accounts:
        """The object; BadMessageError `not_ready` before this node has it."""
        accounts = self._accounts
        if accounts is None:
            raise BadMessageError("not_ready", "this node is not in its cluster yet; try again")
        if not is_current(accounts):  # what it shows is older than what people may
            raise BadMessageError("not_ready", "this node comes back to its cluster; try again")
        return accounts

    @property
    def standing(self) -> Standing:
        """Whether what this node has is late enough to say who may read."""
        if self._standing is None:
            raise BadMessageError("not_ready", "this node is not in its cluster yet; try again")
        return self._standing

    @property
    def doubts(self) -> int:
        """How often this node was not sure who may read."""
        return 0 if self._standing is None else self._standing.doubts

    @property
    def lists(self) -> Lists:
        """What keeps the documents' lists."""
        if self._lists is None:
            raise BadMessageError("not_ready", "this node is not in its cluster yet; try again")
        return self._lists

    def begin(self, accounts: Accounts, shelf: Shelf) -> None:
        """Use the object, which the node has opened; DamagedStoreError, KeyProblem."""
        path = self._folder / "audit.jsonl"
        self._file = AuditFile(
            path, self.cluster_keys(), seals=self.seals, own_key=self.own_audit_key
        )
        accounts.changes().tap = self._on_change
        self._lists = Lists(accounts, shelf)
        self._accounts = accounts
        clock = asyncio.get_running_loop().time
        self._standing = Standing(clock, lambda: self.silent_s(), accounts.refresh)
        self._standing.begin()
        if not self._file.agrees(accounts.notes):
            logger.warning("%s is of another audit log; move it away", self._folder / "audit.jsonl")
        self._write_down(accounts)
        self._sweeping = asyncio.create_task(self._sweep())
        self._drawing = asyncio.create_task(self._draw(accounts))
        if self.offers:
            self._offering = asyncio.create_task(self._offer())

    async def close(self) -> None:
        """The node leaves."""
        if self._standing is not None:
            self._standing.end()
        for task in (self._sweeping, self._offering, self._drawing):
            if task is not None:
                task.cancel()
                await asyncio.wait([task])
        if self._lists is not None:
            await self._lists.close()
        self.passwords.close()
        if self.mailer is not None:
            self.mailer.close()

    # --- who asks -------------------------------------------------------------------------------

    @property
    def now_s(self) -> float:
        """The order's time, as this node estimates it."""
        return self.accounts.time_s

    def by_session(self, secret: str) -> Caller | None:
        """Who has signed in with this secret."""
        digest = digest_of(secret)
        found = self.accounts.sign_in_of(digest, self.now_s)
        if found is None:
            return None
        if self.now_s - found.seen_s > SEEN_S:
            self.accounts.seen(digest, self.node_id)  # nobody waits for that
        return Caller(found.principal, digest, found.id, secret)

    def by_token(self, secret: str) -> Caller | None:
        """For whom the program with this token acts."""
        digest = digest_of(secret)
        found = self.accounts.token_of(digest, self.now_s)
        if found is None:
            return None
        scopes = frozenset(found.scopes)
        return Caller(USER + found.user, digest, found.id, secret, scopes)

    def by_ticket(self, ticket: str) -> Badge | None:
        """Who shows this ticket at a socket; it is used up. BadMessageError `not_ready`."""
        accounts = self.accounts
        loop = asyncio.get_running_loop()
        digest = self.tickets.take(ticket, loop.time())
        if digest is None:
            return None
        session = accounts.sign_in_of(digest, self.now_s)
        if session is not None:
            return Badge(session.principal, session.id)
        token = accounts.token_of(digest, self.now_s)
        return None if token is None else Badge(USER + token.user, token.id)

    def give_ticket(self, caller: Caller) -> str:
        """A ticket for a socket of this node."""
        return self.tickets.give(caller.digest, asyncio.get_running_loop().time())

    def may_read(self, principal: str, document: str) -> bool:
        """Whether the principal may open the document; BadMessageError `not_ready`."""
        accounts = self.accounts
        if self._known_of != accounts.rights_number or len(self._known) > KNOWN_MAX:
            self._known, self._known_of = {}, accounts.rights_number
        asked = principal, document
        found = self._known.get(asked)
        if found is None:
            found = self._known[asked] = accounts.document_role(*asked) >= Role.VIEWER
        return found

    def shown_name(self, principal: str) -> str | None:
        """The name of the principal's account; None for who has none."""
        user = self.accounts.user(principal)
        return None if user is None else user.name

    def role_in(self, principal: str, document: str) -> Role:
        """What the principal is for the document."""
        return self.accounts.document_role(principal, document)

    async def _draw(self, accounts: Accounts) -> None:
        """Have the order keep the key of new ids; where nobody has an account yet it is first."""
        while not accounts.secret:
            with suppress(GroupcoreError):
                await accounts.draw(new_secret("gck"))
                return
            await asyncio.sleep(SWEEP_S)

    # --- the first owner ------------------------------------------------------------------------

    async def offer_ownership(self, anew: bool) -> str | None:
        """The secret that makes the first owner; None if there is one, or another secret is out."""
        if not self.accounts.secret:
            await self.accounts.draw(new_secret("gck"))
        secret = new_secret("gco")
        return secret if await self.accounts.offer_ownership(digest_of(secret), anew) else None

    async def _offer(self) -> None:
        """At a first start one node of the cluster prints the link of the first owner."""
        with suppress(GroupcoreError):
            secret = await self.offer_ownership(anew=False)
            if secret is not None:
                logger.info("nobody owns this yet; within 24 h, once: %s", self.owner_url(secret))
            elif not self.accounts.has_owner:
                logger.info("nobody owns this yet; for a link: python -m server user owner-link")

    def owner_url(self, secret: str) -> str:
        """The secret stands behind the #, which no browser sends and no server logs."""
        return f"{self._public_url}/welcome#{secret}"

    # --- what happens ---------------------------------------------------------------------------

    def _on_change(self, change: Change) -> None:
        accounts = self._accounts
        if accounts is None or self._file is None:
            return
        if isinstance(change, Changed):
            self._write_down(accounts)
            for detail in change.details:
                if isinstance(detail, Ended):
                    self._end(frozenset(detail.sign_ins), detail.reason)
                elif isinstance(detail, RightsChanged):
                    self._follow_rights(detail.documents)
            return
        if isinstance(change, Replaced):
            self._write_down(accounts)
            self._recheck_all(accounts)

    def _write_down(self, accounts: Accounts) -> None:
        """To the node's file; a disk that refuses is tried again with the next entry."""
        assert self._file is not None
        missing = accounts.noted - self._file.last
        if missing > 0:
            try:
                self._file.append(accounts.notes[-missing:])
            except OSError as error:
                logger.error("the audit log cannot be written: %s", error.strerror)

    def _end(self, over: frozenset[str], reason: str) -> None:
        self._dismiss(lambda badge: badge.key in over, reason)

    def _dismiss(self, wanted: Callable[[Badge], bool], reason: str) -> None:
        if self.pages is not None:
            self.pages.dismiss(wanted, SIGNED_OUT, reason)
        if self.feed is not None:
            self.feed.dismiss(wanted, SIGNED_OUT, reason)

    def _follow_rights(self, documents: tuple[str, ...]) -> None:
        self.lists.changed(documents)
        if self.pages is not None:
            self.pages.recheck()

    def _recheck_all(self, accounts: Accounts) -> None:
        """This node was away and has taken the state: who is still signed in?"""
        good = {one.id for one in accounts.sign_ins.values()}
        good |= {one.id for one in accounts.tokens.values()}
        self._dismiss(lambda badge: badge.key not in good, "signed_out")
        self._follow_rights(())

    async def _list_erased(self, erased: dict[str, Erased]) -> int:
        """Keep the list beside the log, for a backup of before that is put back; how many it has.

        A disk that refuses is tried again at the next look.
        """
        try:
            await asyncio.to_thread(write_erased, self._folder / ERASED, erased)
        except OSError as error:
            logger.error("%s cannot be written: %s", ERASED, error.strerror)
            return 0
        return len(erased)

    async def _sweep(self) -> None:
        """Have the order take out what is too old."""
        accounts, due, listed = self.accounts, 0, 0
        while True:
            await asyncio.sleep(SWEEP_S)
            if len(accounts.erased) > listed:
                listed = await self._list_erased(dict(accounts.erased))
            if not accounts.has_expired(accounts.time_s):
                due = 0
                continue
            due += 1
            if accounts.members[:1] == (accounts.process,) or due > OTHERS_SWEEPS:
                with suppress(GroupcoreError):
                    await accounts.expire()
