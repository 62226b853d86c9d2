"""Offers: roles for accounts whose address is not proved, which take effect when it is.

Idea. Who gives a role to an address of mail means the person who reads what is sent there. An
account that has only claimed the address gets an offer in its place: nothing that it could read or
write, shown to owners as pending. The proof has a place in the order, and there all offers of the
account become roles, at every replica alike.

Who has a role somewhere got it by a secret (an invitation, a link), or before there were proofs:
that role stays, and owners may change it.

Invariants.
  O1  An account whose address is not proved gets no role by its address: it has offers.
  O2  What was offered takes effect at the place of the proof, and takes no role that is more.
  O3  No account has an offer and a proof.
"""

from __future__ import annotations

from groupcore.shared import operation
from server.accounts.errors import AccountError
from server.accounts.records import Offer
from server.accounts.roles import Role
from server.accounts.workspaces import MEMBERS_MAX, Workspaces

Kept = dict[str, dict[str, Offer]]


class Offers(Workspaces):
    """What waits for proofs: by the workspace or document, and there by the account."""

    workspace_offers: dict[str, dict[str, Offer]]
    document_offers: dict[str, dict[str, Offer]]

    @operation
    def give_role(self, by: str, workspace: str, user: str, role: Role, origin: str) -> bool:
        """As `set_role`, but an offer where O1 says so; whether the role is in effect."""
        roles, kept = self.roles.get(workspace, {}), self.workspace_offers
        if self._is_given(kept, workspace, roles, user, role):
            self._set_role(by, workspace, user, role, origin)
            return True
        self._check_owns(by, workspace)
        return self._offer(kept, workspace, roles, by, user, role, origin)

    @operation
    def give_document_role(
        self, by: str, document: str, user: str, role: Role, origin: str
    ) -> bool:
        """As `set_document_role`, but an offer where O1 says so; whether it is in effect."""
        roles, kept = self.document_roles.get(document, {}), self.document_offers
        if self._is_given(kept, document, roles, user, role):
            self._set_document_role(by, document, user, role, origin)
            return True
        self._check_owns_document(by, document)
        return self._offer(kept, document, roles, by, user, role, origin)

    def _is_given(
        self, kept: Kept, place: str, roles: dict[str, Role], user: str, role: Role
    ) -> bool:
        """Whether it is for the roles and not for the offers; an offer of before is gone."""
        self._known_user(user)
        had_offer = _take(kept, place, user) is not None
        if user in roles or self.is_proved(user):
            return True
        return role is Role.NONE and not had_offer

    def _offer(
        self,
        kept: Kept,
        place: str,
        roles: dict[str, Role],
        by: str,
        user: str,
        role: Role,
        origin: str,
    ) -> bool:
        """O1; NONE: the offer that was there is taken back."""
        if role is Role.NONE:
            self._note(by, "offer.withdrawn", f"{place} {user}", origin)
            return True
        if len(roles) + len(kept.get(place, {})) >= MEMBERS_MAX:
            raise AccountError("too_many", f"at most {MEMBERS_MAX} people can have a role here")
        kept.setdefault(place, {})[user] = Offer(role, by, self.context.time_s)
        self._note(by, "offer.made", f"{place} {user} {role.name.lower()}", origin)
        return False

    def _prove(self, user: str, how: str, by: str, origin: str, is_told: bool = False) -> None:
        """O2: what was offered to the account is its own from here on."""
        super()._prove(user, how, by, origin, is_told)
        places = sorted(place for place, kept in self.workspace_offers.items() if user in kept)
        for workspace in places:
            offer = _take(self.workspace_offers, workspace, user)
            if offer is not None and workspace in self.roles:
                self._fulfil(self.roles[workspace], workspace, user, offer, origin)
        if places:
            self._rights_changed()
        documents = sorted(place for place, kept in self.document_offers.items() if user in kept)
        for document in documents:
            offer = _take(self.document_offers, document, user)
            if offer is not None and document in self.documents:
                roles = self.document_roles.setdefault(document, {})
                self._fulfil(roles, document, user, offer, origin)
        if documents:
            self._rights_changed(*documents)

    def _fulfil(
        self, roles: dict[str, Role], place: str, user: str, offer: Offer, origin: str
    ) -> None:
        """A place that has filled up meanwhile keeps nobody from proving an address."""
        if user not in roles and len(roles) >= MEMBERS_MAX:
            self._note(offer.by, "offer.withdrawn", f"{place} {user}", origin)
            return
        role = max(offer.role, roles.get(user, Role.NONE))
        self._put_role(roles, user, role)
        self._note(offer.by, f"role.{role.name.lower()}", f"{place} {user}", origin)

    def _forget_offers(self, place: str) -> None:
        """The workspace or document is gone."""
        self.workspace_offers.pop(place, None)
        self.document_offers.pop(place, None)


def _take(kept: Kept, place: str, user: str) -> Offer | None:
    """The offer, which is taken out."""
    offers = kept.get(place)
    if offers is None or user not in offers:
        return None
    offer = offers.pop(user)
    if not offers:
        del kept[place]
    return offer
