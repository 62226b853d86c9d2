"""What the pipeline has left for the console, in the folder that the settings name.

`plan.json` is what `python -m pipeline plan --output` has written. Nobody waits for the disk on the
loop, and what is not there, or is none of it, is simply not shown.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from groupcore.sequencing.plan import PLAN_BYTES_MAX
from server.console.colleagues import Shown

PLAN = "plan.json"


async def proposed_plan(folder: Path | None) -> Shown | None:
    """The plan that the pipeline proposes, and when it was made; None without one."""
    return None if folder is None else await asyncio.to_thread(_plan, folder / PLAN)


def _plan(path: Path) -> Shown | None:
    try:
        status = path.stat()
        if status.st_size > PLAN_BYTES_MAX:
            return None
        plan = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if not isinstance(plan, dict) or not isinstance(plan.get("groups"), dict):
        return None
    return {"made_s": status.st_mtime, "groups": len(plan["groups"]), "plan": plan}
