"""Certificates say what was judged, and cannot be changed."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from pipeline.__main__ import main
from pipeline.audit import RULES, Audited, Range
from pipeline.certificate import describe, described_ranges, page
from pipeline.errors import PipelineError
from pipeline.lost import END, Lost, Span
from pipeline.signing import load_key, sign, verify

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

NOW = datetime(2026, 11, 22, 7, tzinfo=UTC)
AT_US = int(NOW.timestamp()) * 1_000_000


def audited(**counts: int) -> Audited:
    return Audited(
        violations=cast("DataFrame", None),
        counts=dict.fromkeys(RULES, 0) | counts,
        excused={"gap": 2},
        lost={Lost("n1", "delivery", 1, 80, None, "crash"): [Span("n1#1", "delivery", 81, END)]},
        ranges={
            "n0#1": Range(1, 40, 40, AT_US, AT_US + 7),
            "n<2>#1": Range(5, 9, 5, AT_US - 1, AT_US),
        },
        held=3,
        sampled=("n7",),
        cuts={},
    )


def test_the_result_is_one_of_three() -> None:
    assert describe(audited(), "store", 4, NOW)["result"] == "kept_in_part"
    whole = audited()
    whole.excused, whole.lost, whole.sampled = {}, {}, ()
    whole.ranges = {"n0#1": Range(1, 40, 40)}
    said = describe(whole, "store", 4, NOW)
    assert (said["result"], said["whole"], said["nodes"]["n0#1"]["share_proved"]) == (
        *("kept", True, 1.0),
    )
    assert describe(audited(causal=1), "store", 4, NOW)["result"] == "broken"
    empty = audited()
    empty.ranges = {}
    assert describe(empty, "store", 4, NOW)["result"] == "nothing"


def test_what_was_not_judged_is_said(tmp_path: Path) -> None:
    said = describe(audited(), "store", 4, NOW)
    assert (said["deliveries"], said["held"], said["rules"]["gap"]["not_auditable"]) == (45, 3, 2)
    text = page(sign(said, load_key(tmp_path / "key")))
    assert "The order was kept as far as the logs go" in text
    assert "of n1, epoch 1, lacks row 80 to the end (crash)" in text
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


def test_the_times_are_said_of_each_node_and_of_all() -> None:
    found = audited()
    said = describe(found, "s", 4, NOW)
    assert said["nodes"]["n0#1"]["since"] == "2026-11-22T07:00:00.000000+00:00"
    assert said["nodes"]["n0#1"]["until"] == "2026-11-22T07:00:00.000007+00:00"
    assert (said["since"], said["until"]) == (
        "2026-11-22T06:59:59.999999+00:00",
        "2026-11-22T07:00:00.000007+00:00",
    )
    assert described_ranges(json.loads(json.dumps(said))) == found.ranges
    found.ranges["n0#1"] = Range(1, 40, 40)  # judged before times were told
    assert describe(found, "s", 4, NOW)["since"] is None


def test_a_certificate_is_verified_at_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, key, other = (tmp_path / name for name in ("order.json", "order.key", "other.key"))
    document = sign(describe(audited(), "s", 4, NOW), load_key(key))
    load_key(other)
    file.write_text(json.dumps(document))

    def code(*words: str) -> int:
        return main(["verify-certificate", str(file), "--json", *words])

    assert code() == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["result"], said["deliveries"], said["key_compared"]) == (
        *("kept_in_part", 45, False),
    )
    assert (said["whole"], said["lost"][0]["from_off"]) == (False, 80)
    assert code("--key", document["key"]) == code("--key", str(key)) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["key_compared"] is True
    assert code("--key", str(other)) == 1
    assert json.loads(capsys.readouterr().err)["error"] == "other_key"
    assert code("--key", "nonsense") == 2
    assert json.loads(capsys.readouterr().err)["error"] == "bad_key"
    document["certificate"]["deliveries"] = 46
    file.write_text(json.dumps(document))
    assert code() == 1
    assert json.loads(capsys.readouterr().err)["error"] == "bad_signature"
    for text in ("{", "[]", "{}", '{"certificate": 7}'):
        file.write_text(text)
        assert code() == 2
        assert json.loads(capsys.readouterr().err)["error"] == "bad_certificate"
    file.unlink()
    assert code() == 2
