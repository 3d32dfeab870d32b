"""Thresholds of a package: numbers that choose between two ways of doing the same work.

Start at `Thresholds`. Each package with such numbers has a `thresholds.py` with one subclass and
one instance of it. Answers never depend on a threshold. A test that wants the way for large data
on small data changes the instance for its own duration.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from typing import Any

from triplestore.data_classes import data_class


@data_class(frozen=False)
class Thresholds:
    """The base of every package's thresholds.

    >>> @data_class(frozen=False)
    ... class Example(Thresholds):
    ...     few_rows: int = 64
    >>> example = Example()
    >>> with example.changed(few_rows=2):
    ...     example.few_rows
    2
    >>> example.few_rows
    64
    >>> with example.changed(few_row=2):
    ...     pass
    Traceback (most recent call last):
    AttributeError: Example has no threshold 'few_row'
    """

    @contextmanager
    def changed(self, **values: Any) -> Iterator[None]:
        """Use other values for the duration of a `with` statement."""
        names = {item.name for item in fields(self)}
        for name in values:
            if name not in names:
                raise AttributeError(f"{type(self).__name__} has no threshold {name!r}")
        before = replace(self)
        try:
            for name, value in values.items():
                setattr(self, name, value)
            yield
        finally:
            for name in values:
                setattr(self, name, getattr(before, name))
