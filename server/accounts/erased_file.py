"""`erased.json`: which accounts were erased, beside a node's log and beside backups.

Idea. A backup of before holds who was erased since. Who puts it back gives it this list, and they
are erased again before anybody can sign in. It says ids and times, and names nobody.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from groupcore.aio.data_key import write_whole
from groupcore.aio.rest_key import RestKey
from groupcore.shared.messages import unpack
from groupcore.shared.object import declaration
from server.accounts.accounts import Accounts
from server.accounts.records import Erased
from server.backup.archive import Reader
from server.errors import DamagedStoreError, SettingsProblem

NAME = "erased.json"
SUFFIX = ".json"
Known = dict[str, Erased]
"""By the accounts' ids."""


def write_erased(path: Path, erased: Mapping[str, Erased]) -> None:
    """Have the file say these; OSError."""
    rows = [
        {"id": id, "created_s": one.created_s, "at_s": one.at_s, "heir": one.heir}
        for id, one in erased.items()
    ]
    write_whole(path, json.dumps({"erased": rows}, indent=1).encode() + b"\n")


def read_erased(path: Path) -> Known:
    """What a file says; SettingsProblem where there is none, DamagedStoreError."""
    try:
        rows = json.loads(path.read_bytes())["erased"]
        return {
            str(row["id"]): Erased(float(row["created_s"]), float(row["at_s"]), str(row["heir"]))
            for row in rows
        }
    except OSError as error:
        raise SettingsProblem(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, TypeError, LookupError, RecursionError):
        raise DamagedStoreError(
            f"{path} is no list of erased accounts; use another one, or a later backup"
        ) from None


def erased_in(reader: Reader) -> Known:
    """What a backup itself says; nothing, where it is from before accounts were erased."""
    packed = reader.one("objects/accounts")
    fields = {} if packed is None else unpack(packed)
    if not isinstance(fields, dict) or "erased" not in fields:
        return {}
    codec = declaration(Accounts()).fields["erased"].codec
    found = codec.from_wire(fields["erased"])
    assert isinstance(found, dict), "the field is one"
    return dict(found)


def erased_from(path: Path, rest: RestKey | None) -> Known:
    """Of a list, or of another backup."""
    if path.suffix == SUFFIX:
        return read_erased(path)
    return erased_in(Reader(path, rest=rest))


def merged(lists: Iterable[Mapping[str, Erased]]) -> Known:
    """All of them."""
    found: Known = {}
    for one in lists:
        found |= one
    return found


def note_beside(backup: Path, erased: Mapping[str, Erased]) -> None:
    """The list beside a backup says these, too; OSError, DamagedStoreError."""
    path = backup.with_name(NAME)
    before = read_erased(path) if path.exists() else {}
    if erased.keys() - before.keys():
        write_erased(path, before | dict(erased))
