"""`/api/v1/session/oidc`: signing in at an identity provider, there and back."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlencode

from starlette.responses import JSONResponse, RedirectResponse, Response

from server.accounts.errors import AccountError
from server.accounts.flow import Flow, Identity
from server.accounts.names import NAME_MAX, check_email
from server.accounts.roles import USER
from server.accounts.secrets import digest_of
from server.errors import SettingsProblem
from server.node import Node
from server.routes.asks import PUBLIC, Ask, Field, Row
from server.routes.auth import COOKIE
from server.routes.done import done
from server.routes.sessions import HALF, Sessions

if TYPE_CHECKING:
    from server.accounts.oidc import Provider

CALLBACK = "/api/v1/session/oidc/callback"
FLOW_S = 600
"""How long somebody may be at the provider."""


def make_provider(node: Node) -> Provider | None:
    """The provider that the settings name; SettingsProblem when its secret cannot be read."""
    settings = node.settings
    if not settings.oidc_issuer:
        return None
    secret = ""
    if settings.oidc_secret_file is not None:
        try:
            secret = settings.oidc_secret_file.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise SettingsProblem(f"--oidc-secret-file cannot be read: {error}") from None
    # Most nodes have no provider, and begin sooner without what talks to one.
    from server.accounts.oidc import Provider

    back = node.public_url + CALLBACK
    return Provider(settings.oidc_issuer, settings.oidc_client, secret, back)


class ProviderSignIn:
    """There and back, at one node; `provider` is None where there is none."""

    def __init__(self, sessions: Sessions, provider: Provider | None) -> None:
        self._sessions = sessions
        self._gate = sessions.gate
        self._provider = provider

    def rows(self) -> list[Row]:
        """The routes."""
        invitation = Field("invitation", str, False, "the secret of one, for who is new", 200)
        link = Field("link", bool, False, "true: link the account that one is signed in with")
        return [
            Row(
                "POST",
                "/session/oidc",
                self.begin,
                PUBLIC,
                "Begin to sign in at the identity provider",
                201,
                (invitation, link),
                {"url": "where to send the browser"},
                ("not_found", "provider", "insecure"),
            ),
            Row(
                "GET",
                "/session/oidc/callback",
                self.finish,
                PUBLIC,
                "Where the provider sends the browser back to; goes on to the page",
                303,
                errors=("not_found",),
            ),
        ]

    @property
    def _known(self) -> Provider:
        if self._provider is None:
            raise AccountError("not_found", "there is no identity provider here")
        return self._provider

    @property
    def _cookie(self) -> str:
        return f"{self._gate.cookie}-oidc"

    async def begin(self, ask: Ask) -> Response:
        """The browser keeps what has to come back where no script and no other site gets at it."""
        link = ask.user if ask.flag("link") else ""
        url, flow = await self._known.begin(ask.text("invitation"), link)
        response = JSONResponse({"url": url}, 201)
        name = self._cookie
        response.set_cookie(
            name,
            flow.packed(),
            max_age=FLOW_S,
            path="/",
            secure=name.startswith(COOKIE),
            httponly=True,
            samesite="lax",
        )
        return response

    async def finish(self, ask: Ask) -> Response:
        """The page hears the code of a refusal behind the #; its words are the page's own."""
        provider, name = self._known, self._cookie
        try:
            flow = Flow.unpacked(ask.request.cookies.get(name, ""))
            identity = await provider.finish(dict(ask.request.query_params), flow)
            response = await self._come_in(ask, identity, flow)
        except AccountError as error:
            self._sessions.accounts.note("", "sign_in.denied", "provider", ask.origin)
            refused = urlencode({"error": error.code})
            response = RedirectResponse(f"/sign-in#{refused}", 303)
        response.delete_cookie(
            name, path="/", secure=name.startswith(COOKIE), httponly=True, samesite="lax"
        )
        return response

    async def _come_in(self, ask: Ask, identity: Identity, flow: Flow) -> Response:
        """Signed in, half where a second factor is asked for, or linked."""
        if flow.link:
            await self._link(ask, identity, flow)
            return RedirectResponse("/account", 303)
        user = await self._account(ask, identity, flow)
        signed_in = await self._sessions.begin(ask, user, 200)
        is_half = signed_in.status_code == HALF
        response = RedirectResponse("/sign-in#second=code" if is_half else "/", 303)
        response.raw_headers += [
            header for header in signed_in.raw_headers if header[0] == b"set-cookie"
        ]
        return response

    async def _account(self, ask: Ask, identity: Identity, flow: Flow) -> str:
        """The account of the person: theirs already, with their verified address, or a new one."""
        accounts, node = self._sessions.accounts, self._gate.node
        known = accounts.by_subject(identity.subject)
        if known is not None:
            if accounts.user(USER + known.id) is None:
                raise AccountError("switched_off", "this account is switched off")
            if identity.email and not accounts.is_proved(known.id):
                work = accounts.prove_at_provider(
                    known.id, identity.subject, identity.email, ask.origin
                )
                await done(node, work)
            return known.id
        if not identity.email:
            raise AccountError("no_account", "you have no account here yet; ask to be invited")
        if not flow.invitation or accounts.by_email(check_email(identity.email)) is not None:
            linking = accounts.link_by_address(identity.subject, identity.email, ask.origin)
            return await done(node, linking)
        name = (identity.name.strip() or identity.email.partition("@")[0])[:NAME_MAX]
        joining = accounts.accept_as_new(
            digest_of(flow.invitation), name, identity.email, "", identity.subject, ask.origin
        )
        return await done(node, joining)

    async def _link(self, ask: Ask, identity: Identity, flow: Flow) -> None:
        """Who has begun is still who is signed in here."""
        accounts, node = self._sessions.accounts, self._gate.node
        if ask.caller is None or ask.caller.user != flow.link:
            raise AccountError("unauthenticated", "sign in first")
        work = accounts.link_provider(flow.link, identity.subject, identity.email, ask.origin)
        await done(node, work)
