"""The rules of sealing: keys, epochs, and what does not open."""

from __future__ import annotations

import pytest
from cryptography.exceptions import InvalidTag
from hypothesis import given
from hypothesis import strategies as st

from groupcore.errors import SettingsError
from groupcore.seal import (
    CHALLENGE,
    CIPHERS,
    DATA,
    HEADER,
    NONCE_PREFIX,
    PROOF,
    Keyring,
    Sealer,
    sender_id,
)

KEY, OTHER_KEY = b"k" * 32, b"o" * 32
NODE, BOOT = sender_id("node-1"), b"b" * 16


def open_sealed(keys: Keyring, datagram: bytes) -> bytes:
    _, _, epoch, sender, boot, _ = HEADER.unpack_from(datagram)
    cipher = keys.cipher(epoch, sender, boot)
    assert cipher is not None
    header = datagram[: HEADER.size]
    return cipher.decrypt(NONCE_PREFIX + header[-8:], datagram[HEADER.size :], header)


@pytest.mark.parametrize("cipher", CIPHERS)
def test_what_is_sealed_opens_and_shows_nothing(cipher: str) -> None:  # T1
    keys = Keyring("home", {1: KEY}, 1, cipher)
    datagram = Sealer(keys, NODE, BOOT).seal(DATA, b"a secret text")
    assert open_sealed(keys, datagram) == b"a secret text"
    assert b"secret" not in datagram
    assert HEADER.unpack_from(datagram) == (1, DATA, 1, NODE, BOOT, 1)


def test_all_kinds_of_one_boot_share_one_counter() -> None:  # S1, T4
    sealer = Sealer(Keyring("home", {1: KEY}, 1), NODE, BOOT)
    sealed = [sealer.seal(kind, b"") for kind in (DATA, CHALLENGE, DATA, PROOF)]
    assert [HEADER.unpack_from(datagram)[5] for datagram in sealed] == [1, 2, 3, 4]


@given(bit=st.integers(0, 8 * (HEADER.size + 21) - 1))
def test_no_bit_of_header_or_body_can_be_changed(bit: int) -> None:  # S2, T2
    keys = Keyring("home", dict.fromkeys(range(256), KEY), 1)
    datagram = bytearray(Sealer(keys, NODE, BOOT).seal(DATA, b"hello"))
    datagram[bit // 8] ^= 1 << bit % 8
    with pytest.raises(InvalidTag):
        open_sealed(keys, bytes(datagram))


@pytest.mark.parametrize(
    "other",
    [
        Keyring("home", {1: OTHER_KEY}, 1),
        Keyring("away", {1: KEY}, 1),
        Keyring("home", {1: KEY}, 1, "chacha20-poly1305"),
    ],
    ids=["another key", "another cluster", "another cipher"],
)
def test_another_key_cluster_or_cipher_does_not_open(other: Keyring) -> None:  # T3
    datagram = Sealer(Keyring("home", {1: KEY}, 1), NODE, BOOT).seal(DATA, b"hello")
    with pytest.raises(InvalidTag):
        open_sealed(other, datagram)


def test_two_boots_never_share_a_key() -> None:  # T4
    keys = Keyring("home", {1: KEY}, 1)
    first = Sealer(keys, NODE, BOOT).seal(DATA, b"hello")
    second = Sealer(keys, NODE, b"c" * 16).seal(DATA, b"hello")
    assert first[HEADER.size :] != second[HEADER.size :]


def test_rotation_is_add_then_use_then_remove() -> None:  # T5
    keys = Keyring("home", {1: KEY}, 1)
    sealer = Sealer(keys, NODE, BOOT)
    old = sealer.seal(DATA, b"old")
    keys.add(2, OTHER_KEY)
    keys.use(2)
    new = sealer.seal(DATA, b"new")
    assert HEADER.unpack_from(new)[2] == 2
    assert HEADER.unpack_from(new)[5] == 2
    assert (open_sealed(keys, old), open_sealed(keys, new)) == (b"old", b"new")
    keys.remove(1)
    assert keys.cipher(1, NODE, BOOT) is None
    assert keys.generation == 1


def test_wrong_keys_and_epochs_are_refused_by_name() -> None:
    with pytest.raises(SettingsError, match="32"):
        Keyring("home", {1: b"short"}, 1)
    with pytest.raises(SettingsError, match="current key epoch 2"):
        Keyring("home", {1: KEY}, 2)
    with pytest.raises(SettingsError, match="between 0 and 255"):
        Keyring("home", {256: KEY}, 256)
    with pytest.raises(SettingsError, match="rot13"):
        Keyring("home", {1: KEY}, 1, "rot13")
    keys = Keyring("home", {1: KEY}, 1)
    with pytest.raises(SettingsError, match="another key"):
        keys.add(1, OTHER_KEY)
    with pytest.raises(SettingsError, match="add it first"):
        keys.use(7)
    with pytest.raises(SettingsError, match="in use"):
        keys.remove(1)
