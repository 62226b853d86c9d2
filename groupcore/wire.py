"""The wire form of a batch: one msgpack array, strictly decoded.

A packet is `[headers, count, body]`: headers from innermost to outermost, each `[code, *fields]`;
`count` messages in `body` (a closed msgpack array of binaries, or a fragment of one). Who sent
it and to whom is the transport's to say. A header class is a slotted dataclass; its annotations
say how each field is encoded and checked (`wire_fields`).

Every decoder works in time and memory in proportion to what has arrived and raises `WireError`
with the name of the drop counter, never anything else.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any, get_type_hints

from msgpack import Packer, unpackb
from msgpack.exceptions import UnpackException

from groupcore.batch import MESSAGES_MAX, Batch, Header
from groupcore.errors import WireError
from groupcore.layers import (
    discovery,
    durability,
    failure_detection,
    flow_control,
    flush,
    fragmentation,
    nakack_headers,
    pbcast,
    probe,
    resilience,
    sequencer,
    stability,
    total_headers,
    unicast,
)
from groupcore.membership import headers as membership_headers
from groupcore.sequencing import headers as sequencing_headers
from groupcore.transfer import headers as transfer_headers
from groupcore.view import Address
from groupcore.wire_fields import Form, codec, values_of

PACK_BUFFER_BYTES = 65_536
"""First size of the packing buffer."""
HEADERS_MAX = 8

HEADERS: dict[int, type[Header]] = {
    1: nakack_headers.Data,
    2: nakack_headers.Ack,
    3: nakack_headers.Request,
    4: nakack_headers.Repair,
    5: nakack_headers.HighWater,
    8: unicast.Data,
    9: unicast.Ack,
    11: flow_control.Credit,
    12: flow_control.Ask,
    14: fragmentation.Fragment,
    16: sequencer.Forward,
    17: sequencer.Ordered,
    20: resilience.Mark,
    21: resilience.Held,
    24: stability.Report,
    25: stability.Announce,
    28: failure_detection.Heartbeat,
    29: failure_detection.Ping,
    30: failure_detection.Pong,
    31: failure_detection.Direct,
    34: discovery.Discover,
    35: discovery.Present,
    37: membership_headers.MergeRequest,
    38: membership_headers.MergeResponse,
    39: membership_headers.MergeInstall,
    40: membership_headers.JoinRequest,
    41: membership_headers.JoinRefused,
    42: membership_headers.LeaveRequest,
    43: membership_headers.Prepare,
    44: membership_headers.Promise,
    45: membership_headers.Propose,
    46: membership_headers.Accept,
    47: membership_headers.Install,
    48: membership_headers.Installed,
    49: membership_headers.Superseded,
    50: membership_headers.Dissolved,
    51: membership_headers.Waive,
    52: membership_headers.GoneOn,
    53: membership_headers.Learned,
    54: durability.Durable,
    55: membership_headers.Stored,
    56: total_headers.Request,
    57: total_headers.Bcast,
    58: total_headers.NewView,
    59: total_headers.NewViewAck,
    60: total_headers.CumSeqAck,
    61: total_headers.SeqAck,
    62: total_headers.Resend,
    63: total_headers.Mark,
    64: flush.Start,
    65: flush.Ok,
    70: transfer_headers.MakeCopy,
    71: transfer_headers.Push,
    72: transfer_headers.ReturnState,
    73: transfer_headers.Chunk,
    74: transfer_headers.Taken,
    75: transfer_headers.NoState,
    76: transfer_headers.Collect,
    77: transfer_headers.Offer,
    80: pbcast.Gossip,
    90: probe.Query,
    91: probe.Answer,
    100: sequencing_headers.Send,
    101: sequencing_headers.Forward,
    102: sequencing_headers.AcceptOfOne,
    103: sequencing_headers.Change,
    104: sequencing_headers.Join,
    105: sequencing_headers.Leave,
    106: sequencing_headers.Refusal,
    107: sequencing_headers.Redirect,
    108: sequencing_headers.Repeated,
    109: sequencing_headers.Missing,
    110: sequencing_headers.Fetch,
    111: sequencing_headers.Repair,
    112: sequencing_headers.Digest,
    113: sequencing_headers.Reached,
    114: sequencing_headers.Level,
    115: sequencing_headers.VolatileMessage,
    116: sequencing_headers.StateRequest,
    117: sequencing_headers.StatePiece,
    118: sequencing_headers.AcceptUnplaced,
    119: sequencing_headers.Accept,
}
"""Every header that may travel, by its code. Codes are never used again for another."""

HEADER_CLASSES: tuple[type[Header], ...] = tuple(HEADERS.values())
CODES = {header: code for code, header in HEADERS.items()}


class _HeaderCodec:
    """How one header class is written and read."""

    __slots__ = ("_form", "_size", "_values_of", "code", "header")

    def __init__(self, code: int, header: type[Header]) -> None:
        hints = get_type_hints(header)
        names = [field.name for field in fields(header)]  # type: ignore[arg-type]
        self.code = code
        self.header = header
        self._values_of = values_of(names)
        self._form = Form([hints[name] for name in names])
        self._size = len(names) + 1

    def encode(self, header: Header) -> list[Any]:
        return [self.code, *self._form.encode(self._values_of(header))]

    def decode(self, values: list[Any]) -> Header:
        if len(values) != self._size:
            raise WireError("bad_header", f"{self.header.kind} has {self._size - 1} fields")
        return self.header(*self._form.decode(values[1:]))


_BY_CODE = {code: _HeaderCodec(code, header) for code, header in HEADERS.items()}
_BY_CLASS = {codec.header: codec for codec in _BY_CODE.values()}
_packer = Packer(use_bin_type=True, autoreset=True, buf_size=PACK_BUFFER_BYTES)


def encode_packet(batch: Batch) -> bytes:
    """The packet that carries this batch."""
    headers = [_BY_CLASS[type(header)].encode(header) for header in batch.headers]
    packed: bytes = _packer.pack([headers, batch.count, batch.body])
    return packed


def decode_packet(packet: Any, sender: Address, destination: Address | None) -> Batch:
    """The batch in an unpacked packet; WireError when it is anything else."""
    if type(packet) is not list or len(packet) != 3:
        raise WireError("bad_packet", "not [headers, count, body]")
    raw_headers, count, body = packet
    if type(raw_headers) is not list or not 1 <= len(raw_headers) <= HEADERS_MAX:
        raise WireError("bad_packet", "no headers, or too many")
    if type(count) is not int or not 0 <= count <= MESSAGES_MAX or type(body) is not bytes:
        raise WireError("bad_packet", "count or body of the wrong type")
    headers = []
    for values in raw_headers:
        if type(values) is not list or not values or type(values[0]) is not int:
            raise WireError("bad_header", "not [code, fields]")
        codec = _BY_CODE.get(values[0])
        if codec is None:
            raise WireError("unknown_header", str(values[0]))
        headers.append(codec.decode(values))
    return Batch(sender, destination, tuple(headers), body, count)


def unpack_packets(plaintext: bytes) -> list[Any]:
    """The packets of a datagram, still undecoded; WireError when it is not an array."""
    try:
        packets = unpackb(
            plaintext,
            raw=False,
            use_list=True,
            strict_map_key=True,
            max_array_len=MESSAGES_MAX,
            max_map_len=0,
            max_ext_len=0,
            max_str_len=4096,
        )
    except (UnpackException, ValueError, TypeError, RecursionError) as error:
        raise WireError("malformed", str(error)[:80]) from None
    if type(packets) is not list:
        raise WireError("malformed", "not an array of packets")
    return packets


def encode_record(value: Any, record: type) -> bytes:
    """A dataclass as bytes of its own, for what is kept on disk or carried opaque."""
    packed: bytes = _packer.pack(codec(record)[0](value))
    return packed


def decode_record(data: bytes, record: type) -> Any:
    """The dataclass in these bytes; WireError when they are anything else."""
    (value,) = unpack_packets(b"\x91" + data)
    return codec(record)[1](value)


def encode_value(value: Any, record: type) -> Any:
    """A dataclass as plain values, to be packed with others."""
    return codec(record)[0](value)


def decode_value(value: Any, record: type) -> Any:
    """The dataclass in unpacked plain values; WireError when they are anything else."""
    return codec(record)[1](value)
