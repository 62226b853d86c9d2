"""`/api/v1/openapi.json`, written from the table of routes."""

from __future__ import annotations

import re
from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from server import VERSION
from server.routes.asks import PUBLIC, SIGNED_IN, Field, Row
from server.routes.auth import COOKIE, CSRF, Gatehouse
from server.routes.oidc import ProviderSignIn, make_provider
from server.routes.people import People
from server.routes.problems import STATUS
from server.routes.sessions import Sessions
from server.routes.sharing import Sharing

Schema = dict[str, object]
KINDS: dict[type, Schema] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer", "minimum": 1},
    list: {"type": "array", "maxItems": 100},
}


def account_rows(gate: Gatehouse) -> list[Row]:
    """All routes of accounts."""
    provider = make_provider(gate.node)
    sessions = Sessions(gate, provider is not None)
    people, sharing = People(gate, sessions), Sharing(gate, sessions)
    elsewhere = ProviderSignIn(sessions, provider)
    return [*sessions.rows(), *elsewhere.rows(), *people.rows(), *sharing.rows()]


def account_routes(gate: Gatehouse) -> list[Route]:
    """All routes of accounts, and their description."""
    rows = account_rows(gate)
    described = describe([*rows, *DOCUMENTS])

    async def openapi(_: Request) -> Response:
        return JSONResponse(described)

    return [*gate.routes(rows), Route("/openapi.json", openapi)]


async def _elsewhere(_: object) -> Response:
    """Rows that only describe: `server.routes.api` answers these."""
    raise NotImplementedError


_TITLE = Field("title", text="1 to 200 characters", max=200)
_MARKDOWN = Field("markdown", str, False, "the text", 4 << 20)
_WORKSPACE = Field("workspace", str, False, "where; else the first in which one may edit", 64)
_MADE = {"id": "the document", "title": "its title", "saved": "whether a quorum has it on disk"}
_PICTURE = {
    "picture": "its hash",
    "media": "its type",
    "width": "in pixels",
    "height": "in pixels",
    "size_bytes": "of the file",
}
DOCUMENTS = [
    Row("GET", "/documents", _elsewhere, "documents:read", "The documents that one may read"),
    Row(
        "POST",
        "/documents",
        _elsewhere,
        "documents:write",
        "Make a document",
        201,
        (_TITLE, _MARKDOWN, _WORKSPACE),
        _MADE,
        ("too_many_documents",),
    ),
    Row(
        "POST",
        "/documents/import",
        _elsewhere,
        "documents:write",
        "Make a document from a Markdown body",
        201,
        shows=_MADE,
        errors=("too_large",),
    ),
    Row(
        "POST",
        "/documents/{doc}/pictures",
        _elsewhere,
        "documents:write",
        "Put a picture into a document: a file, or one of another document",
        201,
        (
            Field("from", text="the document that it is in", max=64),
            Field("picture", text="its hash", max=64),
        ),
        _PICTURE,
        ("no_such_document", "no_such_picture", "not_a_picture", "bad_picture", "no_room"),
        ("image/png", "image/jpeg", "image/gif", "image/webp"),
    ),
    Row(
        "GET",
        "/documents/{doc}/pictures/{picture}",
        _elsewhere,
        "documents:read",
        "A picture of a document",
        errors=("no_such_document", "no_such_picture"),
    ),
    Row(
        "GET",
        "/documents/{doc}",
        _elsewhere,
        "documents:read",
        "The document's blocks",
        errors=("no_such_document",),
    ),
    Row(
        "GET",
        "/documents/{doc}/markdown",
        _elsewhere,
        "documents:read",
        "The document as Markdown",
        errors=("no_such_document",),
    ),
    Row("GET", "/nodes", _elsewhere, PUBLIC, "The nodes' addresses"),
]


def describe(rows: Sequence[Row]) -> Schema:
    """The OpenAPI document of these routes."""
    paths: dict[str, dict[str, object]] = {}
    for row in rows:
        paths.setdefault(row.path, {})[row.method.lower()] = _operation(row)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Groupcore", "version": VERSION},
        "servers": [{"url": "/api/v1"}],
        "paths": paths,
        "components": {
            "securitySchemes": {
                "cookie": {"type": "apiKey", "in": "cookie", "name": COOKIE},
                "csrf": {"type": "apiKey", "in": "header", "name": CSRF},
                "token": {"type": "http", "scheme": "bearer"},
            },
            "schemas": {"Problem": PROBLEM},
        },
    }


PROBLEM: Schema = {
    "type": "object",
    "required": ["title", "status", "code", "detail"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "code": {"type": "string"},
        "detail": {"type": "string"},
    },
}


def _operation(row: Row) -> Schema:
    made: Schema = {"summary": row.summary, "operationId": operation_id(row)}
    made["responses"] = _responses(row)
    names = re.findall(r"{(\w+)}", row.path)
    made["parameters"] = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in names
    ]
    made["security"] = _security(row)
    content: Schema = {media: {"schema": {"type": "string"}} for media in row.takes}
    if row.fields:
        content["application/json"] = {"schema": _body(row.fields)}
    if content:
        made["requestBody"] = {"required": True, "content": content}
    if row.scope not in (PUBLIC, SIGNED_IN):
        made["description"] = f"A token needs the scope `{row.scope}`."
    return made


def operation_id(row: Row) -> str:
    """A name for the operation that no other has."""
    words = re.findall(r"\w+", row.path)
    return "_".join([row.method.lower(), *words])


def _security(row: Row) -> list[Schema]:
    person: Schema = {"cookie": []} if row.method == "GET" else {"cookie": [], "csrf": []}
    if row.scope == PUBLIC:
        return [{}, person]
    return [person] if row.scope == SIGNED_IN else [person, {"token": []}]


def _body(fields: Sequence[Field]) -> Schema:
    return {
        "type": "object",
        "additionalProperties": False,
        "required": [one.name for one in fields if one.required],
        "properties": {one.name: _property(one) for one in fields},
    }


def _property(one: Field) -> Schema:
    made = {**KINDS[one.kind], "description": one.text}
    if one.kind is str:
        made |= {"enum": list(one.choices)} if one.choices else {"maxLength": one.max}
    if one.kind is int:
        made["maximum"] = one.max
    if one.kind is list:
        made["items"] = {"type": "string", "maxLength": one.max}
    return made


def _responses(row: Row) -> Schema:
    success: Schema = {"description": row.summary}
    if row.shows:
        properties = {name: {"description": text} for name, text in row.shows.items()}
        schema = {"type": "object", "properties": properties}
        success["content"] = {"application/json": {"schema": schema}}
    codes = [*row.errors, "not_ready"]
    codes += ["bad_request", "too_large"] if row.fields else []
    codes += [] if row.scope == PUBLIC else ["unauthenticated", "forbidden", "not_found"]
    codes += [] if row.method == "GET" else ["forbidden_origin", "forged", "not_primary"]
    found: Schema = {str(row.answers): success}
    by_status: dict[str, list[str]] = {}
    for code in dict.fromkeys(codes):
        by_status.setdefault(str(STATUS.get(code, 400)), []).append(code)
    for status, names in sorted(by_status.items()):
        found[status] = {
            "description": ", ".join(names),
            "content": {
                "application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}
            },
        }
    return found
