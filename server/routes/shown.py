"""How accounts, sign-ins, tokens and links look in answers: no secret, no digest, no verifier."""

from __future__ import annotations

from datetime import UTC, datetime

from server.accounts.accounts import Accounts
from server.accounts.records import ApiToken, Invitation, ShareLink, SignIn, User
from server.accounts.roles import Role

Shown = dict[str, object]


def instant(time_s: float) -> str:
    """A time in the format of RFC 3339."""
    return datetime.fromtimestamp(int(time_s), UTC).isoformat().replace("+00:00", "Z")


def shown_user(accounts: Accounts, user: User) -> Shown:
    """An account, for itself and for who manages it."""
    return {
        "id": user.id,
        "name": user.name,
        "email": user.email,
        "disabled": user.is_disabled,
        "created": instant(user.created_s),
        "proved": accounts.is_proved(user.id),
        "second_factor": accounts.has_factor(user.id),
    }


def shown_self(accounts: Accounts, user: User) -> Shown:
    """An account, for itself alone."""
    own: Shown = {"has_password": user.verifier != "", "linked": user.subject != ""}
    count, at_s = accounts.denied(user.id, accounts.time_s)
    own["attempts"] = {"count": count, "last": instant(at_s)} if count else None
    return {**shown_user(accounts, user), **own}


def shown_member(
    accounts: Accounts, user: User, role: Role, has_email: bool = True, pending: Role = Role.NONE
) -> Shown:
    """A person with a role; the address of mail, and whether it is proved, are for owners, and for
    the person. `pending`: the role that they get when it is.
    """
    is_proved = accounts.is_proved(user.id)
    email = {"email": user.email, "proved": is_proved} if has_email else {}
    offer = {} if pending is Role.NONE else {"pending": pending.name.lower()}
    return {"id": user.id, "name": user.name, **email, "role": role.name.lower(), **offer}


def shown_given(accounts: Accounts, user: User, role: Role, is_in_effect: bool) -> Shown:
    """Whom a role was given, for who gave it."""
    if is_in_effect:
        return shown_member(accounts, user, role)
    return shown_member(accounts, user, Role.NONE, pending=role)


def shown_sign_in(one: SignIn, here: str = "") -> Shown:
    """A sign-in; `here`: the one that asks."""
    return {
        "id": one.id,
        "agent": one.agent,
        "node": one.node,
        "created": instant(one.created_s),
        "seen": instant(one.seen_s),
        "expires": instant(one.expires_s),
        "current": one.id == here,
    }


def shown_token(one: ApiToken) -> Shown:
    """A token, without its secret."""
    return {
        "id": one.id,
        "user": one.user,
        "name": one.name,
        "scopes": list(one.scopes),
        "created": instant(one.created_s),
        "expires": instant(one.expires_s),
    }


def shown_invitation(one: Invitation) -> Shown:
    """An invitation, without its secret."""
    return {
        "id": one.id,
        "workspace": one.workspace,
        "role": one.role.name.lower(),
        "email": one.email,
        "expires": instant(one.expires_s),
    }


def shown_link(one: ShareLink) -> Shown:
    """A share link, without its secret."""
    return {
        "id": one.id,
        "document": one.document,
        "role": one.role.name.lower(),
        "password": bool(one.verifier),
        "revoked": one.is_revoked,
        "created": instant(one.created_s),
        "expires": instant(one.expires_s),
    }
