"""The lock of the writer: an advisory lock on the file LOCK, which names the holder.

The operating system drops the lock when the process that holds it ends, for whatever reason. The
content of the file is used for error messages only.
"""

from __future__ import annotations

import contextlib
import json
import os
from datetime import UTC, datetime
from pathlib import Path

from triplestore.errors import LockedError
from triplestore.storage.files.system import Files, Lock

NAME = "LOCK"


def take_lock(files: Files, directory: Path) -> Lock:
    """Become the writer of a store, or raise LockedError, which names the current one."""
    path = directory / NAME
    lock = files.lock(path)
    if lock is None:
        raise LockedError(
            f"{directory} is being written by {_holder(files, path)}; to read it meanwhile, open "
            f"it read-only: Store.read_only({str(directory)!r})"
        )
    me = {
        "pid": os.getpid(),
        "host": os.uname().nodename,
        "since": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    with contextlib.suppress(OSError):  # a full disk must not keep a store from being opened
        file = files.open(path)
        try:
            file.truncate(0)
            file.write(json.dumps(me).encode(), 0)
        finally:
            file.close()
    return lock


def _holder(files: Files, path: Path) -> str:
    try:
        holder = json.loads(files.read(path))
        pid, host, since = int(holder["pid"]), str(holder["host"]), str(holder["since"])
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"
    if (pid, host) == (os.getpid(), os.uname().nodename):
        return f"this very process, through another Store opened at {since}"
    return f"process {pid} on {host}, since {since}"
