"""The certificate: what an audit has checked, over what, with what result; and as a page."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from html import escape
from typing import Any

from pipeline.audit import RULES, Audited, Range

FORMAT = 1
"""The value of `format` in each certificate."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

RESULTS = {
    "kept": "The order was kept.",
    "broken": "The order was broken.",
    "nothing": "There was nothing to judge.",
}


def describe(audited: Audited, store: str, commit: int, now: datetime) -> dict[str, Any]:
    """What the certificate says; plain JSON values."""
    judged = sum(one.rows for one in audited.ranges.values())
    since = [one.since_us for one in audited.ranges.values()]
    until = [one.until_us for one in audited.ranges.values()]
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
            node: {
                "first": one.first,
                "last": one.last,
                "deliveries": one.rows,
                "since": _time(one.since_us),
                "until": _time(one.until_us),
            }
            for node, one in sorted(audited.ranges.items())
        },
        "deliveries": judged,
        "since": None if None in since else _time(min(filter(None, since), default=None)),
        "until": None if None in until else _time(max(filter(None, until), default=None)),
        "held": audited.held,
        "logs_with_gaps": audited.unsound,
        "sampled": list(audited.sampled),
    }


def described_ranges(certificate: Mapping[str, Any]) -> dict[str, Range]:
    """What was judged of each node, as a certificate says it; earlier ones say no times."""
    return {
        node: Range(
            one["first"],
            one["last"],
            one["deliveries"],
            _micros(one.get("since")),
            _micros(one.get("until")),
        )
        for node, one in certificate["nodes"].items()
    }


def _time(us: int | None) -> str | None:
    if us is None:
        return None
    return (EPOCH + timedelta(microseconds=us)).isoformat(timespec="microseconds")


def _micros(text: str | None) -> int | None:
    if text is None:
        return None
    return (datetime.fromisoformat(text) - EPOCH) // timedelta(microseconds=1)


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
        f"<td>{_shown(one['since'])}<td>{_shown(one['until'])}"
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
{_between(certificate)}
<div class="wide" tabindex="0" role="region" aria-label="Rules">
<table><tr><th>Rule<th>What it demands<th>Violations<th>Not auditable{rules}</table></div>
<h2>What was judged</h2>
<div class="wide" tabindex="0" role="region" aria-label="What was judged">
<table><tr><th>Node<th>First delivery<th>Last<th>Deliveries<th>From<th>Until{nodes}</table></div>
<ul>{said}</ul>
<h2>Signature</h2>
<p>Ed25519, key <code>{escape(document["key"])}</code>,
signature <code>{escape(document["signature"])}</code>
</html>
"""


def _between(certificate: Mapping[str, Any]) -> str:
    since, until = certificate["since"], certificate["until"]
    if since is None or until is None:
        return ""
    return f"They were made from {_shown(since)} to {_shown(until)}, by the nodes' clocks."


def _shown(time: str | None) -> str:
    return "not known" if time is None else f"<time>{escape(time)}</time>"
