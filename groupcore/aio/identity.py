"""The identity of a node: its key, its certificate and whom it believes, kept in files.

    node.key        ed25519: and 64 hexadecimal digits, 0600; made at the first start
    node.cert       certificate: and base64; an operator issues it
    revoked         revocations: and base64; an operator's list, looked at again while the node runs
    succession      succession: and base64; a former operator's word about who follows it
    operator.key    operator-key: and 64 hexadecimal digits, 0600; where the operator keeps it
    operator.pub    operator: and 64 hexadecimal digits; at every node

Errors name the file and the remedy, and never hold a key.
"""

from __future__ import annotations

import base64
import binascii
import os
import secrets
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from groupcore.aio.private import OTHERS
from groupcore.errors import KeyFileError, SettingsError, WireError
from groupcore.identity.card import Credentials
from groupcore.identity.certificate import SERIAL_BYTES, Certificate, issue, read_certificate
from groupcore.identity.revocations import Revocations, read_revocations
from groupcore.identity.signed import PUBLIC_BYTES, public_bytes
from groupcore.identity.succession import Succession, read_succession
from groupcore.identity.trust import Trust

NODE_KEY, NODE_CERTIFICATE, REVOKED = "node.key", "node.cert", "revoked"
SECRET, CERTIFICATE, LIST, SUCCESSION = "ed25519", "certificate", "revocations", "succession"
OPERATOR_SECRET, OPERATOR = "operator-key", "operator"
DAY_S = 86_400
FILE_BYTES_MAX = 100_000


@dataclass(frozen=True, slots=True)
class NodeIdentity:
    """What a node shows of itself, and whom it believes.

    `revoked`: the file of a list of revocations, which a running node looks at. `development`: the
    operator's key is one that each program of this user on this machine has.
    """

    credentials: Credentials = field(repr=False)
    revoked: Path | None = None
    development: bool = False

    @property
    def certificate(self) -> Certificate:
        """What the operator has signed."""
        return self.credentials.certificate

    @property
    def trust(self) -> Trust:
        """Whose certificates this node takes."""
        return self.credentials.trust

    def check(self, cluster: str, node_id: str) -> None:
        """SettingsError unless it is that of this node of this cluster."""
        found = self.certificate
        if (found.cluster, found.name) != (cluster, node_id):
            raise SettingsError(
                f"identity: the certificate is for node {found.name!r} of cluster "
                f"{found.cluster!r}, and this is node {node_id!r} of {cluster!r}; issue its own"
            )

    def read_revoked(self) -> bool:
        """Take what the file of revocations says; whether it is news. KeyFileError."""
        if self.revoked is None or not self.revoked.exists():
            return False
        try:
            return self.trust.take(read_list(self.revoked))
        except WireError as error:
            raise KeyFileError(f"{self.revoked}: {error}; copy the operator's list anew") from None


def node_identity(folder: Path, operator: Path, cluster: str, node_id: str) -> NodeIdentity:
    """The identity that is in a node's folder; the node's key is made where there is none.

    KeyFileError where a file is missing, damaged or readable by others, where the certificate is
    not this key's, not this operator's, or no longer good.
    """
    key = node_key(folder)
    trusted = read_operator(operator)
    path = folder / NODE_CERTIFICATE
    remedy = (
        f"have the operator issue one: python -m server node-cert issue --cluster {cluster} "
        f"--node-id {node_id} --public-key {public_bytes(key).hex()}"
    )
    if not path.exists():
        raise KeyFileError(f"this node has no certificate {path}; {remedy}")
    certificate = certificate_in(path)
    if certificate.public != public_bytes(key):
        raise KeyFileError(f"{path} is for another key than {folder / NODE_KEY}; {remedy}")
    trust = Trust(cluster, [trusted], time.time)
    try:
        trust.check(certificate)
    except WireError as error:
        raise KeyFileError(f"{path}: {error}; {remedy}") from None
    identity = NodeIdentity(Credentials(key, certificate, trust), folder / REVOKED)
    identity.read_revoked()
    if trust.is_revoked(certificate):
        raise KeyFileError(f"{path}: the operator has revoked it; {remedy}")
    return identity


