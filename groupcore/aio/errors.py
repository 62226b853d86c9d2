"""What can go wrong between a channel and the machine that it runs on."""

from groupcore.errors import GroupcoreError, KeyFileError


class PortInUseError(GroupcoreError):
    """Another program has this UDP port; stop it or give this node another port."""


class LineageError(GroupcoreError):
    """The lineage file cannot be read or is damaged; the text says what to do."""


class StorageError(GroupcoreError):
    """A node's folder cannot be used or written; the text names the file and what to do."""


class FolderInUseError(StorageError):
    """Another process uses the folder; stop it, or give this node another one."""


class ForeignFolderError(StorageError):
    """The folder belongs to another node or cluster; give each node one of its own."""


class FormatError(StorageError):
    """The folder was written by another version of this program; run that one."""


class DamagedLogError(StorageError):
    """The log is not what was written; move the folder away and take all from the others."""


class RestKeyError(KeyFileError):
    """What lies on the disk is sealed, and its key is not given; the text says which is needed."""


class BrokenSealError(StorageError):
    """Sealed bytes are not what was sealed for this place: damaged, altered or from elsewhere."""


class JoinRefusedError(GroupcoreError):
    """The group does not take this member; `code`: `version`, `foreign_cluster`, `mixed_logs`.

    Or the member may not stay in it: `cloned`, this very process goes on in a second machine, too.
    """

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(f"{code}: {detail}")
        self.code = code


class ReaderTooSlowError(GroupcoreError):
    """The channel's messages were not read in time and it was closed; read faster, or rejoin."""


class TransferError(GroupcoreError):
    """A state did not come over its own connection; the text says why. Another way may work."""
