"""What a look at a document's screen finds, where every character is typed only once."""

from __future__ import annotations

from collections import Counter

from groupcore.objects.rich_delta import plain
from groupcore.shared.documents import Document


def shown_twice(document: Document) -> str:
    """The characters that stand in more than one place, sorted: there must be none."""
    text = "".join([plain(shown) for _, shown in document.screen() if shown])
    if len(set(text)) == len(text):
        return ""  # as it nearly always is, and looks are many
    return "".join(sorted(one for one, count in Counter(text).items() if count > 1))
