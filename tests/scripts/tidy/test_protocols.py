"""The rules for layers and their headers."""

from scripts.tidy.protocols import (
    invariants,
    layer_files,
    missing_sections,
    undescribed_headers,
    unlisted_headers,
    untested_invariants,
)
from scripts.tidy.sources import Source

TEXT = '''"""Stability: find what everybody has.

Idea. The minimum of the reports is stable.

Place. Above nakack.
Source. The coordinator round.

Invariants.
  I1  Every member reported.
  I2  The minimum is announced.
"""
'''
LAYER = Source("groupcore/layers/stability.py", TEXT)
HEADER = Source(
    "groupcore/layers/stability.py",
    'class Report(Header):\n    kind: ClassVar[str] = "stability.report"\n',
)


def layer_test(text: str) -> Source:
    return Source("tests/groupcore/layers/test_stability.py", text)


def test_a_complete_layer_passes() -> None:
    assert missing_sections(LAYER) == []


def test_a_missing_section_is_found() -> None:
    (finding,) = missing_sections(Source(LAYER.path, TEXT.replace("Place.", "Where.")))
    assert "'Place.'" in finding.remedy


def test_a_layer_without_numbered_invariants_is_found() -> None:
    (finding,) = missing_sections(Source(LAYER.path, TEXT.replace("  I", "  ")))
    assert "no invariant is numbered" in finding.remedy


def test_invariants_are_read_with_their_lines() -> None:
    assert invariants(LAYER) == {"I1": 9, "I2": 10}


def test_a_part_of_a_layer_is_no_layer() -> None:
    part = Source("groupcore/layers/stability_headers.py", "")
    package = Source("groupcore/layers/__init__.py", "")
    assert layer_files([LAYER, part, package]) == [LAYER]


def test_a_layer_whose_name_another_word_begins_with_is_a_layer() -> None:
    other = Source("groupcore/layers/stable.py", "")
    assert layer_files([LAYER, other]) == [LAYER, other]


def test_a_layer_without_a_test_file_is_found() -> None:
    (finding,) = untested_invariants(LAYER, [LAYER])
    assert "tests/groupcore/layers/test_stability.py" in finding.remedy


def test_an_invariant_that_no_test_names_is_found() -> None:
    (finding,) = untested_invariants(LAYER, [layer_test("def test_a() -> None:  # I1\n")])
    assert (finding.line, finding.remedy[:16]) == (10, "I2 is not tested")


def test_a_number_inside_another_does_not_count() -> None:
    findings = untested_invariants(LAYER, [layer_test("# I10\ndef test_i20() -> None: ...\n")])
    assert len(findings) == 2


def test_an_invariant_may_be_named_in_comment_docstring_or_name() -> None:
    text = 'def test_all():\n    """I1: nobody is left out."""\ndef test_i2_minimum(): ...\n'
    assert untested_invariants(LAYER, [layer_test(text)]) == []


def test_a_described_header_passes() -> None:
    assert undescribed_headers([HEADER], "| `stability.report` | member |") == []


def test_a_header_that_the_protocol_does_not_name_is_found() -> None:
    (finding,) = undescribed_headers([HEADER], "`stability.reporter`, `x.stability.report`")
    assert "does not name 'stability.report'" in finding.remedy


def test_a_header_without_a_kind_is_found() -> None:
    bare = Source("groupcore/layers/a.py", "class Report(batch.Header):\n    pass\n")
    (finding,) = undescribed_headers([bare], "")
    assert "Report has no kind" in finding.remedy


def test_a_kind_used_twice_is_found() -> None:
    twin = Source("groupcore/layers/twin.py", HEADER.text)
    (finding,) = undescribed_headers([HEADER, twin], "stability.report")
    assert "is groupcore/layers/stability.py::Report's already" in finding.remedy


def test_a_header_without_a_code_is_found() -> None:
    assert unlisted_headers([HEADER], {"groupcore.layers.stability.Report"}) == []
    (finding,) = unlisted_headers([HEADER], {"groupcore.layers.other.Report"})
    assert "Report has no code" in finding.remedy
