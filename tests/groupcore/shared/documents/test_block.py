"""Blocks by themselves: what they give, take, and do with edits that come late."""

from __future__ import annotations

import pytest

from groupcore.objects.refusal import (
    BadChangeError,
    BlockDeletedError,
    BlockExistsError,
    NoSuchBlockError,
    OutOfRangeError,
    TooLargeError,
)
from groupcore.objects.rich_delta import Format, RichDelta, Run, canonical, plain, rich
from groupcore.shared import ForbiddenError
from groupcore.shared.access import Right
from groupcore.shared.documents import Block, Elsewhere
from groupcore.shared.documents.limits import BLOCK_MAX
from groupcore.shared.documents.parts import PART, BlockOpened, Edited, Parcel


def born(name: str, text: str) -> Block:
    block = Block()
    block.accept("", name, Parcel(1, "birth", rich(text), attributes=(("type", "quote"),))).result()
    return block


def typed(at: int, text: str) -> RichDelta:
    return canonical([at, Run(text)])


def carry(source: Block, target: Block) -> list[str]:
    """Bring all that the one owes to the other, and say so."""
    outcomes: list[str] = []
    for parcel in list(source.owes.get(target.name or "new", [])):
        name = target.name or "new"
        outcomes.append(target.accept(source.name, name, parcel).result())
        if outcomes[-1] == "refused" and parcel.kind != "edit":
            source.take_back(name, parcel.number).result()
    if source.owes:
        source.handed(target.name, source._given[target.name]).result()
    return outcomes


def text(block: Block) -> str:
    return plain(block.content)


def test_a_block_has_no_text_before_it_is_given_one() -> None:
    block = Block()
    for call in (
        lambda: block.edit(0, typed(0, "x")),
        lambda: block.split(0, 0, "n"),
        lambda: block.join("n"),
        lambda: block.delete(),
    ):
        with pytest.raises(NoSuchBlockError):
            call().result()
    block.accept("", "b", Parcel(1, "birth", rich("abc"))).result()
    assert (text(block), block.status, block.version) == ("abc", "open", 0)


def test_a_split_gives_the_end_away_and_owes_it_until_it_is_there() -> None:
    block, new = born("b", "abcdef"), Block()
    assert block.split(0, 3, "new", (("type", "todo"),)).result() is None
    assert text(block) == "abc"
    assert plain(block.owes["new"][0].delta) == "def"  # type: ignore[arg-type]
    assert carry(block, new) == ["done"]
    assert (text(new), dict(new.attributes), dict(block.owes)) == ("def", {"type": "todo"}, {})


def test_a_parcel_is_taken_once_d2() -> None:
    block, new = born("b", "abcdef"), Block()
    block.split(0, 3, "new").result()
    parcel = block.owes["new"][0]
    new.accept("b", "new", parcel).result()
    new.edit(0, typed(3, "!")).result()
    assert new.accept("b", "new", parcel).result() == "done"
    assert text(new) == "def!"


def test_a_late_edit_that_straddles_a_split_is_done_in_both_d3() -> None:
    block, new = born("b", "abcdef"), Block()
    block.split(0, 3, "new").result()
    late = canonical([1, Run("X"), 1, -2, Run("Y"), 1, Format(1, (("bold", True),))])
    edited = block.edit(0, late, "ann").result()
    assert edited == Edited(2, (("new", 2),))
    assert carry(block, new) == ["done", "done"]
    assert text(block) + "|" + text(new) == "aXbY|ef"
    assert new.content[-1] == Run("f", (("bold", True),))


def test_a_late_edit_finds_its_way_through_several_splits_in_a_row() -> None:
    block, new, third = born("b", "abcdef"), Block(), Block()
    block.split(0, 4, "new").result()
    block.split(0, 2, "third").result()
    edited = block.edit(0, canonical([1, Run("1"), 2, Run("2"), 2, Run("3")])).result()
    assert [name for name, _ in edited.moved] == ["new", "third"]
    for parcel in list(block.owes["new"]):
        new.accept("b", "new", parcel).result()
    for parcel in list(block.owes["third"]):
        third.accept("b", "third", parcel).result()
    assert (text(block), text(third), text(new)) == ("a1b", "c2d", "e3f")


