"""What one commit says, as the payload of its journal record, and the replay of such records.

Start reading at `Commit`. A small commit is all in its record; a large one has written files
first, which the record only names. Within a commit the new terms come first, in the order of their
ids, then the steps in the order in which they were made. Replaying puts the changes of commits that
follow each other into one layer, so that ten thousand commits cost one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from numpy.typing import NDArray

from triplestore.columns import Array, Column
from triplestore.storage.encode import decode, decode_keys, encode, encode_keys
from triplestore.storage.sections import FileRef
from triplestore.storage.state import Part, State
from triplestore.tables import Changes, Layer, Tables
from triplestore.terms import TermSegment

OpenPart: TypeAlias = Callable[[FileRef], Part]


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys of new terms with ids from `first` on."""

    first: int
    keys: Sequence[bytes]


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit; what is in a file is here by its FileRef.

    cleared  says that all rows there were before are gone
    """

    terms: Sequence[Keys | FileRef] = ()
    steps: Sequence[Changes | Layer | FileRef] = ()
    meta: Mapping[str, bytes | None] = field(default_factory=dict)
    cleared: bool = False

    def to_bytes(self) -> bytes:
        """The payload of its record."""
        items: dict[str, Array | bytes] = {}
        outline: dict[str, Any] = {
            "terms": [_pack_terms(items, i, part) for i, part in enumerate(self.terms)],
            "steps": [_pack_step(items, i, step) for i, step in enumerate(self.steps)],
            "meta": {name: value is not None for name, value in self.meta.items()},
            "cleared": self.cleared,
        }
        for place, value in enumerate(self.meta.values()):
            items[f"m{place}."] = value or b""
        items["outline"] = json.dumps(outline, separators=(",", ":"), default=int).encode()
        return encode(items)

    @classmethod
    def from_bytes(cls, payload: bytes) -> Commit:
        """The commit of a payload."""
        items = decode(payload)
        outline = json.loads(items["outline"].tobytes())
        parts: dict[str, dict[str, NDArray[Any]]] = {}
        for name, array in items.items():
            label, _, rest = name.partition(".")
            parts.setdefault(label, {})[rest] = array
        return cls(
            [_unpack_terms(parts.get(f"t{i}", {}), d) for i, d in enumerate(outline["terms"])],
            [_unpack_step(parts.get(f"s{i}", {}), d) for i, d in enumerate(outline["steps"])],
            {
                name: parts[f"m{i}"][""].tobytes() if there else None
                for i, (name, there) in enumerate(outline["meta"].items())
            },
            outline["cleared"],
        )

    def refs(self) -> list[FileRef]:
        """The files that it names."""
        return [part for part in (*self.terms, *self.steps) if isinstance(part, FileRef)]


def _pack_terms(items: dict[str, Array | bytes], place: int, part: Keys | FileRef) -> Any:
    if isinstance(part, FileRef):
        return part.to_json()
    items[f"t{place}.keys"] = encode_keys(part.first, part.keys)
    return "keys"


def _unpack_terms(items: Mapping[str, NDArray[Any]], described: Any) -> Keys | FileRef:
    if described == "keys":
        return Keys(*decode_keys(items["keys"].tobytes()))
    return FileRef.from_json(described)


def _pack_step(items: dict[str, Array | bytes], place: int, step: Changes | Layer | FileRef) -> Any:
    """Describe a step, and put the arrays of one that is in no file into `items`."""
    if isinstance(step, FileRef):
        return step.to_json()
    changes = isinstance(step, Changes)
    arrays = step.to_arrays() if isinstance(step, Changes) else step.sections()
    for name, array in arrays.items():
        items[f"s{place}.{name}"] = array
    return "changes" if changes else {"layer": step.meta}  # type: ignore[union-attr]


def _unpack_step(items: Mapping[str, NDArray[Any]], described: Any) -> Changes | Layer | FileRef:
    if described == "changes":
        return Changes.from_arrays(items)
    if isinstance(described, dict):
        return Layer.from_sections(lambda name: Column.of(items[name]), described["layer"])
    return FileRef.from_json(described)


class Replay:
    """Applies commits to a state, one after the other; `state` gives the result."""

    def __init__(self, state: State, open_part: OpenPart) -> None:
        self._commit = state.commit
        self._dictionary = state.dictionary
        self._tables = state.tables
        self._meta = state.meta
        self._open_part = open_part
        self._changes: list[Changes] = []
        self._first_key = 0
        self._keys: list[bytes] = []

    def add(self, commit: Commit) -> None:
        """Apply one commit."""
        self._commit += 1
        for part in commit.terms:
            if isinstance(part, Keys):
                self._first_key = self._first_key or part.first
                self._keys.extend(part.keys)
                continue
            self._settle_keys()
            segment = self._open_part(part)
            assert isinstance(segment, TermSegment)
            self._dictionary.add_segment(segment)
        if commit.cleared:
            self._changes = []
            self._tables = Tables()
        for step in commit.steps:
            if isinstance(step, Changes):
                self._changes.append(step)
                continue
            self._settle_changes()
            layer = self._open_part(step) if isinstance(step, FileRef) else step
            assert isinstance(layer, Layer)
            self._tables = self._tables.push(layer)
        if commit.meta:
            self._meta = self._meta.with_changes(commit.meta)

    def state(self) -> State:
        """The state after all commits that were added."""
        self._settle_keys()
        self._settle_changes()
        size = self._dictionary.size
        return State(self._commit, self._dictionary, size, self._tables, self._meta)

    def _settle_keys(self) -> None:
        if self._keys:
            self._dictionary.append_keys(self._first_key, self._keys)
            self._first_key, self._keys = 0, []

    def _settle_changes(self) -> None:
        if self._changes:
            self._tables = self._tables.push(Layer.build(Changes.concat(self._changes)))
            self._changes = []
