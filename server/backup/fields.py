"""The fields of a shared object, by name, as they travel; and back into an object, in parts."""

from __future__ import annotations

from collections.abc import Iterator

from groupcore.shared import SharedObject
from groupcore.shared.errors import MisfitError
from groupcore.shared.messages import pack, unpack
from groupcore.shared.object import declaration

PART_BYTES = 32_000
"""About what one message takes back."""


def packed_fields(target: SharedObject) -> bytes:
    """All fields, as they are now."""
    fields = declaration(target).fields
    return pack(
        {name: one.codec.kept_to_wire(getattr(target, name)) for name, one in fields.items()}
    )


def parts_of(packed: bytes) -> Iterator[tuple[str, bool, bytes]]:
    """Name, whether it is the first, and value of parts that fit into a message each."""
    fields = unpack(packed)
    if not isinstance(fields, dict):
        raise MisfitError("not the fields of an object")
    for name, wire in fields.items():
        if not isinstance(wire, list):
            yield name, True, pack(wire)
            continue
        run: list[object] = []
        size, is_first = 0, True
        for item in wire:
            taken = len(pack(item))
            if run and size + taken > PART_BYTES:
                yield name, is_first, pack(run)
                run, size, is_first = [], 0, False
            run.append(item)
            size += taken
        yield name, is_first, pack(run)


def take_part(target: SharedObject, name: str, is_first: bool, part: bytes) -> None:
    """In an operation: give a field its value, or, not the first part, more of it.

    MisfitError for a field that there is not, or that has another type.
    """
    field = declaration(target).fields.get(name)
    if field is None:
        raise MisfitError(f"there is no field {name}")
    value = field.codec.from_wire(unpack(part))
    if is_first:
        setattr(target, name, value)
        return
    kept = getattr(target, name)
    if isinstance(value, dict | set):
        kept.update(value)
    else:
        kept.extend(value)
