"""The C library's allocator, told to keep what it has got.

A node takes and frees buffers of tens of kilobytes at every datagram. By default glibc gives the
top of its heap back to the kernel as soon as 128 KiB lie free there, and takes it again a moment
later; each time the kernel clears the pages. Kept, they cost nothing: ordered multicast of 1 KB
messages needs about half the CPU (`python -m bench order`).

Large buffers are another matter: a node's state of tens of megabytes is packed, hashed and opened
at a join, a return, and a checkpoint. Such buffers are mapped each by itself and given back at
once; kept, they made a node that had been away some times as large as the sum of what it had held.
"""

from __future__ import annotations

import ctypes

M_TRIM_THRESHOLD = -1
M_TOP_PAD = -2
M_MMAP_THRESHOLD = -3
KEEP_BYTES = 64 << 20
MAPPED_LEAST_BYTES = 1 << 20
"""Buffers from this size on are no part of the heap."""
PAD_BYTES = 16 << 20


def keep_freed_memory() -> bool:
    """Keep up to 64 MiB of freed memory in this process; False where there is no glibc.

    For programs of their own (a server, a benchmark): it concerns the whole process, so the
    library never does it by itself.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return False
    settings = (
        (M_MMAP_THRESHOLD, MAPPED_LEAST_BYTES),
        (M_TRIM_THRESHOLD, KEEP_BYTES),
        (M_TOP_PAD, PAD_BYTES),
    )
    return all(mallopt(what, size) == 1 for what, size in settings)
