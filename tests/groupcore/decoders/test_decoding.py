"""Every decoder, with valid bytes, and with bytes near them: a value, or its one typed error.

`DECODER_MUTATIONS` is how many each decoder is given; `make fuzz-decoders` has it do millions.
"""

from __future__ import annotations

import os
import sys
import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from random import Random

import pytest

from tests.groupcore.decoders.mutating import Mutator
from tests.groupcore.decoders.registry import DECODERS, Decoder

MUTATIONS = int(os.environ.get("DECODER_MUTATIONS", "400"))
SEED = int(os.environ.get("DECODER_SEED", "1"))
MEASURED_EVERY = 40
CALLS_A_BYTE = 60
CALLS_LEAST = 60_000
"""What opening a node's state takes that is hardly longer than its head."""
MEMORY_A_BYTE = 1_500
MEMORY_LEAST = 4 << 20

ids = [decoder.name for decoder in DECODERS]


@pytest.mark.parametrize("decoder", DECODERS, ids=ids)
def test_every_decoder_reads_its_seeds(decoder: Decoder) -> None:
    seeds = decoder.seeds()
    assert seeds
    for seed in seeds:
        decoder.decode(seed)


@pytest.mark.parametrize("decoder", DECODERS, ids=ids)
def test_whatever_the_bytes_are_a_decoder_gives_a_value_or_its_one_error(decoder: Decoder) -> None:
    mutator = Mutator(Random(f"{SEED} {decoder.name}"), decoder.seeds())
    read = refused = 0
    for at in range(max(MUTATIONS // decoder.cost, 20)):
        data = mutator.next()
        try:
            decoder.decode(data)
            read += 1
        except decoder.errors:
            refused += 1
        except BaseException as error:
            pytest.fail(f"{decoder.name} lets {error!r} out of {data.hex()[:4_000]}")
        if at % MEASURED_EVERY == 0:
            check_proportion(decoder, data)
    assert read, "some of what is near valid bytes is valid: else only the outer checks were met"
    if decoder.errors != () and decoder.name not in RETURNS:
        assert refused


RETURNS = frozenset(
    {
        *("keys.word", "transport.introduction", "server.question", "sequencing.beginning"),
        *("identity.letter", "identity.word"),
    }
)
"""What gives None, or False, for bytes that are none."""


def check_proportion(decoder: Decoder, data: bytes) -> None:
    """Work, as calls, and memory are in proportion to the bytes."""
    calls = calls_in(lambda: swallow(decoder, data))
    assert calls <= CALLS_LEAST + CALLS_A_BYTE * len(data), f"{calls} calls for {data.hex()[:400]}"
    tracemalloc.start()
    swallow(decoder, data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= MEMORY_LEAST + MEMORY_A_BYTE * len(data), f"{peak} bytes for {data.hex()[:400]}"


def swallow(decoder: Decoder, data: bytes) -> None:
    errors = decoder.errors
    with suppress(*(errors if isinstance(errors, tuple) else (errors,))):
        decoder.decode(data)


def calls_in(act: Callable[[], None]) -> int:
    """How many calls, of Python and of C, that takes."""
    count = 0

    def note(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        act()
    finally:
        sys.setprofile(None)
    return count
