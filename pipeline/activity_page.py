"""The report of activity as a page that needs nothing else: plots, tables, no script."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from pipeline.plots import STYLE, bars, graph

EDGES_MAX = 60
"""Pairs in the graph: those who work together most."""


@dataclass(frozen=True)
class Activity:
    """What the page shows of some days; each sequence as the tables of `pipeline.activity`.

    `edits`: day, document, person, edits, bytes. `presence`: day, person, sessions, seconds.
    `together`: document, one, other, spans.
    """

    days: Sequence[str]
    edits: Sequence[tuple[str, str, str, int, int]]
    presence: Sequence[tuple[str, str, int, float]]
    together: Sequence[tuple[str, str, str, int]]


def page(shown: Activity, rows: int) -> str:
    """The page; tables have so many rows at most."""
    per_day = dict.fromkeys(shown.days, 0)
    for day, _, _, edits, _ in shown.edits:
        per_day[day] += edits
    seconds: dict[str, float] = dict.fromkeys(shown.days, 0.0)
    for day, _, _, length_s in shown.presence:
        seconds[day] += length_s
    edges: dict[tuple[str, str], float] = defaultdict(float)
    for _, one, other, spans in shown.together:
        edges[one, other] += spans
    most = dict(sorted(edges.items(), key=lambda edge: (-edge[1], edge[0]))[:EDGES_MAX])
    span = f"{shown.days[0]} to {shown.days[-1]}" if shown.days else "no day"
    edits_label, hours_label = "Edits a day", "Hours that people were there, a day"
    hours = [(day[5:], value / 3600) for day, value in seconds.items()]
    drawn = graph(most, "Who edits together") or "<p>Nobody has edited together with anybody."
    return f"""<!doctype html>
<html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Activity</title>
<style>
:root {{ color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }}
body {{ max-width: 60rem; margin: 2rem auto; padding: 0 1rem }}
.wide {{ overflow-x: auto }}
table {{ border-collapse: collapse; width: 100%; margin: 1rem 0 }}
th, td {{ text-align: left; padding: .25rem .5rem; border-bottom: 1px solid #8886 }}
td + td, th + th {{ text-align: right; font-variant-numeric: tabular-nums }}
{STYLE}</style>
<h1>Activity</h1>
<p>{escape(span)}. An edit is a message to a document. Its size is that of the message in bytes; how
many characters it adds is not known here.
<h2>{edits_label}</h2>
{bars([(day[5:], value) for day, value in per_day.items()], edits_label)}
<h2>{hours_label}</h2>
{bars(hours, hours_label)}
<h2>Documents</h2>
{_table(("Document", "Edits", "Bytes", "People"), _of_documents(shown.edits), rows)}
<h2>People</h2>
{_table(("Person", "Edits", "Bytes", "Documents", "Sessions", "Hours"), _of_people(shown), rows)}
<h2>Who edits together</h2>
<p>A line joins two people who have edited a document within the same five minutes.
{drawn}
</html>
"""


Row = tuple[str, ...]


def _of_documents(edits: Iterable[tuple[str, str, str, int, int]]) -> list[Row]:
    totals: Mapping[str, list[int]] = defaultdict(lambda: [0, 0])
    people: Mapping[str, set[str]] = defaultdict(set)
    for _, document, person, count, size in edits:
        totals[document][0] += count
        totals[document][1] += size
        people[document].add(person)
    ordered = sorted(totals.items(), key=lambda item: (-item[1][0], item[0]))
    return [
        (name, f"{count:,}", f"{size:,}", str(len(people[name]))) for name, (count, size) in ordered
    ]


def _of_people(shown: Activity) -> list[Row]:
    totals: Mapping[str, list[float]] = defaultdict(lambda: [0, 0, 0, 0.0])
    documents: Mapping[str, set[str]] = defaultdict(set)
    for _, document, person, count, size in shown.edits:
        totals[person][0] += count
        totals[person][1] += size
        documents[person].add(document)
    for _, person, sessions, seconds in shown.presence:
        totals[person][2] += sessions
        totals[person][3] += seconds
    ordered = sorted(totals.items(), key=lambda item: (-item[1][0], item[0]))
    return [
        (
            name,
            f"{edits:,.0f}",
            f"{size:,.0f}",
            str(len(documents[name])),
            f"{sessions:.0f}",
            f"{seconds / 3600:.1f}",
        )
        for name, (edits, size, sessions, seconds) in ordered
    ]


def _table(names: Sequence[str], rows: Sequence[Row], most: int) -> str:
    head = "".join(f'<th scope="col">{name}' for name in names)
    body = "".join("<tr>" + "".join(f"<td>{escape(c)}" for c in row) for row in rows[:most])
    left = len(rows) - most
    rest = f"<p>{left} more in the tables of the store." if left > 0 else ""
    return f'<div class="wide"><table><tr>{head}{body}</table></div>{rest}'
