"""A pause for Python's collector of cycles, while a program is read or compiled."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_collection() -> Iterator[None]:
    """Without looking for cycles among all objects each time that they are a quarter more.

    Programs are hundreds of thousands of small objects without cycles: looking at them again and
    again took a third of the time. If several threads do this at once, the first that is done
    ends it for all; that costs time only.

    >>> with no_collection():
    ...     gc.isenabled()
    False
    >>> gc.isenabled()
    True
    """
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