def test_a_late_edit_follows_what_was_split_of_what_was_split() -> None:
    block, new, third = born("b", "abcdef"), Block(), Block()
    block.split(0, 2, "new").result()
    carry(block, new)
    new.edit(0, typed(0, "~")).result()
    new.split(1, 3, "third").result()
    block.edit(0, typed(5, "X")).result()
    carry(block, new)
    for parcel in list(new.owes["third"]):
        third.accept("new", "third", parcel).result()
    assert (text(block), text(new), text(third)) == ("ab", "~cd", "eXf")


def test_a_late_split_is_told_where_its_place_is() -> None:
    block, new = born("b", "abcdef"), Block()
    block.split(0, 2, "new").result()
    assert block.split(0, 5, "third").result() == Elsewhere("new", 1, 3)
    assert block.split(0, 2, "there").result() is None
    carry(block, new)
    new.join("b").result()
    assert new.split(0, 1, "fourth").result() == Elsewhere("b", 1, 1)


def test_a_joined_block_gives_its_text_and_late_edits_follow_it() -> None:
    block, into = born("b", "def"), born("a", "abc")
    assert block.join("a").result()
    into.edit(0, typed(0, "__")).result()
    edited = block.edit(0, typed(1, "X"), "ann").result()
    assert (edited.moved, edited.draft) == ((("a", 2),), ())
    assert carry(block, into) == ["done", "done"]
    assert (text(into), text(block), block.status) == ("__abcdXef", "", "joined")
    assert not block.join("c").result()


def test_what_comes_late_to_the_end_of_a_text_stays_before_what_was_joined_to_it() -> None:
    block, into = born("b", "def"), born("a", "abc")
    block.edit(0, typed(0, "<")).result()
    block.join("a").result()
    carry(block, into)
    into.edit(0, typed(3, "X")).result()
    assert text(into) == "abcX<def"
    block.edit(1, typed(0, "Y")).result()
    block.edit(1, typed(4, ">")).result()
    carry(block, into)
    assert text(into) == "abcXY<def>"


def test_what_was_typed_at_the_end_of_a_text_stays_there_when_another_one_is_joined_to_it() -> None:
    block, into = born("b", "def"), born("a", "abc")
    block.join("a").result()
    into.edit(0, typed(3, "1")).result()
    carry(block, into)
    into.edit(1, typed(4, "2")).result()
    block.edit(0, typed(0, "X")).result()
    carry(block, into)
    assert text(into) == "abc12Xdef"


def test_the_history_names_the_parcels_that_texts_and_edits_came_in() -> None:
    block, into = born("b", "def"), born("a", "abc")
    block.join("a").result()
    into.edit(0, typed(0, "__")).result()
    block.edit(0, typed(1, "X"), "ann").result()
    carry(block, into)
    named = [(step.new, step.frame, step.at) for step in into.recent(0) or ()]
    assert named == [("", 0, 0), ("b", 1, 0), ("b", 2, PART)]


def test_what_was_split_off_can_be_joined_again_and_late_edits_come_home() -> None:
    block, new = born("b", "abcdef"), Block()
    block.split(0, 3, "new").result()
    carry(block, new)
    new.join("b").result()
    carry(new, block)
    assert text(block) == "abcdef"
    block.edit(0, typed(5, "X")).result()
    carry(block, new)
    carry(new, block)
    assert (text(block), dict(block.owes), dict(new.owes)) == ("abcdeXf", {}, {})


def test_a_text_that_comes_to_a_joined_block_is_passed_on() -> None:
    a, b, c = born("a", "A"), born("b", "B"), born("c", "C")
    b.join("a").result()
    c.join("b").result()
    assert carry(c, b) == ["done"]
    c.edit(0, typed(1, "!")).result()
    carry(c, b)
    carry(b, a)
    assert text(a) == "ABC!"


