"""Roles, principals, and what each may do to a document.

A principal is who acts, as an access list names it: `user:<id>` for a person with an account,
`link:<id>` for a visitor who came by a share link, ADMIN for who holds the management address.
"""

from __future__ import annotations

from enum import IntEnum

from groupcore.shared.access import Right
from server.accounts.errors import AccountError

ADMIN = "admin"
"""Who acts through a node's management address; no page and no token is ever called so."""
KEEPER = "accounts"
"""An entry that every document's list has, so that none is nobody's; nobody is called so."""
USER = "user:"
LINK = "link:"


class Role(IntEnum):
    """What somebody is in a workspace, or for a document; each may do what those before it may."""

    NONE = 0
    VIEWER = 1
    COMMENTER = 2
    EDITOR = 3
    OWNER = 4


ROLES = {role.name.lower(): role for role in Role if role is not Role.NONE}
"""The roles by their names in the API."""


def role_of(name: str) -> Role:
    """The role of this name; AccountError for another one."""
    if name not in ROLES:
        raise AccountError("bad_request", f"a role is one of {', '.join(ROLES)}")
    return ROLES[name]


def right_of(role: Role) -> Right:
    """What the role may do to the text.

    Nobody manages a list directly: that an owner may do through accounts, where it is written down.
    """
    if role >= Role.EDITOR:
        return Right.WRITE
    return Right.READ if role >= Role.VIEWER else Right.NONE


def user_of(principal: str) -> str:
    """The id of the account, empty when the principal is none."""
    return principal.removeprefix(USER) if principal.startswith(USER) else ""


def link_of(principal: str) -> str:
    """The id of the share link, empty when the principal came by none."""
    return principal.removeprefix(LINK) if principal.startswith(LINK) else ""
