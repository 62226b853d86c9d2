"""Which work is done beside the loop, by which function, and how much it may take.

A kind's function is loaded in the worker alone, by its name: what decodes a picture or parses a
text is nothing that the node itself needs. It takes and gives what MessagePack can carry.
"""

from __future__ import annotations

from dataclasses import dataclass

MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of work: `cpu_s` of processor time and `wall_s` of time that one piece may take.

    `is_alone`: the process does one piece and ends, as for decoders that have had holes; else it
    is kept for the next one. `memory_bytes` bounds its address space.
    """

    name: str
    function: str
    cpu_s: float
    wall_s: float
    memory_bytes: int
    is_alone: bool = False


TEXT_CPU_S = 20.0
TEXT_WALL_S = 60.0
"""A worker is nicer than the node: where the machine is busy it waits."""
TEXT_MEMORY_BYTES = 1024 * MIB
IMPORT = Kind("import", "server.work.texts:imported", TEXT_CPU_S, TEXT_WALL_S, TEXT_MEMORY_BYTES)
EXPORT = Kind("export", "server.work.texts:exported", TEXT_CPU_S, TEXT_WALL_S, TEXT_MEMORY_BYTES)
PICTURE_CPU_S = 20.0
PICTURE_WALL_S = 30.0
PICTURE_MEMORY_BYTES = 512 * MIB
BYTES_A_PIXEL = 24
"""A few copies of a picture in four bytes a pixel."""


def picture_kind(pixels_max: int) -> Kind:
    """Looking at a picture of at most so many pixels."""
    memory = PICTURE_MEMORY_BYTES + BYTES_A_PIXEL * pixels_max
    function = "server.pictures.worker:looked"
    return Kind("picture", function, PICTURE_CPU_S, PICTURE_WALL_S, memory, is_alone=True)