def test_two_blocks_that_are_joined_into_each_other_both_stay() -> None:
    a, b = born("a", "A"), born("b", "B")
    a.join("b").result()
    b.join("a").result()
    a.edit(0, typed(1, "!")).result()
    assert carry(a, b) == ["refused", "refused"]
    assert carry(b, a) in (["refused"], ["done"])
    assert sorted(text(a) + text(b)) == ["!", "A", "B"]
    assert "open" in (a.status, b.status)


def test_a_text_that_a_deleted_block_refuses_is_taken_back_with_late_edits() -> None:
    a, b = born("a", "A"), born("b", "bcd")
    a.delete().result()
    b.join("a").result()
    b.edit(0, typed(1, "X")).result()
    b.edit(0, typed(2, "Y")).result()
    assert carry(b, a)[0] == "refused"
    assert (text(b), b.status) == ("bXcYd", "open")
    b.edit(0, typed(3, "Z")).result()  # made before the join: it was never away
    assert text(b) == "bXcYdZ"
    assert not b.take_back("a", 1).result()


def test_each_text_that_was_passed_on_is_taken_back_to_its_own_place() -> None:
    a, b = born("a", "A"), born("b", "abc")
    a.delete().result()
    b.join("a").result()
    b.accept("z", "b", Parcel(1, "append", rich("ghi"))).result()
    assert (b.frames["z:1"].to, b.frames["z:1"].frame) == ("a", 2)
    assert b.take_back("a", 1).result()
    assert (b.frames["z:1"].to, b.frames["z:1"].frame) == ("a", 2), "it is still away"
    assert b.take_back("a", 2).result()
    assert (b.frames["z:1"].to, b.frames["z:1"].offset, text(b)) == ("", 3, "abcghi")
    assert not b.take_back("a", 2).result()


def test_a_text_that_has_come_back_to_who_passed_it_on_is_there_as_any_text_that_comes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told: list[object] = []
    monkeypatch.setattr(Block, "emit", lambda _, detail: told.append(detail))
    a, b = born("a", "A"), born("b", "abc")
    a.delete().result()
    b.join("a").result()
    b.accept("z", "b", Parcel(1, "append", rich("ghi"))).result()
    b.take_back("a", 1).result()
    before = b.version
    b.take_back("a", 2).result()
    opened = [one.back for one in told if isinstance(one, BlockOpened)]
    assert opened == [("", 0), ("", 0), ("a", 1), ("a", 2)]
    step = b._recent[-1]
    assert (step.new, step.frame, step.is_text) == ("z", 1, True)
    b.edit(before, typed(3, "X")).result()  # at the end, by somebody who has not seen it
    assert text(b) == "abcXghi"


def test_what_comes_back_is_not_taken_for_what_has_come_with_its_number() -> None:
    a, b = born("a", "A"), born("b", "b" * BLOCK_MAX)
    a.delete().result()
    b.accept("a", "b", Parcel(2, "edit", typed(0, "P"), frame=1, author="ann")).result()
    b.join("a").result()
    assert b.edit(0, typed(0, "Q"), "bob").result().moved == (("a", 2),)
    assert b.take_back("a", 1).result()
    drafts = {key: (one.author, plain(one.content)) for key, one in b.drafts.items()}
    assert drafts == {"a:2": ("ann", "P"), ">a:2": ("bob", "Q")}


def test_a_late_edit_of_a_deleted_block_comes_back_as_a_draft() -> None:
    block = born("b", "abc")
    block.delete().result()
    edited = block.edit(0, canonical([1, Run("X"), -1, Run("Y")])).result()
    assert (plain(edited.draft), edited.moved, text(block)) == ("XY", (), "")
    with pytest.raises(BlockDeletedError):
        block.split(0, 1, "new").result()


