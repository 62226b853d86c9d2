"""All rows of the console, as both addresses have them."""

from __future__ import annotations

from server.console.desk import Console
from server.routes.asks import Row
from server.routes.console import ConsoleRoutes


def console_rows(console: Console) -> list[Row]:
    """The routes below `/admin`."""
    return [*ConsoleRoutes(console).rows()]
