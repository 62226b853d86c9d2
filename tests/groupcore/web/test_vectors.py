"""docs/vectors/objects.json says what this gateway does."""

from __future__ import annotations

import pytest

from groupcore.frames import decode
from groupcore.gateway.asking import check_fields
from groupcore.gateway.limits import RULES
from tests.groupcore.objects.vectors import FOLDER, as_text
from tests.groupcore.web.vectors import MESSAGES, NAME, object_vectors

pytestmark = pytest.mark.slow


def test_the_file_is_what_the_gateway_does() -> None:
    written = (FOLDER / NAME).read_text(encoding="utf-8")
    assert written == as_text(object_vectors()), "run python -m tests.groupcore.web.vectors"


def test_the_frames_are_read_and_allowed() -> None:
    for messages, case in zip(MESSAGES, object_vectors()["frames"], strict=True):
        found = decode(bytes.fromhex(str(case["hex"])), RULES)
        assert found == messages
        for message in found:
            check_fields(message)
