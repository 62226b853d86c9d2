"""What browsers report of a broken policy: counted, logged in plain words, and never trusted."""

from __future__ import annotations

import json
import logging

import pytest

from server.routes.reports import LOGGED_PER_MINUTE, Reports, lines_of

NEW = [
    {
        "type": "csp-violation",
        "body": {
            "effectiveDirective": "require-trusted-types-for",
            "blockedURL": "trusted-types-sink",
            "documentURL": "https://docs.example.org/doc/abc?token=secret#more",
        },
    }
]
OLD = {
    "csp-report": {
        "effective-directive": "script-src-elem",
        "blocked-uri": "https://name:word@evil.example/x.js?key=secret",
        "document-uri": "https://docs.example.org/",
    }
}


def test_both_formats_of_reports_become_a_line_without_what_may_be_secret() -> None:
    assert lines_of(json.dumps(NEW).encode()) == [
        "a page broke its policy: require-trusted-types-for by trusted-types-sink"
        " in https://docs.example.org/doc/abc"
    ]
    assert lines_of(json.dumps(OLD).encode()) == [
        "a page broke its policy: script-src-elem by https://evil.example/x.js"
        " in https://docs.example.org/"
    ]


@pytest.mark.parametrize(
    "body", [b"", b"\xff", b"[[[", b"7", b"[7]", b'{"body": 7}', b"[" * 100_000, b'"csp-report"']
)
def test_what_is_no_report_says_nothing(body: bytes) -> None:
    assert lines_of(body) == []


def test_a_report_cannot_break_the_log() -> None:
    hostile = {"body": {"effectiveDirective": "x\nERROR all is lost", "blockedURL": "http://[::1"}}
    [line] = lines_of(json.dumps(hostile).encode())
    assert "\n" not in line
    assert "cannot be read" in line


def test_reports_are_counted_and_only_some_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    now_s = 0.0
    reports = Reports(lambda: now_s)
    body = json.dumps(NEW).encode()
    with caplog.at_level(logging.WARNING, "server"):
        for _ in range(3 * LOGGED_PER_MINUTE):
            reports.take(body)
        assert (reports.count, len(caplog.records)) == (3 * LOGGED_PER_MINUTE, LOGGED_PER_MINUTE)
        now_s = 61.0
        reports.take(body)
    assert len(caplog.records) == LOGGED_PER_MINUTE + 1
