"""The test that matters: whoever dies whenever, all replicas are equal, and each character is in
the document once, unless somebody has deleted it or its author has got it back."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from groupcore.objects.rich_delta import RichDelta, divide
from groupcore.shared.documents import late_edits
from groupcore.shared.documents.handing import Handing
from groupcore.shared.documents.parts import Parcel
from groupcore.shared.documents.tending import Tender
from tests.groupcore.shared.documents.typists import play

Plant = Callable[[pytest.MonkeyPatch], None]


def check(seeds: range) -> int:
    """Play these days; how much was done elsewhere than where it was meant."""
    moved = 0
    for seed in seeds:
        wrong, ledger = play(seed)
        assert not wrong, f"seed {seed}: {wrong}"
        moved += ledger.done["moved"]
    return moved


def test_nothing_is_lost_or_doubled_by_typists_and_deaths() -> None:
    assert check(range(8))


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 500, 100))
def test_nothing_is_lost_or_doubled_on_500_days(first: int) -> None:
    assert check(range(first, first + 100)) > 10


def take_twice(patch: pytest.MonkeyPatch) -> None:
    """Parcels are taken as often as they come."""
    patch.setattr(Handing, "_has", lambda self, source, number: False)


def forget_behind(patch: pytest.MonkeyPatch) -> None:
    """What a late edit does behind a split is dropped."""

    def half(delta: RichDelta, at: int) -> tuple[RichDelta, RichDelta]:
        return divide(delta, at)[0], ()

    patch.setattr(late_edits, "divide", half)


def believe_all(patch: pytest.MonkeyPatch) -> None:
    """Who gave a text does not hear that it was refused."""
    patch.setattr(Handing, "_outcome", lambda self, source, parcel: "done")


def forget_early(patch: pytest.MonkeyPatch) -> None:
    """Who gave a text forgets it when one node has it."""
    patch.setattr(Tender, "_may_forget", lambda self, block, source: True)


def carry_nothing_for_the_dead(patch: pytest.MonkeyPatch) -> None:
    """Only who has split or joined a block carries."""

    def mine(tender: Tender, block: Handing, parcel: Parcel) -> bool:
        return parcel.by.startswith(tender._host.process.node.name)

    patch.setattr(Tender, "_is_mine", mine)


@pytest.mark.parametrize(
    ("plant", "seeds"),
    [
        (take_twice, range(5)),
        (forget_behind, range(30)),
        (believe_all, range(60)),
        (forget_early, range(10, 40)),
        (carry_nothing_for_the_dead, range(60)),
    ],
)
def test_a_planted_bug_is_found(
    plant: Plant, seeds: range, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    assert any(play(seed)[0] for seed in seeds)
