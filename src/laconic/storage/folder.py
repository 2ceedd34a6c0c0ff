"""The data folder: one server at a time, private, on a disk of this machine."""

import fcntl
import os
from pathlib import Path

from laconic.errors import DataFolderInUse

_LOCK = "server.lock"
# On these file locks and shared memory do not hold what SQLite's log needs of them.
_NETWORK_DISKS = (
    "nfs",
    "cifs",
    "smb",
    "afs",
    "ceph",
    "glusterfs",
    "lustre",
    "fuse.sshfs",
    "fuse.s3fs",
    "davfs",
)


def claim_folder(folder: Path) -> int:
    """Locks the folder for this server and its children, until the last of them ends; gives the descriptor."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        kind = disk_kind(folder)
        if is_network_disk(kind):
            raise DataFolderInUse(
                f"The data folder {folder} lies on a network disk ({kind}), where SQLite can lose data."
                " Use --data with a folder on a local disk, or PostgreSQL."
            )
        fd = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise DataFolderInUse(f"The data folder {folder} cannot be used: {error.strerror}.") from error
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.pread(fd, 20, 0).decode("ascii", "replace").strip()
        os.close(fd)
        raise DataFolderInUse(
            f"Another Laconic server (process {holder or 'unknown'}) works on the data folder {folder}."
            " Stop it, or use --data with another folder."
        ) from None
    os.ftruncate(fd, 0)
    os.pwrite(fd, f"{os.getpid()}\n".encode(), 0)
    return fd


def is_network_disk(kind: str) -> bool:
    return kind.startswith(_NETWORK_DISKS)


def disk_kind(folder: Path) -> str:
    """The type of the file system that holds the folder, such as ext4."""
    try:
        lines = Path("/proc/self/mountinfo").read_text().splitlines()
    except OSError:
        return ""
    resolved = folder.resolve()
    best, kind = -1, ""
    for line in lines:
        before, _, after = line.partition(" - ")
        mount = Path(before.split()[4].replace("\\040", " "))
        if (resolved == mount or mount in resolved.parents) and len(mount.parts) >= best:
            best, kind = len(mount.parts), after.split()[0]
    return kind