def test_an_edit_that_was_sent_on_into_a_deleted_block_waits_there_for_its_author() -> None:
    block, new = born("b", "abcdef"), Block()
    block.split(0, 3, "new").result()
    carry(block, new)
    new.delete().result()
    block.edit(0, typed(4, "X"), "ann").result()
    assert carry(block, new) == ["drafted"]
    [(key, draft)] = new.drafts.items()
    assert (key, draft.author, plain(draft.content)) == ("b:2", "ann", "X")
    assert new.accept("b", "new", Parcel(2, "edit", (), 1)).result() == "drafted"
    new.took_draft(key).result()
    assert not new.drafts


def test_a_parcel_that_cannot_be_done_becomes_a_draft_and_those_behind_it_come_d4() -> None:
    block, new = born("b", "abcdef"), Block()
    block.split(0, 3, "new").result()
    block.edit(0, canonical([5, Run("X"), 50, Run("far")]), "mad").result()
    block.edit(0, typed(6, "!"), "ann").result()
    assert carry(block, new) == ["done", "drafted", "done"]
    assert text(new) == "def!"


def test_undoing_an_edit_whose_text_has_gone_takes_it_out_where_it_is() -> None:
    block, new = born("b", "abcdef"), Block()
    version = block.edit(0, typed(4, "XX")).result().version
    block.split(version, 3, "new").result()
    block.edit(version, canonical([4, -2])).result()
    carry(block, new)
    assert (text(block), text(new)) == ("abc", "def")


def test_what_is_too_large_or_wrong_is_refused_and_nothing_is_done() -> None:
    block = born("b", "abc")
    with pytest.raises(TooLargeError):
        block.edit(0, typed(0, "x" * BLOCK_MAX)).result()
    heavy = tuple([Run("𝄞" * 50, (("a", n), ("b", "y" * 1_990))) for n in range(30)])
    with pytest.raises(TooLargeError):
        block.edit(0, heavy).result()
    with pytest.raises(OutOfRangeError):
        block.split(block.version, BLOCK_MAX, "new").result()
    with pytest.raises(BlockExistsError):
        block.split(block.version, 0, "b").result()
    for wrong in ("b", "", "a:b", "x" * 65):
        with pytest.raises(BadChangeError):
            block.join(wrong).result()
    with pytest.raises(BadChangeError):
        block.split(block.version, 0, "a/b").result()
    with pytest.raises(BadChangeError):
        block.set({"Type": 1}).result()
    with pytest.raises(TooLargeError):
        block.split(block.version, 0, "n", (("type", "x" * 3_000),)).result()
    with pytest.raises(TooLargeError):
        block.set({f"a{n}": n for n in range(30)}).result()
    assert dict(block.attributes) == {"type": "quote"}


def test_attributes_are_set_and_removed_and_closed_blocks_have_no_more_say() -> None:
    block = born("b", "abc")
    block.set({"type": "heading", "level": 2, "checked": None}).result()
    block.set({"level": None}).result()
    assert dict(block.attributes) == {"type": "heading"}
    block.delete().result()
    block.set({"level": 3}).result()
    assert dict(block.attributes) == {"type": "heading"}


def test_a_block_judges_by_the_newest_list_that_it_was_told() -> None:
    block = born("b", "abc")
    block.follow(2, {}).result()
    block.follow(1, {"eve": Right.MANAGE}).result()
    assert not block.rights
    block.edit(0, typed(0, "x")).result()
    block.follow(3, {"ann": Right.WRITE}).result()
    assert block.may_call("ann", "edit")
    assert not block.may_call("bob", "edit")
    assert block.may_call("", "accept")
    assert not block.may_call("ann", "accept")
    assert not block.may_call("", "edit")
    assert block.may_call("", "delete"), "the outline has left it out"
    assert not block.may_call("bob", "delete")
    assert block.may_read("")
    assert not block.may_read("bob")
    with pytest.raises(ForbiddenError):
        block.edit(0, typed(0, "x")).result()


