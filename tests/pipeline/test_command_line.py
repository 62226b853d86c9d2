"""The command line: quick to ask, and errors in one sentence."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline import second_opinion, verifying
from pipeline.__main__ import FAILED, JOBS, SECOND, VERIFY, main, module_of, parser_of
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


@pytest.mark.parametrize("words", [["plan", "--help"], ["audit", "--out", "store", "--json"]])
def test_without_spark_the_command_that_installs_it_is_named(words: list[str]) -> None:
    code = (
        "import sys; sys.modules['pyspark'] = None\n"
        f"from pipeline.__main__ import main; sys.exit(main({words}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (FAILED, ""), done.stderr
    if "--json" in words:
        said = json.loads(done.stderr)
        assert said["error"] == "not_installed"
        assert said["remedy"].endswith("make pipeline")
    else:
        assert done.stderr.splitlines()[1].endswith("make pipeline")
        assert len(done.stderr.splitlines()) == 2


ROOT = Path(__file__).parents[2]
BY_THEMSELVES = {VERIFY: verifying.make_parser, SECOND: second_opinion.make_parser}
"""Commands that need no Spark session."""
COMMAND = re.compile(r"python -m pipeline ([a-z-]+) ([^<`\n]*--[^<`\n#]*)")


def written_commands() -> list[tuple[str, str, str]]:
    """File, job and words of each command that pages and documents tell people to type."""
    pages = (ROOT / "webui" / "src").rglob("*")
    texts = [one for one in pages if one.suffix in {".svelte", ".ts"}]
    texts += [*(ROOT / "docs").glob("*.md"), ROOT / "README.md"]
    found = {
        (path.name, match[1], match[2])
        for path in texts
        for match in COMMAND.finditer(path.read_text(encoding="utf-8"))
    }
    return sorted(found)


def test_commands_that_people_are_told_to_type_are_ones() -> None:
    written = written_commands()
    assert {"Order.svelte", "Violations.svelte", "pipeline.md"} <= {file for file, _, _ in written}
    for file, job, words in written:
        try:
            make_parser = BY_THEMSELVES.get(job)
            parser = parser_of(job) if make_parser is None else make_parser()
            parser.parse_args(words.split())
        except SystemExit:
            pytest.fail(f"{file}: python -m pipeline {job} {words}")


def test_a_certificate_is_verified_without_spark() -> None:
    code = (
        "import sys; sys.modules['pyspark'] = sys.modules['pyarrow'] = None\n"
        "from pipeline.__main__ import main; sys.exit(main(['verify-certificate', '/dev/null']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "/dev/null holds no certificate." in done.stderr
