"""The vectors in docs are what the code does."""

from __future__ import annotations

import pytest

from tests.groupcore.objects.vectors import FILES, FOLDER, as_text


@pytest.mark.parametrize("name", FILES)
def test_the_vectors_are_up_to_date(name: str) -> None:
    stored = (FOLDER / name).read_text(encoding="utf-8")
    assert stored == as_text(FILES[name]()), (
        f"docs/vectors/{name} is stale; run: python -m tests.groupcore.objects.vectors"
    )
