"""The rules of the wire form: what is written is read again, and nothing else is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from types import UnionType
from typing import Union, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgpack import packb, unpackb

from groupcore import stacks, wire, wire_fields  # noqa: F401 (all layers are loaded)
from groupcore.batch import MESSAGES_MAX, Batch, Header
from groupcore.errors import CompositionError, WireError
from groupcore.headers import CODES, HEADERS, OWN_CODES, travels
from groupcore.layers import failure_detection, nakack_headers, sequencer, stability
from groupcore.membership import headers as membership_headers
from groupcore.membership.ballots import Ballot, Record
from groupcore.sequencing import headers as sequencing_headers  # noqa: F401 (what the data plane sends)
from groupcore.sequencing.names import NAME_MAX
from groupcore.view import MEMBERS_MAX, Address, View
from groupcore.wire_fields import INTEGER_MAX

A, B = Address("a", 1), Address("b", 1)
CLASSES = tuple(HEADERS.values())
REASONS = {"malformed", "bad_packet", "bad_header", "unknown_header"}

integers = st.integers(0, INTEGER_MAX)
names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=NAME_MAX)
addresses = st.builds(Address, names, integers)
members = st.lists(addresses, min_size=1, max_size=4, unique_by=lambda member: member.name)
views = st.builds(View, integers, integers, integers, integers, members.map(tuple))

LEAVES: dict[object, st.SearchStrategy[object]] = {
    int: integers,
    bool: st.booleans(),
    str: names,
    bytes: st.binary(max_size=20),
    Address: addresses,
    View: views,
}


def values_of(hint: object) -> st.SearchStrategy[object]:
    """Values of an annotation."""
    if hint in LEAVES:
        return LEAVES[hint]
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is tuple:
        return st.lists(values_of(arguments[0]), max_size=3).map(tuple)
    if origin is dict:
        return st.dictionaries(values_of(arguments[0]), values_of(arguments[1]), max_size=3)
    if origin in (Union, UnionType):
        return st.one_of(
            [st.none() if item is type(None) else values_of(item) for item in arguments]
        )
    assert isinstance(hint, type)
    return instances_of(hint)


def instances_of(record: type) -> st.SearchStrategy[object]:
    """Instances of a dataclass or a NamedTuple, from its annotations."""
    hints = get_type_hints(record)
    ours = getattr(record, "_fields", None) or [field.name for field in fields(record)]
    return st.builds(record, *(values_of(hints[name]) for name in ours))


def headers_of(header: type[Header]) -> st.SearchStrategy[Header]:
    def checked(value: object) -> Header:
        assert isinstance(value, Header)
        return value

    return instances_of(header).map(checked)


any_header = st.sampled_from(CLASSES).flatmap(headers_of)
batches = st.builds(
    lambda headers, body, count: Batch(A, B, tuple(headers), body, count),
    st.lists(any_header, min_size=1, max_size=3),
    st.binary(max_size=30),
    st.integers(0, MESSAGES_MAX),
)
wild = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False)
    | st.text(max_size=5)
    | st.binary(max_size=5),
    lambda inner: st.lists(inner, max_size=5),
    max_leaves=12,
)


def read(datagram: bytes) -> list[Batch]:
    packets = wire.unpack_packets(datagram)
    return [wire.decode_packet(packet, A, B) for packet in packets]


def refusal(act: Callable[[], object]) -> str | None:
    """Why something is refused; None when it is taken. Any other error goes through."""
    try:
        act()
    except WireError as error:
        return error.reason
    return None


def datagram_of(*batches_: Batch) -> bytes:
    packed: bytes = packb([unpackb(wire.encode_packet(batch)) for batch in batches_])
    return packed


# --- what is written is read ----------------------------------------------------------------------


@pytest.mark.parametrize("header_class", CLASSES, ids=lambda header: header.kind)
def test_every_header_survives_the_round_trip(header_class: type[Header]) -> None:
    @settings(max_examples=15)
    @given(headers_of(header_class))
    def check(header: Header) -> None:
        batch = Batch(A, B, (header,), b"body", 2)
        assert read(b"\x91" + wire.encode_packet(batch)) == [batch]

    check()


@settings(max_examples=25)
@given(batches)
def test_a_batch_survives_the_round_trip(batch: Batch) -> None:
    assert read(b"\x91" + wire.encode_packet(batch)) == [batch]


def test_what_says_it_is_from_somebody_else_is_from_whom_the_transport_says() -> None:
    batch = Batch(B, None, (failure_detection.Ping(),))
    (got,) = read(b"\x91" + wire.encode_packet(batch))
    assert (got.sender, got.destination) == (A, B)


@settings(max_examples=25)
@given(instances_of(Record))
def test_a_record_survives_the_round_trip(record: object) -> None:
    assert wire.decode_record(wire.encode_record(record, Record), Record) == record


def test_every_header_has_a_code_and_a_kind_of_its_own() -> None:
    kinds = [header.kind for header in CLASSES]
    assert len(set(kinds)) == len(kinds) == len(CODES)
    assert set(CODES.values()) == set(HEADERS)


def test_the_codes_are_what_they_were() -> None:
    """A code is its header's for ever: a new one gets a line in codes.txt, and none is changed."""
    lines = (Path(__file__).parent / "codes.txt").read_text(encoding="utf-8").splitlines()
    listed = {int(code): kind for code, kind in (line.split() for line in lines)}
    assert len(listed) == len(lines)
    library = {code: header for code, header in HEADERS.items() if code < OWN_CODES}
    assert {code: header.kind for code, header in library.items()} == listed


