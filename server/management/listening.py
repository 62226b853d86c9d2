"""Where a node may be managed, and by what TLS: nobody manages one over the wire without it."""

from __future__ import annotations

import ssl
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from groupcore.aio.private import OTHERS
from groupcore.origins import is_loopback
from server.errors import SettingsProblem

if TYPE_CHECKING:
    from server.settings import Settings

NOWHERE = "none"
"""Instead of an address: only the Unix socket is listened at."""


def problem_of(settings: Settings) -> tuple[str, str] | None:
    """What is wrong with the settings of the management address: which one, and the remedy."""
    cert, clients = settings.admin_cert, settings.admin_clients
    if (cert is None) != (settings.admin_key is None):
        return "--admin-cert", "and --admin-key belong together; give both"
    if settings.admin == NOWHERE:
        return None if cert is None else ("--admin-cert", "is for --admin, which is none")
    if clients is not None and cert is None:
        return "--admin-clients", "needs --admin-cert: certificates are shown over TLS alone"
    host = settings.admin.rpartition(":")[0].strip("[]")
    if cert is None and host != "localhost" and not is_loopback(host):
        return (
            "--admin",
            f"{settings.admin} may be reached from other machines: give --admin-cert and "
            "--admin-key, or an address of this machine alone, such as 127.0.0.1:9000",
        )
    return None


def tls_of(settings: Settings) -> ssl.SSLContext | None:
    """TLS at the management address, None without a certificate; SettingsProblem names a file."""
    cert, key, clients = settings.admin_cert, settings.admin_key, settings.admin_clients
    if cert is None or key is None:
        return None
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    try:
        mode = stat.S_IMODE(key.stat().st_mode)
        if mode & OTHERS:
            text = f"--admin-key {key} can be read by others (mode {mode:o}); chmod 600 it"
            raise SettingsProblem(text)
        context.load_cert_chain(cert, key)
    except OSError as error:
        raise SettingsProblem(f"--admin-cert {cert} with {key} cannot be used: {error}") from None
    if clients is not None:
        context.verify_mode = ssl.CERT_OPTIONAL  # who shows none may have a token
        try:
            context.load_verify_locations(clients)
        except OSError as error:
            raise SettingsProblem(f"--admin-clients {clients} cannot be used: {error}") from None
    return context


def names_in(cert: Path | None) -> tuple[str, ...]:
    """The host names that a certificate is for; none without it. SettingsProblem."""
    if cert is None:
        return ()
    from cryptography import x509  # which a node without a certificate begins without

    try:
        found = x509.load_pem_x509_certificate(cert.read_bytes())
        names = found.extensions.get_extension_for_class(x509.SubjectAlternativeName)
    except x509.ExtensionNotFound:
        return ()
    except (OSError, ValueError) as error:
        raise SettingsProblem(f"--admin-cert {cert} cannot be read: {error}") from None
    return tuple(names.value.get_values_for_type(x509.DNSName))
