"""An identity provider of this machine, and people who go there and back."""

from __future__ import annotations

import base64
import hashlib
import time
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.server.accounts.people import Browser

CLIENT = "groupcore-client"
Claims = dict[str, object]


class TestProvider:
    """An identity provider of this machine, which tests can have lie."""

    __test__ = False

    def __init__(self) -> None:
        self.key = RSAKey.generate_key(2048, auto_kid=True)
        self.url = ""
        self.email = "bob@example.org"
        self.name = "Bob"
        self.change: Callable[[Claims], object] = lambda claims: None
        self.sign: Callable[[Claims], str] = self._sign
        self.metadata: Claims = {}
        self.tokens = 0
        self._codes: dict[str, dict[str, str]] = {}
        self.app = Starlette(
            routes=[
                Route("/.well-known/openid-configuration", self.configuration),
                Route("/keys", self.keys),
                Route("/token", self.token, methods=["POST"]),
            ]
        )

    async def configuration(self, _: Request) -> Response:
        found: Claims = {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "jwks_uri": f"{self.url}/keys",
        }
        return JSONResponse({**found, **self.metadata})

    async def keys(self, _: Request) -> Response:
        return JSONResponse({"keys": [self.key.as_dict(private=False)]})

    def authorize(self, url: str) -> dict[str, str]:
        """The person lets the program in; what the browser brings back."""
        asked = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
        assert asked["code_challenge_method"] == "S256"
        code = f"code-{len(self._codes)}"
        self._codes[code] = asked
        return {"code": code, "state": asked["state"], "iss": self.url}

    async def token(self, request: Request) -> Response:
        form = parse_qs((await request.body()).decode())
        asked = self._codes.pop(form["code"][0], None)
        verifier = hashlib.sha256(form["code_verifier"][0].encode()).digest()
        challenge = base64.urlsafe_b64encode(verifier).rstrip(b"=").decode()
        if asked is None or challenge != asked["code_challenge"]:
            return JSONResponse({"error": "invalid_grant"}, 400)
        assert form["redirect_uri"][0] == asked["redirect_uri"]
        assert form["client_secret"][0] == "hush"
        self.tokens += 1
        now_s = int(time.time())
        claims: Claims = {
            "iss": self.url,
            "aud": CLIENT,
            "sub": self.email,
            "nonce": asked["nonce"],
            "iat": now_s,
            "exp": now_s + 300,
            "email": self.email,
            "email_verified": True,
            "name": self.name,
        }
        self.change(claims)
        return JSONResponse({"id_token": self.sign(claims), "token_type": "Bearer"})

    def _sign(self, claims: Claims) -> str:
        return jwt.encode({"alg": "RS256", "kid": self.key.kid}, claims, self.key)


async def through(browser: Browser, idp: TestProvider, body: Claims | None = None) -> str:
    """There and back; where the page is sent to in the end."""
    status, begun = await browser.ask("POST", "/session/oidc", body or {})
    assert status == 201, begun
    brought = idp.authorize(begun["url"])
    url = f"{browser.node.url}/api/v1/session/oidc/callback"
    async with browser.http.get(url, params=brought, allow_redirects=False) as answer:
        assert answer.status == 303
        return answer.headers["Location"]
