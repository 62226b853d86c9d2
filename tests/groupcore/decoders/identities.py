"""Certificates, cards and what is said with them: decoded, and judged or applied as nodes do."""

from __future__ import annotations

from contextlib import suppress
from functools import cache

from msgpack import packb

from groupcore.errors import WireError
from groupcore.identity.authorization import authorize, read_authorization
from groupcore.identity.card import check_card, read_card
from groupcore.identity.certificate import read_certificate
from groupcore.identity.handshake import Handshake
from groupcore.identity.revocations import read_revocations
from groupcore.identity.signed import public_bytes
from groupcore.identity.succession import read_succession, succeed
from groupcore.seal import CHALLENGE, HELLO, KEY, KEY_TAKEN, PROOF, Keyring, Sealer
from groupcore.seal import sender_id as name_of
from groupcore.sequencing.names import Process
from groupcore.shared import ForbiddenError
from groupcore.shared.machine import Entry, Machine
from groupcore.shared.messages import encode_authorized, encode_operate
from groupcore.transport_options import TransportOptions
from groupcore.view import Address
from server.accounts.accounts import Accounts
from tests.groupcore.identity.operators import Operator
from tests.groupcore.transports import ATTACKER, Node, acquaint
from tests.groupcore.transports import KEY as CLUSTER_KEY

OPTIONS = TransportOptions(
    unknown_burst=1e12, unknown_per_s=1e12, verify_burst=1e12, verify_per_s=1e12
)
MEMBER = Process(Address("a", 1), 1)


def _door(node: Node) -> Handshake:
    found = node.transport._admission
    assert isinstance(found, Handshake)
    return found


@cache
def _pair() -> tuple[Node, Node]:
    operator = Operator()
    a, b = operator.node("a", options=OPTIONS), operator.node("b", options=OPTIONS)
    acquaint(a, b)
    return a, b


def certificate(data: bytes) -> object:
    """A certificate, judged."""
    read = read_certificate(data)
    with suppress(WireError):
        Operator().trust().check(read)
    return read.packed


def certificates() -> list[bytes]:
    """Good ones."""
    return [Operator().credentials(name).certificate.packed for name in ("a", "b" * 64)]


def revocations(data: bytes) -> object:
    """A list of revocations, taken."""
    read = read_revocations(data)
    with suppress(WireError):
        Operator().trust().take(read)
    return read.packed


def lists() -> list[bytes]:
    """Good ones."""
    return [Operator().revocations(3).packed, Operator().revocations(4, "b", "c").packed]


def _entrusted() -> Machine:
    """Accounts that are entrusted to the operator."""
    machine = Machine(Accounts(), 1)
    payload = encode_operate(0, [("entrust", [public_bytes(Operator().key), "home"])])
    assert machine.apply(Entry(1, MEMBER, 1, payload)).results == [True]
    return machine


def authorization(data: bytes) -> object:
    """An authorization, judged as accounts do that are entrusted to the operator."""
    shown = read_authorization(data)
    text = encode_operate(0, [("note", ["", "plan.made", "", ""])])
    done = _entrusted().apply(Entry(2, MEMBER, 2, encode_authorized(text, data)))
    if done.error is not None:
        assert isinstance(done.error, ForbiddenError), done.error
    return shown.packed


def authorizations() -> list[bytes]:
    """Good ones; the first is for what is done."""
    text = encode_operate(0, [("note", ["", "plan.made", "", ""])])
    shown = [Operator().credentials(name) for name in ("a", "b" * 64)]
    return [
        authorize(one.key, one.certificate, at, "accounts", text) for at, one in enumerate(shown, 1)
    ]


def succession(data: bytes) -> object:
    """Who follows an operator, taken."""
    said = read_succession(data)
    accounts = Accounts()
    accounts.entrust(public_bytes(Operator().key), "home")
    Machine(accounts, 1).apply(
        Entry(1, MEMBER, 1, encode_operate(0, [("take_succession", [data])]))
    )
    return said.packed


def successions() -> list[bytes]:
    """A good one."""
    return [succeed(Operator().key, "home", public_bytes(Operator(b"next").key)).packed]


def card(data: bytes) -> object:
    """A card, judged."""
    read = read_card(data)
    with suppress(WireError):
        check_card(read, Operator().trust())
    return read.packed


def cards() -> list[bytes]:
    """A good one."""
    return [_door(_pair()[0])._own.card.packed]


def letter(data: bytes) -> object:
    """What somebody with the cluster key says as a boot that nobody knows."""
    a, _ = _pair()
    kind, boot = (HELLO, CHALLENGE)[data[0] & 1] if data else HELLO, b"stranger".ljust(16)
    sealer = Sealer(Keyring("home", {1: CLUSTER_KEY}, 1), name_of("c"), boot)
    a.receives(sealer.seal(kind, data[1:]), ATTACKER)
    a.transport.flush(0.0)
    return kind


def letters() -> list[bytes]:
    """A hello, and a challenge of `a`."""
    a, b = _pair()
    packed = _door(b)._own.card.packed
    return [
        b"\x00" + packb([packed, b""]),
        b"\x01" + packb([bytes(16), a.boot, packed]),
    ]


def word(data: bytes) -> object:
    """What a peer says about keys and places, under the keys of the pair."""
    a, b = _pair()
    kind = (PROOF, CHALLENGE, KEY, KEY_TAKEN)[data[0] % 4 if data else 0]
    (peer,) = b.transport._table.nodes
    a.receives(_door(b).seal_for(kind, data[1:], peer), b.host)
    a.transport.flush(0.0)
    return kind


def words() -> list[bytes]:
    """One of each kind."""
    a, _ = _pair()
    return [
        b"\x00" + packb([bytes(16), 0, bytes(32)]),
        b"\x01" + packb([bytes(16), a.boot]),
        b"\x02" + packb([3, bytes(32)]),
        b"\x03" + packb([3]),
    ]
