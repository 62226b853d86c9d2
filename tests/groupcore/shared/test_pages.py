"""The programs of docs/shared print what their pages say; every page has what a page must have."""

from __future__ import annotations

import pytest

from tests.groupcore.aio.pages import DOCS, Program, programs

PAGES = sorted(f"shared/{path.name}" for path in (DOCS / "shared").glob("*.md"))
PROGRAMS = [program for page in PAGES for program in programs(page).values()]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.page)
def test_a_program_prints_what_its_page_says(
    program: Program, capsys: pytest.CaptureFixture[str]
) -> None:
    assert program.printed is not None, f"{program.page} does not say what its program prints"
    program.run()
    assert capsys.readouterr().out == program.printed


@pytest.mark.parametrize("page", PAGES)
def test_a_page_says_what_for_when_not_how_and_what_can_go_wrong(page: str) -> None:
    text = (DOCS / page).read_text(encoding="utf-8")
    for part in ("**Use ", "**Do not ", "\n```python\n", "\n## API\n", "\n## Errors\n"):
        assert part in text.replace("**Do not\n", "**Do not "), f"{page} lacks {part.strip()!r}"
