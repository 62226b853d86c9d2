"""One WebSocket session: a state machine over decoded messages.

`Session.handle` takes one message and acts on the node; it knows no socket beyond the writer that
the hub writes to. What is malformed is answered by a typed error or ends the session by raising
`SessionEnd` with a documented close code; nothing that a browser sends raises anything else.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from server import VERSION
from server.errors import BadMessageError
from server.fanout import Writer
from server.frames import Json, Message, pack
from server.hub import Subscriber
from server.limits import BLOCK_TEXT_MAX, BLOCKS_MAX, CHANGES_MAX, NAME_MAX
from server.node import Node
from server.operations import Void, identifier, number, read_submit, text
from server.peers import Person
from server.state import State

PROTOCOL = "groupcore.v1.msgpack"
PROTOCOL_VERSION = 1
CATCH_UP_S = 5.0
"""How long an `open` waits for a position that this node has not reached."""

OPEN_MAX = 64
"""Most documents that a session has open."""

TEMPORARY = {"busy", "not_primary", "not_ready"}

FIELDS: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    "hello": (frozenset({"v", "client", "name"}), frozenset()),
    "open": (frozenset({"doc"}), frozenset({"epoch", "version"})),
    "close": (frozenset({"doc"}), frozenset()),
    "submit": (frozenset({"doc", "op", "epoch", "base", "changes"}), frozenset()),
    "caret": (frozenset({"doc", "block", "anchor", "head"}), frozenset()),
    "pong": (frozenset(), frozenset()),
}
"""Required and optional fields of each kind from a browser, beside `t`."""


class SessionEnd(Exception):
    """The session shall be closed with this code."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


@dataclass(slots=True)
class Bucket:
    """A token bucket: `rate` a second lasting, `burst` at once."""

    rate: float
    burst: float
    tokens: float
    last: float

    def take(self, count: int, now: float) -> bool:
        """Whether `count` tokens were there."""
        self.tokens = min(self.burst, self.tokens + (now - self.last) * self.rate)
        self.last = now
        if self.tokens < count:
            return False
        self.tokens -= count
        return True


