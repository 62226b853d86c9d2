"""The command line: quick to ask, and errors in one sentence."""

import json
import subprocess
import sys

import pytest

from pipeline.__main__ import FAILED, JOBS, main, module_of
from pipeline.jobs import activity, audit, compact, ingest, load, overlap, plan, rebuild, what_if

MODULES = {
    "ingest": ingest,
    "audit": audit,
    "load": load,
    "overlap": overlap,
    "plan": plan,
    "what-if": what_if,
    "activity": activity,
    "rebuild": rebuild,
    "compact": compact,
}


def test_help_does_not_load_spark() -> None:
    code = (
        "import sys; from pipeline.__main__ import main\n"
        "try: main(['--help'])\nexcept SystemExit: pass\n"
        "assert 'pyspark' not in sys.modules and 'pyarrow' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert all(name in done.stdout for name in JOBS)


def test_the_jobs_are_the_modules() -> None:
    assert set(JOBS) == set(MODULES)
    assert all(module.__name__ == module_of(job) for job, module in MODULES.items())


@pytest.mark.parametrize("job", JOBS)
def test_every_job_says_what_it_takes(job: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main([job, "--help"])
    assert end.value.code == 0
    said = capsys.readouterr().out
    assert all(word in said for word in ("--trace", "--out", "--master"))


def test_which_java_is_used_can_be_asked(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["java"]) == 0
    assert "Java" in capsys.readouterr().out


def test_an_error_is_one_json_object(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    words = ["ingest", "--store", "store", "--trace", "trace", "--json"]
    assert main(words) == FAILED
    assert json.loads(capsys.readouterr().err)["error"] == "java_old"
