"""A line of progress on a stream: replaced in place on a terminal and in a notebook.

Start reading at `LiveLine`. Anywhere else (a file, a log) lines follow each other, less often.
`shown_by` gives the lines of a thread to a function instead, such as one that sends them to a page.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

ON_TERMINAL = 0.1
"""Seconds between two lines on a terminal."""

IN_NOTEBOOK = 0.5
"""Seconds between two lines in a notebook, which keeps all of them in its file."""

IN_LOG = 5.0
"""Seconds between two lines elsewhere."""


class _Here(threading.local):
    show: Callable[[str], None] | None = None


_HERE = _Here()


@contextmanager
def shown_by(show: Callable[[str], None]) -> Iterator[None]:
    """Give the lines that are made in this thread, in the block, to a function.

    >>> lines = []
    >>> with shown_by(lines.append):
    ...     LiveLine().show("half done")
    >>> lines
    ['half done']
    """
    before, _HERE.show = _HERE.show, show
    try:
        yield
    finally:
        _HERE.show = before


class LiveLine:
    """Shows a line of text, and takes it away at the end if that is possible.

    every  seconds that should be between two lines

    >>> import io
    >>> log = io.StringIO()
    >>> line = LiveLine(log)
    >>> line.show("half done"); line.clear(); log.getvalue()
    'half done\\n'
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self._given = _HERE.show if stream is None else None
        self._stream = sys.stderr if stream is None else stream
        self._terminal = self._given is None and self._stream.isatty()
        # Known by the name of its module, so that nothing of Jupyter is imported.
        self._notebook = type(self._stream).__module__.startswith("ipykernel.")
        self._shown = 0  # characters of the last line

    @property
    def every(self) -> float:
        """Seconds that should be between two lines."""
        if self._terminal or self._given is not None:
            return ON_TERMINAL
        return IN_NOTEBOOK if self._notebook else IN_LOG

    @property
    def on_terminal(self) -> bool:
        """Whether a line must fit the width of a terminal."""
        return self._terminal

    def show(self, text: str) -> None:
        """Replace the line by another."""
        if self._given is not None:
            self._given(text)
        elif self._terminal:
            self._write(f"\r\x1b[K{text}")
        elif self._notebook:  # pages know the carriage return, but not the command to erase
            self._write(f"\r{text.ljust(self._shown)}")
        else:
            self._write(f"{text}\n")
        self._shown = max(1, len(text))

    def clear(self) -> None:
        """Take the line away; lines of a log stay."""
        if self._shown and self._terminal:
            self._write("\r\x1b[K")
        elif self._shown and self._notebook:
            self._write(f"\r{' ' * self._shown}\r")
        self._shown = 0

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()