def test_a_code_or_a_kind_that_is_taken_is_refused_where_it_is_defined() -> None:
    def named(name: str) -> type[Header]:
        return type(name, (Header,), {"kind": name, "__slots__": ()})

    with pytest.raises(CompositionError, match=r"give a code from 1000 to 65535"):
        travels(OWN_CODES - 1)(named("own.low"))
    first = named("own.first")
    travels(OWN_CODES + 7)(first)
    try:
        with pytest.raises(CompositionError, match=r"first has code 1007"):
            travels(OWN_CODES + 7)(named("own.second"))
        with pytest.raises(CompositionError, match=r"another header is called own\.first"):
            travels(OWN_CODES + 8)(named("own.first"))
    finally:
        del HEADERS[OWN_CODES + 7], CODES[first]


# --- nothing else is ------------------------------------------------------------------------------


@given(st.binary(max_size=200))
def test_arbitrary_bytes_raise_only_wire_error(data: bytes) -> None:
    assert refusal(lambda: read(data)) in REASONS | {None}


@settings(max_examples=25)
@given(wild)
def test_an_arbitrary_value_as_a_packet_raises_only_wire_error(value: object) -> None:
    assert refusal(lambda: wire.decode_packet(value, A, B)) in REASONS | {None}


@settings(max_examples=25)
@given(st.sampled_from(sorted(HEADERS)), st.lists(wild, max_size=6))
def test_arbitrary_fields_of_a_header_raise_only_wire_error(code: int, rest: list[object]) -> None:
    packet = [[[code, *rest]], 0, b""]
    assert refusal(lambda: wire.decode_packet(packet, A, B)) in {"bad_header", None}


@settings(max_examples=25)
@given(batches, st.data())
def test_a_truncated_packet_is_refused(batch: Batch, data: st.DataObject) -> None:
    whole = b"\x91" + wire.encode_packet(batch)
    cut = data.draw(st.integers(0, len(whole) - 1))
    assert refusal(lambda: read(whole[:cut])) == "malformed"


@settings(max_examples=25)
@given(batches, st.data())
def test_a_mutated_packet_raises_only_wire_error(batch: Batch, data: st.DataObject) -> None:
    whole = bytearray(b"\x91" + wire.encode_packet(batch))
    for _ in range(data.draw(st.integers(1, 3))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    assert refusal(lambda: read(bytes(whole))) in REASONS | {None}


@given(st.binary(max_size=60))
def test_arbitrary_bytes_as_a_record_raise_only_wire_error(data: bytes) -> None:
    assert refusal(lambda: wire.decode_record(data, Record)) in {"malformed", "bad_header"}


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "malformed"),
        (b"\xc1", "malformed"),
        (b"\x01", "malformed"),  # not an array
        (b"\x90\x90", "malformed"),  # something behind it
        (b"\x91" * 5_000, "malformed"),  # too deep
        (b"\xdd\xff\xff\xff\xff", "malformed"),  # announces more than has arrived
        (b"\x91\x81\x01\x02", "malformed"),  # a map
        (b"\x91\xd4\x05\x00", "malformed"),  # an extension type
        (packb(["x" * 4_097]), "malformed"),
    ],
)
def test_what_is_not_an_array_of_packets_is_malformed(data: bytes, reason: str) -> None:
    assert refusal(lambda: wire.unpack_packets(data)) == reason


