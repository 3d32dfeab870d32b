"""Pipes, terminals and devices, whose readers may wait forever for a writer.

Start at `Pipe`. Always true: Ctrl-C or the caller can end a wait; a wait of more than two seconds
is reported on stderr once.
"""

from __future__ import annotations

import io
import os
import select
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .thresholds import LOADING

_POLL = 100  # milliseconds between two checks whether the load was cancelled


class Pipe(io.RawIOBase):
    """A file descriptor that is polled before it is read."""

    def __init__(self, number: int, name: str, check: Callable[[], None], own: bool) -> None:
        """`check` raises if the load was cancelled; `own`: close the descriptor at the end."""
        self._number = number
        self._name = name
        self._check = check
        self._own = own
        self._told = False

    @classmethod
    def opened(cls, path: Path, check: Callable[[], None]) -> Pipe:
        """Open a pipe or device by name, without waiting for a writer."""
        return cls(os.open(path, os.O_RDONLY | os.O_NONBLOCK), str(path), check, True)

    def readable(self) -> bool:
        """True."""
        return True

    def readinto(self, target: Any) -> int:
        """Read the available bytes, at least one; 0 at the end."""
        view = memoryview(target).cast("B")
        while True:
            self._wait()
            try:
                return os.readv(self._number, [view])
            except BlockingIOError:
                continue

    def _wait(self) -> None:
        poll = select.poll()
        poll.register(self._number, select.POLLIN)
        began = time.monotonic()
        while not poll.poll(_POLL):
            self._check()
            if not self._told and time.monotonic() - began > LOADING.patience:
                self._told = True
                text = f"triplestore: waiting for {self._name}, which has no data yet"
                sys.stderr.write(f"{text} (Ctrl-C ends this)\n")
                sys.stderr.flush()

    def close(self) -> None:
        """Close the descriptor, if it is our own."""
        if self._own and not self.closed:
            os.close(self._number)
        super().close()
