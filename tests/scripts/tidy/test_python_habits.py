"""The rules for sleeping, chance and docstrings."""

import pytest

from scripts.tidy.python_habits import global_randomness, sleeping_calls, undocumented
from scripts.tidy.sources import Source


@pytest.mark.parametrize(
    "call",
    [
        "time.sleep(interval_s)",
        "await asyncio.sleep(0.1)",
        "await anyio.sleep(1)",
        "await sleep(2)",
        "await asyncio.sleep(POLL_S)",
        "page.wait_for_timeout(100)",
    ],
)
def test_a_sleeping_test_is_found(call: str) -> None:
    (finding,) = sleeping_calls(Source("tests/test_x.py", f"async def test_x():\n    {call}\n"))
    assert finding.line == 2


@pytest.mark.parametrize("call", ["asyncio.sleep(0)", "asyncio.sleep(interval_s)", "clock.now()"])
def test_giving_way_and_polling_helpers_pass(call: str) -> None:
    text = f"async def poll(interval_s):\n    await {call}\n"
    assert sleeping_calls(Source("tests/test_x.py", text)) == []


@pytest.mark.parametrize(
    "line",
    [
        "import random; random.random()",
        "import random; random.shuffle(members)",
        "from random import choice",
        "random.Random()",
        "Random()",
    ],
)
def test_chance_that_nobody_seeded_is_found(line: str) -> None:
    assert len(global_randomness(Source("groupcore/x.py", line))) == 1


@pytest.mark.parametrize(
    "line",
    [
        "import random\ndef f(chance: random.Random): ...",
        "from random import Random\ndef f(random: Random): random.shuffle([])",
        "random.Random(seed)",
    ],
)
def test_a_given_generator_passes(line: str) -> None:
    assert global_randomness(Source("groupcore/x.py", line)) == []


def remedies(text: str, path: str = "groupcore/x.py") -> list[str]:
    return [finding.remedy.split(" has ")[0] for finding in undocumented([Source(path, text)])]


def test_public_things_without_a_docstring_are_found() -> None:
    text = "class Window:\n    def slide(self): ...\n    def _move(self): ...\ndef open(): ...\n"
    assert remedies(text) == ["the module", "Window", "Window.slide", "open"]


def test_documented_and_private_things_pass() -> None:
    text = '"""M."""\nclass Window:\n    """W."""\n    def __len__(self): ...\ndef _f(): ...\n'
    assert remedies(text) == []


def test_a_method_inherits_the_text_of_the_one_it_overrides() -> None:
    text = (
        '"""M."""\nclass Layer:\n    """L."""\n    def on_up(self):\n        """U."""\n'
        'class Total(layer.Layer):\n    """T."""\n    def on_up(self): ...\n'
        "    def more(self): ...\n"
    )
    assert remedies(text) == ["Total.more"]


def test_overloads_and_setters_need_no_text_of_their_own() -> None:
    text = '"""M."""\n@overload\ndef get(a): ...\n@typing.override\ndef put(a): ...\n'
    assert remedies(text) == []


def test_the_handlers_of_a_layer_need_no_text() -> None:
    text = '"""M."""\nclass Stability:\n    """S."""\n    def on_report(self): ...\n'
    assert remedies(text, "groupcore/layers/stability.py") == []
    assert remedies(text) == ["Stability.on_report"]
