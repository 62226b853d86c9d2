"""What accounts refuse, with the codes of the API."""

from __future__ import annotations

from server.errors import BadMessageError


class AccountError(BadMessageError):
    """It may not be, or cannot be; `code` is the API's name of it.

    `forbidden`, `last_owner`, `taken`, `not_found`, `bad_request`, `too_many`, `expired`,
    `bad_credentials`, `bad_code`, `bad_passkey`, `no_account`, `no_mail`, `second_factor`,
    `switched_off`, `unproved`, `wait`.
    """


def forbidden() -> AccountError:
    """Whoever asked has not the role that this needs."""
    return AccountError("forbidden", "you may not do this; ask an owner")


def missing(what: str) -> AccountError:
    """There is no such thing, or none that the one who asked may know of."""
    return AccountError("not_found", f"there is no such {what}")