class Session:
    """A browser's session on this node."""

    def __init__(self, node: Node, writer: Writer, now: float) -> None:
        settings = node.settings
        self.node = node
        self.writer = writer
        self.session_id = f"{settings.node_id[:40]}-{secrets.token_hex(8)}"
        self.name = ""
        self.subscriber: Subscriber | None = None
        self.last_heard = now
        self._bucket = Bucket(settings.rate, settings.burst, settings.burst, now)

    async def receive(self, messages: list[Message], now: float) -> None:
        """The messages of one frame, in order; SessionEnd when the session is over."""
        self.last_heard = now
        if not self._bucket.take(len(messages), now):
            raise SessionEnd(4429, "too many messages")
        for message in messages:
            if self.subscriber is None:
                self._hello(message)
            else:
                await self._handle(self.subscriber, message)

    def end(self) -> None:
        """The connection is gone: leave everything."""
        subscriber = self.subscriber
        if subscriber is None:
            return
        for doc in sorted(subscriber.docs):
            self.node.neighbours.presence.leave(doc, self.session_id)
        self.node.hub.remove(subscriber)
        if self.node.subscribers.get(subscriber.client) is subscriber:
            del self.node.subscribers[subscriber.client]

    # --- the handshake --------------------------------------------------------------------------

    def _hello(self, message: Message) -> None:
        if message["t"] != "hello":
            raise SessionEnd(1008, "the first message must be hello")
        if message.get("v") != PROTOCOL_VERSION:
            raise SessionEnd(4426, f"this node speaks version {PROTOCOL_VERSION}")
        try:
            check_fields(message)
            client = identifier(message["client"])
            self.name = text(message["name"], NAME_MAX)
        except BadMessageError as error:
            raise SessionEnd(1008, error.message) from None
        subscribers = self.node.subscribers
        older = subscribers.get(client)
        if older is not None:
            older.writer.abort(4409, "the same client id has connected again")
        self.subscriber = subscribers[client] = Subscriber(self.session_id, client, self.writer)
        self._send(self._welcome(), status_message(self.node.state))

    def _welcome(self) -> Message:
        settings = self.node.settings
        return {
            "t": "welcome",
            "v": PROTOCOL_VERSION,
            "session": self.session_id,
            "node": settings.node_id,
            "server": VERSION,
            "heartbeat_s": settings.heartbeat_s,
            "limits": {
                "frame_bytes": settings.frame_kib * 1024,
                "changes": CHANGES_MAX,
                "block_text": BLOCK_TEXT_MAX,
                "blocks": BLOCKS_MAX,
            },
        }

    # --- messages -------------------------------------------------------------------------------

    async def _handle(self, subscriber: Subscriber, message: Message) -> None:
        kind = message["t"]
        try:
            check_fields(message)
            match kind:
                case "open":
                    await self._open(subscriber, message)
                case "close":
                    self._close(subscriber, identifier(message["doc"]))
                case "submit":
                    self._submit(subscriber, message)
                case "caret":
                    self._caret(subscriber, message)
                case "hello":
                    raise BadMessageError("bad_message", "hello comes once, at the beginning")
        except BadMessageError as error:
            code = "bad_message" if error.code == "bad_change" else error.code
            self._error(code, error.message, message.get("doc"))

    def _error(self, code: str, detail: str, doc: Json) -> None:
        message: Message = {
            "t": "error",
            "code": code,
            "message": detail,
            "temporary": code in TEMPORARY,
        }
        if isinstance(doc, str):
            message["doc"] = doc
        self._send(message)

    async def _open(self, subscriber: Subscriber, message: Message) -> None:
        doc = identifier(message["doc"])
        known = None
        if "epoch" in message or "version" in message:
            known = (number(message.get("epoch")), number(message.get("version")))
        if doc not in subscriber.docs and len(subscriber.docs) >= OPEN_MAX:
            raise BadMessageError("too_many_open", f"at most {OPEN_MAX} documents at once")
        node = self.node
        here = node.replica.version_of
        # The client may have seen more on another node: nobody shall see the past again.
        await node.waiters.until(
            lambda: doc in node.replica.documents and (known is None or here(doc) >= known),
            CATCH_UP_S if known is not None or node.state is State.REBUILDING else 0,
        )
        if doc not in node.replica.documents:
            code = "not_ready" if node.state is State.REBUILDING else "no_such_document"
            raise BadMessageError(code, f"there is no document {doc} on this node")
        node.hub.subscribe(subscriber, doc, here(doc))
        node.neighbours.presence.move(Person(doc, self.session_id, self.name))
        saved = node.order.saved.version(doc)
        messages = node.replica.open(doc, known, subscriber.client, saved)
        node.hub.send(
            subscriber, [*messages, pack(node.neighbours.presence.people(doc, self.session_id))]
        )

    def _close(self, subscriber: Subscriber, doc: str) -> None:
        if doc in subscriber.docs:
            self.node.neighbours.presence.leave(doc, self.session_id)
            self.node.hub.unsubscribe(subscriber, doc)

    def _submit(self, subscriber: Subscriber, message: Message) -> None:
        doc, op = identifier(message["doc"]), number(message["op"], 1)
        client = subscriber.client
        try:
            try:
                submit = read_submit(
                    doc, client, op, message["epoch"], message["base"], message["changes"],
                    self.name,
                )  # fmt: skip
                self.node.replica.check(submit)
                self.node.submit(submit)
            except BadMessageError as error:
                if error.code in TEMPORARY:
                    raise
                # The refusal takes the operation's place in the order, and answers from there.
                self.node.submit(Void(doc, client, op, error.code, error.message[:500]))
        except BadMessageError as error:
            self._reject(doc, op, error)

    def _reject(self, doc: str, op: int, error: BadMessageError) -> None:
        self.node.metrics.rejected.labels(error.code).inc()
        self._send(
            {
                "t": "reject",
                "doc": doc,
                "op": op,
                "code": error.code,
                "message": error.message,
                "temporary": error.code in TEMPORARY,
            }
        )

    def _caret(self, subscriber: Subscriber, message: Message) -> None:
        doc = identifier(message["doc"])
        if doc not in subscriber.docs:
            raise BadMessageError("not_open", f"{doc} is not open in this session")
        block = message["block"]
        if block is not None:
            block = identifier(block)
        anchor, head = number(message["anchor"]), number(message["head"])
        self.node.neighbours.presence.move(
            Person(doc, self.session_id, self.name, block, anchor, head)
        )

    def _send(self, *messages: Message) -> None:
        assert self.subscriber is not None, "nothing is sent before hello"
        self.node.hub.send(self.subscriber, [pack(message) for message in messages])


def check_fields(message: Message) -> None:
    """All required fields, and no unknown ones; BadMessageError names the first that is wrong."""
    kind = message["t"]
    assert isinstance(kind, str), "the decoder has checked it"
    known = FIELDS.get(kind)
    if known is None:
        raise BadMessageError("unknown_message", f"no message is called {kind[:40]!r}")
    required, optional = known
    given = message.keys() - {"t"}
    if missing := sorted(required - given):
        raise BadMessageError("bad_message", f"{kind} needs {missing[0]}")
    if unknown := sorted(given - required - optional):
        raise BadMessageError("bad_message", f"{kind} knows no field {unknown[0][:40]!r}")


def status_message(state: State) -> Message:
    """What the sessions are told of the node's state."""
    serving = state in (State.SERVING, State.DRAINING)
    return {"t": "status", "state": "serving" if serving else "stale"}
