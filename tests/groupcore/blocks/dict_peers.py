"""Members with replicated dicts."""

from __future__ import annotations

from typing import Literal

from groupcore.blocks.adapter import PullPushAdapter
from groupcore.blocks.replicated_dict import ReplicatedDict
from tests.groupcore.blocks.group import FakeChannel, FakeGroup, settle


class DictPeer:
    """A member with a dict of any values, and one of numbers."""

    def __init__(
        self,
        group: FakeGroup,
        name: str,
        writes: Literal["wait", "fail"] = "wait",
        bytes_max: int = 1 << 20,
    ) -> None:
        self.channel: FakeChannel = group.channel(name)
        self.adapter = PullPushAdapter(self.channel, retry_s=0.0)
        self.dict: ReplicatedDict[object] = ReplicatedDict(
            self.adapter, "dict", object, writes=writes, bytes_max=bytes_max
        )
        self.stock = ReplicatedDict(self.adapter, "stock", int)
        self.adapter.start()

    def state(self) -> bytes:
        return self.dict.get_state()


async def dict_peers(count: int) -> tuple[FakeGroup, list[DictPeer]]:
    group = FakeGroup()
    made = [DictPeer(group, name) for name in "abcde"[:count]]
    group.join(*(peer.channel for peer in made))
    await settle()
    return group, made
