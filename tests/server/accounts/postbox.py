"""A mail server of this machine, as far as a client needs one."""

from __future__ import annotations

import asyncio
import email
import email.policy
import re
import ssl
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage
from ipaddress import ip_address
from pathlib import Path
from types import TracebackType
from typing import Self

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.server.support import eventually

GOODBYE_S = 5.0
"""So long a client may take to say goodbye when the mail server ends."""


def certified(folder: Path) -> tuple[ssl.SSLContext, Path]:
    """TLS of a server at 127.0.0.1, and the file with the certificate that it shows."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "postbox")])
    now = datetime.now(UTC)
    names = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(names, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    certificate, secret = folder / "certificate.pem", folder / "key.pem"
    certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    plain = serialization.NoEncryption()
    form = serialization.PrivateFormat.PKCS8
    secret.write_bytes(key.private_bytes(serialization.Encoding.PEM, form, plain))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, secret)
    return context, certificate


class Postbox:
    """Takes mails; `refuses`: so many times it says that it cannot now."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.mails: list[tuple[list[str], EmailMessage]] = []
        self.said: list[str] = []
        self.refuses = 0
        self.port = 0
        self._tls = tls
        self._server: asyncio.Server | None = None
        self._serving: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, ssl=self._tls)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        assert self._server is not None
        self._server.close()
        # A connection that outlives its loop is complained of in whichever test comes then.
        if self._serving:
            _, late = await asyncio.wait(self._serving, timeout=GOODBYE_S)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._serving.add(task)
        try:
            await self._serve(reader, writer)
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()
            self._serving.discard(task)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 here\r\n")
        to: list[str] = []
        while line := (await reader.readline()).decode().strip():
            self.said.append(line)
            verb = line.split()[0].upper()
            answer = "250 yes"
            if verb == "EHLO":
                answer = "250-here\r\n250 SMTPUTF8"
            elif verb == "RCPT":
                to.append(line.partition("<")[2].partition(">")[0])
            elif verb == "DATA" and self.refuses:
                self.refuses -= 1
                answer = "451 not now"
            elif verb == "DATA":
                writer.write(b"354 go on\r\n")
                raw = await reader.readuntil(b"\r\n.\r\n")
                parsed = email.message_from_bytes(raw[:-3], policy=email.policy.default)
                assert isinstance(parsed, EmailMessage)
                self.mails.append((to, parsed))
                to = []
            elif verb == "QUIT":
                answer = "221 bye"
            writer.write(f"{answer}\r\n".encode())
            if verb == "QUIT":
                break

    async def mail(self, number: int = 1) -> tuple[list[str], EmailMessage]:
        """The mail of this number, once it is there."""
        await eventually(lambda: len(self.mails) >= number, f"mail {number} has come")
        return self.mails[number - 1]

    async def secret(self, number: int = 1) -> str:
        """What stands behind the # of the link in it."""
        _, message = await self.mail(number)
        found = re.search(r"#(gcm_[\w-]+)", message.get_content())
        assert found is not None, message.get_content()
        return found[1]
