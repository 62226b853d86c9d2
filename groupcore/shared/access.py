"""An access list that is part of the object: who may read, who may call, who may change the list.

Idea. The list is a field like any other, so it changes in the order, is packed with the state and
is equal at all replicas. Every replica judges a call by the list as it was right before it: the
same everywhere, whatever was sent when. Whoever may not read any more is given nothing that comes
behind the place where that was said.

Source. Design, section 5; reliability.md, invariant 22.

Invariants.
  A1  The verdict on a call depends on principal, operation, and the state before it; nothing else.
  A2  What is refused changes nothing, and the caller is told.
  A3  Nothing that is ordered behind the loss of the right to read reaches its principal.
  A4  There is always somebody who may change the list, once somebody has claimed it.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import ClassVar

from groupcore.shared.errors import ForbiddenError, SharedError
from groupcore.shared.messages import PRINCIPAL_MAX
from groupcore.shared.object import SharedObject
from groupcore.shared.operations import operation, query

EVERYBODY = "*"
"""The entry of the list that counts for all, beside their own."""


class Right(IntEnum):
    """What somebody may do; each includes the ones before it."""

    NONE = 0
    READ = 1
    WRITE = 2
    MANAGE = 3


class LastManagerError(SharedError):
    """Nobody would be left who may change the list; let somebody else manage it first."""


class Guarded(SharedObject):
    """Base of objects with an access list; put it before a library type to guard that.

    A new object is nobody's: it can be opened, and `claim` makes its caller the first manager.
    Give `rights` another default to begin with a list. `needs` says for operations by name which
    right they need, where that is not WRITE. Principals are what the programs say
    (`Node(principal=...)`): the nodes of a cluster trust each other in this.
    """

    needs: ClassVar[Mapping[str, Right]] = {}
    rights: dict[str, Right]

    @operation
    def claim(self) -> None:
        """Become the manager of an object that is nobody's; ForbiddenError when it is somebody's.

        Raises ForbiddenError, too, for a program that has said no principal.
        """
        principal = self.context.principal
        if not principal or principal == EVERYBODY:
            raise ForbiddenError(principal, "cannot manage an object; say a principal")
        self.rights[principal] = Right.MANAGE

    @operation
    def grant(self, principal: str, right: Right) -> None:
        """Let a principal (EVERYBODY: all) do this much, in the place of what it might before.

        Raises LastManagerError, and ValueError for a name that none has.
        """
        if not 0 < len(principal) <= PRINCIPAL_MAX:
            raise ValueError(f"a principal's name has 1 to {PRINCIPAL_MAX} characters")
        if right is Right.NONE:
            self.rights.pop(principal, None)
        else:
            self.rights[principal] = right
        if Right.MANAGE not in self.rights.values():
            raise LastManagerError(f"{principal} is the last one who may change the access list")

    @operation
    def revoke(self, principal: str) -> None:
        """Take a principal off the list; what EVERYBODY may it still may. LastManagerError."""
        self.rights.pop(principal, None)
        if Right.MANAGE not in self.rights.values():
            raise LastManagerError(f"{principal} is the last one who may change the access list")

    @query
    def right_of(self, principal: str) -> Right:
        """What a principal may do now, as far as this replica is."""
        return self._right(principal)

    def _right(self, principal: str) -> Right:
        rights = self.rights
        return max(rights.get(principal, Right.NONE), rights.get(EVERYBODY, Right.NONE))

    @classmethod
    def access_rules(cls) -> Mapping[str, str]:
        """What operations need, by name: nodes that judge otherwise are of another version."""
        return {operation: right.name for operation, right in cls.needs.items()}

    def may_call(self, principal: str, operation: str) -> bool:
        """By the list; of an object that is nobody's, only `claim`."""
        if not self.rights:
            return operation == "claim"
        manages = operation in ("claim", "grant", "revoke")
        needed = Right.MANAGE if manages else self.needs.get(operation, Right.WRITE)
        return self._right(principal) >= needed

    def may_read(self, principal: str) -> bool:
        """By the list; an object that is nobody's has nothing to hide."""
        return not self.rights or self._right(principal) >= Right.READ
