"""Mails: addresses that they prove, passwords that they replace, and what they tell nobody."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from email.message import EmailMessage
from pathlib import Path

import pytest

from server.accounts.backoff import Backoff
from server.accounts.errors import AccountError
from server.accounts.names import is_sendable
from server.mail import mailer as mailing
from server.mail.letters import LETTERS, language_of, letter_of
from server.mail.mailer import Mailer, MailServer
from tests.server.accounts.people import PASSWORD, Browser, found_home, hire, service
from tests.server.accounts.postbox import Postbox, certified
from tests.server.accounts.test_prehijacking import CEO, squat
from tests.server.support import Cluster, eventually

NEW = "another horse battery"


@pytest.fixture
async def postbox() -> AsyncIterator[Postbox]:
    async with Postbox() as made:
        yield made


@pytest.fixture
async def ann_with_mail(cluster: Cluster, postbox: Postbox) -> AsyncIterator[Browser]:
    flags = {"smtp": f"127.0.0.1:{postbox.port}", "smtp_tls": "none"}
    node = await cluster.start("a", **flags, smtp_from="docs@example.org")
    async with Browser(node) as browser:
        await found_home(browser)
        yield browser


async def test_who_opens_the_letter_signed_in_has_proved_the_address(
    ann_with_mail: Browser, postbox: Postbox
) -> None:
    async with Browser(ann_with_mail.node) as ceo, Browser(ann_with_mail.node) as other:
        assert (await ceo.ask("GET", "/session"))[1]["mail"] is True
        await squat(ann_with_mail, ceo)  # no squatter this time
        doc = await ann_with_mail.create()
        body = {"email": CEO, "role": "viewer"}
        await ann_with_mail.ask("POST", f"/documents/{doc}/members", body)
        assert (await ceo.ask("POST", "/me/address/mail"))[0] == 202
        to, message = await postbox.mail()
        assert (to, message["To"], message["From"]) == ([CEO], CEO, "docs@example.org")
        assert f"{ceo.node.url}/confirm#gcm_" in message.get_content()
        assert "The CEO" not in message.get_content()  # what a stranger chose
        secret = await postbox.secret()
        assert (await other.ask("POST", "/me/address/prove", {"secret": secret}))[0] == 401
        assert (await ann_with_mail.ask("POST", "/me/address/prove", {"secret": secret}))[0] == 403
        status, own = await ceo.ask("POST", "/me/address/prove", {"secret": secret})
        assert (status, own["proved"]) == (200, True)
        assert (await ceo.ask("GET", f"/documents/{doc}"))[0] == 200
        assert (await ceo.ask("POST", "/me/address/prove", {"secret": secret}))[0] == 410
        assert (await ceo.ask("POST", "/me/address/mail"))[0] == 409


async def test_the_person_with_the_address_takes_the_account_from_a_squatter_by_mail(
    ann_with_mail: Browser, postbox: Postbox
) -> None:
    async with Browser(ann_with_mail.node) as squatter, Browser(ann_with_mail.node) as ceo:
        await squat(ann_with_mail, squatter)
        status, _ = await ceo.ask("POST", "/password/mail", {"email": CEO})
        assert status == 202
        secret = await postbox.secret()
        assert (await ceo.ask("POST", "/password/look", {"secret": secret}))[0] == 204
        weak = {"secret": secret, "password": "aaaaaaaaaaaa"}
        assert (await ceo.ask("POST", "/password/reset", weak))[0] == 422
        body = {"secret": secret, "password": NEW}
        assert (await ceo.ask("POST", "/password/reset", body))[0] == 204
        assert (await squatter.ask("GET", "/session"))[1]["principal"] is None
        assert (await squatter.sign_in(CEO))[0] == 401
        assert (await ceo.sign_in(CEO, NEW))[0] == 201
        assert (await ceo.ask("GET", "/me"))[1]["proved"] is True
        assert (await ceo.ask("POST", "/password/reset", body))[0] == 410


async def test_nobody_learns_by_a_mail_whether_an_address_has_an_account(
    ann_with_mail: Browser, postbox: Postbox
) -> None:
    async with Browser(ann_with_mail.node) as eve:
        answers = [
            await eve.ask("POST", "/password/mail", {"email": email})
            for email in ("nobody@example.org", "ann@example.org", "no address", "ANN@example.org")
        ]
        assert answers == [(202, {})] * 4
        await postbox.mail()
        notes = service(eve.node).accounts.notes
        await eventually(lambda: any(one.what == "mail.denied" for one in notes), "it is noted")
        (denied,) = [one.about for one in notes if one.what == "mail.denied"]
        assert denied.startswith("address-"), "nobody's address is kept"
        assert not any("gcm_" in f"{one.about}{one.by}" for one in notes)


async def test_whoever_asks_for_many_mails_waits(ann_with_mail: Browser, postbox: Postbox) -> None:
    async with Browser(ann_with_mail.node) as eve:
        asked = [
            (await eve.ask("POST", "/password/mail", {"email": f"{name}@example.org"}))[0]
            for name in "abcdefghijkl"
        ]
        assert asked == [202] * 10 + [429] * 2  # of one network address
        status, problem = await eve.ask("POST", "/password/mail", {"email": "x@example.org"})
        assert (status, problem["code"]) == (429, "wait")
    assert postbox.mails == []


async def test_a_second_letter_comes_a_minute_later(
    ann_with_mail: Browser, postbox: Postbox
) -> None:
    async with Browser(ann_with_mail.node) as ceo:
        await squat(ann_with_mail, ceo)
        assert (await ceo.ask("POST", "/me/address/mail"))[0] == 202
        status, problem = await ceo.ask("POST", "/me/address/mail")
        assert (status, problem["code"]) == (429, "wait")


async def test_without_a_mail_server_owners_confirm(ann: Browser) -> None:
    await hire(ann, "bob")
    async with Browser(ann.node) as bob:
        await bob.sign_in("bob@example.org")
        for path, body in (("/me/address/mail", None), ("/password/mail", {"email": "a@b.org"})):
            status, problem = await bob.ask("POST", path, body)
            assert (status, problem["code"]) == (409, "no_mail")


# --- the mailer ---------------------------------------------------------------------------------


def server_at(postbox: Postbox, tls: str = "none", user: str = "") -> MailServer:
    return MailServer("127.0.0.1", postbox.port, tls, "docs@example.org", user, "hush")


async def test_a_mail_is_tried_again(postbox: Postbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mailing, "AGAIN_S", 0.0)
    postbox.refuses = 2
    mailer = Mailer(server_at(postbox))
    mailer.send("ann@example.org", "Grüße", "Wörter")
    _, message = await postbox.mail()
    assert (message["Subject"], message.get_content().strip()) == ("Grüße", "Wörter")
    await eventually(lambda: mailer.sent == 1, "it is counted")
    mailer.close()


async def test_without_tls_neither_a_mail_nor_a_password_is_sent(
    postbox: Postbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server, or who stands before it, does not offer it."""
    monkeypatch.setattr(mailing, "AGAIN_S", 0.0)
    mailer = Mailer(server_at(postbox, "starttls", "us"))
    mailer.send("ann@example.org", "s", "t")
    await eventually(lambda: mailer.failed == 1, "it has failed")
    assert postbox.mails == []
    assert not any(line.startswith(("AUTH", "MAIL")) for line in postbox.said)
    mailer.close()