def cut_and_pasted(first: str, start: int, count: int) -> tuple[Block, Block]:
    """A block of which letters were cut out behind a version that others know, and pasted."""
    block, other = born("a", first), born("b", "<>")
    if count == len(first):
        block.delete().result()
    else:
        block.edit(0, canonical([start, -count]), "bob").result()
    other.edit(0, canonical([1, *rich(first[start : start + count])]), "bob").result()
    block.letters(0, start, count, "b", 1, 1).result()
    return block, other


def test_what_comes_late_to_letters_that_were_cut_out_goes_to_where_they_were_pasted() -> None:
    for at, wanted in [
        (0, ("[X]one  four", "<two three>")),
        (4, ("one [X] four", "<two three>")),
        (5, ("one  four", "<t[X]wo three>")),
        (13, ("one  four", "<two three[X]>")),
        (14, ("one  [X]four", "<two three>")),
    ]:
        block, other = cut_and_pasted("one two three four", 4, 9)
        block.edit(0, typed(at, "[X]"), "ann").result()
        carry(block, other)
        assert (text(block), text(other)) == wanted


def test_it_goes_on_with_them_when_they_are_cut_out_again_or_split_off() -> None:
    block, other = cut_and_pasted("one two", 0, 7)
    third = born("c", "")
    other.edit(1, canonical([5, -3]), "bob").result()
    third.edit(0, (Run("two"),), "bob").result()
    other.letters(1, 5, 3, "c", 1, 0).result()
    assert block.edit(0, typed(6, "X"), "ann").result().draft == ()
    carry(block, other)
    carry(other, third)
    assert [text(one) for one in (block, other, third)] == ["", "<one >", "twXo"]


def test_letters_are_where_they_were_said_to_stand_last() -> None:
    block, other = cut_and_pasted("one two three four", 4, 9)
    third = born("c", "three")
    block.letters(0, 8, 5, "c", 0, 0).result()
    block.edit(0, typed(9, "X"), "ann").result()
    block.edit(0, canonical([4, -9]), "ann").result()
    carry(block, other)
    carry(block, third)
    assert [text(one) for one in (block, other, third)] == ["one  four", "<three>", "X"]


def test_letters_that_are_back_in_their_block_are_not_where_they_were_pasted() -> None:
    block, other = cut_and_pasted("one two three four", 4, 9)
    block.edit(1, typed(4, "two three"), "bob").result()
    block.letters(0, 4, 9, "a", block.version, 4).result()
    block.edit(0, typed(5, "X"), "ann").result()
    carry(block, other)
    assert (text(block), text(other)) == ("one two threeX four", "<two three>")


def test_letters_may_be_named_before_they_are_taken_out() -> None:
    block, other = born("a", "one two"), born("b", "one two")
    block.letters(0, 0, 7, "b", 0, 0).result()
    block.edit(0, typed(3, "!"), "ann").result()
    assert (text(block), block.owes) == ("one! two", {})
    block.delete().result()
    block.edit(0, typed(7, "X"), "ann").result()
    carry(block, other)
    assert text(other) == "one twoX"


def test_what_others_wrote_while_a_block_was_cut_goes_after_its_letters() -> None:
    for seen, wanted in [(True, "one! two?"), (False, "one two?")]:
        block, other = born("a", "one two"), born("b", "one two")
        block.edit(0, typed(3, "!"), "ann").result()
        block.delete().result()
        block.letters(0, 0, 7, "b", 0, 0, seen).result()
        block.edit(1, typed(8, "?"), "ann").result()
        carry(block, other)
        assert text(other) == wanted


def test_a_block_that_nobody_had_written_in_may_have_been_cut() -> None:
    block, other = Block(), born("b", "one two")
    block.letters(0, 0, 7, "b", 0, 0).result()
    assert (block.status, block.version) == ("deleted", 1)
    block.edit(0, typed(3, "X"), "ann").result()
    for parcel in block.owes["b"]:
        other.accept("a", "b", parcel).result()
    assert text(other) == "oneX two"


