"""Pages are told which of their calls are on disk, where nodes keep a log."""

from __future__ import annotations

from pathlib import Path

import pytest

from groupcore.aio import Node
from groupcore.gateway.gateway import Gateway
from groupcore.sequencing.events import Saved
from groupcore.sequencing.names import MessageId
from groupcore.shared.pending import Pending
from groupcore.shared.replica import Replica
from groupcore.shared.types import Counter
from groupcore.shared.verdicts import Call, Verdict
from tests.groupcore.aio.cluster import KEY, free_port
from tests.groupcore.shared.ports import GROUP, ME, HandPort, begin, feed
from tests.groupcore.web.gateways import Site, pages, tab

pytestmark = pytest.mark.slow


def test_what_is_saved_is_told_by_the_clients_numbers() -> None:
    port = HandPort()
    replica = Replica(Counter, port)
    told: list[int] = []
    replica.tell_saved = told.append
    replica.open()
    begin(replica, ME)
    spec = replica.target._shared.declaration.operations["add"]
    for number in (1, 2, 3):
        pending: Pending[Verdict] = Pending()
        replica.target.add(1)  # one that nobody numbers
        replica.order_as([(spec, [1])], Call("page", number, 0), pending)
    for own in (1, 2, 5, 6):
        feed(replica, Saved(GROUP, MessageId(ME, own)))
    assert told == [1, 2, 3]


async def test_a_page_is_told_what_is_saved(tmp_path: Path) -> None:
    multicast = f"228.8.8.8:{free_port()}"
    async with Node(
        "saved", node_id="a", multicast=multicast, key=KEY, data_dir=tmp_path / "a"
    ) as node:
        gateway = Gateway(node, [Counter])
        ann = tab(1)
        assert (await ann.connect(gateway))["saves"] is True
        await ann.open("Counter", "c")
        ann.say("call", name="c", n=1, answered=0, calls=[["add", [1]]])
        assert (await ann.hears("saved", name="c"))["n"] == 1
        await gateway.close()


async def test_without_a_log_nothing_is_said_to_be_saved(site: Site) -> None:
    (gateway,) = await site.start("a")
    (ann,) = await pages(gateway, 1)
    await ann.open("Counter", "c")
    await ann.call("c", 1, ["add", [1]])
    assert not [one for one in ann.heard if one["t"] == "saved"]
    assert not gateway.saves
