"""Delays Ctrl-C while compiled code is loaded.

LLVM calls back into Python there. An error raised in such a call cannot be passed on: Ctrl-C is
lost, or the process dies because LLVM did not get its result.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def interrupts_later() -> Iterator[None]:
    """Delay Ctrl-C until the end of this block.

    >>> import signal
    >>> before = signal.signal(signal.SIGINT, lambda *_: print("and stops"))
    >>> with interrupts_later():
    ...     signal.raise_signal(signal.SIGINT)
    ...     print("goes on")
    goes on
    and stops
    >>> _ = signal.signal(signal.SIGINT, before)
    """
    handler: Any = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield  # only the main thread is interrupted
        return
    noted: list[Any] = []
    signal.signal(signal.SIGINT, lambda *given: noted.append(given))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if noted:
            handler(*noted[0])
