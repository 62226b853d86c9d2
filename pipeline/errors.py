"""What ends a job, said to the person who started it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(eq=False)
class PipelineError(Exception):
    """`code` is stable, for programs; `problem` and `remedy` are sentences for people."""

    code: str
    problem: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.problem} {self.remedy}"


def damaged_error(what: str) -> PipelineError:
    """The error for a segment that cannot be read; `what`: its path and why."""
    return PipelineError(
        "damaged_segment",
        f"A segment is damaged: {what}.",
        "Restore it from a copy, or pass it over with --skip-damaged: the audit names what is"
        " missing then.",
    )
