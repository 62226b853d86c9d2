"""The rules for documents, each tried on a planted mistake."""

import pytest

from scripts.tidy.documents import missing_paths, too_many_words, unlisted, unused_words
from scripts.tidy.sources import Source

PATHS = {"docs/README.md", "docs/a.md", "docs/b/c.md", "docs/d/README.md", "docs/d/e.md", "x/y.py"}


def test_a_document_with_too_many_words_is_found_with_its_count() -> None:
    document = Source("README.md", "one two\nthree")
    assert too_many_words(document, 3) == []
    (finding,) = too_many_words(document, 2)
    assert "3 words" in finding.remedy


def test_an_index_names_its_documents_and_leaves_the_rest_to_deeper_ones() -> None:
    index = Source("docs/README.md", "[a](a.md) [c](b/c.md#part)")
    (finding,) = unlisted(index, PATHS)
    assert "docs/d/README.md" in finding.remedy
    assert unlisted(Source("docs/README.md", index.text + "[d](d/README.md)"), PATHS) == []


def test_a_document_that_lacks_in_the_index_is_found() -> None:
    index = Source("docs/README.md", "[a](a.md) [d](d/README.md)")
    assert ["docs/b/c.md" in finding.remedy for finding in unlisted(index, PATHS)] == [True]


@pytest.mark.parametrize("path", ["x/z.py", "y.py", "z/", "x/y.ts", "docs/b/c.json"])
def test_a_path_that_does_not_exist_is_found_with_its_line(path: str) -> None:
    (finding,) = missing_paths(Source("docs/a.md", f"# A\n\nsee `{path}`\n"), PATHS)
    assert (finding.line, path in finding.remedy) == (3, True)


@pytest.mark.parametrize("text", ["x/y.py", "x/", "docs/b/", "deliver()", "GET /admin", "/livez"])
def test_what_exists_and_what_is_no_path_passes(text: str) -> None:
    assert missing_paths(Source("docs/a.md", f"see `{text}`"), PATHS) == []


def test_a_word_of_the_glossary_that_its_files_do_not_use_is_found_with_its_line() -> None:
    sources = [Source("x/y.py", "class ForwardTable: ..."), Source("z/a.py", "a hold-back queue")]
    rows = "| our word | where |\n|---|---|\n| forward-table, hold-back | `x/y.py` |\n"
    (finding,) = unused_words(Source("docs/glossary.md", rows), sources)
    assert (finding.line, "hold-back" in finding.remedy) == (3, True)
    assert (
        unused_words(Source("docs/glossary.md", rows.replace("`x/y.py`", "`x/`, `z/`")), sources)
        == []
    )
