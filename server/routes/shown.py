"""How accounts, sign-ins, tokens and links look in answers: no secret, no digest, no verifier."""

from __future__ import annotations

from datetime import UTC, datetime

from server.accounts.records import ApiToken, Invitation, ShareLink, SignIn, User
from server.accounts.roles import Role

Shown = dict[str, object]


def instant(time_s: float) -> str:
    """A time in the format of RFC 3339."""
    return datetime.fromtimestamp(int(time_s), UTC).isoformat().replace("+00:00", "Z")


def shown_user(user: User) -> Shown:
    """An account, for itself and for who manages it."""
    return {
        "id": user.id,
        "name": user.name,
        "email": user.email,
        "disabled": user.is_disabled,
        "created": instant(user.created_s),
    }


def shown_self(user: User) -> Shown:
    """An account, for itself alone."""
    return {**shown_user(user), "has_password": user.verifier != ""}


def shown_member(user: User, role: Role, has_email: bool = True) -> Shown:
    """A person with a role; the address of mail is for owners, and for the person."""
    email = {"email": user.email} if has_email else {}
    return {"id": user.id, "name": user.name, **email, "role": role.name.lower()}


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
