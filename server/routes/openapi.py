"""`/api/v1/openapi.json`, written from the table of routes."""

from __future__ import annotations

import re
from collections.abc import Sequence

from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from server import VERSION
from server.routes.asks import IDEMPOTENCY, JSON, KEY_MAX, PUBLIC, SIGNED_IN, Ask, Field, Row
from server.routes.auth import Gatehouse
from server.routes.factors import SecondFactors
from server.routes.gate import CSRF, STALE, Gate
from server.routes.oidc import ProviderSignIn, make_provider
from server.routes.own_data import OwnData
from server.routes.passkeys import PasskeyRoutes
from server.routes.people import People
from server.routes.problems import status_of
from server.routes.proving import Proving
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
    mailer = gate.service.mailer
    sessions = Sessions(gate, provider is not None, mailer is not None)
    people, sharing = People(gate, sessions), Sharing(gate, sessions)
    elsewhere = ProviderSignIn(sessions, provider)
    proving, factors = Proving(gate, sessions, mailer), SecondFactors(gate, sessions)
    passkeys = PasskeyRoutes(gate, sessions, factors)
    credentials = [*elsewhere.rows(), *proving.rows(), *factors.rows(), *passkeys.rows()]
    own = OwnData(sessions, factors).rows()
    return [*sessions.rows(), *credentials, *own, *people.rows(), *sharing.rows()]


def described_routes(gate: Gate, rows: Sequence[Row]) -> list[Route]:
    """The rows as routes, and their description."""
    described = describe(rows, gate.cookie_name)

    async def openapi(_: Ask) -> Response:
        return JSONResponse(described)

    return gate.routes([*rows, Row("GET", "/openapi.json", openapi, PUBLIC, "This description")])


def describe(rows: Sequence[Row], cookie: str) -> Schema:
    """The OpenAPI document of these routes; without a cookie's name nobody signs in."""
    paths: dict[str, dict[str, object]] = {}
    for row in rows:
        paths.setdefault(row.path, {})[row.method.lower()] = _operation(row, bool(cookie))
    return {
        "openapi": "3.1.0",
        "info": {"title": "Groupcore", "version": VERSION},
        "servers": [{"url": "/api/v1"}],
        "paths": paths,
        "components": {
            "securitySchemes": _schemes(cookie) if cookie else {},
            "schemas": {"Problem": PROBLEM},
        },
    }


def _schemes(cookie: str) -> Schema:
    return {
        "cookie": {"type": "apiKey", "in": "cookie", "name": cookie},
        "csrf": {"type": "apiKey", "in": "header", "name": CSRF},
        "token": {"type": "http", "scheme": "bearer"},
    }


ONCE: Schema = {
    "name": IDEMPOTENCY,
    "in": "header",
    "required": False,
    "description": "drawn anew for each thing: the same request with it again makes no other",
    "schema": {"type": "string", "maxLength": KEY_MAX},
}
AGE: Schema = {
    "description": "there, and `true`, when the node is cut off: others may know newer things",
    "required": False,
    "schema": {"type": "string", "enum": ["true"]},
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


def _operation(row: Row, signs_in: bool) -> Schema:
    made: Schema = {"summary": row.summary, "operationId": operation_id(row)}
    made["responses"] = _responses(row)
    made["parameters"] = _parameters(row)
    if signs_in:
        made["security"] = _security(row)
    content: Schema = {media: {} for media in row.takes}  # bytes of any form
    if row.fields:
        content["application/json"] = {"schema": _body(row.fields)}
    if content:
        made["requestBody"] = {"required": bool(row.fields), "content": content}
    if signs_in and row.scope not in (PUBLIC, SIGNED_IN):
        made["description"] = f"A token needs the scope `{row.scope}`."
    return made


def _parameters(row: Row) -> list[Schema]:
    found: list[Schema] = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in re.findall(r"{(\w+)}", row.path)
    ]
    found += [
        {"name": one.name, "in": "query", "required": one.required, "schema": _property(one)}
        for one in row.query
    ]
    return [*found, ONCE] if row.once else found


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
        made |= {"enum": list(one.choices)} if one.choices else _bounds(one)
    if one.kind is int:
        made["maximum"] = one.max
    if one.items is not None:
        return made | {"items": one.items, "minItems": one.min, "maxItems": one.max}
    if one.kind is list:
        made["minItems"] = int(one.required)
        items: Schema = {"enum": list(one.choices)} if one.choices else _bounds(one)
        made["items"] = {"type": "string", **items}
    return made


def _bounds(one: Field) -> Schema:
    made: Schema = {"minLength": one.min, "maxLength": one.max}
    return made | ({"pattern": one.pattern} if one.pattern else {})


def _responses(row: Row) -> Schema:
    success: Schema = {"description": row.summary}
    if row.method == "GET":
        success["headers"] = {STALE: AGE}
    if row.shows:
        properties = {name: {"description": text} for name, text in row.shows.items()}
        schema: Schema = {"type": "object", "properties": properties}
        success["content"] = {"application/json": {"schema": schema}}
    elif row.gives != JSON:
        success["content"] = {media: {"schema": {"type": "string"}} for media in row.gives}
    codes = [*row.errors, "not_ready", "unauthenticated", "too_large", "too_fast"]
    codes += ["bad_request"] if row.fields or row.query or row.takes else []
    codes += [] if row.scope == PUBLIC else ["forbidden", "not_found"]
    codes += [] if row.method == "GET" else ["forbidden_origin", "forged", "not_primary"]
    found: Schema = {str(row.answers): success}
    by_status: dict[str, list[str]] = {}
    for code in dict.fromkeys(codes):
        by_status.setdefault(str(status_of(code)), []).append(code)
    for status, names in sorted(by_status.items()):
        found[status] = {
            "description": ", ".join(names),
            "content": {
                "application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}
            },
        }
    return found
