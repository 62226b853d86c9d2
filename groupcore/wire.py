"""The wire form of a batch: one msgpack array, strictly decoded.

A packet is `[headers, count, body]`: headers from innermost to outermost, each `[code, *fields]`;
`count` messages in `body` (a closed msgpack array of binaries, or a fragment of one). Who sent
it and to whom is the transport's to say. A header class is a slotted dataclass with a code of its
own (`groupcore.headers`); its annotations say how each field is encoded and checked
(`wire_fields`).

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
from groupcore.headers import CODES, HEADERS
from groupcore.view import Address
from groupcore.wire_fields import Form, codec, values_of

PACK_BUFFER_BYTES = 65_536
"""First size of the packing buffer."""
HEADERS_MAX = 8


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


class _ByCode(dict[int, _HeaderCodec]):
    """Made when the first header of a class comes: its annotations can be read then."""

    def __missing__(self, code: int) -> _HeaderCodec:
        header = HEADERS.get(code)
        if header is None:
            raise WireError("unknown_header", str(code))
        made = self[code] = _HeaderCodec(code, header)
        return made


class _ByClass(dict[type[Header], _HeaderCodec]):
    """The same codecs by the classes."""

    def __missing__(self, header: type[Header]) -> _HeaderCodec:
        made = self[header] = _by_code[CODES[header]]
        return made


_by_code = _ByCode()
_by_class = _ByClass()
_packer = Packer(use_bin_type=True, autoreset=True, buf_size=PACK_BUFFER_BYTES)


def encode_packet(batch: Batch) -> bytes:
    """The packet that carries this batch."""
    headers = [_by_class[type(header)].encode(header) for header in batch.headers]
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
        headers.append(_by_code[values[0]].decode(values))
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
