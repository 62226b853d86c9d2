"""Invariants 17, 18, 20 and 25 for documents: what people wrote is there once, and all agree."""

from __future__ import annotations

from collections import Counter

from groupcore.sim.checkers.base import Checker, Violation, life
from groupcore.sim.checkers.document_pages import PageStream
from groupcore.sim.trace import Trace
from groupcore.sim.trace_documents import (
    DocumentAnswered,
    DocumentCalled,
    DocumentDropped,
    DocumentEnd,
    DocumentGone,
    DocumentHash,
    DocumentParted,
    DocumentSaved,
    DocumentTwice,
    DocumentWaits,
)

Key = tuple[str, str, int]
"""A person's call of an object."""


class DocumentReplicas(Checker):
    """17: all copies of an outline or a block are equal at equal positions, and in the end."""

    number, name = 17, "document-replicas"

    def scan(self, trace: Trace, found: list[Violation]) -> None:
        """The hashes; positions of two stretches of the order, or epochs, do not compare."""
        first: dict[tuple[str, int, str, int], DocumentHash] = {}
        for one in trace.of(DocumentHash):
            place = one.object, one.epoch, one.birth, one.position
            other = first.setdefault(place, one)
            if other.sh != one.sh:
                text = (
                    f"{life(one.n, one.inc)} has another {one.object} at {one.position} of "
                    f"{one.birth} than {life(other.n, other.inc)}"
                )
                found.append(self.breach(one.t, (one.n, other.n), text))
        for parted in trace.of(DocumentParted):
            found.append(self.breach(parted.t, (parted.n,), parted.text))
        ends = trace.of(DocumentEnd)
        for end in ends[1:]:
            if (end.title, end.blocks) != (ends[0].title, ends[0].blocks):
                text = f"{life(end.n, end.inc)} ends with another text than {ends[0].n}"
                found.append(self.breach(end.t, (end.n, ends[0].n), text))


class DocumentTexts(Checker):
    """18: what a person was told to be done and saved is in the document, or was deleted.

    A text that has gone with a deleted block, or that its author has got back, is not lost.
    """

    number, name = 18, "document-saved"

    def scan(self, trace: Trace, found: list[Violation]) -> None:
        """Each character that was typed, at the end."""
        ends = trace.of(DocumentEnd)
        if not ends or trace.healed_at is None:
            return
        saved: dict[tuple[str, str], int] = {}
        for told in trace.of(DocumentSaved):
            place = told.person, told.object
            saved[place] = max(told.number, saved.get(place, 0))
        answers = trace.once(answers_of)
        dropped = trace.once(dropped_calls)
        out = trace.once(excused)
        there = set().union(*(text for _, text in ends[0].blocks))
        for call in trace.of(DocumentCalled):
            key = call.person, call.object, call.number
            answer = answers.get(key)
            if answer is None or answer.code or key in dropped:
                continue
            if saved.get((call.person, call.object), 0) < call.number:
                continue
            if call.operation == "rename":
                continue
            lost = "".join(one for one in call.typed if one not in there and one not in out)
            if lost:
                text = f"{lost} of {call.person} ({call.object} {call.number}) is saved and nowhere"
                found.append(self.breach(ends[0].t, (), text))


class DocumentOnce(Checker):
    """20: a call is done once, has one answer for ever, and no text is in two places."""

    number, name = 20, "document-once"

    def scan(self, trace: Trace, found: list[Violation]) -> None:
        """Answers, screens, and ends."""
        answers: dict[Key, DocumentAnswered] = {}
        for one in trace.of(DocumentAnswered):
            other = answers.setdefault((one.person, one.object, one.number), one)
            if (other.code, other.draft) != (one.code, one.draft):
                text = f"{one.person} was told {one.code!r} of what had been {other.code!r}"
                found.append(self.breach(one.t, (), text))
            if one.code == "call_differs":
                text = f"{one.person}'s call {one.number} of {one.object}, asked again, is another"
                found.append(self.breach(one.t, (), text))
        for twice in trace.of(DocumentTwice):
            text = f"{life(twice.n, twice.inc)} would show {twice.text} in two places"
            found.append(self.breach(twice.t, (twice.n,), text))
        refused: dict[str, str] = {}
        dropped = trace.once(dropped_calls)
        asked: Counter[str] = Counter()
        for call in trace.of(DocumentCalled):
            key = call.person, call.object, call.number
            answer = answers.get(key)
            why = "" if answer is None or answer.code == "result_lost" else answer.code
            for one_typed in call.typed:
                asked[one_typed] += 1
                if why or key in dropped:
                    refused[one_typed] = why or "dropped"
        for end in trace.of(DocumentEnd):
            counts = Counter("".join(text for _, text in end.blocks))
            drafts = set(end.drafts)
            for one_there, count in sorted(counts.items()):
                if count > 1 or one_there in drafts:
                    text = f"{life(end.n, end.inc)} has {one_there} {count} times, and as a draft"
                    text = text if one_there in drafts else text.removesuffix(", and as a draft")
                    found.append(self.breach(end.t, (end.n,), text))
                if asked[one_there] == 1 and one_there in refused:
                    text = f"{one_there} is there, and its author has it back: {refused[one_there]}"
                    found.append(self.breach(end.t, (end.n,), text))


class DocumentSettles(Checker):
    """25: soon after healing every call is answered and saved, and nothing is owed.

    Outline and blocks fit together: a block that is in the outline has a text, and only those.
    """

    number, name = 25, "document-settles"

    def scan(self, trace: Trace, found: list[Violation]) -> None:
        """The end."""
        for waits in trace.of(DocumentWaits):
            found.append(self.breach(waits.t, (), f"{waits.person} waits: {waits.text}"))
        for end in trace.of(DocumentEnd):
            for wrong in end.wrong:
                text = f"{life(end.n, end.inc)}: {wrong}"
                found.append(self.breach(end.t, (end.n,), text))


def answers_of(trace: Trace) -> dict[Key, DocumentAnswered]:
    """What people were told of their calls."""
    told = trace.of(DocumentAnswered)
    return {(one.person, one.object, one.number): one for one in told}


def dropped_calls(trace: Trace) -> set[Key]:
    """What people know to be not done, or lost."""
    return {(one.person, one.object, one.number) for one in trace.of(DocumentDropped)}


def excused(trace: Trace) -> set[str]:
    """The characters that need not be there: erased, deleted, or with their author again."""
    out = set().union(*(call.erased for call in trace.of(DocumentCalled)))
    out |= set().union(*(gone.text for gone in trace.of(DocumentGone)))
    out |= set().union(*(answer.draft for answer in trace.of(DocumentAnswered)))
    return out | set().union(*(end.drafts for end in trace.of(DocumentEnd)))


DOCUMENT_CHECKERS: tuple[type[Checker], ...] = (
    DocumentReplicas,
    DocumentTexts,
    DocumentOnce,
    PageStream,
    DocumentSettles,
)
"""What holds for documents."""
