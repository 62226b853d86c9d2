"""The certificate: what an audit has checked, over what, with what result; and as a page."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from html import escape
from typing import Any

from pipeline.audit import RULES, Audited, Range
from pipeline.lost import described

FORMAT = 2
"""The value of `format` in each certificate. 2 says what is unproved: `whole`, `lost`, and of each
node `proved`, `unproved`, `missing`, `share_proved`."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

RESULTS = {
    "kept": "The order was kept: every rule was held against every delivery.",
    "kept_in_part": "The order was kept as far as the logs go: not everything could be proved.",
    "broken": "The order was broken.",
    "nothing": "There was nothing to judge.",
}


def describe(audited: Audited, store: str, commit: int, now: datetime) -> dict[str, Any]:
    """What the certificate says; plain JSON values."""
    judged = sum(one.rows for one in audited.ranges.values())
    since = [one.since_us for one in audited.ranges.values()]
    until = [one.until_us for one in audited.ranges.values()]
    return {
        "format": FORMAT,
        "made": now.astimezone(UTC).isoformat(timespec="seconds"),
        "store": store,
        "commit": commit,
        "result": result_of(audited),
        "whole": audited.whole,
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
                **_share(one, sampled=node.partition("#")[0] in audited.sampled),
            }
            for node, one in sorted(audited.ranges.items())
        },
        "deliveries": judged,
        "since": None if None in since else _time(min(filter(None, since), default=None)),
        "until": None if None in until else _time(max(filter(None, until), default=None)),
        "held": audited.held,
        "lost": described(list(audited.lost), audited.lost),
        "segments_without_checksum": audited.unchecked,
        "sampled": list(audited.sampled),
    }


def result_of(audited: Audited) -> str:
    """One of `RESULTS`: `kept` only where nothing was left out and nothing was excused."""
    if not audited.clean:
        return "broken"
    if not any(one.rows for one in audited.ranges.values()):
        return "nothing"
    return "kept" if audited.whole else "kept_in_part"


def _share(one: Range, *, sampled: bool) -> dict[str, Any]:
    """How much of a node's life is proved: of the deliveries that are there and those that are
    known to be missing. Of sampled ones nobody knows how many are."""
    proved = one.rows - one.unproved
    total = one.rows + one.missing
    return {
        "proved": proved,
        "unproved": one.unproved,
        "missing": None if sampled else one.missing,
        # Rounded down: 1 means all.
        "share_proved": None if sampled else (proved * 10_000 // total) / 10_000,
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
            one.get("unproved", 0),
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
        f"<td>{one['unproved']}<td>{_known(one['missing'])}<td>{share_text(one)}"
        for node, one in certificate["nodes"].items()
    )
    notes = [f"{certificate['held']} deliveries wait for other nodes' logs and were not judged."]
    notes += [lost_text(one) for one in certificate["lost"]]
    if unchecked := certificate["segments_without_checksum"]:
        notes.append(f"{unchecked} segments have no checksum: damage in them could be overlooked.")
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
<table><tr><th>Node<th>First delivery<th>Last<th>Deliveries<th>From<th>Until\
<th>Unproved<th>Missing<th>Share proved{nodes}</table></div>
<ul>{said}</ul>
<h2>Signature</h2>
<p>Ed25519, key <code>{escape(document["key"])}</code>,
signature <code>{escape(document["signature"])}</code>
</html>
"""


def lost_text(one: Mapping[str, Any]) -> str:
    """A lost range in a sentence."""
    until = "the end" if one["to_off"] is None else f"row {one['to_off']}"
    return (
        f"The log {one['kind']} of {one['node']}, epoch {one['epoch']}, lacks row"
        f" {one['from_off']} to {until} ({one['why']}): what these rows would show is not proved."
    )


def share_text(one: Mapping[str, Any]) -> str:
    """The share of a node's deliveries that is proved, as percent."""
    share = one.get("share_proved")
    return "not known" if share is None else f"{100 * share:.2f} %"


def _known(value: int | None) -> str:
    return "not known" if value is None else str(value)


def _between(certificate: Mapping[str, Any]) -> str:
    since, until = certificate["since"], certificate["until"]
    if since is None or until is None:
        return ""
    return f"They were made from {_shown(since)} to {_shown(until)}, by the nodes' clocks."


def _shown(time: str | None) -> str:
    return "not known" if time is None else f"<time>{escape(time)}</time>"
