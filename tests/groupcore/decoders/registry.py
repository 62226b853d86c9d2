"""Every decoder of bytes that come from elsewhere: what it is called, its seeds, its errors.

`test_registry` finds modules that unpack bytes and are in none of these.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from random import Random

from msgpack import packb, unpackb
from webauthn.helpers import bytes_to_base64url

from groupcore import batch, context, frames, wire
from groupcore.blocks import dict_state, rpc_messages, update_log, values
from groupcore.blocks.errors import ValueRefusedError
from groupcore.errors import GroupcoreError, PlanError, WireError
from groupcore.gateway.errors import BadRequestError
from groupcore.gateway.limits import RULES
from groupcore.introductions import Introductions
from groupcore.key_rotation import Saying, Word, unpack_word
from groupcore.membership.ballots import Record
from groupcore.objects.parsing import parse_transaction
from groupcore.objects.refusal import RefusalError
from groupcore.objects.rich_parsing import parse_rich, parse_rich_delta
from groupcore.peers import PeerTable
from groupcore.sequencing import commands, directory_snapshot, group_state, headers, plan, resuming
from groupcore.sequencing.archive import Archive
from groupcore.sequencing.logged_frames import logged_frame
from groupcore.sequencing.node_state import Taking, node_state_covers
from groupcore.sequencing.options import ServiceOptions
from groupcore.sequencing.plane import Plane
from groupcore.sequencing.record_table import unpack_records
from groupcore.sequencing.service import Service
from groupcore.shared import messages
from groupcore.shared.errors import MisfitError, SharedError
from groupcore.shared.machine import Machine
from groupcore.shared.verdicts import Verdicts
from groupcore.stacks import encode_record, read_record
from groupcore.transport_options import TransportOptions
from groupcore.view import View
from server.accounts import webauthn_codec
from server.accounts.errors import AccountError
from server.console.colleagues import Colleagues, read_answer
from server.errors import BadMessageError
from tests.groupcore.decoders import identities, places, recorded, samples
from tests.groupcore.decoders.samples import OBJECTS, A, B
from tests.server.accounts.device import Device

Seeds = Callable[[], list[bytes]]
PLACE_ERRORS = (RefusalError, MisfitError)
WORDS_ERRORS = (BadRequestError, MisfitError)


@dataclass(frozen=True, slots=True)
class Decoder:
    """`decode` returns a value or raises one of `errors`; `modules` are those that it goes through.

    `cost`: so many of others' mutations one of this takes.
    """

    name: str
    decode: Callable[[bytes], object]
    seeds: Seeds
    errors: type[Exception] | tuple[type[Exception], ...]
    modules: tuple[str, ...]
    cost: int = 1


def _packet(data: bytes) -> object:
    (packet,) = wire.unpack_packets(b"\x91" + data)
    return wire.decode_packet(packet, A, B)


def _plane() -> Plane:
    return Plane(A, ServiceOptions(durable=True))


def _node_state(data: bytes) -> object:
    plane = _plane()
    node_state_covers(plane, data)
    taking = Taking(plane, data)
    try:
        while not taking.step():
            pass
    except WireError:
        taking.drop()
        raise
    taking.finish()
    return plane.directory.snapshot()


def _completed(data: bytes) -> object:
    return resuming.completed(data, resuming.read_beginning(recorded.node_states()[0]))


def _snapshot(data: bytes) -> object:
    return directory_snapshot.pack(directory_snapshot.unpack(data))


def _archive(data: bytes) -> object:
    archive = Archive(1_000, 4_000)
    archive.open(data)
    return archive.pack(archive.groups)


SITE = webauthn_codec.Site("localhost", ("http://localhost:8000",))
CHALLENGE = bytes(32)


def _passkey() -> Device:
    return Device(SITE.host, SITE.origins[0])


def _made_passkey(data: bytes) -> object:
    return webauthn_codec.made_key(SITE, CHALLENGE, data.decode(errors="replace"))


def _shown_passkey(data: bytes) -> object:
    said = data.decode(errors="replace")
    made = _passkey().made(bytes_to_base64url(CHALLENGE))
    key = webauthn_codec.made_key(SITE, CHALLENGE, made).public_key
    return webauthn_codec.id_in(said), webauthn_codec.shown_key(SITE, CHALLENGE, said, key)


def _log(data: bytes) -> object:
    return Service(A, ServiceOptions(durable=True), Random(0), [data])


def _column(data: bytes) -> object:
    return headers.unpack_column(data, len(data) // 8)


def _stretches(data: bytes) -> object:
    return headers.unpack_stretches(data, headers.ASKED, 3)


def _introduction(data: bytes) -> object:
    options = TransportOptions()
    return Introductions(PeerTable(16, 16), options).receive(data, 1.0)


def _machine(name: str) -> Machine:
    return Machine(OBJECTS[name](), 7)


def _states_of_objects() -> list[bytes]:
    return [packb([name, _machine(name).packed()]) for name in OBJECTS]


def _object(data: bytes) -> object:
    match messages.unpack(data):
        case [str(name), bytes(packed)] if name in OBJECTS:
            machine = _machine(name)
            machine.load(packed)
            return machine.packed()
        case _:
            raise MisfitError("no state of an object")


def _question(data: bytes) -> object:
    answering = Colleagues("a", lambda: (), None, {})  # type: ignore[arg-type]
    return answering.answer(data)


def _plan(data: bytes) -> object:
    return plan.look_through(data, recorded.host().service.plane.directory)


def _plain(parse: Callable[[object], object]) -> Callable[[bytes], object]:
    return lambda data: parse(messages.unpack(data))


@cache
def _shared_messages() -> list[bytes]:
    return [
        *(one for name in OBJECTS for one in samples.operations(name)),
        messages.encode(messages.Check(3, b"12345678")),
        messages.encode(messages.Trail(samples.MEMBER, 3, {1: b"12345678", 3: b"12345678"})),
        messages.encode(messages.Verify(True)),
        messages.encode_authorized(samples.operations(next(iter(OBJECTS)))[0], b"shown"),
    ]


def _verdicts() -> list[bytes]:
    return [packb([["client", 3, 1, [[2, [1], "", b"12345678"], [3, [], "gone"]]]])]


DECODERS: tuple[Decoder, ...] = (
    Decoder(
        "wire.datagram",
        wire.unpack_packets,
        lambda: [packb([None, [[[9, 1]], 0, b""]])],
        WireError,
        ("groupcore.wire",),
    ),
    Decoder(
        "wire.packet",
        _packet,
        lambda: [*samples.packets(), *recorded.packets()],
        WireError,
        ("groupcore.wire",),
    ),
    Decoder(
        "wire.body",
        batch.unpack_messages,
        lambda: [batch.pack_messages([b"a", b"bc"])],
        WireError,
        ("groupcore.batch",),
    ),
    Decoder(
        "wire.view",
        lambda data: wire.decode_record(data, View),
        lambda: [wire.encode_record(samples.LEAVES[View], View)],
        WireError,
        ("groupcore.wire",),
    ),
    Decoder(
        "membership.record",
        read_record,
        lambda: [encode_record(Record()), encode_record(samples.instance(Record))],
        WireError,
        ("groupcore.wire",),
    ),
    Decoder(
        "transport.introduction",
        _introduction,
        lambda: [packb([["10.0.0.1", 7600], ["10.0.0.2", 1]])],
        WireError,
        ("groupcore.wire",),
    ),
    Decoder(
        "identity.certificate",
        identities.certificate,
        identities.certificates,
        WireError,
        ("groupcore.identity.certificate",),
        cost=4,
    ),
    Decoder(
        "identity.revocations",
        identities.revocations,
        identities.lists,
        WireError,
        ("groupcore.identity.revocations",),
        cost=4,
    ),
    Decoder(
        "identity.authorization",
        identities.authorization,
        identities.authorizations,
        WireError,
        ("groupcore.identity.authorization",),
        cost=8,
    ),
    Decoder(
        "identity.succession",
        identities.succession,
        identities.successions,
        WireError,
        ("groupcore.identity.succession",),
        cost=8,
    ),
    Decoder(
        "identity.card",
        identities.card,
        identities.cards,
        WireError,
        ("groupcore.identity.card",),
        cost=8,
    ),
    Decoder(
        "identity.letter",
        identities.letter,
        identities.letters,
        WireError,
        ("groupcore.identity.handshake",),
        cost=8,
    ),
    Decoder(
        "identity.word",
        identities.word,
        identities.words,
        WireError,
        ("groupcore.identity.handshake",),
        cost=2,
    ),
    Decoder(
        "keys.word",
        unpack_word,
        lambda: [Word(Saying.LACK, 3, b"p", "why").packed()],
        WireError,
        ("groupcore.key_rotation",),
    ),
    Decoder(
        "context",
        context.decode_context,
        lambda: [context.encode_context({A: 3, B: 4})],
        WireError,
        ("groupcore.context",),
    ),
    Decoder(
        "sequencing.column",
        _column,
        lambda: [headers.pack_column([1, 2, 3])],
        WireError,
        ("groupcore.sequencing.headers",),
    ),
    Decoder(
        "sequencing.stretches",
        _stretches,
        lambda: [
            headers.pack_column([1, 3, 1, 0, 0]),
            headers.pack_column([1, 1, 1, 0, 0, 2, 2, 1, 0, 0]),
        ],
        WireError,
        ("groupcore.sequencing.headers",),
    ),
    Decoder(
        "sequencing.command",
        commands.decode_command,
        samples.command_bytes,
        WireError,
        ("groupcore.sequencing.commands",),
    ),
    Decoder(
        "sequencing.frame",
        lambda data: logged_frame(data, A),
        recorded.frames,
        WireError,
        ("groupcore.wire",),
    ),
    Decoder(
        "sequencing.group-state",
        group_state.unpack_group_state,
        lambda: [group_state.pack_group_state(3, context.encode_context({A: 1}), b"state")],
        WireError,
        ("groupcore.sequencing.columns",),
    ),
    Decoder(
        "sequencing.records",
        lambda data: unpack_records(_plane(), data),
        recorded.records,
        WireError,
        ("groupcore.sequencing.columns",),
    ),
    Decoder(
        "sequencing.archive",
        _archive,
        recorded.archives,
        WireError,
        ("groupcore.sequencing.archive", "groupcore.sequencing.columns"),
        cost=2,
    ),
    Decoder(
        "sequencing.directory",
        _snapshot,
        recorded.snapshots,
        WireError,
        ("groupcore.sequencing.directory_snapshot",),
        cost=2,
    ),
    Decoder(
        "sequencing.node-state",
        _node_state,
        recorded.node_states,
        WireError,
        ("groupcore.sequencing.columns",),
        cost=5,
    ),
    Decoder(
        "sequencing.beginning",
        resuming.read_beginning,
        lambda: [one[: len(one) * 9 // 10] for one in recorded.node_states()],
        WireError,
        ("groupcore.sequencing.resuming",),
    ),
    Decoder(
        "sequencing.completed",
        _completed,
        lambda: [packb([*unpacked_state(), [1, 2]])],
        WireError,
        ("groupcore.sequencing.resuming",),
        cost=5,
    ),
    Decoder(
        "sequencing.log",
        _log,
        recorded.log_parts,
        WireError,
        ("groupcore.sequencing.restoring",),
        cost=20,
    ),
    Decoder(
        "sequencing.plan",
        _plan,
        lambda: [b'{"plan": 1, "groups": {"g": "a", "7": "b"}}'],
        PlanError,
        ("groupcore.sequencing.plan",),
    ),
    Decoder(
        "shared.message",
        messages.decode,
        _shared_messages,
        MisfitError,
        ("groupcore.shared.messages",),
    ),
    Decoder(
        "shared.object",
        _object,
        _states_of_objects,
        SharedError,
        ("groupcore.shared.messages",),
        cost=3,
    ),
    Decoder(
        "shared.verdicts",
        _plain(Verdicts.from_wire),
        _verdicts,
        MisfitError,
        ("groupcore.shared.messages",),
    ),
    Decoder(
        "objects.transaction",
        _plain(parse_transaction),
        lambda: [
            packb([["text", "b1", [1, "x"]], ["delete", "b1", "b0"], ["title", "t"]]),
            packb([["insert", "b2", "b1", {}, "x"]]),
        ],
        (RefusalError, MisfitError),
        ("groupcore.shared.messages",),
    ),
    Decoder(
        "objects.rich-delta",
        _plain(parse_rich_delta),
        lambda: [packb([1, ["y", {"bold": True}], -2]), packb([[3, {"bold": True}]])],
        (RefusalError, MisfitError),
        ("groupcore.shared.messages",),
    ),
    Decoder(
        "objects.rich-text",
        _plain(parse_rich),
        lambda: [packb(["x", ["y", {"bold": True}]])],
        (RefusalError, MisfitError),
        ("groupcore.shared.messages",),
    ),
    Decoder(
        "web.frame",
        lambda data: frames.decode(data, RULES),
        lambda: [
            packb([{"t": "call", "id": 1, "name": "x", "args": [1, "a", 1.5, b"x", {"a": None}]}])
        ],
        frames.BadFrameError,
        ("groupcore.frames",),
    ),
    Decoder(
        "blocks.value",
        values.unpack_value,
        lambda: [values.pack_value([1, "a", {"k": [None, True, 2.5, b"x"]}])],
        ValueRefusedError,
        ("groupcore.blocks.values",),
    ),
    Decoder(
        "blocks.rpc",
        rpc_messages.decode,
        lambda: [
            packb([0, 1, True, [["a", 1]], "f", [1]]),
            packb([1, 1, 0, 3, "", ""]),
            packb([2, 1]),
        ],
        ValueRefusedError,
        ("groupcore.blocks.values",),
    ),
    Decoder(
        "blocks.dict-operation",
        dict_state.decode_operation,
        lambda: [
            packb([["a", 1], 1, 0, "set", ["k", b"\x01"]]),
            packb([["a", 1], 2, 1, "update", [{"k": b"\x01"}]]),
        ],
        ValueRefusedError,
        ("groupcore.blocks.values",),
    ),
    Decoder(
        "blocks.dict-state",
        lambda data: dict_state.DictState.decode(data, 1 << 20),
        lambda: [packb([{"k": b"\x01"}, [["a", 1, 0, [[1, 0, b"\xc0"]]]]])],
        ValueRefusedError,
        ("groupcore.blocks.values",),
    ),
    Decoder(
        "blocks.update-log",
        update_log.read_log,
        lambda: [packb([1, 3, [[4, b"x"], [6, b"y"]]])],
        ValueRefusedError,
        ("groupcore.blocks.values",),
    ),
    Decoder(
        "server.question",
        _question,
        lambda: [packb(["status", {"a": 1}])],
        GroupcoreError,
        ("server.console.colleagues",),
    ),
    Decoder(
        "server.answer",
        lambda data: read_answer(data, "b"),
        lambda: [packb({"answer": {"a": 1}})],
        BadMessageError,
        ("server.console.colleagues",),
    ),
    Decoder(
        "server.passkey-made",
        _made_passkey,
        lambda: [_passkey().made(bytes_to_base64url(CHALLENGE)).encode()],
        AccountError,
        ("server.accounts.webauthn_codec",),
    ),
    Decoder(
        "server.passkey-shown",
        _shown_passkey,
        lambda: [_passkey().signed(bytes_to_base64url(CHALLENGE)).encode()],
        AccountError,
        ("server.accounts.webauthn_codec",),
    ),
    *(
        Decoder(name, decode, seeds, errors, ("groupcore.shared.messages",))
        for name, decode, seeds, errors in (
            ("places.things", places.things, places.seeds_of_things, PLACE_ERRORS),
            ("places.edits", places.edits, places.seeds_of_edits, PLACE_ERRORS),
            ("places.here", places.here, places.seeds_of_here, MisfitError),
            ("places.words", places.uttered, places.seeds_of_words, WORDS_ERRORS),
            ("places.backup", places.backed_up, places.seeds_of_backups, MisfitError),
        )
    ),
)


def unpacked_state() -> list[object]:
    """A node's state as plain values."""
    state: list[object] = unpackb(recorded.node_states()[0], strict_map_key=False)
    return state