async def test_a_server_is_believed_by_a_certificate_that_the_machine_trusts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mailing, "AGAIN_S", 0.0)
    context, certificate = certified(tmp_path)
    async with Postbox(context) as postbox:
        mailer = Mailer(server_at(postbox, "tls"))
        mailer.send("ann@example.org", "s", "t")
        await eventually(lambda: mailer.failed == 1, "who is not trusted gets nothing")
        assert (postbox.mails, postbox.said) == ([], [])
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        mailer.send("ann@example.org", "s", "t")
        await postbox.mail()
        mailer.close()


async def test_who_refuses_the_address_is_not_asked_again_and_no_log_names_it(
    postbox: Postbox, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mailing, "AGAIN_S", 0.0)
    mailer = Mailer(MailServer("127.0.0.1", 1, "none", "docs@example.org"))
    mailer.send("ann@example.org", "s", "t")
    await eventually(lambda: mailer.failed == 1, "it has failed")
    assert "ann@" not in caplog.text
    mailer.close()
    assert postbox.said == []


async def test_the_line_of_mails_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mailing, "WAITING_MAX", 1)
    monkeypatch.setattr(mailing, "AGAIN_S", 60.0)
    mailer = Mailer(MailServer("127.0.0.1", 1, "none", "docs@example.org"))

    def send_five() -> None:
        for _ in range(5):
            mailer.send("ann@example.org", "s", "t")

    with pytest.raises(AccountError) as caught:
        send_five()
    assert caught.value.code == "busy"
    mailer.close()


