"""Authorizations and successions: what is signed holds for that, and for nothing else."""

from __future__ import annotations

from contextlib import suppress

import pytest

from groupcore.errors import WireError
from groupcore.identity.authorization import authorize, read_authorization
from groupcore.identity.certificate import ADMINISTER, PURPOSE, issue, read_certificate
from groupcore.identity.signed import public_bytes, sign
from groupcore.identity.succession import read_succession, succeed
from tests.groupcore.identity.operators import NOW, Operator, node_key

OPERATOR = Operator()
KEY = node_key("a")
GOOD = OPERATOR.certificate("a", KEY)


def _certificate(version: int, *more: object) -> bytes:
    """As an operator signs it, of whichever version."""
    fields = ["home", "a", public_bytes(KEY), bytes(16), NOW, public_bytes(OPERATOR.key), *more]
    return sign(OPERATOR.key, PURPOSE, [version, *fields])


def test_an_authorization_is_for_one_text_of_one_object() -> None:
    """A1."""
    shown = read_authorization(authorize(KEY, GOOD, 7, "accounts", b"do it"))
    assert (shown.certificate, shown.number) == (GOOD, 7)
    assert shown.covers("accounts", b"do it")
    assert not shown.covers("accounts", b"do it!")
    assert not shown.covers("account", b"sdo it")
    assert not shown.covers("nodes", b"do it")


def test_who_has_the_certificate_and_not_its_key_authorizes_nothing() -> None:
    shown = read_authorization(authorize(node_key("b"), GOOD, 7, "accounts", b"do it"))
    assert not shown.covers("accounts", b"do it")


@pytest.mark.parametrize("at", range(0, 500, 7))
def test_a_changed_authorization_covers_nothing(at: int) -> None:
    packed = bytearray(authorize(KEY, GOOD, 7, "accounts", b"do it"))
    packed[at % len(packed)] ^= 1
    believed = False
    with suppress(WireError):
        shown = read_authorization(bytes(packed))
        believed = shown.covers("accounts", b"do it") and shown.certificate.is_genuine
    assert not believed


def test_a_certificate_says_whether_its_node_may_administer() -> None:
    for administers in (True, False):
        made = issue(
            OPERATOR.key, "home", "a", public_bytes(KEY), bytes(16), NOW, administers=administers
        )
        read = read_certificate(made.packed)
        assert (read, read.administers, read.is_genuine) == (made, administers, True)


def test_certificates_of_before_are_of_nodes_that_administer() -> None:
    assert read_certificate(_certificate(1)).administers


@pytest.mark.parametrize(
    ("rights", "administers"),
    [([], False), ([ADMINISTER], True), (["later"], False), (["later", ADMINISTER], True)],
)
def test_rights_that_are_not_known_here_allow_nothing(rights: list[str], administers: bool) -> None:
    assert read_certificate(_certificate(2, rights)).administers is administers


@pytest.mark.parametrize(
    "packed",
    [
        _certificate(1, []),
        _certificate(2),
        _certificate(2, "administer"),
        _certificate(2, [1]),
        _certificate(2, [""]),
        _certificate(2, ["x"] * 17),
        _certificate(2, [], []),
        _certificate(3, []),
    ],
)
def test_what_is_no_certificate_is_refused(packed: bytes) -> None:
    with pytest.raises(WireError) as refused:
        read_certificate(packed)
    assert refused.value.reason == "bad_certificate"


def test_an_operator_names_who_follows_it() -> None:
    next_one = Operator(b"next")
    said = read_succession(succeed(OPERATOR.key, "home", public_bytes(next_one.key)).packed)
    assert said.is_genuine
    assert (said.issuer, said.successor) == (public_bytes(OPERATOR.key), public_bytes(next_one.key))


def test_a_succession_that_somebody_else_has_signed_is_not_genuine() -> None:
    said = succeed(OPERATOR.key, "home", public_bytes(KEY))
    forged = bytearray(said.packed)
    forged[0] ^= 1
    assert not read_succession(bytes(forged)).is_genuine
    for packed in (b"", b"x" * 100, said.packed[:-1], said.packed + b"x" * 500):
        with pytest.raises(WireError) as refused:
            read_succession(packed)
        assert refused.value.reason == "bad_succession"
