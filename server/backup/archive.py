"""The file of a backup: a tar whose last entry says what all others are to be.

Any program can look into it. Nothing of it is ever unpacked under its own name: entries are read,
compared with the manifest, and understood. The manifest has a line with its own hash, so whatever
is damaged, cut off, left out or put in is found, and named.

    about.json            what was backed up, when, by which version
    objects/NAME          the fields of an object, MessagePack
    documents/ID          title and blocks, of a place its title and things, MessagePack
    pictures/HASH         a file
    audit.jsonl           the audit log of the node that was asked
    manifest.json         entries with size and hash, documents with number of blocks; its own hash

The title of a document stands in its own entry alone, so that it goes with the document where that
is erased. Files of former versions have it in the manifest and the list of documents, too.
"""

from __future__ import annotations

import json
import re
import tarfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import IO, Any

from groupcore.aio.rest_key import RestKey
from server.backup.entry_sealing import SEALED
from server.backup.keys import Keys, open_entry, read_keys
from server.backup.sealing import MAGIC, backup_key, magic_of, open_backup
from server.errors import DamagedStoreError, SettingsProblem, VersionProblem

FORMAT = 1
ABOUT, AUDIT, MANIFEST = "about.json", "audit.jsonl", "manifest.json"
NAMES = re.compile(
    r"about\.json|audit\.jsonl|manifest\.json|objects/[a-z]{1,32}"
    r"|documents/[A-Za-z0-9_-]{1,64}|pictures/[0-9a-f]{64}"
)
DOCUMENTS = "documents/"
ERASED: dict[str, Any] = {}
"""What is found of an entry whose key is no more."""
PART_BYTES = 1 << 20
WHOLE_BYTES_MAX = 1 << 30
"""No entry that is read as a whole is larger."""


@dataclass(slots=True)
class Manifest:
    """What the file holds: of each entry size and hash, of each document blocks (of a place its
    things) and hash.
    """

    about: dict[str, Any]
    entries: dict[str, dict[str, Any]] = field(default_factory=dict)
    documents: dict[str, dict[str, Any]] = field(default_factory=dict)

    def names(self, folder: str) -> list[str]:
        """What the entries of a folder are called there."""
        start = folder + "/"
        return [name.removeprefix(start) for name in self.entries if name.startswith(start)]


class Writer:
    """Makes the file, a piece at a time."""

    def __init__(self, about: dict[str, Any]) -> None:
        self.manifest = Manifest({"format": FORMAT, **about})

    def begin(self) -> bytes:
        """The first entry."""
        return self.entry(ABOUT, json.dumps(self.manifest.about).encode())

    def entry(self, name: str, data: bytes) -> bytes:
        """One entry, as it stands in the file."""
        assert NAMES.fullmatch(name), name
        self.manifest.entries[name] = {"size": len(data), "sha256": sha256(data).hexdigest()}
        return self._framed(name, data)

    def end(self) -> bytes:
        """The manifest, and the end of the file."""
        manifest = self.manifest
        body = {
            "about": manifest.about,
            "entries": manifest.entries,
            "documents": manifest.documents,
        }
        line = json.dumps(body).encode()
        whole = line + b"\n" + sha256(line).hexdigest().encode() + b"\n"
        return self._framed(MANIFEST, whole) + bytes(2 * tarfile.BLOCKSIZE)

    def _framed(self, name: str, data: bytes) -> bytes:
        head = tarfile.TarInfo(name)
        head.size, head.mode = len(data), 0o600
        head.mtime = int(self.manifest.about.get("taken_s", 0))
        return head.tobuf(tarfile.USTAR_FORMAT) + data + bytes(-len(data) % tarfile.BLOCKSIZE)


