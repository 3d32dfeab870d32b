"""Descriptions, as bytes, of the closures that belong to tables and are not stored as rows.

Start reading at `describe` and `restore`. The tables hold the edges. A scheme is built from these
at its first use, which is faster than reading it from a file: 0.05 s for 100,000 edges with 22
million pairs.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from triplestore.closures.attached import CLOSED, UNION, Attached, Schemes, Structure
from triplestore.closures.scheme import Scheme
from triplestore.relations.facts.sorted_arrays import sorted_distinct
from triplestore.relations.packed_keys import NO_KEYS, U64, swap

if TYPE_CHECKING:
    from triplestore.closures.union_view import UnionOf

IdsOf = Callable[[Sequence[bytes]], Sequence[int]]
"""The ids of names."""

EdgesOf = Callable[[int], U64]
"""The stored pairs of a relation."""


def describe(schemes: Schemes) -> bytes | None:
    """The data that `restore` needs; None if there is nothing to restore.

    >>> describe({}) is None
    True
    """
    found = [
        {
            "kind": one.structure.kind,
            "relations": [name.decode("latin-1") for name in one.structure.relations],
            "turned": list(one.structure.turned),
            "parts": [[name.decode("latin-1"), turned] for name, turned in parts_of(one.structure)],
        }
        for _, one in sorted(schemes.items())
        if one.compressed
    ]
    return json.dumps(found).encode() if found else None


def restore(data: bytes | None, ids_of: IdsOf, edges_of: EdgesOf) -> dict[int, Attached]:
    """The described schemes; each is built at its first use."""
    found: dict[int, Attached] = {}
    if not data:
        return found
    described = json.loads(data)
    if not isinstance(described, list) or not described:
        raise ValueError("it does not describe a closure")
    for one in described:
        if one["kind"] not in (*CLOSED, UNION):
            raise ValueError(f"{one['kind']!r} is not a kind of closure")
        names = tuple(name.encode("latin-1") for name in one["relations"])
        parts = [(name.encode("latin-1"), turned) for name, turned in one.get("parts", ())]
        chains = tuple((names[0], (part,)) for part in parts)
        structure = Structure(one["kind"], names, tuple(one["turned"]), chains)
        ids = tuple(int(i) for i in ids_of(names))
        scheme: Any = union_of(structure, ids_of) if parts else Later(structure, ids, edges_of)
        found[ids[0]] = Attached(structure, ids, scheme, True)
    return found


def parts_of(structure: Structure) -> list[tuple[bytes, bool]]:
    """The parts of a union; empty for other structures."""
    chains = structure.chains if structure.kind == UNION else ()
    return [step for _, (step,) in chains]


def union_of(structure: Structure, ids_of: IdsOf, pairs: int | None = None) -> UnionOf:
    """A union with the ids of its parts."""
    # Late: most stores have no closures.
    from triplestore.closures.union_view import UnionOf

    own, *ids = ids_of([structure.relations[0], *(name for name, _ in parts_of(structure))])
    turned = [turned for _, turned in parts_of(structure)]
    return UnionOf(int(own), tuple(zip(map(int, ids), turned, strict=True)), pairs)


class Later:
    """A scheme that is built at its first use and behaves as that scheme."""

    def __init__(self, structure: Structure, ids: tuple[int, ...], edges_of: EdgesOf) -> None:
        self._structure = structure
        self._ids = ids
        self._edges_of = edges_of
        self._scheme: Scheme | None = None
        self._lock = threading.Lock()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._built(), name)

    def _built(self) -> Scheme:
        # Late: most stores have no closures.
        from triplestore.closures.kinds import SCHEMES

        with self._lock:
            if self._scheme is None:
                parts = [NO_KEYS]
                for name, turned in zip(self._ids, self._structure.turned, strict=True):
                    keys = self._edges_of(name)
                    parts.append(swap(keys) if turned else keys)
                edges = sorted_distinct(np.concatenate(parts))
                self._scheme = SCHEMES[self._structure.kind](edges, None)
            return self._scheme
