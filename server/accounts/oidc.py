"""Sign-in at an identity provider: OpenID Connect, code flow with PKCE.

Idea. What has to come back (state, nonce, PKCE's verifier) waits in a cookie of the browser that
began, so any node can take the answer. Nothing of an answer is believed that does not fit: issuer,
audience and nonce exactly, the signature by a key that the provider publishes, by one of the
algorithms below. Keys that are not known are fetched again, as providers change theirs.

Source. OpenID Connect Core 1.0, 3.1; RFC 7636, RFC 9207, RFC 9700; docs/threats.md, T18.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import secrets
import time
from collections.abc import Callable, Mapping
from typing import cast
from urllib.parse import urlencode

import aiohttp
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet, KeySetSerialization

from server.accounts.errors import AccountError
from server.accounts.flow import Flow, Identity, answer_refused, is_safe
from server.accounts.secrets import equal

ALGORITHMS = ["RS256", "PS256", "ES256", "ES384", "Ed25519", "EdDSA"]
"""What an id token may be signed with: public keys only."""
LEEWAY_S = 60
METADATA_S = 3600.0
"""How long what the provider says of itself is taken as it is."""
KEYS_S = 10.0
"""The keys are fetched again for an unknown one, but not more often than this."""
ANSWER_S = 10.0
ANSWER_MAX = 256 * 1024
Claims = Mapping[str, object]


class Provider:
    """One identity provider, and this program as its client."""

    def __init__(
        self,
        issuer: str,
        client_id: str,
        client_secret: str,
        redirect_uri: str,
        now_s: Callable[[], float] = time.time,
    ) -> None:
        self._issuer = issuer
        self._client_id = client_id
        self._client_secret = client_secret
        self._redirect_uri = redirect_uri
        self._now_s = now_s
        self._metadata: Claims = {}
        self._metadata_at_s = float("-inf")
        self._keys: KeySet | None = None
        self._keys_at_s = float("-inf")

    async def begin(self, invitation: str = "", link: str = "") -> tuple[str, Flow]:
        """Where to send the browser, and what it has to keep."""
        state, nonce, verifier = [secrets.token_urlsafe(32) for _ in range(3)]
        flow = Flow(state, nonce, verifier, invitation, link)
        challenge = hashlib.sha256(flow.verifier.encode()).digest()
        asked = {
            "response_type": "code",
            "client_id": self._client_id,
            "redirect_uri": self._redirect_uri,
            "scope": "openid email profile",
            "state": flow.state,
            "nonce": flow.nonce,
            "code_challenge": base64.urlsafe_b64encode(challenge).rstrip(b"=").decode(),
            "code_challenge_method": "S256",
        }
        endpoint = await self._endpoint("authorization_endpoint")
        return f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(asked)}", flow

    async def finish(self, answer: Mapping[str, str], flow: Flow) -> Identity:
        """Who it is, by what the provider has sent the browser back with; AccountError."""
        if not equal(answer.get("state", ""), flow.state):
            raise answer_refused("it is the answer to another question")
        if answer.get("iss", self._issuer) != self._issuer:
            raise answer_refused("it is from another provider")
        if "error" in answer or not answer.get("code"):
            raise answer_refused("it did not let the person in")
        body = {
            "grant_type": "authorization_code",
            "code": answer["code"],
            "redirect_uri": self._redirect_uri,
            "client_id": self._client_id,
            "code_verifier": flow.verifier,
        }
        if self._client_secret:
            body["client_secret"] = self._client_secret
        told = await self._fetch(await self._endpoint("token_endpoint"), body)
        token = told.get("id_token")
        if not isinstance(token, str):
            raise answer_refused("it has no id token")
        return self._identity(await self._claims(token), flow)

    # --- the id token ---------------------------------------------------------------------------

    async def _claims(self, token: str) -> Claims:
        """What a token says whose signature is right."""
        try:
            return self._decoded(token, await self._known_keys(False))
        except (JoseError, ValueError):
            keys = await self._known_keys(True)
        try:
            return self._decoded(token, keys)
        except (JoseError, ValueError):
            raise answer_refused("its signature is not right") from None

    @staticmethod
    def _decoded(token: str, keys: KeySet) -> Claims:
        return cast("Claims", jwt.decode(token, keys, algorithms=ALGORITHMS).claims)

    def _identity(self, claims: Claims, flow: Flow) -> Identity:
        if claims.get("iss") != self._issuer:
            raise answer_refused("its token is of another issuer")
        audience = claims.get("aud")
        meant = [audience] if isinstance(audience, str) else audience
        if not isinstance(meant, list) or self._client_id not in meant:
            raise answer_refused("its token is for another program")
        if claims.get("azp", self._client_id) != self._client_id:
            raise answer_refused("its token is for another program")
        if len(meant) > 1 and "azp" not in claims:
            raise answer_refused("its token is for several programs")
        self._check_times(claims)
        nonce, subject = claims.get("nonce"), claims.get("sub")
        if not isinstance(nonce, str) or not equal(nonce, flow.nonce):
            raise answer_refused("its token was made for another sign-in")
        if not isinstance(subject, str) or not 0 < len(subject) <= 255:
            raise answer_refused("its token names nobody")
        email, name = claims.get("email"), claims.get("name")
        is_verified = claims.get("email_verified") is True and isinstance(email, str)
        return Identity(
            f"{self._issuer}|{subject}",
            str(email) if is_verified else "",
            name if isinstance(name, str) else "",
        )

    def _check_times(self, claims: Claims) -> None:
        now_s = self._now_s()
        expires, issued = claims.get("exp"), claims.get("iat")
        for time_s in (expires, issued):
            if isinstance(time_s, bool) or not isinstance(time_s, int | float):
                raise answer_refused("its token has no times")
        if cast("float", expires) + LEEWAY_S <= now_s or cast("float", issued) - LEEWAY_S > now_s:
            raise answer_refused("its token is too old, or from the future")

    # --- what the provider says of itself -------------------------------------------------------

    async def _endpoint(self, name: str) -> str:
        """An address of the provider, of its own word; over https, but on this machine."""
        if time.monotonic() - self._metadata_at_s > METADATA_S:
            url = f"{self._issuer.rstrip('/')}/.well-known/openid-configuration"
            found = await self._fetch(url)
            if found.get("issuer") != self._issuer:
                raise answer_refused("it calls itself by another name")
            self._metadata, self._metadata_at_s = found, time.monotonic()
        endpoint = self._metadata.get(name)
        if not isinstance(endpoint, str) or not is_safe(endpoint):
            raise answer_refused(f"it has no {name} over https")
        return endpoint

    async def _known_keys(self, anew: bool) -> KeySet:
        age_s = time.monotonic() - self._keys_at_s
        if self._keys is None or (anew and age_s > KEYS_S):
            found = await self._fetch(await self._endpoint("jwks_uri"))
            try:
                self._keys = KeySet.import_key_set(cast("KeySetSerialization", found))
            except (JoseError, ValueError, KeyError, TypeError):
                raise answer_refused("its keys cannot be read") from None
            self._keys_at_s = time.monotonic()
        return self._keys

    async def _fetch(self, url: str, body: Mapping[str, str] | None = None) -> Claims:
        """JSON from the provider, bounded in time and size."""
        method = "GET" if body is None else "POST"
        try:
            async with (
                asyncio.timeout(ANSWER_S),
                aiohttp.ClientSession() as http,
                http.request(method, url, data=body, allow_redirects=False) as answer,
            ):
                raw = await answer.content.read(ANSWER_MAX + 1)
                status = answer.status
            found = json.loads(raw) if len(raw) <= ANSWER_MAX else None
        except (aiohttp.ClientError, TimeoutError, ValueError, RecursionError):
            raise AccountError("provider", "the identity provider cannot be reached") from None
        if status != 200 or not isinstance(found, dict):
            raise answer_refused(f"it says {status}")
        return found