READ_ELSEWHERE = {
    "groupcore.aio.data_key": "opened by the key file: test_rest_key.py damages every byte",
    "groupcore.aio.read_log": "the same as groupcore.aio.log_database",
    "groupcore.aio.log_database": "test_log_faults.py damages every byte of a log",
    "groupcore.aio.sealed_store": "the same",
    "groupcore.aio.transfer": "tests/groupcore/aio/test_transfer.py",
    "groupcore.aio.udp": "builds a filter for the kernel",
    "server.accounts.audit_file": "tests/server/accounts: a node's own file, lines are judged",
    "server.accounts.erased_file": "a node's own list: DamagedStoreError names it",
    "server.accounts.flow": "a signed cookie: tests/server/accounts",
    "server.accounts.oidc": "answers of the provider: tests/server/accounts",
    "server.admin": "answers of a node to its operator's commands",
    "server.backup.archive": "tests/server/backup: a hash over each entry",
    "server.backup.keys": "sealed: tests/server/backup/test_erasing.py",
    "server.backup.last": "a node's own file",
    "server.console.parquet": "a node's own files",
    "server.console.results": "files that the operator's jobs have written",
    "server.console.upkeep": "answers of the operator's jobs",
    "server.doc_cli": "answers of a node to its operator's commands",
    "server.dump": "a log that was read before by the node: as groupcore.sequencing.restoring",
    "server.logs": "what a node hands to its child",
    "server.management.peer": "what the kernel says of a socket's other end",
    "server.management.runtime": "tests/server/management/test_finding.py: a node's own file",
    "server.management.tokens": "tests/server/management/test_tokens.py: a node's own file",
    "server.work.frames": "answers of this node's own workers: tests/server/work",
    "server.routes.asks": "tests/server/accounts/test_described_api.py asks for everything",
    "server.routes.feed": "tests/server: the hello of a console",
    "server.routes.reports": "tests/server: what a browser reports",
    "server.shelf": "a node's own file",
    "server.trace.packing": "a node's own file",
    "server.trace.segments": "a node's own file",
}
"""Modules that read bytes and have no decoder above, and where that is tested or why it is not."""
