"""All rows of the console, as both addresses have them."""

from __future__ import annotations

from server.console.desk import Console
from server.routes.asks import Row
from server.routes.console import ConsoleRoutes
from server.routes.console_acts import ActRoutes
from server.routes.console_moves import MoveRoutes


def console_rows(console: Console, has_plans: bool = True) -> list[Row]:
    """The routes below `/admin`; `has_plans`: those of plans as well."""
    moves = MoveRoutes(console)
    rows = [*ConsoleRoutes(console).rows(), *moves.rows(), *ActRoutes(console).rows()]
    return [*rows, *moves.plan_rows()] if has_plans else rows
