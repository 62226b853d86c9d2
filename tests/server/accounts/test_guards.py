"""Back-off, tickets, passwords, secrets: guessing does not pay."""

from __future__ import annotations

import asyncio

import pytest
from argon2 import extract_parameters
from argon2.exceptions import VerifyMismatchError

from server.accounts import passwords, tickets
from server.accounts.backoff import Backoff, address_key
from server.accounts.errors import AccountError
from server.accounts.passwords import Passwords, check_password, verifier_of_nobody
from server.accounts.secrets import csrf_of, digest_of, equal, new_secret
from server.accounts.tickets import Tickets

KEY = "ann@example.org"


def cheap() -> Passwords:
    return Passwords(time_cost=1, memory_kib=64, lanes=1)


def test_a_few_mistakes_are_free_and_then_each_doubles_the_wait() -> None:
    backoff, now_s, waits = Backoff(free=3, first_s=1, most_s=20), 0.0, []
    for _ in range(9):
        backoff.attempt(KEY, now_s)
        waits.append(backoff.wait_s(KEY, now_s))
        now_s += waits[-1]
    assert waits == [0, 0, 1, 2, 4, 8, 16, 20, 20]


def test_attempts_at_once_count_before_any_has_failed() -> None:
    backoff = Backoff(free=2, first_s=5, most_s=20)
    backoff.attempt(KEY, 0.0)
    backoff.attempt(KEY, 0.0)
    assert backoff.wait_s(KEY, 0.0) == 5


def test_success_forgets_an_account_but_only_its_own_attempt_at_an_address() -> None:
    backoff = Backoff(free=2, first_s=5, most_s=20)
    for _ in range(3):
        backoff.attempt(KEY, 0.0)
    backoff.undo(KEY)
    assert backoff.wait_s(KEY, 0.0) == 0
    backoff.attempt(KEY, 1.0)
    assert backoff.wait_s(KEY, 1.0) == 10
    backoff.succeeded(KEY)
    assert backoff.wait_s(KEY, 1.0) == 0


def test_failures_are_forgotten_after_a_quiet_time_and_the_table_is_bounded() -> None:
    backoff = Backoff(free=1, first_s=1, most_s=10, keys_max=3)
    for number in range(9):
        backoff.attempt(str(number), 0.0)
    assert len(backoff) == 3
    backoff.attempt("8", 21.0)
    assert backoff.wait_s("8", 21.0) == 1


def test_an_ipv6_network_is_one_place() -> None:
    assert address_key("2001:db8::1") == address_key("2001:db8:0:0:9::2")
    assert address_key("2001:db8::1") != address_key("2001:db8:0:1::1")
    assert address_key("::ffff:10.0.0.1") == address_key("10.0.0.1") == "10.0.0.1"
    assert address_key("testclient") == "testclient"


def test_a_ticket_is_good_once() -> None:
    given = Tickets()
    ticket = given.give("sign-in", 0.0)
    assert given.take(ticket, 1.0) == "sign-in"
    assert given.take(ticket, 1.0) is None


@pytest.mark.parametrize("shown", ["", "gcs_", "x" * 200, "\ud800"])
def test_garbage_is_no_ticket(shown: str) -> None:
    given = Tickets()
    given.give("sign-in", 0.0)
    assert given.take(shown, 0.0) is None


def test_an_expired_a_foreign_and_a_changed_ticket_are_none() -> None:
    given, other = Tickets(), Tickets()
    assert given.take(given.give("sign-in", 0.0), tickets.VALID_S) is None
    assert given.take(other.give("sign-in", 0.0), 0.0) is None
    ticket = given.give("sign-in", 0.0)
    changed = ticket[:-1] + ("A" if ticket[-1] != "A" else "B")
    assert given.take(changed, 0.0) is None
    assert given.take(ticket, 0.0) == "sign-in"


def test_tickets_that_nobody_shows_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tickets, "TICKETS_MAX", 3)
    given = Tickets()
    first, *rest = [given.give("sign-in", 0.0) for _ in range(4)]
    assert given.take(first, 0.0) is None
    assert [given.take(one, 0.0) for one in rest] == ["sign-in"] * 3


async def test_the_right_password_fits_and_others_do_not() -> None:
    guard = cheap()
    verifier = await guard.verifier("correct horse")
    assert verifier.startswith("$argon2id$")
    assert await guard.fits(verifier, "correct horse")
    assert not await guard.fits(verifier, "correct horsf")
    assert not await guard.fits(verifier, "\ud800")
    guard.close()


async def test_no_verifier_fits_none_and_is_verified_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    guard = cheap()
    seen: list[str] = []
    verify = guard._verify

    def watched(verifier: str, password: str) -> bool:
        seen.append(verifier)
        return verify(verifier, password)

    monkeypatch.setattr(guard, "_verify", watched)
    assert not await guard.fits("", "correct horse")
    assert seen == [guard._of_nobody]
    guard.close()


async def test_the_verifier_of_nobody_takes_as_long_as_any_other() -> None:
    guard = cheap()
    of_nobody = verifier_of_nobody(guard._hasher)
    somebodys = await guard.verifier("correct horse")
    assert extract_parameters(of_nobody) == extract_parameters(somebodys)
    with pytest.raises(VerifyMismatchError):  # another error would have come before the work
        guard._hasher.verify(of_nobody, "correct horse")
    guard.close()


async def test_too_many_at_once_are_told_to_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passwords, "WAITING_MAX", 2)
    guard = cheap()
    asked = await asyncio.gather(
        *[guard.verifier("correct horse") for _ in range(5)], return_exceptions=True
    )
    refused = [one for one in asked if isinstance(one, AccountError)]
    assert [one.code for one in refused] == ["busy"] * 3
    guard.close()


@pytest.mark.parametrize(
    "password", ["short", "x" * 201, "aaaaaaaaaaaa", "ann@example.org1", "ABABABABABAB"]
)
def test_passwords_that_are_easily_guessed_are_refused(password: str) -> None:
    with pytest.raises(AccountError, match=r"password"):
        check_password(password, "ann@example.org")
    assert check_password("correct horse", "ann@example.org")


def test_secrets_are_long_and_only_their_digests_are_kept() -> None:
    one, other = new_secret("gct"), new_secret("gct")
    assert one != other
    assert len(one) == 4 + 43
    assert digest_of(one) != digest_of(other)
    assert equal(csrf_of(one), csrf_of(one))
    assert not equal(csrf_of(one), csrf_of(other))