PING = [CODES[failure_detection.Ping]]
DATA = CODES[nakack_headers.Data]


@pytest.mark.parametrize(
    ("packet", "reason"),
    [
        ("text", "bad_packet"),
        ([[PING], 0], "bad_packet"),
        ([[], 0, b""], "bad_packet"),
        (["ping", 0, b""], "bad_packet"),
        ([[PING] * (wire.HEADERS_MAX + 1), 0, b""], "bad_packet"),
        ([[PING], -1, b""], "bad_packet"),
        ([[PING], MESSAGES_MAX + 1, b""], "bad_packet"),
        ([[PING], True, b""], "bad_packet"),
        ([[PING], 0, "text"], "bad_packet"),
        ([["ping"], 0, b""], "bad_header"),
        ([[[]], 0, b""], "bad_header"),
        ([[["ping"]], 0, b""], "bad_header"),
        ([[[True]], 0, b""], "bad_header"),
        ([[[255]], 0, b""], "unknown_header"),
        ([[[*PING, 1]], 0, b""], "bad_header"),
        ([[[DATA, 1, 2]], 0, b""], "bad_header"),
        ([[[DATA, 1, 2, -1]], 0, b""], "bad_header"),
        ([[[DATA, 1, 2, 2**64]], 0, b""], "bad_header"),
        ([[[DATA, 1, 2, 3.0]], 0, b""], "bad_header"),
        ([[[DATA, 1, 2, True]], 0, b""], "bad_header"),
    ],
)
def test_a_packet_of_the_wrong_shape_is_refused_by_reason(packet: object, reason: str) -> None:
    assert refusal(lambda: wire.decode_packet(packet, A, B)) == reason


def with_header(header: type[Header], *values: object) -> Callable[[], object]:
    packet = [[[CODES[header], *values]], 0, b""]
    return lambda: wire.decode_packet(packet, A, B)


@pytest.mark.parametrize(
    "address", [["", 1], ["a" * 65, 1], [b"a", 1], ["a", -1], ["a"], ["a", 1, 1], "a", None]
)
def test_what_is_no_address_is_refused(address: object) -> None:
    assert refusal(with_header(sequencer.Ordered, address, 1)) == "bad_header"
    assert refusal(with_header(sequencer.Ordered, ["a", 1], 1)) is None


@pytest.mark.parametrize(
    "view",
    [
        [1, 1, 1, 1, []],
        [1, 1, 1, 1, [["a", 1], ["a", 2]]],
        [1, 1, 1, 1, [[f"n{index}", 1] for index in range(MEMBERS_MAX + 1)]],
        [1, 1, 1, [["a", 1]]],
        [1, 1, 1, -1, [["a", 1]]],
        [1, 1, 1, 1, None],
    ],
)
def test_what_is_no_view_is_refused(view: object) -> None:
    assert refusal(with_header(membership_headers.Superseded, view)) == "bad_header"
    good = [1, 1, 1, 1, [["a", 1], ["b", 1]]]
    assert refusal(with_header(membership_headers.Superseded, good)) is None


def test_a_digest_names_each_sender_once() -> None:
    twice = [[["a", 1], 4], [["a", 1], 5]]
    assert refusal(with_header(stability.Report, 1, twice, [])) == "bad_header"
    assert refusal(with_header(stability.Report, 1, twice[:1], [])) is None
    assert refusal(with_header(stability.Report, 1, [[["a", 1]]], [])) == "bad_header"


def test_a_boolean_is_a_boolean_and_bytes_are_bytes() -> None:
    view = [1, 1, 1, 1, [["a", 1]]]
    present = HEADERS[35]
    assert refusal(with_header(present, view, True)) is None
    assert refusal(with_header(present, view, 1)) == "bad_header"
    _, decode = wire_fields.codec(bytes)
    assert decode(b"text") == b"text"
    assert refusal(lambda: decode("text")) == "bad_header"


def test_a_field_that_may_be_missing_is_none() -> None:
    prepare = membership_headers.Prepare(None, Ballot(1, A))
    batch = Batch(A, B, (prepare,))
    assert read(datagram_of(batch)) == [batch]