def test_a_mail_that_no_library_can_send_stops_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    delivered = threading.Event()

    def deliver(mailer: Mailer, message: EmailMessage) -> None:
        if message["Subject"] == "broken":
            raise ValueError("a header that cannot be written")
        delivered.set()

    monkeypatch.setattr(Mailer, "_deliver", deliver)
    mailer = Mailer(MailServer("127.0.0.1", 1, "none", "docs@example.org"))
    mailer.send("ann@example.org", "broken", "t")
    mailer.send("ann@example.org", "s", "t")
    assert delivered.wait(10)
    mailer.close()
    assert mailer.failed == 1


@pytest.mark.parametrize(
    "address", ["a,b@c.org", "a<b>@c.org", '"a"@c.org', "a(x)@c.org", "a;b@c.org", ".a@c.org", "a@"]
)
def test_what_a_mail_program_takes_for_something_else_is_not_sent_to(address: str) -> None:
    assert not is_sendable(address)


@pytest.mark.parametrize("address", ["ann@example.org", "o'neil+x@a-b.org", "jörg@müller.de"])
def test_ordinary_addresses_are_sent_to(address: str) -> None:
    assert is_sendable(address)


def test_letters_are_in_the_readers_language_and_say_where_they_lead() -> None:
    assert language_of("fr, de-CH;q=0.8, en;q=0.5") == "de"
    assert language_of("") == language_of("x" * 10_000) == "en"
    for purpose, language in LETTERS:
        subject, text = letter_of(purpose, language, "https://d.org", "a@b.org", "gcm_x")
        assert subject
        assert "https://d.org/" in text
        assert "#gcm_x" in text
        assert "a@b.org" in text
        assert "{" not in text


def test_back_off_for_mails_is_longer_than_for_passwords() -> None:
    mailed = Backoff(free=4, first_s=60.0, most_s=3600.0)
    for _ in range(5):
        mailed.attempt("a", 0.0)
    assert mailed.wait_s("a", 0.0) >= 60.0


async def test_a_password_that_was_forgotten_leaves_the_second_factor(
    ann_with_mail: Browser, postbox: Postbox
) -> None:
    user = await hire(ann_with_mail, "bob")
    accounts = service(ann_with_mail.node).accounts
    await accounts.set_totp(user, "A" * 32, 1, [], "", "")
    async with Browser(ann_with_mail.node) as bob:
        await bob.ask("POST", "/password/mail", {"email": "bob@example.org"})
        body = {"secret": await postbox.secret(), "password": NEW}
        assert (await bob.ask("POST", "/password/reset", body))[0] == 204
        assert (await bob.sign_in("bob@example.org"))[0] == 401
        status, half = await bob.sign_in("bob@example.org", NEW)
        assert (status, half) == (202, {"second": ["code"]})
        assert PASSWORD != NEW
