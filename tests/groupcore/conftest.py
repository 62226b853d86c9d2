"""The option that writes the golden traces anew; the reviewer reads the difference."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--rewrite-traces",
        action="store_true",
        help="write tests/groupcore/traces/*.txt anew instead of comparing with them",
    )
