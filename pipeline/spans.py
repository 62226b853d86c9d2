"""How the jobs about load are told which windows to look at, and how long a window is."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from datetime import UTC, datetime

from pipeline.loading import Span
from pipeline.transforms.load import WINDOW_S


def add_span(parser: ArgumentParser) -> None:
    """`--since`, `--until` and `--window`."""
    parser.add_argument("--since", type=moment, help="only windows that begin then or later (UTC)")
    parser.add_argument("--until", type=moment, help="only windows that begin before (UTC)")
    parser.add_argument(
        "--window",
        type=seconds,
        default=WINDOW_S,
        help="seconds of a window; days that were computed before keep theirs (%(default)s)",
    )


def span_of(arguments: Namespace) -> Span:
    """What was asked for."""
    return Span(arguments.since, arguments.until)


def moment(text: str) -> datetime:
    """A time as ISO 8601 writes it (UTC where it says no zone), or seconds since 1970."""
    try:
        if text.replace(".", "", 1).isdigit() and "-" not in text:
            return datetime.fromtimestamp(float(text), UTC)
        found = datetime.fromisoformat(text)
    except (ValueError, OverflowError, OSError):
        raise ArgumentTypeError(f"{text!r} is no time like 2026-11-22T13:00:00") from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def seconds(text: str) -> int:
    """Between one second and an hour."""
    if not text.isdigit() or not 1 <= int(text) <= 3_600:
        raise ArgumentTypeError(f"{text!r} is no number of seconds from 1 to 3600")
    return int(text)
