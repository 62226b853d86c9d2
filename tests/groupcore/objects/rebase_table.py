"""The table of docs/transactions.md, how concurrent changes meet, as cases.

Block `b` stands behind `a`; its text has five code points or more.
"""

from __future__ import annotations

from groupcore.objects import (
    Change,
    DeleteChange,
    InsertChange,
    JoinChange,
    MoveChange,
    SetChange,
    SplitChange,
    TextChange,
    TitleChange,
    Transaction,
)

TEXT = TextChange("b", (2, "x"))
CUT = TextChange("b", (1, -2))
DELETE = DeleteChange("b", "a")
JOIN = JoinChange("b", "c", 5, "a")
SPLIT = SplitChange("b", 3, "n", ())
MOVE = MoveChange("b", "d", "a")
BULLET = (("kind", "bullet"),)

TABLE: list[tuple[str, Change, Change, Transaction]] = [
    ("text over text", TEXT, TextChange("b", (2, "y")), (TextChange("b", (3, "x")),)),
    ("a pure deletion over delete", CUT, DELETE, ()),
    ("text over split", TextChange("b", (2, "x", 2, "y")), SPLIT,
     (TextChange("b", (2, "x")), TextChange("n", (1, "y")))),
    ("text at the split", TextChange("b", (3, "x")), SPLIT, (TextChange("b", (3, "x")),)),
    ("text over join", TEXT, JOIN, (TextChange("c", (7, "x")),)),
    ("insert behind a deleted block", InsertChange("z", "b", (), ""), DELETE,
     (InsertChange("z", "a", (), ""),)),
    ("insert behind a moved block", InsertChange("z", "b", (), ""), MOVE,
     (InsertChange("z", "a", (), ""),)),
    ("insert behind a split block", InsertChange("z", "b", (), ""), SPLIT,
     (InsertChange("z", "n", (), ""),)),
    ("insert at one place", InsertChange("z", "b", (), ""), InsertChange("y", "b", (), ""),
     (InsertChange("z", "y", (), ""),)),
    ("split over text", SPLIT, TextChange("b", (3, "xy")), (SplitChange("b", 5, "n", ()),)),
    ("split before a split", SplitChange("b", 3, "m", ()), SPLIT, (SplitChange("b", 3, "m", ()),)),
    ("split behind a split", SplitChange("b", 4, "m", ()), SPLIT, (SplitChange("n", 1, "m", ()),)),
    ("split over delete", SPLIT, DELETE, ()),
    ("split over join", SPLIT, JOIN, (SplitChange("c", 8, "n", ()),)),
    ("set over delete", SetChange("b", BULLET), DELETE, ()),
    ("set over join", SetChange("b", BULLET), JOIN, ()),
    ("set over set", SetChange("b", BULLET), SetChange("b", (("kind", "code"),)),
     (SetChange("b", BULLET),)),
    ("move over delete", MOVE, DELETE, ()),
    ("move over join", MOVE, JOIN, ()),
    ("move over move", MOVE, MoveChange("b", "e", "a"), (MoveChange("b", "d", "e"),)),
    ("move over split", MOVE, SPLIT, (MOVE, MoveChange("n", "b", "a"))),
    ("delete over delete", DELETE, DELETE, ()),
    ("delete over split", DELETE, SPLIT, (DELETE, DeleteChange("n", "a"))),
    ("delete over join", DELETE, JOIN, ()),
    ("delete over a join into it", DeleteChange("c", None), JOIN, (TextChange("c", (-5,)),)),
    ("join over delete", JOIN, DELETE, ()),
    ("join over join", JOIN, JoinChange("b", "d", 1, "a"), ()),
    ("join into a deleted block", JOIN, DeleteChange("c", None), ()),
    ("join into a joined block", JOIN, JoinChange("c", "d", 4, None),
     (JoinChange("b", "d", 9, "a"),)),
    ("join into a split block", JOIN, SplitChange("c", 2, "n", ()),
     (JoinChange("b", "n", 3, "a"),)),
    ("join of a split block", JOIN, SPLIT, (JOIN, MoveChange("n", "c", "a"))),
    ("join of a split block into the one before", JoinChange("b", "a", 5, "a"), SPLIT,
     (JoinChange("b", "a", 5, "a"),)),
    ("two joins into each other", JOIN, JoinChange("c", "b", 3, None), ()),
    ("title over title", TitleChange("mine"), TitleChange("theirs"), (TitleChange("mine"),)),
]  # fmt: skip

REFUSED: list[tuple[str, Change, Change]] = [
    ("text over delete", TEXT, DELETE),
    ("one id inserted twice", InsertChange("n", "b", (), ""), InsertChange("n", "a", (), "")),
    ("one id inserted and split off", InsertChange("n", "b", (), ""), SPLIT),
    ("one id split off and inserted", SPLIT, InsertChange("n", "b", (), "")),
    ("one id split off twice", SPLIT, SplitChange("a", 1, "n", ())),
]
