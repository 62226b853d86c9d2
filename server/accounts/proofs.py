"""Proofs of addresses: by an owner's word, by an identity provider, by a letter.

Idea. An account whose address is not proved may be a squatter's: somebody who was there before the
person with the address. So a proof that comes from the address itself (a letter that was opened, an
address that the provider has verified) and not from who is signed in ends all that a squatter could
have left: the password, sign-ins, tokens, the second factor, and the link to a provider. Who is
signed in and shows the address, too, has shown both, and nothing ends.

A letter is known by the digest of its secret. It is good once, until its end, for one purpose.

Source. Sudhodanan and Paverd, "Pre-hijacked accounts", 2022: classic-federated merge, unexpired
session, trojan identifier, non-verifying provider. Their fifth, an unexpired change of the address,
has no place here: addresses do not change. docs/threats.md, T26.

Invariants.
  V1  No account is linked to a provider by its address while that is not proved.
  V2  A proof that does not come from who is signed in leaves no way in of before.
  V3  A letter is good once, for its account and purpose, and not after its end, nor when another
      one for the same was used.
"""

from __future__ import annotations

from dataclasses import replace

from groupcore.shared import operation
from server.accounts.errors import AccountError, missing
from server.accounts.names import check_email
from server.accounts.passkeys import Passkeys
from server.accounts.records import Letter
from server.accounts.roles import USER

PROVE = "prove"
RESET = "reset"
LETTER_S = {PROVE: 24 * 3600.0, RESET: 3600.0}
"""How long a letter of each purpose is good."""
BETWEEN_S = 60.0
"""An account gets no two letters of one purpose within this."""
LETTERS_EACH = 10
"""Open letters of one account and purpose; the oldest makes room. When one is used, all end."""
LETTERS_MAX = 10_000


