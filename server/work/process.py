"""A worker: takes a piece of work from its input, does it, answers, and waits for the next.

It has no secret, no open file and no socket of the node, and limits that the system keeps: address
space, processor time, no file that it could write. Time is kept twice: a signal ends what Python
does, so that the person gets an answer and the process goes on; the system's limit ends what a
library does.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import NoReturn, cast

from server.work.frames import FAILED, OK, REFUSED, packed, read_frame, unpacked

NICE = 10
"""The node's loop comes first wherever both want a core."""
GRACE_S = 5
"""So long after the signal the system ends the process."""
KEPT_BYTES = 256 << 20
"""A worker that has taken more memory than this ends behind its answer."""
COMPLEX = "too_complex"
TOO_LONG = "this takes too long to work on; make it simpler or divide it"
TOO_MUCH = "this takes too much memory to work on; make it simpler or divide it"

Function = Callable[..., object]


class RefusedWorkError(Exception):
    """The work is refused; `code` and the text are for the person who asked for it."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code


class OutOfTimeError(BaseException):
    """The piece of work has had its processor time. No handler for errors catches it."""


def function_of(name: str) -> Function:
    """`module:function`."""
    module, _, attribute = name.partition(":")
    return cast("Function", getattr(import_module(module), attribute))


def limit(memory_bytes: int) -> None:
    """For all of the process's life: no more memory than this, no file, no core."""
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def peak_bytes() -> int:
    """The most memory that this program has had resident.

    Not `ru_maxrss`: that begins with what the node had when it began this process.
    """
    status = Path("/proc/self/status").read_text(encoding="ascii")
    (line,) = [line for line in status.splitlines() if line.startswith("VmHWM:")]
    return int(line.split()[1]) * 1024


def _out_of_time(number: int, frame: FrameType | None) -> NoReturn:
    raise OutOfTimeError


@contextmanager
def timed(cpu_s: float) -> Iterator[None]:
    """OutOfTimeError when what is within takes more processor time; a little later the end."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    end_s = int(usage.ru_utime + usage.ru_stime + cpu_s) + 1 + GRACE_S
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (end_s, hard))
    signal.signal(signal.SIGPROF, _out_of_time)
    signal.setitimer(signal.ITIMER_PROF, cpu_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, signal.SIG_IGN)  # one that is on its way comes to nothing


def answer(function: Function, cpu_s: float, arguments: tuple[object, ...]) -> tuple[bytes, bool]:
    """The frame to answer with, and whether the process is fit to go on."""
    try:
        with timed(cpu_s):
            return packed([OK, function(*arguments)]), True
    except RefusedWorkError as error:
        return packed([REFUSED, error.code, str(error)]), True
    except OutOfTimeError:
        return packed([REFUSED, COMPLEX, TOO_LONG]), True
    except (MemoryError, RecursionError):
        return packed([REFUSED, COMPLEX, TOO_MUCH]), False
    except Exception:
        return packed([FAILED, traceback.format_exc(limit=-5)]), False


def main(name: str, memory_bytes: int, is_alone: bool) -> None:
    """Work until the input ends."""
    os.nice(NICE)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the node ends its workers itself
    function_of(name)  # what is loaded now need not fit into the limits
    limit(memory_bytes)
    goes_on = not is_alone
    while frame := read_frame(sys.stdin.buffer):
        function, cpu_s, *arguments = cast("tuple[str, float, object]", unpacked(frame))
        said, is_fit = answer(function_of(function), cpu_s, tuple(arguments))
        goes_on = goes_on and is_fit and peak_bytes() < KEPT_BYTES
        sys.stdout.buffer.write(bytes([goes_on]) + said)
        sys.stdout.buffer.flush()
        if not goes_on:
            return
