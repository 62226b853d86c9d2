"""One request as a handler sees it: who asks, what for, and the fields of its body, checked.

A route is a row of a table (`Row`): the same row gives the handler what it may rely on, and the
OpenAPI document what it says. A row says which scope a token needs; a person's sign-in has all.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import cast

from starlette.requests import Request
from starlette.responses import Response

from server.accounts.backoff import address_key
from server.accounts.errors import AccountError
from server.accounts.service import Caller
from server.errors import BadMessageError
from server.settings import Settings

BODY_MAX = 64 * 1024
IDEMPOTENCY = "Idempotency-Key"
KEY_MAX = 200
JSON = ("application/json",)
PUBLIC = "public"
"""The scope of what everybody may ask for."""
SIGNED_IN = "session"
"""The scope of what only a person's own sign-in may do; no token."""


PACKED = ("documents:read", "accounts:read")
"""The scopes of what may be packed."""


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a body or of the query: `str`, `bool`, `int`, or `list` of texts.

    `min` and `max` are characters of a text, or the bounds of a number; `pattern` is looked for in
    a text, and `text` says in words what it asks for; `code` is that of what does not fit. With
    `items`, a JSON schema, a list is of up to `max` such objects, which the handler reads.
    """

    name: str
    kind: type = str
    required: bool = True
    text: str = ""
    max: int = 1000
    choices: tuple[str, ...] = ()
    min: int = 0
    pattern: str = ""
    code: str = "bad_request"
    items: Mapping[str, object] | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """A route: `answers` is the status of success, `shows` the fields of its answer in words.

    `takes` are the media types of a body that is no JSON (`Ask.raw`), beside `fields` or instead,
    `gives` those of the answer; `limit` says how many KiB a body may have where it is not
    BODY_MAX, and `noun` what people call it. `once`: it takes an Idempotency-Key.
    """

    method: str
    path: str
    handler: Callable[[Ask], Awaitable[Response]]
    scope: str
    summary: str
    answers: int = 200
    fields: tuple[Field, ...] = ()
    shows: Mapping[str, str] = field(default_factory=dict)
    errors: tuple[str, ...] = ()
    query: tuple[Field, ...] = ()
    takes: tuple[str, ...] = ()
    gives: tuple[str, ...] = JSON
    limit: Callable[[Settings], int] | None = None
    noun: str = "the body"
    once: bool = False

    @property
    def may_be_packed(self) -> bool:
        """Only what is read of documents and accounts, and constants: the length of a packed answer
        tells of it, so none is packed that holds a secret, or says again what it was asked.
        """
        return self.method == "GET" and self.scope in PACKED


@dataclass(frozen=True, slots=True)
class Ask:
    """A request that was let through."""

    request: Request
    caller: Caller | None
    body: Mapping[str, object]
    origin: str
    query: Mapping[str, str] = field(default_factory=dict)
    raw: bytes = b""
    idempotency_key: str = ""

    @property
    def by(self) -> str:
        """The principal who asks."""
        return self.who.principal

    @property
    def who(self) -> Caller:
        """Who asks, where somebody has to be known."""
        if self.caller is None:
            raise AccountError("unauthenticated", "sign in first")
        return self.caller

    @property
    def user(self) -> str:
        """The account of who asks; a visitor has none."""
        if not self.who.user:
            raise AccountError("forbidden", "this needs an account")
        return self.who.user

    @property
    def asker(self) -> str:
        """Who waits for work that is shared out: the account, else where the request comes from."""
        return self.who.user or address_key(self.origin)

    @property
    def key(self) -> str:
        """The same for the same request with the same Idempotency-Key, empty without one.

        A digest of who asks, what for, by which address, with which body: what is named by it, two
        requests with one key do not share, and nothing has to be kept to tell them apart.
        """
        if not self.idempotency_key:
            return ""
        asked = (self.by, self.request.method, self.request.url.path, self.idempotency_key)
        sent = (self.query, self.body, hashlib.sha256(self.raw).hexdigest())
        return hashlib.sha256(json.dumps([asked, sent], sort_keys=True).encode()).hexdigest()

    @property
    def agent(self) -> str:
        """What the browser calls itself."""
        return self.request.headers.get("user-agent", "")

    def path(self, name: str) -> str:
        """A part of the address."""
        return str(self.request.path_params[name])

    def text(self, name: str) -> str:
        """A text of the body, empty where it was left out."""
        return cast("str", self.body.get(name, ""))

    def flag(self, name: str) -> bool:
        """A flag of the body, False where it was left out."""
        return cast("bool", self.body.get(name, False))

    def number(self, name: str, default: int) -> int:
        """A number of the body."""
        return cast("int", self.body.get(name, default))

    def texts(self, name: str) -> tuple[str, ...]:
        """Texts of the body."""
        return tuple(cast("list[str]", self.body.get(name, [])))

    def objects(self, name: str) -> list[dict[str, object]]:
        """Objects of the body."""
        return cast("list[dict[str, object]]", self.body.get(name, []))


def read_key(request: Request, row: Row) -> str:
    """The Idempotency-Key, empty without one; BadMessageError for one that is too long."""
    key = request.headers.get(IDEMPOTENCY, "") if row.once else ""
    if len(key) > KEY_MAX:
        raise BadMessageError("bad_request", f"{IDEMPOTENCY} has at most {KEY_MAX} characters")
    return key


def read_query(request: Request, fields: tuple[Field, ...]) -> dict[str, str]:
    """The texts of the address that the row knows; BadMessageError names the one that is wrong."""
    found = {one.name: request.query_params.get(one.name, "") for one in fields}
    for one in fields:
        if one.name in request.query_params:
            _check_text(one, found[one.name])
    return found


async def read_body(
    request: Request, row: Row, settings: Settings
) -> tuple[dict[str, object], bytes]:
    """The fields of a JSON body, or the bytes of another; BadMessageError says what is wrong."""
    most = BODY_MAX if row.limit is None else row.limit(settings) * 1024
    raw = await _read(request, most, row.noun)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if not row.fields or (row.takes and kind != "application/json"):
        return {}, raw
    if kind != "application/json":  # what a foreign form cannot send
        raise BadMessageError("bad_request", "send application/json")
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError):
        raise BadMessageError("bad_request", "the body is not JSON") from None
    if not isinstance(body, dict):
        raise BadMessageError("bad_request", "the body must be a JSON object")
    known = {one.name for one in row.fields}
    if unknown := sorted(set(body) - known):
        raise BadMessageError("bad_request", f"unknown field {str(unknown[0])[:40]!r}")
    for one in row.fields:
        _check(one, body)
    return body, b""


async def _read(request: Request, most: int, noun: str) -> bytes:
    """The body, bounded; what it says itself of its length is believed when it is too much."""
    said = request.headers.get("content-length", "")
    raw = bytearray()
    if not (said.isdigit() and int(said) > most):
        async for part in request.stream():
            raw += part
            if len(raw) > most:
                break
        else:
            return bytes(raw)
    raise BadMessageError("too_large", f"{noun} is over {most // 1024} KiB")


def _check(one: Field, body: dict[str, object]) -> None:
    if one.name not in body:
        if one.required:
            raise BadMessageError("bad_request", f"{one.name} is missing")
        return
    value = body[one.name]
    if one.kind is int and isinstance(value, float) and value.is_integer():
        value = body[one.name] = int(value)  # JSON knows one kind of number
    if type(value) is not one.kind:
        raise BadMessageError("bad_request", f"{one.name} must be a {_NAMES[one.kind]}")
    if one.items is not None:
        _check_objects(one, cast("list[object]", value))
        return
    texts = value if isinstance(value, list) else [value]
    if isinstance(value, list) and len(value) > 100:
        raise BadMessageError("bad_request", f"{one.name} has too many items")
    for text in texts:
        if one.kind in (str, list):
            _check_text(one, text)
    if isinstance(value, int) and not isinstance(value, bool) and not 0 < value <= one.max:
        raise BadMessageError("bad_request", f"{one.name} must be from 1 to {one.max}")


def _check_objects(one: Field, value: list[object]) -> None:
    if not one.min <= len(value) <= one.max:
        raise BadMessageError("bad_request", f"{one.name} has {one.min} to {one.max} items")
    if not all(isinstance(item, dict) for item in value):
        raise BadMessageError("bad_request", f"{one.name} must be a list of objects")


def _check_text(one: Field, text: object) -> None:
    if not isinstance(text, str) or not one.min <= len(text) <= one.max:
        if one.min:
            raise BadMessageError(one.code, f"{one.name} has {one.min} to {one.max} characters")
        raise BadMessageError(one.code, f"{one.name} has at most {one.max} characters")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise BadMessageError("bad_request", f"{one.name} holds half a character") from None
    if one.choices and text not in one.choices:
        raise BadMessageError("bad_request", f"{one.name} is one of {', '.join(one.choices)}")
    if one.pattern and not re.search(one.pattern, text):
        raise BadMessageError(one.code, f"{one.name}: {one.text}")


_NAMES = {str: "text", bool: "true or false", int: "whole number", list: "list of texts"}