class Proofs(Passkeys):
    """Letters that are open, and how addresses are proved."""

    letters: dict[str, Letter]

    @operation
    def confirm(self, by: str, user: str, hands_over: bool, origin: str) -> None:
        """Who manages accounts says that the address is this person's.

        With `hands_over` whoever has used the account until now is out (V2): it is for the person
        with the address, and not known to be used by them.
        """
        self._check_manages(by)
        self._known_user(user)
        if hands_over:
            self._clear(user)
            self._note(by, "user.handed_over", user, origin)
        self._prove(user, "owner", by, origin)

    def _clear(self, user: str, keeps_subject: bool = False) -> None:
        """V2: nothing that was made before lets anybody in."""
        found = self.users[user]
        subject = found.subject if keeps_subject else ""
        if found.subject and not keeps_subject:
            self.subjects.pop(found.subject, None)
        self.users[user] = replace(found, verifier="", subject=subject)
        self._end(lambda _, one: one.principal == USER + user, "proof")
        self._drop_tokens(user)
        self._forget_factors(user)
        for digest in [key for key, one in self.letters.items() if one.user == user]:
            del self.letters[digest]

    # --- by an identity provider ----------------------------------------------------------------

    @operation
    def link_by_address(self, subject: str, email: str, origin: str) -> str:
        """The provider has verified this address: its account is this person's, if it is proved.

        Gives the account; AccountError `no_account`, `unproved` (V1), `switched_off`, `taken`.
        """
        found = self.by_email(check_email(email))
        if found is None:
            raise AccountError("no_account", "you have no account here yet; ask to be invited")
        if found.is_disabled:
            raise AccountError("switched_off", "this account is switched off")
        if not self.is_proved(found.id):
            raise AccountError(
                "unproved",
                "whoever made the account with your address has not proved that it is theirs; "
                "sign in with its password and link it, or ask an owner",
            )
        self._link(found.id, subject, origin)
        return found.id

    @operation
    def link_provider(self, user: str, subject: str, email: str, origin: str) -> None:
        """Who is signed in has signed in at the provider, too; the same address there proves it."""
        self._link(user, subject, origin)
        if email and self.users[user].email == check_email(email):
            self._prove(user, "provider", USER + user, origin)

    def _link(self, user: str, subject: str, origin: str) -> None:
        found = self._known_user(user)
        if self.subjects.get(subject, user) != user or found.subject not in ("", subject):
            raise AccountError("taken", "another account belongs to this person at the provider")
        self.users[user] = replace(found, subject=subject)
        self.subjects[subject] = user
        self._note(USER + user, "user.linked", user, origin)

    @operation
    def prove_at_provider(self, user: str, subject: str, email: str, origin: str) -> bool:
        """Who was linked before has come from the provider with the address verified (V2).

        So it is for accounts that were linked by their address before there were proofs: their
        password may be a squatter's. False, and nothing done, where that is not so.
        """
        found = self._known_user(user)
        is_same = found.subject == subject and found.email == check_email(email)
        if self.is_proved(user) or not is_same:
            return False
        self._clear(user, keeps_subject=True)
        self._prove(user, "provider", USER + user, origin)
        return True

    # --- by letters -----------------------------------------------------------------------------

    @operation
    def write_letter(self, digest: str, user: str, purpose: str, origin: str) -> None:
        """A letter to the account's address has this secret. Those of before stay good: whoever
        asks for another one for a person makes no link of theirs void.
        """
        found, now_s = self._known_user(user), self.context.time_s
        if purpose not in LETTER_S or found.is_disabled:
            raise missing("user")
        if purpose == PROVE and self.is_proved(user):
            raise AccountError("taken", "this address is proved already")
        open_ones = self._letters_of(user, purpose)
        if open_ones and now_s < self.letters[open_ones[-1]].made_s + BETWEEN_S:
            raise AccountError("wait", "a mail was sent a moment ago; wait a minute")
        for key in open_ones[: max(0, len(open_ones) + 1 - LETTERS_EACH)]:
            del self.letters[key]
        if len(self.letters) >= LETTERS_MAX:
            raise AccountError("too_many", "too many mails are under way; try again later")
        self.letters[digest] = Letter(user, purpose, now_s, now_s + LETTER_S[purpose])
        by = USER + user if purpose == PROVE else ""  # anybody may ask for a password
        self._note(by, "mail.sent", f"{user} {purpose}", origin)

    def _letters_of(self, user: str, purpose: str) -> list[str]:
        """Digests, the oldest first."""
        found = [(one.made_s, key) for key, one in self.letters.items() if one.user == user]
        return [key for _, key in sorted(found) if self.letters[key].purpose == purpose]

    def _drop_letters(self, user: str, purpose: str) -> None:
        for key in self._letters_of(user, purpose):
            del self.letters[key]

    def letter(self, digest: str, purpose: str, now_s: float) -> Letter | None:
        """The letter with this secret, if it is good for this."""
        found = self.letters.get(digest)
        if found is None or found.purpose != purpose or now_s >= found.expires_s:
            return None
        return None if self.user(USER + found.user) is None else found

    def _open_letter(self, digest: str, purpose: str) -> Letter:
        found = self.letter(digest, purpose, self.context.time_s)
        if found is None:
            raise AccountError("expired", "this link was used or is too old; ask for another")
        return found

    @operation
    def prove_by_letter(self, digest: str, user: str, origin: str) -> None:
        """Who is signed in has opened the letter: nothing ends."""
        if self._open_letter(digest, PROVE).user != user:
            raise AccountError("forbidden", "this link is for another account; sign in with that")
        self._drop_letters(user, PROVE)
        self._prove(user, "mail", USER + user, origin)

    @operation
    def reset_by_letter(self, digest: str, verifier: str, origin: str) -> str:
        """Who reads the address's mail chooses a password; gives the account.

        Sign-ins and tokens are over. Where the address was proved, the second factor and the link
        to a provider stay: they are the person's. Else V2.
        """
        user = self._open_letter(digest, RESET).user
        self._drop_letters(user, RESET)
        if self.is_proved(user):
            self._end(lambda _, one: one.principal == USER + user, "password")
            self._drop_tokens(user)
        else:
            self._clear(user)
        self.users[user] = replace(self.users[user], verifier=verifier)
        self._note(USER + user, "password.reset", user, origin)
        self._prove(user, "mail", USER + user, origin)
        return user
