"""What the allocator keeps of what was freed: buffers of datagrams, and not states."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
from groupcore.aio.allocator import keep_freed_memory

def resident_mb():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS")) // 1024

assert keep_freed_memory()
kept, before = [], resident_mb()
for _ in range(10):
    states = [bytearray(20 << 20) for _ in range(4)]  # a state: pieces, whole, opened, for the log
    kept.append(bytes(100_000))  # something small stays behind it
    del states
print(resident_mb() - before)
"""


def test_a_state_that_was_freed_is_not_kept_though_small_things_stay_behind_it() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 20
