"""What a node shows of texts on their way: each is where it was until it is where it goes."""

from __future__ import annotations

from groupcore.objects.rich_delta import plain, rich
from groupcore.shared.documents import Block, DocumentOutline
from groupcore.shared.documents.parts import Parcel
from groupcore.shared.documents.shown import Shown


def born(name: str, text: str) -> Block:
    block = Block()
    block.accept("", name, Parcel(1, "birth", rich(text))).result()
    return block


def carry(source: Block, target: Block) -> None:
    """Bring all that the one owes to the other, which is not forgotten there."""
    for parcel in source.owes[target.name]:
        target.accept(source.name, target.name, parcel).result()


def test_a_text_that_was_passed_on_is_shown_by_who_has_passed_it_on_until_it_has_come() -> None:
    a, b, c = born("a", "A"), born("b", "B"), born("c", "C")
    shown = Shown(DocumentOutline(), {"a": a, "b": b, "c": c})

    def texts() -> list[str]:
        return [plain(shown.content(block) or ()) for block in "abc"]

    b.join("a").result()
    c.join("b").result()
    carry(b, a)
    assert texts() == ["AB", "", "C"]
    carry(c, b)
    assert texts() == ["AB", "C", ""]  # b owes it to a
    carry(b, a)
    assert texts() == ["ABC", "", ""]
