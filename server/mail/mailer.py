"""Mails go to one SMTP server, from a thread beside the loop; nobody waits for them.

Idea. Whether a mail was sent must not be seen by who asked for it: else the time of an answer would
tell whether an address has an account. So a mail is put into a bounded line and the request goes
on; what could not be sent is counted and logged, without the address.

TLS is demanded: a server that does not offer it gets no mail and no password.
"""

from __future__ import annotations

import logging
import queue
import smtplib
import ssl
import threading
from contextlib import suppress
from dataclasses import dataclass
from email.message import EmailMessage
from email.utils import formatdate, make_msgid

from server.accounts.errors import AccountError
from server.accounts.names import is_sendable

WAITING_MAX = 200
"""So many mails wait at a node; more are refused."""
ANSWER_S = 20.0
"""How long the server may take for each answer."""
ATTEMPTS = 3
AGAIN_S = 5.0
"""Before the second attempt; before the third twice as long."""
logger = logging.getLogger("server")


@dataclass(frozen=True, slots=True)
class MailServer:
    """Where mails go: `tls` is `starttls`, `tls`, or `none` on this machine."""

    host: str
    port: int
    tls: str
    sender: str
    user: str = ""
    password: str = ""


class Mailer:
    """Sends mails, one after the other."""

    def __init__(self, server: MailServer) -> None:
        self.sent = 0
        self.failed = 0
        self._server = server
        self._waiting: queue.Queue[EmailMessage | None] = queue.Queue(WAITING_MAX)
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name="mail", daemon=True)
        self._thread.start()

    def send(self, to: str, subject: str, text: str) -> None:
        """Put a mail into the line; AccountError `busy` when it is full."""
        if not is_sendable(to):
            self.failed += 1
            logger.warning("a mail was not sent: its address is not one that mail can go to")
            return
        message = EmailMessage()
        message["From"] = self._server.sender
        message["To"] = to
        message["Subject"] = subject
        message["Date"] = formatdate()
        message["Message-ID"] = make_msgid(domain=self._server.sender.rpartition("@")[2])
        message["Auto-Submitted"] = "auto-generated"
        message.set_content(text)
        try:
            self._waiting.put_nowait(message)
        except queue.Full:
            raise AccountError("busy", "too many mails wait to be sent; try again") from None

    def close(self) -> None:
        """Send no more; what waits is lost, and people ask again."""
        self._ending.set()
        with suppress(queue.Full):  # the thread looks at the end before each mail
            self._waiting.put_nowait(None)

    def _run(self) -> None:
        while (message := self._waiting.get()) is not None and not self._ending.is_set():
            for attempt in range(ATTEMPTS):
                try:
                    self._deliver(message)
                    self.sent += 1
                    break
                except (OSError, smtplib.SMTPException) as error:
                    is_final = isinstance(error, smtplib.SMTPRecipientsRefused)
                    if is_final or attempt + 1 == ATTEMPTS:
                        self.failed += 1
                        logger.error("a mail was not sent: %s", _kind(error))
                        break
                    if self._ending.wait(AGAIN_S * 2**attempt):
                        return
                except Exception as error:  # one that cannot be sent ends itself, not all others
                    self.failed += 1
                    logger.error("a mail was not sent: %s", _kind(error))
                    break

    def _deliver(self, message: EmailMessage) -> None:
        server = self._server
        # Certificates and names are checked against what the machine trusts.
        context = ssl.create_default_context()
        if server.tls == "tls":
            smtp: smtplib.SMTP = smtplib.SMTP_SSL(
                server.host, server.port, timeout=ANSWER_S, context=context
            )
        else:
            smtp = smtplib.SMTP(server.host, server.port, timeout=ANSWER_S)
        with smtp:
            if server.tls == "starttls":
                smtp.starttls(context=context)
            if server.user:
                smtp.login(server.user, server.password)
            smtp.send_message(message, server.sender, [str(message["To"])])


def _kind(error: Exception) -> str:
    """What went wrong, without what the server has said: that may name the address."""
    code = getattr(error, "smtp_code", "")
    return f"{type(error).__name__} {code}".strip()
