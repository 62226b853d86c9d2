"""Whether tests play everything they have, or what `make test` has the time for."""

from __future__ import annotations

import os

THOROUGH = os.environ.get("THOROUGH", "") not in ("", "0")
"""`make schedules` asks for it; which tests have more to play is in docs/proof.md."""
