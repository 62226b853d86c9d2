"""All rows of the console, as both addresses have them."""

from __future__ import annotations

from server.console.desk import Console
from server.routes.asks import Row
from server.routes.console import ConsoleRoutes
from server.routes.console_acts import ActRoutes
from server.routes.console_moves import MoveRoutes
from server.routes.console_operations import OperationRoutes
from server.routes.console_overlap import OverlapRoutes
from server.routes.console_proofs import ProofRoutes
from server.routes.plans import PlanRoutes


def console_rows(console: Console, is_local: bool = False) -> list[Row]:
    """The routes below `/admin`; `is_local`: but for those that the management address has."""
    proofs = ProofRoutes(console)
    rows = [*ConsoleRoutes(console).rows(), *MoveRoutes(console).rows(), *ActRoutes(console).rows()]
    rows += [*PlanRoutes(console).rows(), *OverlapRoutes(console).rows(), *proofs.rows()]
    rows += OperationRoutes(console).rows()
    return rows if is_local else [*rows, *proofs.backup_rows()]
