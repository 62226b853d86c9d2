"""The house rules as functions from sources to findings.

`tests/test_tidy.py` runs them over the repository; `tests/scripts/tidy` over planted mistakes.
A rule that nobody checks does not belong in CONTRIBUTING.md.
"""
