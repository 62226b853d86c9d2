"""A mail server of this machine, as far as a client needs one."""

from __future__ import annotations

import asyncio
import email
import email.policy
import re
from email.message import EmailMessage
from types import TracebackType
from typing import Self

from tests.server.support import eventually


class Postbox:
    """Takes mails; `refuses`: so many times it says that it cannot now."""

    def __init__(self, offers: str = "") -> None:
        self.mails: list[tuple[list[str], EmailMessage]] = []
        self.said: list[str] = []
        self.refuses = 0
        self.port = 0
        self._offers = offers
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
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

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 here\r\n")
        to: list[str] = []
        while line := (await reader.readline()).decode().strip():
            self.said.append(line)
            verb = line.split()[0].upper()
            answer = "250 yes"
            if verb == "EHLO":
                answer = f"250-here\r\n250 {self._offers or 'SMTPUTF8'}"
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
        writer.close()

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
