"""Trust: whose certificates a node takes, and which of them are good no more."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from groupcore.errors import WireError
from groupcore.identity.certificate import Certificate
from groupcore.identity.revocations import Revocations


class Trust:
    """The operators that a node of this cluster believes, and what they have revoked.

    `wall_s` tells the seconds since 1970. `generation` grows with every list that is taken.
    """

    def __init__(
        self, cluster: str, operators: Iterable[bytes], wall_s: Callable[[], float]
    ) -> None:
        self.cluster = cluster
        self.operators = frozenset(operators)
        self.generation = 0
        self._wall_s = wall_s
        self._lists: dict[bytes, Revocations] = {}

    @property
    def lists(self) -> tuple[Revocations, ...]:
        """The newest list of each operator."""
        return tuple(self._lists.values())

    def take(self, revocations: Revocations) -> bool:
        """Believe a list from now on; False for one that says nothing new.

        WireError: `foreign_revocations` of another operator or cluster, `bad_revocations` when it
        is not signed.
        """
        ours = revocations.issuer in self.operators and revocations.cluster == self.cluster
        if not ours:
            raise WireError("foreign_revocations", "they are of another operator or cluster")
        known = self._lists.get(revocations.issuer)
        if known is not None and known.number >= revocations.number:
            return False
        if not revocations.is_genuine:
            raise WireError("bad_revocations", "the operator has not signed them")
        self._lists[revocations.issuer] = revocations
        self.generation += 1
        return True

    def is_revoked(self, certificate: Certificate) -> bool:
        """Whether its operator has taken it back."""
        listed = self._lists.get(certificate.issuer)
        return listed is not None and certificate.serial in listed.serials

    def check(self, certificate: Certificate) -> None:
        """WireError when it is not good here, and why.

        `foreign_certificate` of another operator or cluster, `expired_certificate`,
        `revoked_certificate`, `bad_certificate` when it is not signed. The signature, which is
        what costs, comes last.
        """
        if certificate.issuer not in self.operators:
            raise WireError("foreign_certificate", "it is of another operator")
        if certificate.cluster != self.cluster:
            raise WireError("foreign_certificate", f"it is for cluster {certificate.cluster!r}")
        if self._wall_s() >= certificate.not_after:
            raise WireError("expired_certificate", "its time is over")
        if self.is_revoked(certificate):
            raise WireError("revoked_certificate", "the operator has revoked it")
        if not certificate.is_genuine:
            raise WireError("bad_certificate", "the operator has not signed it")
