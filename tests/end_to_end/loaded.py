"""A program that has loaded the server, and becomes a node as often as it is told: `nursery`.

Each node is a process of its own that is forked from this one, with its own log for what it says.
Argument: the number of an open socket, over which it is told, and answers, by lines of JSON.
"""

from __future__ import annotations

import gc
import json
import os
import socket
import sys
import traceback
from collections.abc import Sequence

# As `python -m server` does it.
gc.disable()
from server.main import main as serve  # noqa: E402

gc.freeze()
gc.enable()


def begin(arguments: Sequence[str], log: str, control: int) -> int:
    """The number of a new process that runs a node."""
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        os.close(control)
        output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(output, sys.stdout.fileno())
        os.dup2(output, sys.stderr.fileno())
        os.close(output)
        code = serve(list(arguments))
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def main() -> None:
    """Until the socket is closed."""
    control = socket.socket(fileno=int(sys.argv[1]))
    with control, control.makefile("rb") as asked:
        for line in asked:
            task = json.loads(line)
            if "ended" in task:
                answer = os.waitstatus_to_exitcode(os.waitpid(task["ended"], 0)[1])
            else:
                answer = begin(task["arguments"], task["log"], control.fileno())
            control.sendall(json.dumps(answer).encode() + b"\n")


if __name__ == "__main__":
    main()
