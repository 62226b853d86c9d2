"""Objects that only nodes with the right to administer may change.

Idea. Nodes are let into the cluster by certificates of its operator, and some of these let a node
take part in the order only. The object keeps the operator's public key, and from then on takes
operations that a node with the right to administer has signed (`groupcore.identity.authorization`),
whoever orders them or hands the state on. Everything that decides is in the message and in the
object, so all replicas come to the same answer.

What the operator itself has signed needs no node: revocations, and who takes its place.

Invariants.
  M1  Once the object is entrusted to an operator, no operation is done without an authorization by
      a node that this operator lets administer and has not revoked, and each authorization once.
  M2  Another operator takes over by the word of the one before alone; who was followed once never
      comes back, so an old succession is good for nothing.

Source. docs/threats.md, T2; decision 201.
"""

from __future__ import annotations

from functools import lru_cache
from typing import ClassVar

from groupcore.errors import GroupcoreError, WireError
from groupcore.identity.authorization import Authorization, read_authorization
from groupcore.identity.certificate import Certificate
from groupcore.identity.revocations import read_revocations
from groupcore.identity.signed import PUBLIC_BYTES
from groupcore.identity.succession import read_succession
from groupcore.shared import SharedObject, operation
from groupcore.shared.messages import Authorized
from server.errors import BadMessageError

CERTIFICATES_MAX = 64
"""So many certificates are not looked at again."""
SIGNED_BY_OPERATOR = (("take_revocations",), ("take_succession",))
"""What needs no authorization: the operator's signature is in the argument."""
ADMINISTERED_BY = frozenset({"entrust", "take_revocations", "take_succession"})
"""The operations of every such object: nodes call them for themselves."""
OWN_FIELDS = frozenset(
    {"operator", "operated", "followed", "revoked", "revoked_number", "authorized"}
)
"""What belongs to this cluster alone, and to no backup of another one."""


class NotAuthorizedError(GroupcoreError):
    """The node, or the operator, that asks has not shown that it may."""

    code = "not_authorized"


class Administered(SharedObject):
    """Entrusted to an operator, or to nobody: then every node may call everything.

    `operator`: the public key, empty where there is none; `operated`: the name of its cluster;
    `followed`: the operators before it;
    `revoked`: serials of certificates, from the operator's list of the number `revoked_number`;
    `authorized`: the number of each node's last authorization.
    """

    object_name: ClassVar[str]
    """As what the object is opened, which authorizations name."""
    operator: bytes = b""
    operated: str = ""
    followed: set[bytes]
    revoked: set[bytes]
    revoked_number: int = 0
    authorized: dict[str, int]

    def check_authorization(self, operations: tuple[str, ...], authorized: Authorized) -> None:
        """M1."""
        if not self.operator or operations in SIGNED_BY_OPERATOR:
            return
        if not authorized.authorization:
            raise NotAuthorizedError("the node has not signed it")
        shown = _read(authorized.authorization)
        self._check_certificate(shown.certificate)
        name = shown.certificate.name
        if shown.number <= self.authorized.get(name, 0):
            raise NotAuthorizedError(f"node {name} has shown this one before")
        if not shown.covers(self.object_name, authorized.text):
            raise NotAuthorizedError(f"node {name} has signed something else")
        self.authorized[name] = shown.number

    def _check_certificate(self, certificate: Certificate) -> None:
        name = certificate.name
        if (certificate.issuer, certificate.cluster) != (self.operator, self.operated):
            raise NotAuthorizedError(f"node {name} has another operator")
        if not certificate.administers:
            raise NotAuthorizedError(f"node {name} may order, not administer")
        if certificate.serial in self.revoked:
            raise NotAuthorizedError(f"node {name} is revoked")
        if not _is_genuine(certificate):
            raise NotAuthorizedError("the operator has not signed the certificate")

    @operation
    def entrust(self, operator: bytes, cluster: str) -> bool:
        """To this operator, once; whether it is entrusted to this one now."""
        if len(operator) != PUBLIC_BYTES or not cluster:
            raise BadMessageError("bad_request", "an operator has a public key and a cluster")
        if not self.operator:
            self.operator, self.operated = operator, cluster
        return (self.operator, self.operated) == (operator, cluster)

    @operation
    def take_revocations(self, packed: bytes) -> bool:
        """The operator's list of revoked certificates; whether it is news."""
        try:
            listed = read_revocations(packed)
        except WireError as error:
            raise BadMessageError("bad_request", str(error)) from None
        if (listed.issuer, listed.cluster) != (self.operator, self.operated):
            raise NotAuthorizedError("the list is of another operator")
        if listed.number <= self.revoked_number:
            return False
        if not listed.is_genuine:
            raise NotAuthorizedError("the operator has not signed the list")
        self.revoked, self.revoked_number = set(listed.serials), listed.number
        return True

    @operation
    def take_succession(self, packed: bytes) -> None:
        """Another operator takes the place of this one (M2)."""
        try:
            said = read_succession(packed)
        except WireError as error:
            raise BadMessageError("bad_request", str(error)) from None
        if (said.issuer, said.cluster) != (self.operator, self.operated):
            raise NotAuthorizedError("the succession is of another operator")
        if not said.is_genuine:
            raise NotAuthorizedError("the operator has not signed the succession")
        if said.successor in self.followed:
            raise NotAuthorizedError("that operator was followed by another one before")
        self.followed.add(self.operator)
        self.operator = said.successor
        self.revoked, self.revoked_number = set(), 0


@lru_cache(CERTIFICATES_MAX)
def _is_genuine(certificate: Certificate) -> bool:
    """As `Certificate.is_genuine`: a node's certificate comes with each of its operations."""
    return certificate.is_genuine


def _read(packed: bytes) -> Authorization:
    try:
        return read_authorization(packed)
    except WireError as error:
        raise NotAuthorizedError(str(error)) from None
