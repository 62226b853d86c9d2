"""`/.well-known/security.txt`: where faults of security are reported (RFC 9116)."""

from __future__ import annotations

from datetime import UTC, datetime

import aiohttp
import pytest

from server.errors import SettingsProblem
from server.routes.disclosure import PATH, security_text
from server.settings import read_settings
from tests.server.support import Cluster

NOW = datetime(2026, 11, 29, 5, 0, tzinfo=UTC)


def test_the_operators_contact_is_named_with_a_date_less_than_a_year_away() -> None:
    assert security_text("mailto:security@example.org", "https://docs.example.org", NOW) == (
        "Contact: mailto:security@example.org\nExpires: 2027-05-28T05:00:00Z\n"
        "Canonical: https://docs.example.org/.well-known/security.txt\n"
    )


def test_an_address_without_tls_is_not_named_as_the_canonical_one() -> None:
    assert "Canonical" not in security_text("tel:+43-1-5555", "http://127.0.0.1:8000", NOW)


async def test_a_node_tells_the_contact_to_everybody_and_has_no_file_without_one(
    cluster: Cluster,
) -> None:
    told = await cluster.start("a", security_contact="mailto:security@example.org")
    silent = await cluster.start("b")
    async with aiohttp.ClientSession() as http:
        async with http.get(told.url + PATH) as answer:
            assert (answer.status, answer.content_type) == (200, "text/plain")
            assert (await answer.text()).startswith("Contact: mailto:security@example.org\n")
        async with http.get(silent.url + PATH) as answer:
            assert answer.status == 404


@pytest.mark.parametrize(
    "contact",
    ["security@example.org", "http://example.org", "mailto:x", "tel:5", "mailto:a@b\nX: y"],
)
def test_what_the_file_cannot_name_is_refused_at_the_start(contact: str) -> None:
    with pytest.raises(SettingsProblem, match="--security-contact"):
        read_settings(["--node-id", "a", "--security-contact", contact], {})


@pytest.mark.parametrize(
    "contact", ["mailto:s@example.org", "https://example.org/report?to=us", "tel:+43-1-5555"]
)
def test_addresses_of_mail_pages_and_telephones_are_taken(contact: str) -> None:
    given = read_settings(["--node-id", "a", "--security-contact", contact], {})
    assert given.security_contact == contact
