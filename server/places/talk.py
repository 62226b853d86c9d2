"""A place's chat for who asks over HTTP, and for backups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from groupcore.shared.messages import pack
from groupcore.shared.object import caught_up
from groupcore.shared.places import PlaceTalk
from groupcore.shared.places.minding import Minding
from groupcore.shared.places.talk import Remark
from groupcore.shared.schema import codec_of
from server.accounts.accounts import Accounts
from server.accounts.roles import KEEPER, user_of
from server.node import Node
from server.routes.shown import Shown, instant

REMARKS = codec_of(list[Remark])
RUN_BYTES = 32_000
"""About what one message brings back."""


async def talk_of(minding: Minding) -> PlaceTalk:
    """The chat of a place that is held here, as it is now; its list is told."""
    talk = await minding.place.talking.open()
    await caught_up(talk)
    return talk


def shown(accounts: Accounts, remark: Remark) -> Shown:
    """A remark: who made it, as that account is called now, or as a guest was called then."""
    user = user_of(remark.author)
    account = accounts.users.get(user)
    is_erased = user in accounts.erased
    return {
        "id": remark.id,
        "author": remark.author,
        "by": remark.name if account is None else account.name,
        **({"by_erased": True} if is_erased else {}),
        "at": instant(remark.time_ms / 1000),
        "text": remark.text,
    }


async def take_away(node: Node, doc: str, remark: str, principal: str, manages: bool) -> None:
    """A remark goes: taken back by who made it, or taken away by who manages the place.

    Raises NotYoursError, ForbiddenError; nothing happens where it is gone already.
    """
    async with node.keepers.places.reading(doc) as minding:
        await node.files.lists.settle(doc, minding.place.outline)
        await minding.place.talking.open()
        async with node.objects.session(KEEPER if manages else principal) as session:
            talk = await session.open(PlaceTalk, minding.place.talking.name)
            if manages:
                await talk.remove([remark])
            else:
                await talk.take_back(remark)


async def bring_back(minding: Minding, remarks: Sequence[Remark]) -> None:
    """Put remarks of a backup into the chat of a new place; no other one gets their numbers."""
    if not remarks:
        return
    talk = await talk_of(minding)
    said = int(remarks[-1].id, 16)
    for run in _runs(remarks):
        await talk.bring_back(run, said)


def _runs(remarks: Sequence[Remark]) -> Iterator[list[Remark]]:
    """Parts that fit into a message each."""
    run: list[Remark] = []
    size = 0
    for remark in remarks:
        taken = len(pack(REMARKS.to_wire([remark])))
        if run and size + taken > RUN_BYTES:
            yield run
            run, size = [], 0
        run.append(remark)
        size += taken
    yield run
