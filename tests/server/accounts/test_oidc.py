"""Signing in at an identity provider: what fits is believed, and nothing else."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable

import pytest
from joserfc import jwt
from joserfc.jwk import OctKey, RSAKey

from server.accounts import oidc
from server.accounts.errors import AccountError
from server.accounts.flow import Flow, is_safe
from server.accounts.oidc import Provider
from server.accounts.people import HOME
from tests.server.accounts.idp import CLIENT, Claims, TestProvider, through
from tests.server.accounts.people import Browser, hire, service

pytestmark = pytest.mark.slow


def client(idp: TestProvider) -> Provider:
    return Provider(idp.url, CLIENT, "hush", "http://127.0.0.1:1/callback")


async def test_who_the_provider_names_is_believed(idp: TestProvider) -> None:
    provider = client(idp)
    url, flow = await provider.begin()
    found = await provider.finish(idp.authorize(url), flow)
    assert found.subject == f"{idp.url}|bob@example.org"
    assert (found.email, found.name) == ("bob@example.org", "Bob")


LIES: dict[str, Callable[[Claims], object]] = {
    "issuer": lambda claims: claims.update(iss="http://127.0.0.1:9/"),
    "issuer with a slash": lambda claims: claims.update(iss=str(claims["iss"]) + "/"),
    "audience": lambda claims: claims.update(aud="another"),
    "no audience": lambda claims: claims.pop("aud"),
    "several audiences": lambda claims: claims.update(aud=[CLIENT, "another"]),
    "another's party": lambda claims: claims.update(aud=[CLIENT, "x"], azp="x"),
    "nonce": lambda claims: claims.update(nonce="another"),
    "no nonce": lambda claims: claims.pop("nonce"),
    "expired": lambda claims: claims.update(exp=int(time.time()) - oidc.LEEWAY_S),
    "from the future": lambda claims: claims.update(iat=int(time.time()) + 90),
    "no times": lambda claims: claims.pop("exp"),
    "true as a time": lambda claims: claims.update(exp=True),
    "nobody": lambda claims: claims.update(sub=""),
}


@pytest.mark.parametrize("lie", LIES)
async def test_a_token_that_does_not_fit_is_refused(idp: TestProvider, lie: str) -> None:
    provider = client(idp)
    idp.change = LIES[lie]
    url, flow = await provider.begin()
    with pytest.raises(AccountError) as caught:
        await provider.finish(idp.authorize(url), flow)
    assert caught.value.code == "provider"


async def test_a_clock_that_is_a_minute_off_does_no_harm(idp: TestProvider) -> None:
    provider = client(idp)
    idp.change = lambda claims: claims.update(
        exp=int(time.time()) - oidc.LEEWAY_S + 5, iat=int(time.time()) + oidc.LEEWAY_S - 5
    )
    url, flow = await provider.begin()
    assert (await provider.finish(idp.authorize(url), flow)).name == "Bob"


def unsigned(claims: Claims) -> str:
    parts = [json.dumps({"alg": "none"}).encode(), json.dumps(claims).encode()]
    return ".".join(base64.urlsafe_b64encode(one).rstrip(b"=").decode() for one in parts) + "."


def test_addresses_without_https_are_safe_on_this_machine_only() -> None:
    assert is_safe("https://id.example.org")
    assert is_safe("http://127.0.0.1:1/x")
    assert not is_safe("http://id.example.org")
    assert not is_safe("ftp://127.0.0.1/")


async def test_a_token_that_is_not_signed_by_the_providers_key_is_refused(
    idp: TestProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(oidc, "KEYS_S", 0.0)
    other = RSAKey.generate_key(2048)
    pem = idp.key.as_pem(private=False)
    shared = OctKey.import_key(base64.urlsafe_b64encode(pem[:64]).decode())
    forgeries: list[Callable[[Claims], str]] = [
        unsigned,
        lambda claims: jwt.encode({"alg": "RS256", "kid": idp.key.kid}, claims, other),
        lambda claims: jwt.encode({"alg": "RS256"}, claims, other),
        lambda claims: jwt.encode({"alg": "HS256", "kid": idp.key.kid}, claims, shared),
        lambda claims: idp._sign(claims)[:-4] + "AAAA",
        lambda claims: "garbage",
        lambda claims: "",
    ]
    for forgery in forgeries:
        provider = client(idp)
        idp.sign = forgery
        url, flow = await provider.begin()
        with pytest.raises(AccountError):
            await provider.finish(idp.authorize(url), flow)


async def test_new_keys_of_the_provider_are_found(
    idp: TestProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(oidc, "KEYS_S", 0.0)
    provider = client(idp)
    for _ in range(3):
        url, flow = await provider.begin()
        assert (await provider.finish(idp.authorize(url), flow)).name == "Bob"
        idp.key = RSAKey.generate_key(2048, auto_kid=True)


@pytest.mark.parametrize(
    "change",
    [
        {"state": "another"},
        {"state": ""},
        {"iss": "https://other.example"},
        {"code": "guessed"},
        {"code": ""},
        {"error": "access_denied"},
    ],
)
async def test_an_answer_to_another_question_is_refused(
    idp: TestProvider, change: dict[str, str]
) -> None:
    provider = client(idp)
    url, flow = await provider.begin()
    with pytest.raises(AccountError):
        await provider.finish({**idp.authorize(url), **change}, flow)
    assert idp.tokens == 0


async def test_a_code_is_of_no_use_to_who_has_not_begun(idp: TestProvider) -> None:
    """PKCE: the code was stolen on its way back."""
    provider = client(idp)
    url, _ = await provider.begin()
    stolen = idp.authorize(url)
    _, own = await provider.begin()
    with pytest.raises(AccountError):
        await provider.finish({**stolen, "state": own.state}, own)
    assert idp.tokens == 0


@pytest.mark.parametrize(
    "metadata",
    [{"issuer": "https://other.example"}, {"token_endpoint": "http://id.example.org/token"}],
)
async def test_a_provider_that_says_what_cannot_be_is_refused(
    idp: TestProvider, metadata: Claims
) -> None:
    idp.metadata = metadata
    provider = client(idp)

    async def sign_in() -> object:
        url, flow = await provider.begin()
        return await provider.finish(idp.authorize(url), flow)

    with pytest.raises(AccountError):
        await sign_in()


@pytest.mark.parametrize("cookie", ["", "x", "e30=", "W10=", "eyJzdGF0ZSI6IDF9"])
def test_a_cookie_that_is_none_of_ours_is_refused(cookie: str) -> None:
    with pytest.raises(AccountError):
        Flow.unpacked(cookie)


def test_a_flow_comes_back_as_it_was() -> None:
    flow = Flow("s", "n", "v", "gci_x")
    assert Flow.unpacked(flow.packed()) == flow


# --- with a server ------------------------------------------------------------------------------


async def test_an_account_with_the_verified_address_is_signed_in(
    ann_with_idp: Browser, idp: TestProvider
) -> None:
    bob = await hire(ann_with_idp, "bob")
    async with Browser(ann_with_idp.node) as browser:
        _, before = await browser.ask("GET", "/session")
        assert before["oidc"] is True
        assert await through(browser, idp) == "/"
        _, session = await browser.ask("GET", "/session")
        assert session["principal"] == f"user:{bob}"
        assert set(browser.cookies) == {"groupcore", "groupcore-device"}
        idp.change = lambda claims: claims.update(email="new@example.org")
        assert await through(browser, idp) == "/"  # the same subject


async def test_nobody_gets_an_account_by_an_address_that_is_not_verified(
    ann_with_idp: Browser, idp: TestProvider
) -> None:
    await hire(ann_with_idp, "bob")
    idp.change = lambda claims: claims.update(email_verified=False)
    async with Browser(ann_with_idp.node) as browser:
        assert await through(browser, idp) == "/sign-in#error=no_account"
        assert (await browser.ask("GET", "/session"))[1]["principal"] is None


async def test_who_is_new_needs_an_invitation(ann_with_idp: Browser, idp: TestProvider) -> None:
    async with Browser(ann_with_idp.node) as browser:
        assert await through(browser, idp) == "/sign-in#error=no_account"
        body = {"role": "viewer", "email": "bob@example.org"}
        _, made = await ann_with_idp.ask("POST", f"/workspaces/{HOME}/invitations", body)
        assert await through(browser, idp, {"invitation": made["secret"]}) == "/"
        _, session = await browser.ask("GET", "/session")
        assert session["user"]["name"] == "Bob"
        assert session["user"]["has_password"] is False
        assert (await browser.ask("GET", "/me"))[1]["has_password"] is False
    assert (await ann_with_idp.ask("GET", "/me"))[1]["has_password"] is True


async def test_an_account_that_is_off_stays_out(ann_with_idp: Browser, idp: TestProvider) -> None:
    bob = await hire(ann_with_idp, "bob")
    await ann_with_idp.ask("PATCH", f"/users/{bob}", {"disabled": True})
    async with Browser(ann_with_idp.node) as browser:
        assert await through(browser, idp) == "/sign-in#error=switched_off"
        assert not [
            one
            for one in service(browser.node).accounts.sign_ins.values()
            if one.principal == f"user:{bob}"
        ]


async def test_who_has_not_begun_in_this_browser_is_not_signed_in(
    ann_with_idp: Browser, idp: TestProvider
) -> None:
    """Nobody signs a person in as somebody else by sending them a link."""
    await hire(ann_with_idp, "bob")
    async with Browser(ann_with_idp.node) as eve, Browser(ann_with_idp.node) as victim:
        _, begun = await eve.ask("POST", "/session/oidc", {})
        brought = idp.authorize(begun["url"])
        url = f"{victim.node.url}/api/v1/session/oidc/callback"
        async with victim.http.get(url, params=brought, allow_redirects=False) as answer:
            assert "error=provider" in answer.headers["Location"]
        assert (await victim.ask("GET", "/session"))[1]["principal"] is None
    assert idp.tokens == 0


async def test_without_a_provider_there_is_no_such_way(ann: Browser) -> None:
    status, problem = await ann.ask("POST", "/session/oidc", {})
    assert (status, problem["code"]) == (404, "not_found")
