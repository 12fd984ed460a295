"""The file of a local store, looked at from outside: it is not opened as a database, and nothing is made or written."""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Final

MOUNTS: Final = Path("/proc/self/mountinfo")
_HEADER: Final = b"SQLite format 3\0"
# SQLite, "Write-Ahead Logging": "WAL does not work over a network filesystem", for it needs shared memory.
_NETWORK: Final = frozenset(
    {"nfs", "nfs4", "cifs", "smb", "smb2", "smb3", "smbfs", "afs", "ceph", "glusterfs", "lustre", "gfs2", "ocfs2"}
    | {"fuse.sshfs", "fuse.glusterfs", "fuse.s3fs", "fuse.gcsfuse", "fuse.rclone", "fuse.ceph", "9p", "drvfs"}
)
_MEMORY: Final = frozenset({"tmpfs", "ramfs"})
_LAYERED: Final = frozenset({"overlay", "aufs"})


@dataclass(frozen=True, slots=True)
class StoreFile:
    """`usable`: this account can read and write it, or make it. `key_exposed`: others can read its key file.

    `file_system`: the type of the file system it is on, or will be; None where that is not known.
    """

    usable: bool
    is_database: bool = True
    key_exposed: bool = False
    file_system: str | None = None

    @property
    def on_network(self) -> bool:
        """Is it on another machine's disk?"""
        return self.file_system in _NETWORK

    @property
    def in_memory(self) -> bool:
        """Is it gone after a restart of this machine?"""
        return self.file_system in _MEMORY

    @property
    def in_container_layer(self) -> bool:
        """Is it in the layer of a container, which goes with the container?"""
        return self.file_system in _LAYERED


def look_at(path: Path, *, mounts: Path = MOUNTS) -> StoreFile:
    """What can be told of the file without touching it. `mounts` is a mount table in the form of proc(5)."""
    path = Path(os.path.realpath(path))
    try:
        return StoreFile(
            _usable(path),
            _is_database(path),
            _is_exposed(path.with_name(f"{path.name}.key")),
            file_system(path, mounts),
        )
    except OSError:
        return StoreFile(usable=False)


def _usable(path: Path) -> bool:
    """Read and write the file, and make files beside it: SQLite keeps its log there."""
    if path.exists():
        return path.is_file() and _may(path, os.R_OK | os.W_OK) and _may(path.parent, os.W_OK | os.X_OK)
    folder = next((each for each in path.parents if each.exists()), None)
    return folder is not None and folder.is_dir() and _may(folder, os.W_OK | os.X_OK)


def _may(path: Path, mode: int) -> bool:
    return os.access(path, mode, effective_ids=os.access in os.supports_effective_ids)


def _is_database(path: Path) -> bool:
    if not path.is_file() or not _may(path, os.R_OK):
        return True
    with path.open("rb") as file:
        return file.read(len(_HEADER)) in (b"", _HEADER)


def _is_exposed(key: Path) -> bool:
    return key.is_file() and bool(stat.S_IMODE(key.stat().st_mode) & 0o077)


def file_system(path: Path, mounts: Path = MOUNTS) -> str | None:
    """The type of the file system that holds the path: that of the deepest mount point above it, the last one there."""
    try:
        table = mounts.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    best, found = -1, None
    for line in table.splitlines():
        # 36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue          (proc(5))
        mount, _, source = line.partition(" - ")
        fields, kind = mount.split(), source.split()
        if len(fields) < 5 or not kind:
            continue
        point = Path(re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), fields[4]))
        if (path == point or point in path.parents) and len(point.parts) >= best:
            best, found = len(point.parts), kind[0]
    return found
