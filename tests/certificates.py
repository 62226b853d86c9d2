"""Certificates for tests: an authority, and what it signs."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from groupcore.aio.private import open_file
from groupcore.origins import is_address

DAY = timedelta(days=1)


class Authority:
    """An authority with its certificate at `path`; what it issues is in the same folder."""

    def __init__(self, folder: Path, name: str = "authority") -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        built = self._builder(self._name, self._key.public_key())
        built = built.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        self.path = self._written(name, built, self._key)[0]

    def issue(self, name: str, *hosts: str, unit: str = "") -> tuple[Path, Path]:
        """A certificate for these hosts, or for a client of this unit; it and its key."""
        key = ec.generate_private_key(ec.SECP256R1())
        parts = [x509.NameAttribute(NameOID.COMMON_NAME, name)]
        if unit:
            parts.append(x509.NameAttribute(NameOID.ORGANIZATIONAL_UNIT_NAME, unit))
        built = self._builder(x509.Name(parts), key.public_key())
        if hosts:
            names = [
                x509.IPAddress(ip_address(host)) if is_address(host) else x509.DNSName(host)
                for host in hosts
            ]
            built = built.add_extension(x509.SubjectAlternativeName(names), critical=False)
        return self._written(name, built, key)

    def _builder(self, name: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
        now = datetime.now(UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(self._name)
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - DAY)
            .not_valid_after(now + DAY)
        )

    def _written(
        self, name: str, built: x509.CertificateBuilder, key: ec.EllipticCurvePrivateKey
    ) -> tuple[Path, Path]:
        pem, path = serialization.Encoding.PEM, self._folder / f"{name}.pem"
        path.write_bytes(built.sign(self._key, hashes.SHA256()).public_bytes(pem))
        secret = self._folder / f"{name}.key"
        form, plain = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        with open_file(secret, "wb") as file:
            file.write(key.private_bytes(pem, form, plain))
        return path, secret
