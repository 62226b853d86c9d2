"""`python -m server`: run a node, or one of its commands; see `server.main`."""

from __future__ import annotations

import gc
import sys

if __name__ == "__main__":
    # All that is loaded stays, and none of it is garbage: a fifth of the time to load it went into
    # looking for cycles there, and every full collection later would look at it again.
    gc.disable()
    from server.main import main

    gc.freeze()
    gc.enable()
    sys.exit(main(sys.argv[1:]))
