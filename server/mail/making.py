"""A node's mailer, from its settings."""

from __future__ import annotations

from server.errors import SettingsProblem
from server.mail.mailer import Mailer, MailServer
from server.settings import Settings, host_port


def make_mailer(settings: Settings) -> Mailer:
    """To the server that the settings name; SettingsProblem when the password cannot be read."""
    password = ""
    if settings.smtp_password_file is not None:
        try:
            password = settings.smtp_password_file.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise SettingsProblem(f"--smtp-password-file cannot be read: {error}") from None
    host, port = host_port(settings.smtp)
    return Mailer(
        MailServer(host, port, settings.smtp_tls, settings.smtp_from, settings.smtp_user, password)
    )
