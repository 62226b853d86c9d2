"""Who is connected to this node, who of them is behind, and having a session end."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection

from groupcore.gateway.page import Page
from groupcore.shared.plain import who
from groupcore.web import SharedObjects
from server.accounts.roles import link_of, user_of
from server.accounts.service import SIGNED_OUT
from server.console.colleagues import Shown
from server.node import Node

SHOWN_MAX = 2_000
"""So many sessions of a node are told, those that are behind first."""
REASON = "an admin has ended this session"


def sessions_of(node: Node, pages: SharedObjects, search: str = "") -> Shown:
    """The sessions here whose person or session has `search` in it."""
    now_s = asyncio.get_running_loop().time()
    offset_s, wanted = time.time() - now_s, search.casefold()
    found = []
    for page in pages.gateway.pages.values():
        row = _shown(node, page, offset_s)
        texts = (row["session"], row["name"], row["principal"])
        if not wanted or any(wanted in text.casefold() for text in texts):
            found.append(row)
    found.sort(key=lambda row: (-row["withheld"], -row["buffered_bytes"], row["began_s"]))
    return {"count": len(found), "sessions": found[:SHOWN_MAX]}


def _shown(node: Node, page: Page, offset_s: float) -> Shown:
    principal = page.session.principal
    accounts = node.files.accounts
    user = accounts.user(principal)
    return {
        "session": who(page.session.process),
        "principal": principal,
        "user": user_of(principal),
        "name": "" if user is None else user.name,
        "visitor": bool(link_of(principal)),
        "connected": page.is_connected,
        "began_s": round(page.began_s + offset_s, 3),
        "objects": len(page.opened),
        "withheld": page.withheld if page.is_connected else 0,
        "buffered_bytes": page.buffered_bytes,
        "calls": len(page.owed),
        "resumed": page.resumed,
    }


def session_key(pages: SharedObjects, session: str) -> Shown:
    """Whether a session is here, and of which sign-in; empty where it has none."""
    page = _page(pages, session)
    badge = None if page is None else page.badge
    return {"found": page is not None, "key": "" if badge is None else badge.key}


def end_session(pages: SharedObjects, session: str) -> Shown:
    """End one that is here."""
    page = _page(pages, session)
    if page is not None:
        page.cut(SIGNED_OUT, REASON)
        page.end_soon()
    return {"found": page is not None}


def _page(pages: SharedObjects, session: str) -> Page | None:
    found = (one for one in pages.gateway.pages.values() if who(one.session.process) == session)
    return next(found, None)


def people_of(pages: SharedObjects, group_name: str) -> Shown:
    """Which sessions here have the object of this name open, by the number of their process."""
    found = {}
    for page in pages.gateway.pages.values():
        if group_name in page.opened:
            found[str(page.session.process.number)] = {
                "session": who(page.session.process),
                "principal": page.session.principal,
                "behind": page.is_connected and group_name in page.withheld_names,
            }
    return found


def own_processes(node: Node, pages: SharedObjects) -> Shown:
    """The numbers of this node's processes that are no page's: they deliver for all its pages.

    `attending`: the numbers of those that are, by the group that they attend.
    """
    paged = {page.session.process.number for page in pages.gateway.pages.values()}
    service = node.objects.groups.service
    numbers = sorted({one.number for one in service.sender.locals} - paged)
    attending = {str(group): who for group, who in service.joining.attending().items()}
    return {"numbers": numbers, "attending": attending}


def faces_of(pages: SharedObjects, numbers: Collection[int]) -> Shown:
    """On whose behalf these processes of this node act, by number; who is no page is left out."""
    wanted = set(numbers)
    return {
        str(page.session.process.number): page.session.principal
        for page in pages.gateway.pages.values()
        if page.session.process.number in wanted
    }
