"""What is known of people, sign-ins, links and tokens. Secrets are here only as hashes.

Times are seconds since 1970 in the order's time; `digest` is `secrets.digest_of` of a secret.
"""

from __future__ import annotations

from dataclasses import dataclass

from server.accounts.roles import Role


@dataclass(frozen=True, slots=True)
class User:
    """A person. `verifier`: of the password, if there is one; `subject`: at a provider."""

    id: str
    name: str
    email: str
    verifier: str
    created_s: float
    is_disabled: bool = False
    subject: str = ""


@dataclass(frozen=True, slots=True)
class Workspace:
    """Documents and the people who may see them."""

    id: str
    name: str
    created_s: float


@dataclass(frozen=True, slots=True)
class Proof:
    """That an account's address of mail is its person's.

    `how`: `owner` (who manages accounts has said so), `provider` (the identity provider has
    verified the address), or `mail` (a link that was sent there was opened). `by`: a principal.
    """

    how: str
    by: str
    at_s: float


@dataclass(frozen=True, slots=True)
class Offer:
    """A role that takes effect when the account's address is proved."""

    role: Role
    by: str
    at_s: float


@dataclass(frozen=True, slots=True)
class Letter:
    """A mail with a secret, on its way to the account's address; `purpose`: what it is good for."""

    user: str
    purpose: str
    made_s: float
    expires_s: float


@dataclass(frozen=True, slots=True)
class Totp:
    """What computes an account's codes, in base32; `last_step`: of the code that was used last."""

    secret: str
    last_step: int
    created_s: float


@dataclass(frozen=True, slots=True)
class Passkey:
    """A key in a device of the account's person; `sign_count`: how often it has signed."""

    user: str
    name: str
    public_key: bytes
    sign_count: int
    created_s: float


@dataclass(frozen=True, slots=True)
class Half:
    """Somebody has shown the first factor, and so many wrong codes since; `user` empty: nobody
    yet, who wants to show a passkey.
    """

    user: str
    expires_s: float
    tries: int


@dataclass(frozen=True, slots=True)
class Invitation:
    """Whoever has the secret may join; `email` empty: whoever it is."""

    id: str
    workspace: str
    role: Role
    email: str
    by: str
    expires_s: float


@dataclass(frozen=True, slots=True)
class SignIn:
    """A browser that somebody has signed in with."""

    id: str
    principal: str
    created_s: float
    seen_s: float
    expires_s: float
    node: str
    agent: str


@dataclass(frozen=True, slots=True)
class Denials:
    """How often somebody failed to sign in to an account, and when last: since its last sign-in,
    and between that and the one before.
    """

    since: int
    since_s: float
    before: int
    before_s: float


@dataclass(frozen=True, slots=True)
class Erased:
    """An account that is no more: when it was made, which tells it from others of its id, and when
    it was erased; `heir`: the account that has what only it owned, if one has.
    """

    created_s: float
    at_s: float
    heir: str


@dataclass(frozen=True, slots=True)
class ApiToken:
    """A program that acts for its user, within its scopes."""

    id: str
    user: str
    name: str
    scopes: tuple[str, ...]
    created_s: float
    expires_s: float


@dataclass(frozen=True, slots=True)
class ShareLink:
    """Whoever has the secret has this role for the document."""

    id: str
    digest: str
    document: str
    role: Role
    by: str
    created_s: float
    expires_s: float
    verifier: str = ""
    is_revoked: bool = False


@dataclass(frozen=True, slots=True)
class Ended:
    """A detail of a change: the sessions of these sign-ins and tokens, by their ids, are over."""

    sign_ins: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class RightsChanged:
    """A detail of a change: what may be done to these documents; empty: to any."""

    documents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder of a workspace, in the folder `parent`; empty: at the top."""

    id: str
    workspace: str
    parent: str
    name: str
    by: str
    created_s: float


@dataclass(frozen=True, slots=True)
class Trashed:
    """Who put something into the trash, and when."""

    by: str
    at_s: float


@dataclass(frozen=True, slots=True)
class FilesChanged:
    """A detail of a change: these documents, folders, workspaces look different, or are gone."""

    items: tuple[str, ...]
