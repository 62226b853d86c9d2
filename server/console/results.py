"""What the pipeline has left for the console, in the folder that the settings name.

`plan.json` is what `python -m pipeline plan --output` has written, `load.json` what `load --output`
has, `order.json` what `audit --certificate` has. Nobody waits for the disk on the loop, and what is
not there, or is none of it, is simply not shown.
"""

from __future__ import annotations

import asyncio
import base64
import json
from functools import lru_cache
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from groupcore.sequencing.plan import PLAN_BYTES_MAX
from server.console.colleagues import Shown
from server.console.gain import expected
from server.console.outcome import Measured

PLAN = "plan.json"
LOAD = "load.json"
ORDER = "order.json"
LOAD_BYTES_MAX = 16 << 20
CERTIFICATE_BYTES_MAX = 1 << 20
SAID_MAX = 100
"""Of what a plan says of itself so many texts are shown."""
TEXT_MAX = 1_000
"""And so much of each."""


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
    said = plan.get("expects")
    return {
        "made_s": status.st_mtime,
        "groups": len(plan["groups"]),
        "plan": plan,
        "expects": expected(said if isinstance(said, dict) else {}),
        "infeasible": _texts(plan.get("infeasible")),
        "supposes": _texts(plan.get("supposes")),
    }


def _texts(value: object) -> list[str]:
    found = value if isinstance(value, list) else []
    return [one[:TEXT_MAX] for one in found[:SAID_MAX] if isinstance(one, str)]


async def measured_windows(folder: Path | None) -> tuple[Measured, ...]:
    """The windows that the pipeline has measured; none without any."""
    if folder is None:
        return ()
    path = folder / LOAD
    try:
        status = await asyncio.to_thread(path.stat)
        if status.st_size > LOAD_BYTES_MAX:
            return ()
        return await asyncio.to_thread(_windows, path, status.st_mtime_ns)
    except (OSError, ValueError, KeyError, TypeError):
        return ()


@lru_cache(maxsize=2)
def _windows(path: Path, changed_ns: int) -> tuple[Measured, ...]:
    """Read once for each time that the file is another."""
    del changed_ns
    found = json.loads(path.read_text(encoding="utf-8"))["windows"]
    return tuple(
        Measured(
            float(one["at_s"]),
            float(one["imbalance"]),
            None if one["latency_us"] is None else float(one["latency_us"]),
        )
        for one in found
    )


async def certificate(folder: Path | None) -> Shown | None:
    """The certificate of the last audit, and whether its signature is good; None without one."""
    return None if folder is None else await asyncio.to_thread(_certificate, folder / ORDER)


def _certificate(path: Path) -> Shown | None:
    try:
        if path.stat().st_size > CERTIFICATE_BYTES_MAX:
            return None
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if not isinstance(document, dict) or not isinstance(document.get("certificate"), dict):
        return None
    return {
        "certificate": document["certificate"],
        "key": str(document.get("key", "")),
        "signed": is_signed(document),
    }


def is_signed(document: Shown) -> bool:
    """Whether the certificate is as whoever has the key has signed it: Ed25519, over the
    certificate as JSON with sorted keys and without spaces.
    """
    text = json.dumps(document["certificate"], sort_keys=True, separators=(",", ":"))
    try:
        public = Ed25519PublicKey.from_public_bytes(base64.b64decode(document["key"]))
        public.verify(base64.b64decode(document["signature"]), text.encode())
    except (InvalidSignature, KeyError, TypeError, ValueError):
        return False
    return True
