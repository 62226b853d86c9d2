"""The house rules, checked on the repository itself (the rules: `scripts/tidy`)."""

import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from scripts import index_decisions
from scripts.tidy import documents, hygiene, protocols, python_habits, reachability, sizes
from scripts.tidy.sources import Finding, Source, read_sources, tracked_paths

ROOT = Path(__file__).parent.parent
CODE_SUFFIXES = (".py", ".ts", ".svelte", ".js", ".mjs", ".css", ".sh", ".toml", ".yml", "Makefile")
PYTHON_FOLDERS = ("groupcore/", "pipeline/", "server/", "tests/", "bench/", "scripts/")
OUTSIDE_THE_CORE = (
    "groupcore/aio/",
    "groupcore/blocks/",
    "groupcore/web/",
    "groupcore/sim/__main__.py",
    "groupcore/sim/explore/__main__.py",
)


@pytest.fixture(scope="module")
def sources() -> list[Source]:
    return read_sources(ROOT)


@pytest.fixture(scope="module")
def python(sources: Sequence[Source]) -> list[Source]:
    return [file for file in sources if file.path.endswith(".py")]


@pytest.fixture(scope="module")
def library(python: Sequence[Source]) -> list[Source]:
    return [file for file in python if file.path.startswith("groupcore/")]


@pytest.fixture(scope="module")
def ratchet() -> dict[str, dict[str, int]]:
    return tomllib.loads((ROOT / sizes.RATCHET_PATH).read_text(encoding="utf-8"))


def expect_none(findings: Iterable[Finding]) -> None:
    """Fail with one line a finding: file, line, remedy."""
    lines = [str(finding) for finding in sorted(findings)]
    if lines:
        pytest.fail("\n".join(["the house rules are broken:", *lines]), pytrace=False)


def test_no_file_is_too_long(sources: Sequence[Source], ratchet: dict[str, dict[str, int]]) -> None:
    files = [file for file in sources if file.path.endswith((".py", ".ts", ".svelte"))]
    expect_none(sizes.long_files(files, ratchet["files"]))


def test_no_function_is_too_long(
    python: Sequence[Source], ratchet: dict[str, dict[str, int]]
) -> None:
    expect_none(sizes.long_functions(python, ratchet["functions"]))


def test_every_layer_states_idea_place_source_and_invariants(library: Sequence[Source]) -> None:
    layers = protocols.layer_files(library)
    expect_none(finding for layer in layers for finding in protocols.missing_sections(layer))


def test_every_invariant_of_a_layer_is_named_in_its_test(python: Sequence[Source]) -> None:
    layers = protocols.layer_files(python)
    expect_none(
        finding for layer in layers for finding in protocols.untested_invariants(layer, python)
    )


def test_every_header_has_its_own_kind_and_is_described(library: Sequence[Source]) -> None:
    protocol = ROOT / protocols.PROTOCOL_PATH
    assert protocol.is_file(), f"{protocols.PROTOCOL_PATH} is missing: it describes every header"
    text = protocol.read_text(encoding="utf-8")
    expect_none(protocols.undescribed_headers(library, text))


def test_every_header_can_travel(library: Sequence[Source]) -> None:
    import groupcore.sequencing.headers
    import groupcore.stacks  # noqa: F401 (all layers)
    from groupcore.headers import CODES

    listed = {f"{header.__module__}.{header.__qualname__}" for header in CODES}
    expect_none(protocols.unlisted_headers(library, listed))


def test_no_test_sleeps(python: Sequence[Source]) -> None:
    tests = [file for file in python if file.path.startswith("tests/")]
    expect_none(finding for file in tests for finding in python_habits.sleeping_calls(file))


def test_the_core_draws_no_number_by_itself(library: Sequence[Source]) -> None:
    core = [file for file in library if not file.path.startswith(OUTSIDE_THE_CORE)]
    expect_none(finding for file in core for finding in python_habits.global_randomness(file))


def test_what_is_public_in_the_library_is_documented(library: Sequence[Source]) -> None:
    expect_none(python_habits.undocumented(library))


def test_every_module_is_imported_or_started(python: Sequence[Source]) -> None:
    ours = [file for file in python if file.path.startswith(PYTHON_FOLDERS)]
    expect_none(reachability.unreached_modules(ours))


def test_nothing_is_left_over(sources: Sequence[Source]) -> None:
    code = [file for file in sources if file.path.endswith(CODE_SUFFIXES)]
    expect_none(finding for file in code for finding in hygiene.leftovers(file))


def test_no_secret_path_or_host_is_in_the_repository(sources: Sequence[Source]) -> None:
    expect_none(finding for file in sources for finding in hygiene.private_words(file))


def test_no_link_between_documents_is_dead(sources: Sequence[Source]) -> None:
    documents = [file for file in sources if file.path.endswith(".md")]
    paths = set(tracked_paths(ROOT))
    expect_none(finding for file in documents for finding in hygiene.dead_links(file, paths))


def named(sources: Sequence[Source], path: str) -> Source:
    """The file of that path; there has to be one."""
    return next(file for file in sources if file.path == path)


def test_the_readme_is_for_a_first_reading(sources: Sequence[Source]) -> None:
    expect_none(documents.too_many_words(named(sources, "README.md"), documents.README_WORDS))


def test_the_index_of_decisions_says_what_they_say(sources: Sequence[Source]) -> None:
    expect_none(index_decisions.differing(sources))


def test_every_document_is_in_the_index(sources: Sequence[Source]) -> None:
    expect_none(documents.unlisted(named(sources, "docs/README.md"), tracked_paths(ROOT)))


@pytest.mark.parametrize(
    "path", ["CONTRIBUTING.md", "docs/README.md", "docs/architecture.md", "docs/glossary.md"]
)
def test_every_path_that_a_map_names_exists(sources: Sequence[Source], path: str) -> None:
    expect_none(documents.missing_paths(named(sources, path), tracked_paths(ROOT)))


def test_every_word_of_the_glossary_is_used_where_it_says(sources: Sequence[Source]) -> None:
    expect_none(documents.unused_words(named(sources, "docs/glossary.md"), sources))


def test_the_npm_lock_names_no_registry(sources: Sequence[Source]) -> None:
    locks = [file for file in sources if file.path == "webui/package-lock.json"]
    assert locks, "webui/package-lock.json is missing: run npm install in webui and commit it"
    expect_none(finding for file in locks for finding in hygiene.resolved_hosts(file))
