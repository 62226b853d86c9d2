"""What mails say, in English and German. Nothing in them is chosen by who asked for the mail.

A stranger can have a mail sent to any address, and names an account as they like: so no name and no
text of theirs stands in it, only the address itself, and links to this cluster.
"""

from __future__ import annotations

from dataclasses import dataclass

from server.accounts.proofs import PROVE, RESET


@dataclass(frozen=True, slots=True)
class Words:
    """A mail's subject and text; `{url}`, `{email}` and `{site}` are filled in."""

    subject: str
    text: str


LETTERS: dict[tuple[str, str], Words] = {
    (PROVE, "en"): Words(
        "Confirm your address",
        "Somebody who is signed in at {site} with the address {email} asks to confirm it.\n\n"
        "If that was you, open this link within 24 hours, in the browser where you are signed "
        "in:\n\n{url}\n\n"
        "If it was not you, do not open it: somebody else uses your address. Tell who runs the "
        "server, or choose a password of your own at {site}/forgotten, which signs them out.\n",
    ),
    (PROVE, "de"): Words(
        "Bestätigen Sie Ihre Adresse",
        "Jemand ist bei {site} mit der Adresse {email} angemeldet und möchte sie bestätigen.\n\n"
        "Wenn Sie das waren, öffnen Sie innerhalb von 24 Stunden diesen Link, in dem Browser, in "
        "dem Sie angemeldet sind:\n\n{url}\n\n"
        "Wenn Sie es nicht waren, öffnen Sie ihn nicht: Jemand anderes benutzt Ihre Adresse. Sagen "
        "Sie es denen, die den Server betreiben, oder wählen Sie unter {site}/forgotten ein "
        "eigenes Passwort. Das meldet alle anderen ab.\n",
    ),
    (RESET, "en"): Words(
        "Choose a new password",
        "Somebody asks for a new password for {email} at {site}.\n\n"
        "If that was you, open this link within an hour and choose one. Everybody who is signed in "
        "with this address is signed out then:\n\n{url}\n\n"
        "If it was not you, you need not do anything.\n",
    ),
    (RESET, "de"): Words(
        "Wählen Sie ein neues Passwort",
        "Jemand möchte für {email} bei {site} ein neues Passwort.\n\n"
        "Wenn Sie das waren, öffnen Sie innerhalb einer Stunde diesen Link und wählen Sie eines. "
        "Alle, die mit dieser Adresse angemeldet sind, werden dann abgemeldet:\n\n{url}\n\n"
        "Wenn Sie es nicht waren, müssen Sie nichts tun.\n",
    ),
}
PATHS = {PROVE: "/confirm", RESET: "/reset"}
"""Where the page takes the secret from behind the #."""


WARNINGS = (
    "Somebody has tried {count} times to sign in as {email} at {site}, and did not get in. Where "
    "you have signed in before you can go on to do so.\n\n"
    "You need not do anything. If your password is one that others may know, choose another, or "
    "add a passkey: {site}/account\n",
    "Jemand hat {count}-mal versucht, sich bei {site} als {email} anzumelden, und ist nicht "
    "hineingekommen. Wo Sie schon angemeldet waren, können Sie sich weiterhin anmelden.\n\n"
    "Sie müssen nichts tun. Wenn andere Ihr Passwort kennen könnten, wählen Sie ein anderes, oder "
    "fügen Sie einen Passkey hinzu: {site}/account\n",
)
"""Nobody who asks for it says in which language it is to be: so it is in both."""


def warning_of(site: str, email: str, count: int) -> tuple[str, str]:
    """Subject and text of the mail that tells of tries which failed."""
    texts = (one.format(count=count, email=email, site=site) for one in WARNINGS)
    return "Failed sign-ins / Fehlgeschlagene Anmeldungen", "\n---\n\n".join(texts)


def language_of(accepted: str) -> str:
    """The first language of an Accept-Language header that there are words for."""
    for one in accepted[:200].split(","):
        tag = one.partition(";")[0].strip().lower().partition("-")[0]
        if tag in ("en", "de"):
            return tag
    return "en"


def letter_of(purpose: str, language: str, site: str, email: str, secret: str) -> tuple[str, str]:
    """Subject and text."""
    words = LETTERS[purpose, language]
    url = f"{site}{PATHS[purpose]}#{secret}"
    return words.subject, words.text.format(url=url, email=email, site=site)
