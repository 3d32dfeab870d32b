"""The output of the command after Ctrl-C."""

from __future__ import annotations

import signal

STOPPED = (130, -signal.SIGINT)
"""Exit statuses, both 130 in a shell. Python ends itself with the signal where Ctrl-C came while it
ran code made from text (as `dataclasses` and `namedtuple` do), though the error was handled."""
