"""The audit log: numbered, chained, bounded, without secrets."""

from __future__ import annotations

from dataclasses import replace

import pytest

from server.accounts import audit
from server.accounts.audit import FIRST, follows
from server.accounts.people import HOME
from server.accounts.roles import Role
from tests.server.accounts.offices import ORIGIN, Office, office


def test_each_entry_carries_the_one_before_it() -> None:
    async def main(here: Office) -> None:
        await here.hire("bob")
        before = FIRST
        for number, note in enumerate(here.accounts.notes, 1):
            assert note.number == number
            assert follows(note, before)
            before = note.chain
        assert before == here.accounts.chain

    office(main)


@pytest.mark.parametrize(
    "change", [{"by": "user:9"}, {"what": "x"}, {"about": "y"}, {"origin": "z"}, {"at_ms": 1}]
)
def test_an_entry_that_was_changed_does_not_follow(change: dict[str, object]) -> None:
    async def main(here: Office) -> None:
        first, second = here.accounts.notes[:2]
        assert follows(second, first.chain)
        assert not follows(replace(second, **change), first.chain)  # type: ignore[arg-type]

    office(main)


def test_the_object_keeps_the_last_entries_and_the_chain_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(audit, "KEPT", 5)

    async def main(here: Office) -> None:
        for number in range(30):
            await here.accounts.note("", "sign_in.denied", str(number), ORIGIN)
        notes = here.accounts.notes
        assert 5 <= len(notes) <= 10
        assert notes[-1].number == here.accounts.noted
        assert follows(notes[-1], notes[-2].chain)

    office(main)


def test_what_strangers_send_is_one_short_line_in_it() -> None:
    async def main(here: Office) -> None:
        await here.accounts.note("", "sign_in.denied", "a\nb\x1b[31m" + "x" * 999, "y" * 999)
        last = here.accounts.notes[-1]
        assert last.about.startswith("ab[31mx")
        assert len(last.about) == 200
        assert len(last.origin) == 64

    office(main)


def test_no_secret_is_in_the_log() -> None:
    async def main(here: Office) -> None:
        doc = await here.document()
        await here.accounts.sign_in("digest-1", here.ann, "a", "Firefox", ORIGIN)
        await here.accounts.set_verifier(here.as_ann, here.ann, "verifier-1", "", ORIGIN)
        await here.accounts.add_link(
            here.as_ann, "digest-2", doc, Role.VIEWER, 9.0, "verifier-2", ORIGIN
        )
        await here.accounts.invite(here.as_ann, "digest-3", HOME, Role.VIEWER, "", 9.0, ORIGIN)
        text = repr(here.accounts.notes)
        assert "digest" not in text
        assert "verifier" not in text

    office(main)
