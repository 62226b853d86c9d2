"""Frames as a log has them: packets, some of them in the form of an earlier version."""

from __future__ import annotations

from dataclasses import fields as dataclass_fields

from groupcore.batch import Batch
from groupcore.errors import WireError
from groupcore.sequencing.headers import (
    Accept,
    AcceptOfOne,
    AcceptUnplaced,
    pack_column,
    unpack_stretches,
)
from groupcore.sequencing.names import BEGINNING
from groupcore.view import Address
from groupcore.wire import decode_packet, unpack_packets

STRETCH_OF_ONE = 3
"""Numbers of a stretch there: process, runs, chain number."""


def logged_frame(packet: bytes, stream: Address) -> Batch:
    """The frame in a packet of this stream; WireError when it is anything else."""
    (raw,) = unpack_packets(b"\x91" + packet)
    batch = decode_packet(raw, stream, None)
    header = batch.headers[-1]
    if isinstance(header, AcceptUnplaced):
        fields = (getattr(header, one.name) for one in dataclass_fields(header))
        frame, view, *others = fields
        accept = Accept(frame, view, BEGINNING, *others)
        return Batch(stream, None, (accept,), batch.body, batch.count)
    if not isinstance(header, AcceptOfOne):
        return batch
    try:
        stretches = unpack_stretches(header.stretches, STRETCH_OF_ONE, len(header.groups) // 8)
    except WireError:
        # It was set aside when it came, as what none can read, and has to be again.
        nothing = (b"",) * 7
        return Batch(stream, None, (Accept(header.frame, header.view, BEGINNING, (), *nothing),))
    accept = Accept(
        header.frame,
        header.view,
        BEGINNING,
        (header.origin,),
        header.context,
        header.rests,
        pack_column([number for stretch in stretches for number in (*stretch, 0)]),
        header.groups,
        header.seqnos,
        header.firsts,
        header.counts,
    )
    return Batch(stream, None, (accept,), batch.body, batch.count)
