"""Plots as SVG: bars over days, and a graph of who works with whom. No script; light and dark."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Final

WIDTH, HEIGHT = 640, 200
"""Of the bars, in units of the drawing."""
_LEFT, _RIGHT, _BOTTOM, _TOP = 56, 24, 24, 12
GRAPH_HEIGHT: Final = 400
"""Of the graph, which is as wide as the bars: names stand on either side."""

STYLE: Final = """
svg { width: 100%; height: auto; max-width: 640px; display: block }
svg text { fill: currentColor; font: 12px system-ui, sans-serif }
.bar { fill: light-dark(#2563eb, #7aa7ff) }
.axis { stroke: currentColor; stroke-opacity: .35 }
.edge { stroke: light-dark(#2563eb, #7aa7ff); stroke-opacity: .6 }
.person { fill: light-dark(#fff, #1b1b1f); stroke: currentColor }
"""
"""What a page with plots needs; `color-scheme: light dark` has to be set."""


def bars(values: Sequence[tuple[str, float]], label: str) -> str:
    """One bar for each name, in turn; `label` says what they show, also to who cannot see them."""
    high = max((value for _, value in values), default=0.0) or 1.0
    step = (WIDTH - _LEFT - _RIGHT) / max(1, len(values))
    room = HEIGHT - _BOTTOM - _TOP
    every = max(1, math.ceil(len(values) / 8))
    parts = [_begin(WIDTH, HEIGHT, label)]
    for share in (0.0, 0.5, 1.0):
        y = HEIGHT - _BOTTOM - room * share
        parts.append(
            f'<line class="axis" x1="{_LEFT}" x2="{WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
        )
        parts.append(
            f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{_short(high * share)}</text>'
        )
    for place, (name, value) in enumerate(values):
        size = room * value / high
        x = _LEFT + place * step + step * 0.1
        parts.append(
            f'<rect class="bar" x="{x:.1f}" y="{HEIGHT - _BOTTOM - size:.1f}"'
            f' width="{step * 0.8:.1f}" height="{size:.1f}"><title>{escape(name)}:'
            f" {value:,.0f}</title></rect>"
        )
        if place % every == 0:
            parts.append(
                f'<text x="{x + step * 0.4:.1f}" y="{HEIGHT - 6}" text-anchor="middle">'
                f"{escape(name)}</text>"
            )
    return "".join([*parts, "</svg>"])


def graph(edges: Mapping[tuple[str, str], float], label: str) -> str:
    """People on a circle, lines between who works together: the thicker the more."""
    people = sorted({person for pair in edges for person in pair})
    if not people:
        return ""
    middle, centre, radius = WIDTH / 2, GRAPH_HEIGHT / 2, GRAPH_HEIGHT / 2 - 40
    places = {
        person: (
            middle + radius * math.sin(2 * math.pi * place / len(people)),
            centre - radius * math.cos(2 * math.pi * place / len(people)),
        )
        for place, person in enumerate(people)
    }
    high = max(edges.values())
    parts = [_begin(WIDTH, GRAPH_HEIGHT, label)]
    for (one, other), weight in sorted(edges.items(), key=lambda edge: edge[1]):
        (x1, y1), (x2, y2) = places[one], places[other]
        parts.append(
            f'<line class="edge" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
            f' stroke-width="{1 + 5 * weight / high:.1f}"><title>{escape(one)} and'
            f" {escape(other)}: {weight:,.0f}</title></line>"
        )
    for person, (x, y) in places.items():
        anchor = "middle" if abs(x - middle) < 20 else "start" if x > middle else "end"
        away = 0 if anchor == "middle" else 12 if anchor == "start" else -12
        down = 4 if away else 24 if y > centre else -14
        parts.append(f'<circle class="person" cx="{x:.1f}" cy="{y:.1f}" r="6"/>')
        parts.append(
            f'<text x="{x + away:.1f}" y="{y + down:.1f}" text-anchor="{anchor}">'
            f"{escape(_cut(person))}</text>"
        )
    return "".join([*parts, "</svg>"])


def _begin(width: int, height: int, label: str) -> str:
    return f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{escape(label)}">'


def _short(value: float) -> str:
    """A number that fits beside an axis."""
    for unit, size in (("M", 1e6), ("k", 1e3)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value:.3g}"


def _cut(name: str) -> str:
    return name if len(name) <= 16 else f"{name[:15]}…"
