"""What errors become over HTTP: a code that says whose fault it is and whether to try again."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path

import pytest
from starlette.requests import Request

from groupcore.errors import (
    BadArgumentError,
    GroupcoreError,
    MessageTooLargeError,
    NotPrimaryError,
)
from groupcore.objects.refusal import OutOfRangeError, RefusalError
from groupcore.shared import errors as shared
from server.documents import parsing
from server.documents.catalogue import TooManyDocumentsError
from server.errors import BadMessageError
from server.routes.problems import STATUS, on_bad_message, on_refusal, status_of
from server.work.frames import FAILED
from server.work.kinds import IMPORT
from server.work.pool import Pool

SERVER = Path(parsing.__file__).parents[1]
RAISED = {"BadMessageError": 0, "AccountError": 0, "RefusedWorkError": 0, "TooFastError": 2}
"""Errors that carry a code, and at which place of their arguments."""


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


async def test_a_failure_of_the_server_is_not_called_a_mistake_of_the_request() -> None:
    """A worker that fails was answered by 400 `internal`."""
    pool = Pool(1)
    with pytest.raises(BadMessageError) as caught:
        pool._result(IMPORT, (FAILED, "ZeroDivisionError: ours"))
    await pool.close()
    found = await on_bad_message(Request({"type": "http"}), caught.value)
    assert (found.status_code, json.loads(bytes(found.body))["code"]) == (500, "internal")


def constants(module: ast.Module) -> dict[str, str]:
    """The texts that a module has names for."""
    found: dict[str, str] = {}
    for node in ast.walk(module):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
            for target in node.targets:
                if isinstance(target, ast.Name) and isinstance(node.value.value, str):
                    found[target.id] = node.value.value
    return found


def codes_in(module: ast.Module) -> Iterator[str]:
    """The codes that a module raises errors with, as far as they stand in its text."""
    named = constants(module)
    for node in ast.walk(module):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        place = RAISED.get(node.func.id, len(node.args))
        for given in node.args[place : place + 1]:
            for one in (given.body, given.orelse) if isinstance(given, ast.IfExp) else (given,):
                if isinstance(one, ast.Constant):
                    yield str(one.value)
                elif isinstance(one, ast.Name) and one.id in named:
                    yield named[one.id]


def test_every_code_that_the_server_raises_has_its_status_in_the_table() -> None:
    found = {
        code
        for path in SERVER.rglob("*.py")
        for code in codes_in(ast.parse(path.read_text(encoding="utf-8")))
    }
    kinds: list[type[RefusalError]] = [RefusalError, *RefusalError.__subclasses__()]
    refusals = {kind.code for kind in kinds}
    assert len(found) > 40
    assert sorted((found | refusals) - set(STATUS)) == []


def test_a_status_says_whose_fault_it_is() -> None:
    assert {status_of(code) for code in STATUS} <= {status.value for status in HTTPStatus}
    ours = {code for code in STATUS if status_of(code) == HTTPStatus.INTERNAL_SERVER_ERROR}
    assert ours == {"internal", "bad_store"}
    assert status_of("nobody knows this one") == HTTPStatus.INTERNAL_SERVER_ERROR


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
