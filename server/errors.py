"""The server's errors and the exit codes that they become.

Every text names the thing that is wrong and what to do about it: it is all that a person sees.
"""

from __future__ import annotations

from typing import ClassVar

from groupcore.errors import GroupcoreError


class ServerError(Exception):
    """Base of what ends the program; `exit_code` is what the process ends with."""

    exit_code: ClassVar[int] = 1


class SettingsProblem(ServerError):
    """A setting is wrong; the text names the setting and the remedy."""

    exit_code = 2


class KeyProblem(ServerError):
    """The cluster key is missing, unreadable or not the cluster's."""

    exit_code = 3


class DamagedStoreError(ServerError):
    """The journal cannot be read or a checksum is wrong."""

    exit_code = 4


class VersionProblem(ServerError):
    """Data or cluster of a version that this program does not speak."""

    exit_code = 5


class IdInUseProblem(ServerError):
    """Another live node has this node id, or another process this data folder."""

    exit_code = 6


class AddressTakenProblem(ServerError):
    """Another program has the address that this node is to listen on."""

    exit_code = 7


class BadMessageError(GroupcoreError):
    """It is not of the documented form, or cannot be now; `code` is the protocol's name of it."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class TooFastError(BadMessageError):
    """Ask again in `wait_s` seconds."""

    def __init__(self, message: str, wait_s: int, code: str = "too_fast") -> None:
        super().__init__(code, message)
        self.wait_s = wait_s


def refusal(code: str, detail: str) -> ServerError:
    """The error of a membership that was refused."""
    match code:
        case "id_in_use" | "cloned":
            return IdInUseProblem(f"--node-id: {detail}")
        case "version":
            return VersionProblem(f"the cluster runs another version of this program: {detail}")
        case "mixed_logs":
            return SettingsProblem(f"--data: {detail}")
        case _:
            return SettingsProblem(f"--data belongs to another cluster: {detail}")
