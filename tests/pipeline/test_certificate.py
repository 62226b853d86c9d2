"""Certificates say what was judged, and cannot be changed."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from pipeline.audit import RULES, Audited
from pipeline.certificate import describe, load_key, page, sign, verify
from pipeline.errors import PipelineError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

NOW = datetime(2026, 11, 22, 7, tzinfo=UTC)


def audited(**counts: int) -> Audited:
    return Audited(
        violations=cast("DataFrame", None),
        counts=dict.fromkeys(RULES, 0) | counts,
        excused={"gap": 2},
        unsound={"n1": "crash"},
        ranges={"n0#1": (1, 40, 40), "n<2>#1": (5, 9, 5)},
        held=3,
        sampled=("n7",),
        cuts={},
    )


def test_the_result_is_one_of_three() -> None:
    assert describe(audited(), "store", 4, NOW)["result"] == "kept"
    assert describe(audited(causal=1), "store", 4, NOW)["result"] == "broken"
    empty = audited()
    empty.ranges = {}
    assert describe(empty, "store", 4, NOW)["result"] == "nothing"


def test_what_was_not_judged_is_said(tmp_path: Path) -> None:
    said = describe(audited(), "store", 4, NOW)
    assert (said["deliveries"], said["held"], said["rules"]["gap"]["not_auditable"]) == (45, 3, 2)
    text = page(sign(said, load_key(tmp_path / "key")))
    assert "The order was kept." in text
    assert "Rows of n1 are missing (crash)" in text
    assert "deliveries of n7 are sampled" in text
    assert "n&lt;2&gt;#1" in text


def test_a_signed_certificate_cannot_be_changed(tmp_path: Path) -> None:
    key = load_key(tmp_path / "key")
    document = json.loads(json.dumps(sign(describe(audited(causal=1), "s", 4, NOW), key)))
    assert verify(document)["result"] == "broken"
    assert verify(document, document["key"])["commit"] == 4
    document["certificate"]["result"] = "kept"
    with pytest.raises(PipelineError) as error:
        verify(document)
    assert error.value.code == "bad_signature"


def test_another_key_is_noticed(tmp_path: Path) -> None:
    said = describe(audited(), "s", 4, NOW)
    one, two = (sign(said, load_key(tmp_path / name)) for name in ("one", "two"))
    with pytest.raises(PipelineError) as error:
        verify(one, two["key"])
    assert error.value.code == "other_key"


def test_a_key_is_made_once_and_only_for_its_owner(tmp_path: Path) -> None:
    path = tmp_path / "keys" / "audit.pem"
    load_key(path)
    assert path.stat().st_mode & 0o777 == 0o600
    said = describe(audited(), "s", 4, NOW)
    assert sign(said, load_key(path)) == sign(said, load_key(path))
    path.write_text("nonsense")
    with pytest.raises(PipelineError) as error:
        load_key(path)
    assert error.value.code == "bad_key"
