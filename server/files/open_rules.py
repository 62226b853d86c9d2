"""Who may what where there are no accounts: everybody everything, but writing in the trash."""

from __future__ import annotations

from groupcore.shared.access import EVERYBODY, Right
from groupcore.shared.pending import Pending
from server.accounts.accounts import Accounts
from server.accounts.roles import KEEPER

OPEN = {KEEPER: Right.MANAGE, EVERYBODY: Right.WRITE}
"""The list of a document that everybody may write in; one that has none is such a one, too."""
TRASHED = {KEEPER: Right.MANAGE, EVERYBODY: Right.READ}
GONE = {KEEPER: Right.MANAGE}


class OpenRules:
    """What `server.accounts.lists` goes by."""

    def __init__(self, accounts: Accounts) -> None:
        self._accounts = accounts

    @property
    def rights_number(self) -> int:
        """Counts what may change a list."""
        return self._accounts.rights_number

    def rights(self, document: str) -> dict[str, Right]:
        """The list that the document is to have."""
        accounts = self._accounts
        if document in accounts.doomed:
            return dict(GONE)
        return dict(OPEN if accounts.buried(document) is None else TRASHED)

    def refresh(self) -> Pending[None]:
        """Wait until this node knows what was ordered before."""
        return self._accounts.refresh()
