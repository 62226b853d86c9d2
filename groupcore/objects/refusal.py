"""Why an operation does not apply: one error class a code of `docs/transactions.md`.

They are raised before anything is changed. `Document.submit` turns them into `Refused` values;
the parsers raise them to their caller.
"""

from __future__ import annotations

from typing import ClassVar

from groupcore.errors import GroupcoreError


class RefusalError(GroupcoreError):
    """Base of all refusals; `code` is the word that travels in `reject`."""

    code: ClassVar[str] = "bad_change"


class BadChangeError(RefusalError):
    """The change is not of the documented form; correct the sender."""

    code = "bad_change"


class OutOfRangeError(RefusalError):
    """A position lies behind the end of the text; take the document anew."""

    code = "out_of_range"


class TooLargeError(RefusalError):
    """A limit would be passed; the text names the limit. Make the change smaller."""

    code = "too_large"


class NoSuchBlockError(RefusalError):
    """The change names a block that the document does not have."""

    code = "no_such_block"


class BlockExistsError(RefusalError):
    """The change creates a block under an id that is taken; draw a new id."""

    code = "block_exists"


class BlockDeletedError(RefusalError):
    """Text was written into a block that somebody else removed; keep the text as a draft."""

    code = "block_deleted"


class BaseTooOldError(RefusalError):
    """The base is older than what is kept for rebasing; take a snapshot and rebase on it."""

    code = "base_too_old"
