"""What a module keeps between updates: the scheme of its closure, with the tables it belongs to.

Tables are values, and so are schemes. A scheme that is attached to closed tables is right for these
and no others, whatever becomes of the transaction that made them; tables without one (those of a
store that was just opened) are no less right, and a module builds the scheme anew when it needs it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

from triplestore.engine.modules.recognise import Structure
from triplestore.schemes.scheme import Scheme


class Attached(NamedTuple):
    """The scheme of a group, and what the group's chains come to."""

    structure: Structure
    scheme: Scheme


Schemes: TypeAlias = Mapping[int, Attached]
"""By the id of the first property of the group."""
