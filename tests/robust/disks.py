"""A disk for each node: an ext4 image in memory, which can be full, fail, or lose its power.

They are mounted in a mount namespace of the run's own, held by one process that ends when this one
does; the images lie in a tmpfs there, so nothing is left behind. A disk **fails** by the ioctl
with which file-system tests stop a file system (`EXT4_IOC_SHUTDOWN`, without a flush of the
journal): what was not synced is gone, and every call from then on is an I/O error. Needs root,
`mkfs.ext4`, and loop devices.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import struct
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.robust.network import NoNetwork, run

SIZE_MB = 48
SHUTDOWN = 0x8004587D
"""_IOR('X', 125, u32), of ext4."""
WITHOUT_FLUSH = 2
FILLER = "filler"


class Disks:
    """Use it in `with`. The disk of node n is mounted at `folder(n)`, in the namespace only."""

    def __init__(self, place: Path, size: int) -> None:
        self._place = place
        self._size = size
        self._holder: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        """Make and mount them; NoNetwork."""
        if os.geteuid() != 0:
            raise NoNetwork("mounting needs root")
        for program in ("mkfs.ext4", "unshare", "nsenter"):
            if shutil.which(program) is None:
                raise NoNetwork(f"there is no program `{program}`")
        command = ["unshare", "--mount", "--propagation", "private", "sh", "-c", "echo; exec cat"]
        pipe = subprocess.PIPE
        self._holder = subprocess.Popen(command, stdin=pipe, stdout=pipe)
        assert self._holder.stdout is not None
        self._holder.stdout.readline()  # it has its namespace
        try:
            self._place.mkdir(parents=True, exist_ok=True)
            run(*self.prefix(), "mount", "-t", "tmpfs", "tmpfs", str(self._place))
            for number in range(self._size):
                self._inside(self.folder(number)).mkdir()
                image = self._image(number)
                with self._inside(image).open("wb") as file:
                    file.truncate(SIZE_MB << 20)
                run(*self.prefix(), "mkfs.ext4", "-q", "-m", "0", str(image))
                self.mount(number)
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Forget them; the nodes have ended."""
        for number in range(self._size):
            command = [*self.prefix(), "umount", str(self.folder(number))]
            subprocess.run(command, capture_output=True, check=False)
        self._end()

    def _end(self) -> None:
        if self._holder is not None:
            self._holder.communicate()
            self._holder = None

    def prefix(self) -> list[str]:
        """What a command begins with that is to see the disks."""
        assert self._holder is not None, "use the disks in `with`"
        return ["nsenter", f"--mount=/proc/{self._holder.pid}/ns/mnt"]

    def folder(self, number: int) -> Path:
        """Where a node's disk is mounted."""
        return self._place / f"disk{number}"

    def seen(self, number: int) -> Path:
        """The same folder for this process, which has not mounted it."""
        return self._inside(self.folder(number))

    def _image(self, number: int) -> Path:
        return self._place / f"image{number}"

    def _inside(self, path: Path) -> Path:
        """The same path as this process sees it."""
        assert self._holder is not None, "use the disks in `with`"
        return Path(f"/proc/{self._holder.pid}/root{path}")

    # --- what goes wrong ------------------------------------------------------------------------

    def fill(self, number: int) -> None:
        """Leave no byte of room."""
        path = self._inside(self.folder(number)) / FILLER
        with path.open("wb", buffering=0) as file:
            for step in (1 << 20, 4096):
                try:
                    while True:
                        end = os.fstat(file.fileno()).st_size
                        os.posix_fallocate(file.fileno(), end, step)
                except OSError:
                    continue

    def free(self, number: int) -> None:
        """Give the room back."""
        (self._inside(self.folder(number)) / FILLER).unlink(missing_ok=True)

    def fail(self, number: int) -> None:
        """From now on every call is an I/O error, and what was not synced is lost."""
        descriptor = os.open(self._inside(self.folder(number)), os.O_RDONLY)
        try:
            fcntl.ioctl(descriptor, SHUTDOWN, struct.pack("=I", WITHOUT_FLUSH))
        finally:
            os.close(descriptor)

    def unmount(self, number: int) -> None:
        """Whoever used it has ended; NoNetwork."""
        run(*self.prefix(), "umount", str(self.folder(number)))

    def mount(self, number: int) -> None:
        """Have it there, its journal replayed; NoNetwork."""
        image, folder = str(self._image(number)), str(self.folder(number))
        run(*self.prefix(), "mount", "-o", "loop", image, folder)