class Reader:
    """A file whose every byte was compared with its manifest; `told` is told of how many.

    `rest`: the key file, without which one that is sealed is not opened. DamagedStoreError,
    KeyProblem, VersionProblem. `erased`: entries whose keys are no more; they are left out.
    """

    def __init__(
        self,
        path: Path,
        told: Callable[[int], None] = lambda count: None,
        rest: RestKey | None = None,
    ) -> None:
        self.path = path
        self._rest = rest
        self._told = told
        self._keys = self._read_keys()
        found: dict[str, dict[str, Any]] = {}
        manifest = b""
        for name, source in self._entries():
            if manifest or name in found:
                raise self._damaged(f"{name} stands where nothing should")
            if source is None:
                found[name] = ERASED
                continue
            with self._guarded(name):
                if name == MANIFEST:
                    manifest = source.read(WHOLE_BYTES_MAX)
                else:
                    found[name] = self._measured(source)
        self.manifest = self._read_manifest(manifest)
        self.erased = frozenset(name for name, one in found.items() if one is ERASED)
        self._compare(found)

    def _measured(self, source: IO[bytes]) -> dict[str, Any]:
        running, size = sha256(), 0
        while data := source.read(PART_BYTES):
            running.update(data)
            size += len(data)
            self._told(len(data))
        return {"size": size, "sha256": running.hexdigest()}

    def _damaged(self, what: str) -> DamagedStoreError:
        return DamagedStoreError(f"the backup {self.path} is damaged: {what}; use another one")

    def _read_keys(self) -> Keys | None:
        """The keys of its entries, where it has any."""
        if not self.path.is_file():
            raise SettingsProblem(f"there is no file {self.path}")
        with self._guarded("its beginning"):
            if magic_of(self.path) != MAGIC:
                return None
            key = backup_key(self.path, self._rest)
        return read_keys(self.path, key)

    def _opened(self, name: str, entry: IO[bytes]) -> IO[bytes] | None:
        """An entry as it was before it was sealed; None: it is erased."""
        if self._keys is None or not name.startswith(SEALED):
            return entry
        key = self._keys.of(name)
        if key is None:
            return None
        with self._guarded(name):
            return BytesIO(open_entry(key, name, entry.read(WHOLE_BYTES_MAX)))

    def _entries(self) -> Iterator[tuple[str, IO[bytes] | None]]:
        """All entries, in their order; None for those that are erased."""
        with ExitStack() as opened:
            with self._guarded("its beginning"):
                source = opened.enter_context(open_backup(self.path, self._rest))
                tar = opened.enter_context(tarfile.open(fileobj=source, mode="r:"))
            name = "its beginning"
            while True:
                with self._guarded(f"what follows {name}"):
                    member = tar.next()
                if member is None:
                    return
                entry = tar.extractfile(member) if member.isreg() else None
                if entry is None or NAMES.fullmatch(member.name) is None:
                    raise self._damaged(f"{member.name[:80]!r} is no part of a backup")
                name = member.name
                yield name, self._opened(name, entry)

    @contextmanager
    def _guarded(self, what: str) -> Iterator[None]:
        try:
            yield
        except (tarfile.TarError, EOFError, OSError) as error:
            raise self._damaged(f"{what} cannot be read ({error})") from None

    def _read_manifest(self, data: bytes) -> Manifest:
        line, _, rest = data.partition(b"\n")
        if not data:
            raise self._damaged("it is cut off, its manifest is missing")
        if rest.strip().decode(errors="replace") != sha256(line).hexdigest():
            raise self._damaged(f"{MANIFEST} has another hash than it says")
        try:
            read = Manifest(**json.loads(line))
        except (ValueError, TypeError):
            raise self._damaged(f"{MANIFEST} cannot be read") from None
        if read.about.get("format") != FORMAT:
            raise VersionProblem(f"{self.path} is of another version; use the program that made it")
        return read

    def _compare(self, found: dict[str, dict[str, Any]]) -> None:
        entries = self.manifest.entries
        for name in sorted({*found, *entries}):
            if name not in found:
                raise self._damaged(f"{name} is missing")
            if name not in entries:
                raise self._damaged(f"{name} was put in")
            if found[name] is not ERASED and found[name] != entries[name]:
                raise self._damaged(f"{name} is not what the manifest says")

    def read(self, wanted: Callable[[str], bool]) -> Iterator[tuple[str, bytes]]:
        """The entries of these names, in the order of the file."""
        for name, source in self._entries():
            if source is not None and wanted(name):
                with self._guarded(name):
                    data = source.read(WHOLE_BYTES_MAX)
                yield name, data

    def one(self, name: str) -> bytes | None:
        """One entry; None when there is none."""
        for _, data in self.read(lambda other: other == name):
            return data
        return None

    def erased_documents(self) -> set[str]:
        """The documents in it that are erased."""
        return {one.removeprefix(DOCUMENTS) for one in self.erased if one.startswith(DOCUMENTS)}


def summary(reader: Reader) -> dict[str, Any]:
    """What a file holds, in numbers: of what is not erased."""
    manifest, erased = reader.manifest, reader.erased_documents()
    left = {doc: one for doc, one in manifest.documents.items() if doc not in erased}
    entries = {name: one for name, one in manifest.entries.items() if name not in reader.erased}
    return {
        "cluster": manifest.about.get("cluster"),
        "taken_s": manifest.about.get("taken_s"),
        "documents": len(left),
        "blocks": sum(int(one["blocks"]) for one in left.values()),
        "pictures": sum(name.startswith("pictures/") for name in entries),
        "erased": len(erased),
        "bytes": sum(int(one["size"]) for one in entries.values()),
    }
