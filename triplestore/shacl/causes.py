"""Why a result holds: start at `Cause`."""

from __future__ import annotations

from triplestore.data_classes import data_class


@data_class
class Cause:
    """The asserted triples behind a result."""
