"""Errors over HTTP: application/problem+json with the codes of the socket."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from groupcore.errors import (
    ChannelClosedError,
    GroupcoreError,
    GroupRefusedError,
    MessageTooLargeError,
    NotPrimaryError,
    TransferBusyError,
)
from groupcore.objects.refusal import RefusalError
from groupcore.shared import errors as shared
from server.documents.catalogue import TooManyDocumentsError
from server.errors import BadMessageError, TooFastError
from server.waiting import awaited, for_people

if TYPE_CHECKING:
    from server.node import Node

STATUS = {
    "bad_request": 400,
    "bad_change": 400,
    "out_of_range": 400,
    "no_such_block": 404,
    "bad_thing": 422,
    "bad_action": 422,
    "bad_path": 422,
    "bad_remark": 422,
    "cell_full": 409,
    "no_such_thing": 404,
    "not_here": 503,
    "not_member": 503,
    "not_yours": 403,
    "thing_busy": 409,
    "thing_exists": 409,
    "thing_held": 409,
    "thing_locked": 409,
    "block_exists": 409,
    "block_deleted": 409,
    "base_too_old": 409,
    "internal": 500,
    "busy": 503,
    "not_primary": 503,
    "not_ready": 503,
    "no_such_document": 404,
    "no_such_picture": 404,
    "no_such_place": 404,
    "wrong_kind": 409,
    "not_a_picture": 415,
    "bad_picture": 422,
    "no_room": 507,
    "too_large": 413,
    "too_complex": 422,
    "too_many_documents": 507,
    "bad_code": 401,
    "bad_credentials": 401,
    "bad_passkey": 401,
    "cycle": 409,
    "not_empty": 409,
    "too_deep": 409,
    "trashed": 409,
    "expired": 410,
    "forbidden": 403,
    "forbidden_origin": 403,
    "forged": 403,
    "insecure": 403,
    "key_kept": 409,
    "last_owner": 409,
    "no_account": 403,
    "no_mail": 409,
    "no_such_link": 404,
    "not_found": 404,
    "provider": 502,
    "second_factor": 401,
    "switched_off": 403,
    "taken": 409,
    "too_fast": 429,
    "too_many": 409,
    "unauthenticated": 401,
    "wait": 429,
    "weak_password": 422,
    "unproved": 403,
    "unknown_group": 404,
    "unknown_picture": 422,
    "awaits_nodes": 503,
    "unknown_node": 404,
    "moving": 409,
    "unknown_plan": 404,
    "plan_lost": 410,
    "too_many_operations": 409,
    "too_many_plans": 409,
    "node_silent": 503,
    "bad_plan": 422,
    "breaks_s2": 409,
    "no_such_session": 404,
    "unknown_move": 404,
    "unknown_violation": 404,
    "unknown_operation": 404,
    "bad_store": 500,
    "no_backups": 409,
    "no_such_backup": 404,
}
"""HTTP status by code: of every code that the server raises (`tests/server/test_problems.py`)."""


def status_of(code: str) -> int:
    """The status of a code. One that the table lacks is a mistake of the server, so 500."""
    return STATUS.get(code, HTTPStatus.INTERNAL_SERVER_ERROR)


def problem(
    status: int, code: str, detail: str, more: Mapping[str, object] | None = None
) -> Response:
    """A problem document (RFC 9457); `more` are members of its own."""
    body = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "code": code,
        "detail": detail,
        **(more or {}),
    }
    headers = {"Retry-After": "1"} if status == 503 else None
    return JSONResponse(body, status, headers, media_type="application/problem+json")


async def on_http_error(_: Request, error: Exception) -> Response:
    """What routing refuses: unknown path, wrong method."""
    assert isinstance(error, HTTPException)
    code = error.detail.lower().replace(" ", "_")
    response = problem(error.status_code, code, error.detail)
    response.headers.update(error.headers or {})
    return response


async def on_bad_message(_: Request, error: Exception) -> Response:
    """What the application refuses."""
    assert isinstance(error, BadMessageError)
    response = problem(status_of(error.code), error.code, error.message)
    if isinstance(error, TooFastError):
        response.headers["Retry-After"] = str(error.wait_s)
    return response


def saying_who_is_awaited(node: Node) -> Callable[[Request, Exception], Awaitable[Response]]:
    """As `on_bad_message`; a node that is not ready says to people for whom it waits.

    The member `nodes` names them, for pages in other languages than English.
    """

    async def answer(request: Request, error: Exception) -> Response:
        assert isinstance(error, BadMessageError)
        names = awaited(node.waiting) if error.code == "not_ready" else []
        if not names:
            return await on_bad_message(request, error)
        code = "awaits_nodes"
        return problem(STATUS[code], code, for_people(names), {"nodes": names})

    return answer


REFUSALS: tuple[tuple[type[GroupcoreError], str], ...] = (
    (TooManyDocumentsError, "too_many_documents"),
    (shared.ForbiddenError, "forbidden"),
    (shared.DeletedError, "not_found"),
    (MessageTooLargeError, "too_large"),
)
"""Codes of errors that have none, or another one among objects."""

PASSING = (
    NotPrimaryError,
    ChannelClosedError,
    GroupRefusedError,
    TransferBusyError,
    shared.ClosedError,
    shared.RefusedError,
    shared.TooSlowError,
)
"""What comes of a node that is apart from the others, or takes up their state: it passes."""

UNSURE = (shared.OutcomeUnknownError, shared.ResultLostError)
"""It was done, or may have been: who asks again may have it twice."""


async def on_refusal(_: Request, error: Exception) -> Response:
    """What objects and the service refuse; anything else is our own bug, for who logs it."""
    if isinstance(error, RefusalError):
        return problem(status_of(error.code), error.code, str(error))
    for kind, code in REFUSALS:
        if isinstance(error, kind):
            return problem(STATUS[code], code, str(error))
    if isinstance(error, shared.RefusedError) and error.code == "too_large":
        return problem(413, "too_large", str(error))
    if isinstance(error, PASSING):
        return problem(503, "not_primary", f"{error}; try again")
    if isinstance(error, UNSURE):
        return problem(503, "not_primary", f"{error}; look whether it was done")
    raise error


def is_forbidden(error: GroupcoreError) -> bool:
    """Whether it is answered by 403."""
    if isinstance(error, BadMessageError | RefusalError):
        return status_of(error.code) == HTTPStatus.FORBIDDEN
    return isinstance(error, shared.ForbiddenError)


async def on_gone(_: Request, __: Exception) -> Response:
    """The request broke off: nobody is there to be answered."""
    return problem(400, "bad_request", "the request broke off")


async def on_failure(_: Request, __: Exception) -> Response:
    """Our own bug: no trace of it reaches a person."""
    return problem(500, "internal", "the server has failed on this request; see its log")
