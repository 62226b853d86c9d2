"""A web session: what one page asks for.

Idea. A page's session outlives its connection for a while: it is a process of the node, and has
locks and presence as such. A page that comes back to another node begins a new session there; its
calls are still done once, as it numbers them (`groupcore.shared.verdicts`).

Bad input is answered by a typed error, or ends the connection with a code; nothing has changed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from groupcore.errors import ChannelClosedError, GroupcoreError
from groupcore.frames import Message
from groupcore.gateway import limits
from groupcore.gateway.asking import calls_of, check_fields, client_of, name_of, number_of
from groupcore.gateway.errors import BadRequestError, SessionEndError, not_ready
from groupcore.gateway.holder import Holder
from groupcore.gateway.inspecting import inspection
from groupcore.gateway.outlet import Opened, Writer
from groupcore.gateway.settings import Badge
from groupcore.shared.errors import ClosedError
from groupcore.shared.pending import Pending
from groupcore.shared.plain import who
from groupcore.shared.replica import Replica
from groupcore.shared.session import Session
from groupcore.shared.types import Presence, Topic
from groupcore.shared.verdicts import Call, Verdict

if TYPE_CHECKING:
    from groupcore.gateway.gateway import Gateway


class Page(Holder):
    """The session of one page, which calls itself `client`."""

    def __init__(self, gateway: Gateway, client: str, session: Session) -> None:
        super().__init__(gateway, client, session)
        self.badge: Badge | None = None
        self._tokens = float(gateway.terms.burst)
        self._tokens_s = self.began_s = gateway.runtime.steady_s
        self._call_linger_off: Callable[[], None] | None = None
        self._inspected_s = float("-inf")
        self._is_over = False
        self._is_dismissed = False

    def connect(self, writer: Writer, resumed: bool) -> None:
        """The page is here (again)."""
        if self._call_linger_off is not None:
            self._call_linger_off()
            self._call_linger_off = None
            self._gateway.lingering.pop(self, None)
        super().connect(writer, resumed)
        what = "resume" if resumed else "open"
        self._gateway.terms.met(what, self.client, self.session, self.traffic)

    def disconnect(self, writer: Writer) -> None:
        """The connection is gone; the session waits for the page for a while."""
        if self.is_connected_by(writer):
            self.unplug()
            gateway = self._gateway
            self._call_linger_off = gateway.runtime.alarm(gateway.terms.linger_s, self.end_soon)
            self._gateway.lingering[self] = None

    def end_soon(self) -> None:
        """The session is over, as its page does not come back."""
        self._gateway.forget(self)
        self._gateway.start(self.end())

    async def end(self) -> None:
        """The session is over: everything is closed, locks are free."""
        if self._call_linger_off is not None:
            self._call_linger_off()
        self._gateway.forget(self)
        if not self._is_over:
            self._is_over = True
            self._gateway.terms.met("close", self.client, self.session, self.traffic)
        self.owed.finish()
        for name in list(self.opened):
            self.let_go(name)
        await self.session.close()

    def dismiss(self, code: int, reason: str) -> None:
        """The page's sign-in is over: nothing is shown or taken any more, and the session ends."""
        if self._is_dismissed:
            return
        self._is_dismissed = True
        self._gateway.forget(self)  # who signs in again begins a session of its own
        for name in list(self.opened):
            self.cease(name)
        self.owed.behind(partial(self._sent_off, code, reason))

    def _sent_off(self, code: int, reason: str) -> None:
        self.write()  # the answers that it has waited for
        self.cut(code, reason)
        self.end_soon()

    # --- what the page asks for -----------------------------------------------------------------

    def receive(self, message: Message) -> None:
        """One message; SessionEndError when there are too many."""
        self._take_token()
        if self._is_dismissed:
            return
        about: dict[str, str | int] = {}
        for key in ("name", "n"):
            value = message.get(key)
            if isinstance(value, str | int):
                about[key] = value
        try:
            check_fields(message)
            match message["t"]:
                case "open":
                    self.ask_open(message)
                case "look":
                    self.look(message)
                case "close":
                    self.close_object(name_of(message["name"]))
                case "call":
                    self._call(message)
                case "publish":
                    self._publish(message)
                case "present":
                    self._present(message)
                case "inspect":
                    self._inspect(message)
                case "hello":
                    raise BadRequestError("bad_message", "hello comes once, at the beginning")
        except GroupcoreError as error:
            self.refuse(error, **about)

    def _take_token(self) -> None:
        """A token bucket: so many messages lasting, and so many at once."""
        terms, now_s = self._gateway.terms, self._gateway.runtime.steady_s
        gained = (now_s - self._tokens_s) * terms.rate
        self._tokens = min(float(terms.burst), self._tokens + gained) - 1
        self._tokens_s = now_s
        if self._tokens < 0:
            self._tokens = 0.0
            raise SessionEndError(4429, "too many messages; come back later")

    def _the(self, message: Message) -> tuple[str, Opened]:
        name = name_of(message["name"])
        opened = self.opened.get(name)
        if opened is None:
            raise self.why_not_open(name)
        return name, opened

    def _call(self, message: Message) -> None:
        name, opened = self._the(message)
        number = number_of(message["n"], "n", 1)
        answered = number_of(message["answered"], "answered")
        if opened.feed is None:
            raise BadRequestError("unknown_operation", f"{name!r} has no operations")
        self._require_room()
        replica = self.session.port(opened.kind.kind, name).user
        assert isinstance(replica, Replica)
        calls = calls_of(message["calls"], replica.target)
        pending: Pending[Verdict] = Pending()
        replica.order_as(calls, Call(self.client, number, answered), pending)
        call, at_s = self.owed.begin(), self._gateway.runtime.steady_s
        tell = partial(self._on_verdict, name, opened, number, at_s, pending)
        pending.when_done(partial(self._when_answered, call, tell))

    def _require_room(self) -> None:
        if len(self.owed) >= limits.CALLS_MAX:
            raise BadRequestError("busy", f"{limits.CALLS_MAX} calls are not answered yet")

    def _when_answered(self, call: int, tell: Callable[[], None]) -> None:
        tell()
        self.owed.end(call)

    def _on_verdict(
        self, name: str, opened: Opened, number: int, at_s: float, pending: Pending[Verdict]
    ) -> None:
        figures = self._gateway.figures
        figures.calls += 1
        took_s = self._gateway.runtime.steady_s - at_s
        figures.latency.observe(took_s)
        if opened.feed is not None:
            opened.feed.took(took_s)
        if pending.error is not None:
            self.refuse(pending.error, name=name, n=number)
            return
        verdict = pending.result()
        if verdict.code:
            self.refuse(BadRequestError(verdict.code, "the call had this end"), name=name, n=number)
            return
        self._gateway.terms.called(self.session.principal, opened.kind.name, name)
        self._answer(name, number, verdict.results)

    def _answer(self, name: str, number: int, results: list[object]) -> None:
        message: Message = {"t": "result", "name": name, "n": number}
        message["results"] = results  # type: ignore[assignment]
        self.tell(message)

    def _inspect(self, message: Message) -> None:
        number = number_of(message["n"], "n", 1)
        now_s = self._gateway.runtime.steady_s
        if now_s < self._inspected_s + limits.INSPECTED_S:
            raise BadRequestError("busy", f"ask again after {limits.INSPECTED_S} s")
        self._inspected_s = now_s
        self.tell({"t": "inspected", "n": number, **inspection(self)})

    # --- topics and presence --------------------------------------------------------------------

    def _publish(self, message: Message) -> None:
        name, opened = self._the(message)
        number = number_of(message["n"], "n", 1)
        topic = opened.user
        if not isinstance(topic, Topic):
            raise BadRequestError("unknown_operation", f"{name!r} is no topic")
        self._require_room()
        ask, session = self._gateway.terms.publishing, self.session
        value = ask(session.principal, who(session.process), name, message["value"])
        pending = topic.publish(topic.read(value))
        tell = partial(self._on_done, name, number, pending)
        pending.when_done(partial(self._when_answered, self.owed.begin(), tell))

    def _on_done(self, name: str, number: int, pending: Pending[None]) -> None:
        if pending.error is not None:
            self.refuse(pending.error, name=name, n=number)
        else:
            self._answer(name, number, [])

    def _present(self, message: Message) -> None:
        name, opened = self._the(message)
        presence = opened.user
        if not isinstance(presence, Presence):
            raise BadRequestError("unknown_operation", f"{name!r} is no presence")
        value, session = message["value"], self.session
        if value is None:
            presence.set(None)
            return
        ask = self._gateway.terms.presenting
        presence.set(presence.read(ask(session.principal, who(session.process), name, value)))


def greet(gateway: Gateway, message: Message, principal: str, writer: Writer) -> Page:
    """The session for who says hello: its own that waits for it, or a new one.

    Raises SessionEndError when this is no hello, or the node is in no cluster now.
    """
    if message["t"] != "hello":
        raise SessionEndError(1008, "the first message must be hello")
    if message.get("v") != limits.VERSION:
        raise SessionEndError(4426, f"this node speaks version {limits.VERSION}")
    try:
        check_fields(message)
        client = client_of(message["client"])
    except BadRequestError as error:
        raise SessionEndError(1008, str(error)) from None
    page = gateway.pages.get(client)
    if page is not None and page.session.principal != principal:
        raise SessionEndError(1008, "this client is somebody else's")
    resumed = page is not None and not page.session.ended
    if page is None or not resumed:
        try:
            session = gateway.node.session(principal, attends=True)
        except (ChannelClosedError, ClosedError):  # it joins, or leaves
            raise not_ready() from None
        page = Page(gateway, client, session)
        gateway.add(page)
    page.connect(writer, resumed)
    return page
