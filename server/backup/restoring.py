"""Putting a backup back: a cluster of one node is begun in an empty folder, and filled.

The node works as ever, only that nobody can reach it: what it is given goes through the order and
into its log, so the folder is one that a node can be started with, and other nodes take everything
from it when they join. In the end every document is read again and compared with the manifest.
Sign-ins are not put back: people sign in again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar, cast

from groupcore.errors import GroupcoreError
from groupcore.objects.rich_parsing import parse_rich
from groupcore.shared.documents.parts import Attributes, Seed
from groupcore.shared.documents.seeding import runs_of
from groupcore.shared.errors import MisfitError
from groupcore.shared.messages import unpack
from groupcore.shared.object import declaration
from groupcore.shared.places import Thing
from groupcore.shared.places.talk import Remark, is_number
from server.accounts.audit_file import KIND, AuditFile
from server.accounts.records import Erased
from server.accounts.roles import KEEPER
from server.accounts.secrets import new_secret
from server.backup.archive import AUDIT, Reader
from server.backup.fields import parts_of
from server.backup.taking import (
    LISTED,
    THINGS,
    cut,
    hash_of,
    packed_document,
    packed_place,
)
from server.documents.catalogue import PLACE, Catalogue, Listed
from server.errors import BadMessageError, DamagedStoreError, ServerError, SettingsProblem
from server.node import Node
from server.pictures.register import Kept, Pictures
from server.places.acting import acting
from server.places.reading import ALL_CELLS
from server.places.reading import whole as whole_place
from server.places.talk import REMARKS, bring_back, talk_of
from server.sealed_lines import write_lines
from server.serve import key_file
from server.settings import Settings

BEGIN_S = 30.0
NOT_PUT_BACK = frozenset({"sign_ins", "halves", "secret"})
"""Who had signed in has to do so again. Ids follow from a key and a place in the order, and places
begin anew: with the key of before, new accounts would have the ids of others.
"""
ALL_BYTES = 1 << 60
MARKED_AT_ONCE = 500

T = TypeVar("T")


@dataclass(slots=True)
class Restored:
    """What was put back."""

    documents: int = 0
    blocks: int = 0
    pictures: int = 0
    people: int = 0
    erased: int = 0


def check_empty(folder: Path) -> None:
    """SettingsProblem where something is in the folder: nothing is ever overwritten."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise SettingsProblem(f"--data {folder} is not empty; a backup needs an empty folder")