def test_letters_that_cannot_be_are_refused_and_do_nothing() -> None:
    block, _ = cut_and_pasted("one two three four", 4, 9)
    before = list(block.again)
    for wrong in [
        (9, 0, 1, "b", 0, 0),
        (0, -1, 1, "b", 0, 0),
        (0, 0, 0, "b", 0, 0),
        (0, 0, BLOCK_MAX + 1, "b", 0, 0),
        (0, 0, 1, "a", 0, 0),
        (0, 0, 1, "here", 0, 0),
        (0, 0, 1, "b", -1, 0),
        (0, 0, 1, "b", 0, -1),
    ]:
        with pytest.raises(BadChangeError):
            block.letters(*wrong).result()
    assert block.again == before


def test_an_edit_does_not_go_round_for_ever_between_letters_that_name_each_other() -> None:
    one, other = born("a", "abc"), born("b", "abc")
    for block, there in [(one, "b"), (other, "a")]:
        block.delete().result()
        block.letters(0, 0, 3, there, 0, 0).result()
    one.edit(0, typed(1, "X"), "ann").result()
    for _ in range(40):
        carry(*((one, other) if one.owes else (other, one)))
        if not one.owes and not other.owes:
            break
    drafts = [*one.drafts.values(), *other.drafts.values()]
    assert [(draft.author, plain(draft.content)) for draft in drafts] == [("ann", "X")]
    assert not one.owes
    assert not other.owes


def test_a_paste_that_does_not_exist_makes_a_draft_of_what_comes_late() -> None:
    block, other = born("a", "one two"), born("b", "")
    block.delete().result()
    block.letters(0, 0, 7, "b", 70, 900).result()
    block.edit(0, typed(3, "X"), "ann").result()
    carry(block, other)
    assert [plain(one.content) for one in other.drafts.values()] == ["X"]


def test_what_one_goes_on_typing_is_not_torn_by_who_typed_at_that_place_while_away() -> None:
    """A types at the end; C has typed there, offline, and is ordered next; A's next letter, which
    left before A heard of C, belongs to A's word. Seen in a browser game (`make game GAMES=1
    SEED=3`, with a node that stood still for a second): `[A0008[C0009][C0008]]`.
    """
    block = born("b", "x")
    block.edit(0, (1, *rich("[A")), "A").result()
    block.edit(0, (1, *rich("[C]")), "C").result()
    block.edit(1, (3, *rich("]")), "A", True).result()
    assert plain(block.content) == "x[A][C]"


def test_a_word_is_not_torn_by_who_begins_one_at_its_end_while_it_is_typed() -> None:
    """B has seen A's half word and begins one right behind it; either may be first in the order."""
    for is_a_first in (True, False):
        block = born("b", "x[A")
        edits = [("]", "A", True), ("[B", "B", False)]
        for letters, author, extends in edits if is_a_first else edits[::-1]:
            block.edit(0, (3, *rich(letters)), author, extends).result()
        block.edit(2, (6, *rich("]")), "B", True).result()
        assert plain(block.content) == "x[A][B]"


def test_what_extends_a_word_does_so_where_that_went() -> None:
    """The word's block is split ahead of it, and somebody types at its end in the new block."""
    block, other = born("a", "one"), Block()
    block.edit(0, (3, *rich("[A")), "A").result()
    block.split(1, 3, "new").result()
    carry(block, other)
    other.edit(other.version, (2, *rich("[C]")), "C").result()
    block.edit(1, (5, *rich("]")), "A", True).result()
    carry(block, other)
    assert plain(other.content) == "[A][C]"


def test_of_two_marks_the_later_stands_also_where_an_edit_extends_a_word() -> None:
    block = born("b", "x")
    block.edit(0, (Format(1, (("bold", True),)),), "C").result()
    block.edit(0, (Format(1, (("bold", None),)), *rich("y")), "A", True).result()
    assert block.content == rich("xy")
