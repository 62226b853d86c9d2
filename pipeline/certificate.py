"""The certificate: what an audit has checked, over what, with what result; signed.

`{"certificate": {…}, "key": "<public key>", "signature": "<of the certificate>"}`, both Base64,
Ed25519 over the certificate as JSON with sorted keys and without spaces. Who relies on it compares
the key with one that it has from elsewhere.
"""

from __future__ import annotations

import base64
import json
import os
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from pipeline.audit import RULES, Audited
from pipeline.errors import PipelineError

FORMAT = 1
"""The value of `format` in each certificate."""

RESULTS = {
    "kept": "The order was kept.",
    "broken": "The order was broken.",
    "nothing": "There was nothing to judge.",
}


def describe(audited: Audited, store: str, commit: int, now: datetime) -> dict[str, Any]:
    """What the certificate says; plain JSON values."""
    judged = sum(rows for _, _, rows in audited.ranges.values())
    result = "broken" if not audited.clean else "kept" if judged else "nothing"
    return {
        "format": FORMAT,
        "made": now.astimezone(UTC).isoformat(timespec="seconds"),
        "store": store,
        "commit": commit,
        "result": result,
        "rules": {
            rule: {
                "says": says,
                "violations": audited.counts[rule],
                "not_auditable": audited.excused.get(rule, 0),
            }
            for rule, says in RULES.items()
        },
        "nodes": {
            node: {"first": first, "last": last, "deliveries": rows}
            for node, (first, last, rows) in sorted(audited.ranges.items())
        },
        "deliveries": judged,
        "held": audited.held,
        "logs_with_gaps": audited.unsound,
        "sampled": list(audited.sampled),
    }


def sign(certificate: dict[str, Any], key: Ed25519PrivateKey) -> dict[str, Any]:
    """The certificate with the key and its signature."""
    public = key.public_key().public_bytes(
        serialization.Encoding.Raw, serialization.PublicFormat.Raw
    )
    signature = key.sign(_signed_bytes(certificate))
    return {
        "certificate": certificate,
        "key": base64.b64encode(public).decode(),
        "signature": base64.b64encode(signature).decode(),
    }


def verify(document: dict[str, Any], key: str | None = None) -> dict[str, Any]:
    """The certificate in a document, if its signature is good.

    `key`: the public key, Base64, that it has to be signed by. Raises PipelineError
    `bad_signature`, `other_key`.
    """
    if key is not None and document.get("key") != key:
        raise PipelineError(
            "other_key", "The certificate is signed by another key.", "Ask whose it is."
        )
    try:
        public = Ed25519PublicKey.from_public_bytes(base64.b64decode(document["key"]))
        public.verify(
            base64.b64decode(document["signature"]), _signed_bytes(document["certificate"])
        )
    except (InvalidSignature, KeyError, TypeError, ValueError):
        raise PipelineError(
            "bad_signature",
            "The signature does not belong to the certificate.",
            "Trust nothing in it; audit again.",
        ) from None
    certificate: dict[str, Any] = document["certificate"]
    return certificate


def load_key(path: Path) -> Ed25519PrivateKey:
    """The key in a PEM file; one is made where no file is, for its owner's eyes only.

    Raises PipelineError `bad_key` if something else is in the file.
    """
    if path.exists():
        try:
            key = serialization.load_pem_private_key(path.read_bytes(), None)
        except (TypeError, ValueError):
            key = None
        if not isinstance(key, Ed25519PrivateKey):
            raise PipelineError(
                "bad_key", f"{path} holds no Ed25519 key.", "Name another file, or a new one."
            )
        return key
    made = Ed25519PrivateKey.generate()
    text = made.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    with os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
        file.write(text)
    return made


def page(document: dict[str, Any]) -> str:
    """The certificate as a page that needs nothing else."""
    certificate = document["certificate"]
    rules = "".join(
        f"<tr><td>{escape(rule)}<td>{escape(one['says'])}<td>{one['violations']}"
        f"<td>{one['not_auditable']}"
        for rule, one in certificate["rules"].items()
    )
    nodes = "".join(
        f"<tr><td>{escape(node)}<td>{one['first']}<td>{one['last']}<td>{one['deliveries']}"
        for node, one in certificate["nodes"].items()
    )
    notes = [f"{certificate['held']} deliveries wait for other nodes' logs and were not judged."]
    notes += [
        f"Rows of {node} are missing ({why}): what rests on them was not judged."
        for node, why in certificate["logs_with_gaps"].items()
    ]
    notes += [
        f"The deliveries of {node} are sampled: gaps were not looked for there."
        for node in certificate["sampled"]
    ]
    said = "".join(f"<li>{escape(note)}" for note in notes)
    return f"""<!doctype html>
<html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Audit of the order</title>
<style>
:root {{ color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }}
body {{ max-width: 60rem; margin: 2rem auto; padding: 0 1rem }}
.wide {{ overflow-x: auto }}
table {{ border-collapse: collapse; width: 100%; min-width: 34rem; margin: 1rem 0 }}
th, td {{ text-align: left; padding: .25rem .5rem; border-bottom: 1px solid #8886 }}
code {{ overflow-wrap: anywhere }}
</style>
<h1>{RESULTS[certificate["result"]]}</h1>
<p>{certificate["deliveries"]:,} deliveries were judged, as of {escape(certificate["made"])}.
<div class="wide" tabindex="0" role="region" aria-label="Rules">
<table><tr><th>Rule<th>What it demands<th>Violations<th>Not auditable{rules}</table></div>
<h2>What was judged</h2>
<div class="wide" tabindex="0" role="region" aria-label="What was judged">
<table><tr><th>Node<th>First delivery<th>Last<th>Deliveries{nodes}</table></div>
<ul>{said}</ul>
<h2>Signature</h2>
<p>Ed25519, key <code>{escape(document["key"])}</code>,
signature <code>{escape(document["signature"])}</code>
</html>
"""


def _signed_bytes(certificate: dict[str, Any]) -> bytes:
    return json.dumps(certificate, sort_keys=True, separators=(",", ":")).encode()