async def until_ready(node: Node) -> None:
    """Back when the node is a cluster; TimeoutError."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + BEGIN_S
    while not node.ready:
        if loop.time() > deadline:
            raise TimeoutError("the node does not begin")
        await asyncio.sleep(0.05)


async def restore(
    reader: Reader,
    settings: Settings,
    told: Callable[[Restored], None] = lambda found: None,
    erased: Mapping[str, Erased] = MappingProxyType({}),
) -> Restored:
    """Fill the folder of these settings; `told` is told after each document. Accounts that were
    `erased` behind the backup are not in it then.

    DamagedStoreError, ServerError.
    """
    check_empty(settings.data)
    key = key_file(settings)
    alone = replace(settings, operator_key=None)  # no other node is to hear it
    node = Node(alone, key, "http://127.0.0.1")
    try:
        await node.start()
        await until_ready(node)
        node.keeper.linger_s = node.keepers.places.linger_s = 0.0
        node.keepers.places.ticks = False  # what rolled when the backup was taken goes on later
        found = await _Filling(node, reader, told, erased).run()
        await node.objects.saved()
    except (MisfitError, BadMessageError) as error:
        raise DamagedStoreError(f"the backup {reader.path} cannot be understood: {error}") from None
    except (GroupcoreError, TimeoutError) as error:
        raise ServerError(f"the backup was not put back: {error!r}") from None
    finally:
        await node.close()
    audit = reader.one(AUDIT)
    if audit is not None:
        path = settings.data / AUDIT
        write_lines(path, audit.splitlines(), node.seals.box(KIND))
        AuditFile(path, () if key is None else key.read(), takes_over=True, seals=node.seals)
    return found


class _Filling:
    """One restoration."""

    def __init__(
        self,
        node: Node,
        reader: Reader,
        told: Callable[[Restored], None],
        erased: Mapping[str, Erased],
    ) -> None:
        self._erased = erased
        self._node = node
        self._reader = reader
        self._told = told
        self._found = Restored()
        self._titles: dict[str, str] = {}
        self._places: list[str] = []

    async def run(self) -> Restored:
        """Accounts first, so that each document gets its list with its making."""
        await self._accounts()
        for entry, data in self._reader.read(lambda name: name.startswith("documents/")):
            await self._item(entry.removeprefix("documents/"), data)
            self._told(self._found)
        listed = self._object("documents", Catalogue, LISTED, dict[str, Listed])
        erased, titles = self._reader.erased_documents(), self._titles
        await self._node.whole_catalogue.update(
            {
                doc: Listed(titles.get(doc, one.title), one.created_s)
                for doc, one in listed.items()
                if doc not in erased
            }
        )
        places = [doc for doc in self._places if doc in listed]
        for start in range(0, len(places), MARKED_AT_ONCE):
            await self._node.whole_catalogue.mark(places[start : start + MARKED_AT_ONCE], PLACE)
        await self._pictures()
        return self._found

    def _object(self, name: str, kind: type, field: str, wanted: type[T]) -> T:
        """A field of an object of the backup."""
        del wanted
        packed = self._reader.one(f"objects/{name}")
        fields = {} if packed is None else unpack(packed)
        if not isinstance(fields, dict) or field not in fields:
            raise MisfitError(f"objects/{name} has no {field}")
        return cast("T", declaration(kind()).fields[field].codec.from_wire(fields[field]))

    async def _accounts(self) -> None:
        """Folders and the trash, and what people have open often, among them."""
        files = self._node.files
        for entry, target in (("accounts", files.accounts), ("activity", files.activity)):
            packed = self._reader.one(f"objects/{entry}")
            if packed is None:
                raise MisfitError(f"objects/{entry} is missing")
            # What the beginning of an empty cluster has offered and noted is replaced.
            for name, is_first, part in parts_of(packed):
                if name not in NOT_PUT_BACK:
                    await target.take_back(name, is_first, part)
        if not files.accounts.secret:
            await files.accounts.draw(new_secret("gck"))
        for user, one in self._erased.items():
            is_erased = await files.accounts.erase_again(user, one.created_s, one.heir)
            if is_erased:
                await files.activity.forget_person(user)
            self._found.erased += is_erased
        self._found.people = len(files.accounts.users)

    async def _item(self, doc: str, data: bytes) -> None:
        """A document or a place, and a look whether it is the same again."""
        found = unpack(data)
        if isinstance(found, dict):
            title, again, count = await self._place(doc, found)
        else:
            title, again, count = await self._document(doc, data)
        wanted = self._reader.manifest.documents.get(doc, {}).get("sha256")
        if hash_of(again) != wanted:
            raise DamagedStoreError(f"document {doc} is another one when it is put back")
        self._titles[doc] = title
        self._found.documents += 1
        self._found.blocks += count

    async def _place(self, doc: str, found: dict[str, object]) -> tuple[str, bytes, int]:
        self._places.append(doc)
        title, things, said = read_place(found)
        node = self._node
        async with acting(node, doc, KEEPER) as here:
            await here.put(things)
            await here.rename(title)
        async with node.keepers.places.holding(doc) as minding:
            await bring_back(minding, said)
            talk = (await talk_of(minding)).remarks.values() if said else ()
            again = packed_place(title, await whole_place(minding, ALL_CELLS), list(talk))
        return title, again, len(things)

    async def _document(self, doc: str, data: bytes) -> tuple[str, bytes, int]:
        title, blocks = read_document(data)
        node = self._node
        async with node.keeper.holding(doc) as document:
            after = ""
            for run in runs_of(blocks):
                await document.outline.insert(after, run)
                after = run[-1].id
            await document.outline.rename(title)
            await node.files.lists.settle(doc, document.outline)
            again = packed_document(title, await cut(document))
        return title, again, len(blocks)

    async def _pictures(self) -> None:
        register, store = self._node.pictures.register, self._node.pictures.store
        if "objects/pictures" not in self._reader.manifest.entries:
            return
        kept = self._object("pictures", Pictures, "kept", dict[str, Kept])
        uses = self._object("pictures", Pictures, "uses", dict[str, dict[str, object]])
        for entry, data in self._reader.read(lambda name: name.startswith("pictures/")):
            name = entry.removeprefix("pictures/")
            if store.write(data) != name:
                raise DamagedStoreError(f"{entry} is not what its name says")
            self._found.pictures += 1
        erased = self._reader.erased_documents()
        for doc, names in uses.items():
            for name in names if doc not in erased else ():
                if not store.has(name):
                    raise DamagedStoreError(f"pictures/{name} is missing")
                await register.put(doc, name, kept[name], ALL_BYTES)


def read_place(found: dict[str, object]) -> tuple[str, list[Thing], list[Remark]]:
    """Title, things, and what was said in the chat; MisfitError."""
    if not isinstance(found.get("place"), str):
        raise MisfitError("not a place")
    things = cast("list[Thing]", THINGS.from_wire(found.get("things")))
    remarks = cast("list[Remark]", REMARKS.from_wire(found.get("talk", [])))
    if not all(is_number(one.id) for one in remarks):
        raise MisfitError("remarks have their numbers as ids")
    return str(found["place"]), things, remarks


def read_document(data: bytes) -> tuple[str, list[Seed]]:
    """Title and blocks; MisfitError."""
    try:
        title, blocks = cast("tuple[str, list[list[object]]]", unpack(data))
        seeds = [
            Seed(str(block), _attributes(given), parse_rich(text)) for block, given, text in blocks
        ]
    except (ValueError, TypeError, GroupcoreError) as error:
        raise MisfitError(f"not a document: {error}") from None
    return title, seeds


def _attributes(wire: object) -> Attributes:
    pairs = cast("list[list[str]]", wire)
    return tuple((name, value) for name, value in pairs)
