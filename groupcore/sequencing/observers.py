"""Who is in `strict` groups without counting in their overlaps.

Idea. Archivers and bots are in nearly every group; two of them would make one component of all
(S2), and one sequencer carry everything. Who joins as an observer gives up the order across groups:
it is given what a `causally-total` group promises, each group's total order and nothing before what
it rests on. Two observers may disagree about the order of two groups; no two members do.
"""

from __future__ import annotations

from groupcore.sequencing.attendance import Attendance


class Observers(Attendance):
    """The observers of the strict groups: few processes, each in very many groups.

    So there is no index by group, which would cost a set for each; `delete` asks each of them.
    """

    __slots__ = ()
