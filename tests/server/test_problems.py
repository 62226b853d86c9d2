"""What errors become over HTTP: a code that says whose fault it is and whether to try again."""

from __future__ import annotations

import json

import pytest
from starlette.requests import Request

from groupcore.errors import (
    BadArgumentError,
    GroupcoreError,
    MessageTooLargeError,
    NotPrimaryError,
)
from groupcore.objects.refusal import OutOfRangeError
from groupcore.shared import errors as shared
from server.documents.catalogue import TooManyDocumentsError
from server.routes.problems import on_refusal


async def answer_to(error: Exception) -> tuple[int, dict[str, object]]:
    """Status and problem of a request whose handler raises this."""
    found = await on_refusal(Request({"type": "http"}), error)
    return found.status_code, json.loads(bytes(found.body))


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (OutOfRangeError("7 of 5"), 400, OutOfRangeError.code),
        (TooManyDocumentsError("full"), 507, "too_many_documents"),
        (shared.ForbiddenError("Ann", "may read only"), 403, "forbidden"),
        (shared.DeletedError("doc/1 is deleted"), 404, "not_found"),
        (MessageTooLargeError("2 MB"), 413, "too_large"),
        (shared.RefusedError("too_large", "2 MB"), 413, "too_large"),
        (shared.RefusedError("unknown_group"), 503, "not_primary"),
        (shared.ClosedError("doc/1 is closed"), 503, "not_primary"),
        (NotPrimaryError("apart"), 503, "not_primary"),
    ],
)
async def test_a_refusal_has_its_code(error: Exception, status: int, code: str) -> None:
    found = await answer_to(error)
    assert (found[0], found[1]["code"]) == (status, code)


@pytest.mark.parametrize("kind", [shared.OutcomeUnknownError, shared.ResultLostError])
async def test_who_may_have_been_served_is_not_told_to_try_again(
    kind: type[GroupcoreError],
) -> None:
    status, problem = await answer_to(kind("the state came from another node"))
    assert status == 503
    assert "try again" not in str(problem["detail"])


@pytest.mark.parametrize("kind", [BadArgumentError, shared.ArgumentsError, shared.ReadOnlyError])
async def test_what_is_our_own_bug_is_not_called_the_cluster_s_state(
    kind: type[GroupcoreError],
) -> None:
    with pytest.raises(kind):  # goes on to who logs it, and says `internal`
        await answer_to(kind("a number is needed"))
