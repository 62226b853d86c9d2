"""The rank that each route of the management address needs: all of it, in one table.

A viewer looks, an operator has the cluster do something, an owner changes people and what is
theirs, and gets at texts. A route that is not here is closed to everybody.
"""

from __future__ import annotations

from enum import IntEnum

Route = tuple[str, str]
"""Method and path, as its pattern."""


class Rank(IntEnum):
    """What somebody is at the management address; each may do what those before it may."""

    OPEN = 0
    """Nobody in particular, at this machine."""
    VIEWER = 1
    OPERATOR = 2
    OWNER = 3


GIVEN = {rank.name.lower(): rank for rank in Rank if rank is not Rank.OPEN}
"""The ranks that somebody can be given, by their names."""


def _all(rank: Rank, routes: str) -> dict[Route, Rank]:
    """A line for each route: method and path."""
    found = {}
    for line in routes.strip().splitlines():
        method, path = line.split()
        found[method, path] = rank
    return found


RANKS: dict[Route, Rank] = {
    # Names of people, documents, and groups that are a document's are not in what these say.
    **_all(
        Rank.OPEN,
        """
        GET /livez
        GET /readyz
        GET /metrics
        GET /admin/status
        """,
    ),
    **_all(
        Rank.VIEWER,
        """
        GET /healthz
        GET /version
        GET /admin/recovery
        GET /admin/overview
        GET /admin/views
        GET /admin/load
        GET /admin/groups
        GET /admin/groups/{group}
        GET /admin/nodes/{node}
        GET /admin/migrations
        GET /admin/sessions
        GET /admin/plans
        GET /admin/plans/{plan}
        GET /admin/overlap
        GET /admin/overlap/{group}
        GET /admin/order
        GET /admin/order/violations
        GET /admin/order/violations/{violation}
        GET /admin/operations
        GET /admin/operations/{operation}
        GET /admin/audit/chains
        """,
    ),
    **_all(
        Rank.OPERATOR,
        """
        POST /admin/drain
        POST /admin/revive
        POST /admin/leave
        POST /admin/end-sessions
        POST /admin/migrate
        POST /admin/rotate-key
        POST /admin/migrations
        POST /admin/migrations/{move}/cancel
        POST /admin/nodes/{node}/drain
        POST /admin/nodes/{node}/revive
        POST /admin/nodes/{node}/leave
        POST /admin/keys/rotate
        POST /admin/sessions/end
        POST /admin/plans
        POST /admin/plans/{plan}/cancel
        POST /admin/operations
        POST /admin/operations/{operation}/cancel
        """,
    ),
    # A backup and a log hold all texts, and verifiers of passwords. What is gone on without is
    # lost for good.
    **_all(
        Rank.OWNER,
        """
        GET /admin/backup
        GET /admin/log
        POST /admin/recovery
        POST /admin/destroyed
        POST /admin/documents/import
        POST /admin/places
        POST /admin/places/{doc}/duplicate
        POST /admin/places/{doc}/things
        GET /admin/documents/{doc}/place
        GET /admin/files
        POST /admin/folders
        PATCH /admin/folders/{folder}
        POST /admin/files/move
        POST /admin/files/trash
        POST /admin/files/restore
        POST /admin/files/delete
        POST /admin/workspaces/{workspace}/trash
        POST /admin/owner-link
        GET /admin/users
        POST /admin/users
        PATCH /admin/users/{user}
        DELETE /admin/users/{user}/sessions
        PUT /admin/users/{user}/password
        POST /admin/users/{user}/confirm
        DELETE /admin/users/{user}/factors
        GET /admin/users/{user}/export.zip
        POST /admin/users/{user}/erase
        GET /admin/tokens
        POST /admin/tokens
        DELETE /admin/tokens/{token}
        GET /admin/audit
        GET /admin/access
        POST /admin/access
        DELETE /admin/access/{id}
        """,
    ),
}
