"""What browsers and devices say of passkeys, by the `webauthn` library; its errors are ours."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import cast

from webauthn import (
    base64url_to_bytes,
    generate_authentication_options,
    generate_registration_options,
    options_to_json,
    verify_authentication_response,
    verify_registration_response,
)
from webauthn.helpers import bytes_to_base64url
from webauthn.helpers.structs import (
    AuthenticatorSelectionCriteria,
    PublicKeyCredentialDescriptor,
    ResidentKeyRequirement,
    UserVerificationRequirement,
)

from server.accounts.errors import AccountError

TIMEOUT_MS = 120_000
ID_MAX = 1400
"""Of a key's id: 1,023 bytes in base64url."""
Options = dict[str, object]


@dataclass(frozen=True, slots=True)
class Site:
    """For whom keys are: the host's name, and the origins of its pages."""

    host: str
    origins: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key that a device has made."""

    id: str
    public_key: bytes
    sign_count: int


@dataclass(frozen=True, slots=True)
class Shown:
    """A key has signed; `is_verified`: its person was asked."""

    sign_count: int
    is_verified: bool


def _described(ids: list[str]) -> list[PublicKeyCredentialDescriptor]:
    return [PublicKeyCredentialDescriptor(id=base64url_to_bytes(one)) for one in ids]


def making_options(site: Site, challenge: bytes, user: str, name: str, known: list[str]) -> Options:
    """What a browser is to make a key for; none of a device that has one of `known`."""
    options = generate_registration_options(
        rp_id=site.host,
        rp_name="Groupcore",
        user_id=user.encode(),
        user_name=name,
        challenge=challenge,
        timeout=TIMEOUT_MS,
        authenticator_selection=AuthenticatorSelectionCriteria(
            resident_key=ResidentKeyRequirement.PREFERRED,
            user_verification=UserVerificationRequirement.PREFERRED,
        ),
        exclude_credentials=_described(known),
    )
    return cast("Options", json.loads(options_to_json(options)))


def showing_options(site: Site, challenge: bytes, known: list[str]) -> Options:
    """What a key is to sign: one of `known`, or any where none is named, which asks its person."""
    options = generate_authentication_options(
        rp_id=site.host,
        challenge=challenge,
        timeout=TIMEOUT_MS,
        allow_credentials=_described(known),
        user_verification=UserVerificationRequirement.PREFERRED
        if known
        else UserVerificationRequirement.REQUIRED,
    )
    return cast("Options", json.loads(options_to_json(options)))


def refused() -> AccountError:
    """What is told of it; not what the library says, which may be what was sent."""
    return AccountError("bad_passkey", "what the device has said does not fit; try again")


def made_key(site: Site, challenge: bytes, said: str) -> NewKey:
    """The key that was made for this challenge; AccountError."""
    try:
        found = verify_registration_response(
            credential=said,
            expected_challenge=challenge,
            expected_rp_id=site.host,
            expected_origin=list(site.origins),
        )
    except Exception:  # a library has read a stranger's bytes: whatever it raises, they do not fit
        raise refused() from None
    id = bytes_to_base64url(found.credential_id)
    return NewKey(id, found.credential_public_key, found.sign_count)


def id_in(said: str) -> str:
    """Which key a browser says that it is; AccountError."""
    try:
        found = json.loads(said)
    except (ValueError, RecursionError):
        raise refused() from None
    id = found.get("id") if isinstance(found, dict) else None
    if not isinstance(id, str) or not 0 < len(id) <= ID_MAX:
        raise refused()
    return id


def shown_key(site: Site, challenge: bytes, said: str, public_key: bytes) -> Shown:
    """What this key has signed, if that is the challenge; AccountError. Its counter is judged in
    the order.
    """
    try:
        found = verify_authentication_response(
            credential=said,
            expected_challenge=challenge,
            expected_rp_id=site.host,
            expected_origin=list(site.origins),
            credential_public_key=public_key,
            credential_current_sign_count=0,
        )
    except Exception:  # a library has read a stranger's bytes: whatever it raises, they do not fit
        raise refused() from None
    return Shown(found.new_sign_count, found.user_verified)
