"""The folder for compiled and unpacked code, to which only this user can write.

numba reads compiled kernels with pickle, and Spark's workers run what they unpacked. A user who can
write to such a folder can run code as this user, so a folder is used only if it belongs to the
user, is not a symbolic link, and is not writable by a group or other users.

This module imports the standard library only: `loaders.spark.jobs.packaging` puts it beside the
code that unpacks the rest of the package.
"""

from __future__ import annotations

import atexit
import os
import shutil
import stat
import sys
import tempfile
from functools import cache
from pathlib import Path


def private_folder(name: str = "") -> Path:
    """A private folder for files that can be made again, or the folder of this name in it.

    It is `$TRIPLESTORE_CACHE`, else a folder of the user's cache, else one of the folder for
    temporary files. If none of these can be used, it is a new one, removed when the process ends.
    """
    given = os.environ.get("TRIPLESTORE_CACHE")
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser())
    shared = Path(tempfile.gettempdir()) / f"triplestore-{os.getuid()}"
    candidates = (Path(given),) if given else (home / "triplestore", shared)
    for candidate in candidates:
        if _made_private(candidate) and _made_private(candidate / name):
            return candidate / name
    folder = _fresh(candidates) / name
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def is_private(folder: Path) -> bool:
    """Whether a folder is this user's, and no other user can write to it or replace it.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> is_private(folder)
    True
    >>> folder.chmod(0o777)
    >>> is_private(folder)
    False
    """
    try:
        found = folder.lstat()
        above = [place.stat() for place in folder.parent.resolve().parents]
        above.append(folder.parent.stat())
    except OSError:
        return False
    own = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
    return own and not found.st_mode & 0o022 and all(map(_protects, above))


def _protects(folder: os.stat_result) -> bool:
    """Whether other users cannot rename what is in a folder: the sticky bit forbids it."""
    return not folder.st_mode & stat.S_IWOTH or bool(folder.st_mode & stat.S_ISVTX)


def _made_private(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError:
        return False
    return is_private(folder) and os.access(folder, os.W_OK)


@cache
def _fresh(tried: tuple[Path, ...]) -> Path:
    print(  # noqa: T201 - it explains why each process compiles again
        f"triplestore: {' and '.join(map(str, tried))} cannot be used for compiled code, so it is "
        f"compiled again in each process; point TRIPLESTORE_CACHE at a folder that belongs to you "
        f"and that only you can write to (chmod 700)",
        file=sys.stderr,
    )
    folder = Path(tempfile.mkdtemp(prefix="triplestore-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
