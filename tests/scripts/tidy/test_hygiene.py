"""The rules for leftovers, secrets, paths and hosts; the samples are put together at run time."""

import json

import pytest

from scripts.tidy.hygiene import dead_links, leftovers, private_words, resolved_hosts
from scripts.tidy.sources import Source


@pytest.mark.parametrize("word", ["FIX" + "ME", "TO" + "DO", "X" * 3])
def test_a_leftover_is_found_with_its_line(word: str) -> None:
    (finding,) = leftovers(Source("server/app.py", f"a = 1\nb = 2  # {word}: later\n"))
    assert finding.line == 2


def test_a_longer_word_is_no_leftover() -> None:
    assert leftovers(Source("server/app.py", "TO" + "DOS = 1\n")) == []


@pytest.mark.parametrize(
    "text",
    [
        "-----BEGIN RSA " + "PRIVATE KEY-----",
        "key = " + "AKIA" + "A" * 16,
        "cd /wo" + "rk/main",
        "open('/ro" + "ot/.config')",
        "/ho" + "me/ada/project",
        "https://registry." + "npmjs.org/x",
        "https://pypi.org" + "/simple",
    ],
)
def test_what_is_secret_or_true_on_one_machine_is_found(text: str) -> None:
    assert len(private_words(Source("docs/a.md", text))) == 1


@pytest.mark.parametrize("text", ["src/wo" + "rk/a.py", "../ro" + "ot/x", "PRIVATE " + "KEY"])
def test_relative_paths_and_plain_words_pass(text: str) -> None:
    assert private_words(Source("docs/a.md", text)) == []


def test_an_npm_package_bound_to_a_host_is_found() -> None:
    packages = {"": {}, "node_modules/a": {"resolved": "https://example.org/a.tgz"}}
    (finding,) = resolved_hosts(Source("package-lock.json", json.dumps({"packages": packages})))
    assert "node_modules/a" in finding.remedy


def test_an_npm_lock_without_hosts_passes() -> None:
    packages = {"node_modules/a": {"version": "1.0.0", "integrity": "sha512-x"}}
    assert resolved_hosts(Source("package-lock.json", json.dumps({"packages": packages}))) == []


@pytest.mark.parametrize("link", ["gone.md", "../gone/", "images/gone.png"])
def test_a_dead_link_is_found_with_its_line(link: str) -> None:
    (finding,) = dead_links(Source("docs/a.md", f"text\n[there]({link})\n"), {"docs/a.md"})
    assert finding.line == 2


@pytest.mark.parametrize(
    "link", ["a.md", "./a.md#part", "../LICENSE", "../server", "#part", "https://example.org/x"]
)
def test_a_link_to_a_file_a_folder_a_part_or_another_site_passes(link: str) -> None:
    paths = {"docs/a.md", "LICENSE", "server/app.py"}
    assert dead_links(Source("docs/a.md", f"[there]({link})"), paths) == []