def signed_up(
    operator: Ed25519PrivateKey,
    public: bytes,
    cluster: str,
    node_id: str,
    days: int,
    *,
    administers: bool = True,
) -> Certificate:
    """A certificate for this public key, with a serial of its own."""
    serial, until = secrets.token_bytes(SERIAL_BYTES), int(time.time()) + days * DAY_S
    return issue(operator, cluster, node_id, public, serial, until, administers=administers)


def node_key(folder: Path) -> Ed25519PrivateKey:
    """The key of the node in this folder, made where there is none; KeyFileError."""
    return _key_in(folder / NODE_KEY, SECRET)


def operator_key(path: Path) -> Ed25519PrivateKey:
    """The operator's key in this file, made where there is none; KeyFileError."""
    return _key_in(path, OPERATOR_SECRET)


def read_operator(path: Path) -> bytes:
    """The public key of an operator; KeyFileError."""
    return _hexadecimal(path, OPERATOR, _text(path, OPERATOR))


def certificate_in(path: Path) -> Certificate:
    """The certificate in this file; KeyFileError."""
    try:
        return read_certificate(_bytes(path, CERTIFICATE))
    except WireError as error:
        raise KeyFileError(f"{path} is no certificate of this version ({error})") from None


def read_list(path: Path) -> Revocations:
    """The list of revocations in this file, nobody's word yet; KeyFileError."""
    try:
        return read_revocations(_bytes(path, LIST))
    except WireError as error:
        raise KeyFileError(f"{path} is no list of revocations ({error})") from None


def read_succession_in(path: Path) -> Succession:
    """Who follows an operator, by this file, nobody's word yet; KeyFileError."""
    try:
        return read_succession(_bytes(path, SUCCESSION))
    except WireError as error:
        raise KeyFileError(f"{path} is no succession ({error})") from None


def write_record(path: Path, mark: str, data: bytes) -> None:
    """Put a signed record into a file, whole or not at all; KeyFileError."""
    _replace(path, f"{mark}:{base64.b64encode(data).decode()}\n")


def write_operator(path: Path, public: bytes) -> None:
    """Put an operator's public key into a file; KeyFileError."""
    _replace(path, f"{OPERATOR}:{public.hex()}\n")


def _key_in(path: Path, mark: str) -> Ed25519PrivateKey:
    if not path.exists():
        line = f"{mark}:{secrets.token_hex(PUBLIC_BYTES)}\n"
        aside = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
        try:
            _write(aside, line)
            with suppress(FileExistsError):  # another process was first: its key is the key
                os.link(aside, path)
            aside.unlink()
        except OSError as error:
            raise KeyFileError(f"cannot write the key {path} ({error.strerror})") from None
    return Ed25519PrivateKey.from_private_bytes(_hexadecimal(path, mark, _text(path, mark, True)))


def _hexadecimal(path: Path, mark: str, text: str) -> bytes:
    try:
        key = bytes.fromhex(text)
    except ValueError:
        key = b""
    if len(key) != PUBLIC_BYTES:
        raise KeyFileError(f"{path} does not hold {mark}: and 64 hexadecimal digits")
    return key


def _bytes(path: Path, mark: str) -> bytes:
    try:
        return base64.b64decode(_text(path, mark), validate=True)
    except (ValueError, binascii.Error):
        raise KeyFileError(f"{path} does not hold {mark}: and base64") from None


def _text(path: Path, mark: str, is_secret: bool = False) -> str:
    """What is behind the mark in a file of one line."""
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            data = file.read(FILE_BYTES_MAX + 1)
    except OSError as error:
        raise KeyFileError(f"cannot read {path} ({error.strerror})") from None
    if is_secret and mode & OTHERS:
        raise KeyFileError(f"others may read the key {path}; run: chmod 600 {path}")
    text = data.decode("ascii", errors="replace").strip()
    if not text.startswith(f"{mark}:") or len(data) > FILE_BYTES_MAX:
        raise KeyFileError(f"{path} does not begin with {mark}: as such a file does")
    return text.removeprefix(f"{mark}:")


def _replace(path: Path, line: str) -> None:
    aside = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        _write(aside, line)
        aside.replace(path)
    except OSError as error:
        with suppress(OSError):
            aside.unlink()
        raise KeyFileError(f"cannot write {path} ({error.strerror})") from None


def _write(path: Path, line: str) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(line)
        file.flush()
        os.fsync(file.fileno())
