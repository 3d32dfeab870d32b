"""The folder for kernels that numba compiled, and a lock for each of them between processes.

The folder is named by the hash of *all* kernel sources and of the versions of numba and numpy.
numba itself checks only the file of the function that it caches, and would keep using a stale copy
of a helper edited in another file. Where the sources lie is not part of it: copies of one version
(a second environment, an archive that Spark's workers unpack) share what is compiled.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from triplestore.private_folder import private_folder

SOURCES = Path(__file__).parent

_WAIT_SECONDS = 20.0
"""Maximum wait for a kernel that another process compiles; the longest takes 5 s. Then it is
compiled here as well, which is not wrong: the other process may be suspended."""


def cache_folder() -> Path:
    """The folder for compiled kernels; only this user can write to it."""
    return private_folder(f"kernels-{_fingerprint(os.environ.get('NUMBA_BOUNDSCHECK', '0'))}")


@cache
def source_hash(kernels_only: bool = True) -> str:
    """A hash of the sources of all kernels, or also of what declares and compiles them."""
    digest = hashlib.blake2b(digest_size=8)
    for source in sorted(SOURCES.rglob("*.py")):
        parts = source.relative_to(SOURCES).parts
        if not kernels_only or (len(parts) > 1 and parts[0] != "ahead"):
            digest.update("/".join(parts).encode() + b"\0" + source.read_bytes())
    return digest.hexdigest()


@cache
def _fingerprint(bounds_checks: str) -> str:
    """A hash of everything that compiled code depends on; computed once, as it takes 5 ms."""
    from importlib import metadata  # imports mail and sockets

    digest = hashlib.blake2b(source_hash(kernels_only=False).encode(), digest_size=8)
    for package in ("numba", "llvmlite", "numpy"):
        digest.update(f"{package} {metadata.version(package)}\n".encode())
    digest.update(f"{sys.version} boundscheck={bounds_checks}".encode())
    return digest.hexdigest()


@contextmanager
def numba_settings() -> Iterator[None]:
    """Tell numba the cache folder: it reads global settings when a function is declared."""
    from numba.core import config as numba_config

    config: Any = numba_config
    names = {
        "CACHE_DIR": str(cache_folder()),
        "CACHE_LOCATOR_CLASSES": "triplestore.kernels.cache_locator.CacheLocator",
    }
    before = {name: getattr(config, name, "") for name in names}
    for name, value in names.items():
        setattr(config, name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(config, name, value)


def is_cached(name: str, line: int) -> bool:
    """Whether the kernel of this name, declared at this line, has been compiled before."""
    return next(cache_folder().rglob(f"*.{name}-{line}.*.nbi"), None) is not None


@contextmanager
def one_process(name: str) -> Iterator[None]:
    """Let only one process at a time compile or load the kernel of this name.

    The second one waits and then finds it in the cache, instead of compiling it again. Without a
    lock (a file system that has none) both compile, and either result is kept.
    """
    try:
        file = os.open(
            cache_folder() / f"{name}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600
        )
    except OSError:
        yield
        return
    try:
        _lock(file)
        yield
    finally:
        # A process forked meanwhile has the file open as well: closing it here would not unlock.
        fcntl.flock(file, fcntl.LOCK_UN)
        os.close(file)


def _lock(file: int) -> None:
    until = time.monotonic() + _WAIT_SECONDS
    while time.monotonic() < until:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(0.02)
        except OSError:
            return
        else:
            return
