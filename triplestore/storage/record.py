"""Commits as payloads of journal records, and the replay of such records.

Start reading at `Commit`. The record of a small commit is complete; a large commit writes files
first, which its record only names. Within a commit the new terms come first, in the order of their
ids, then the steps in order. `JournalReplay` combines the changes of consecutive commits into one
layer, so that ten thousand commits cost as much as one. `restored` adds what is not stored as rows:
closures of which tables hold only the edges, and the facts of individuals that are represented by
others. Always true: the value `SCHEMES` of a state says which relations of its tables are closed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from triplestore.checked_columns import Array, Column
from triplestore.closures.attached import Schemes
from triplestore.closures.described import restore
from triplestore.data_classes import data_class
from triplestore.relations import Changes, Layer, Tables
from triplestore.relations.views.equality import (
    MEMBERS_KEY,
    TOLD_KEY,
    kept_classes,
    representatives,
    with_equality,
)
from triplestore.storage.files.encode import Shape, decode, decode_keys, encode, encode_keys, split
from triplestore.storage.files.sections import FileRef
from triplestore.storage.metadata import SCHEMES
from triplestore.storage.state import KeptPart, State, value_of
from triplestore.terms import Dictionary, TermSegment
from triplestore.terms.vocabulary import OWL_SAME_AS

OpenPart: TypeAlias = Callable[[FileRef], KeptPart]
_KEYS = "keys"


@data_class
class NewTermKeys:
    """The keys of new terms with ids from `first` on."""

    first: int
    keys: Sequence[bytes]


@data_class
class Commit:
    """One commit; parts in files are given by FileRef.

    cleared  whether all earlier rows are removed
    """

    terms: Sequence[NewTermKeys | FileRef] = ()
    steps: Sequence[Changes | Layer | FileRef] = ()
    meta: Mapping[str, bytes | None] = field(default_factory=dict)
    cleared: bool = False

    def to_bytes(self) -> bytes:
        """The payload of its record."""
        if self._is_plain():
            return encode(self._plain_items())
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
        if "outline" not in items:
            return cls(_plain_keys(items), [Changes.from_arrays(items)])
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

    def _is_plain(self) -> bool:
        """True for most commits: one set of changes, and possibly the keys of new terms."""
        return (
            len(self.steps) == 1
            and isinstance(self.steps[0], Changes)
            and (
                not self.terms or (len(self.terms) == 1 and isinstance(self.terms[0], NewTermKeys))
            )
            and not self.meta
            and not self.cleared
        )

    def _plain_items(self) -> dict[str, Array | bytes]:
        items: dict[str, Array | bytes] = {}
        for keys in self.terms:
            assert isinstance(keys, NewTermKeys)
            items[_KEYS] = encode_keys(keys.first, keys.keys)
        for changes in self.steps:
            assert isinstance(changes, Changes)
            items |= changes.to_arrays()
        return items

    def refs(self) -> list[FileRef]:
        """The files that it names."""
        return [part for part in (*self.terms, *self.steps) if isinstance(part, FileRef)]


def _plain_keys(items: dict[str, NDArray[Any]]) -> list[NewTermKeys | FileRef]:
    keys = items.pop(_KEYS, None)
    return [] if keys is None else [NewTermKeys(*decode_keys(keys.tobytes()))]


def _pack_terms(items: dict[str, Array | bytes], place: int, part: NewTermKeys | FileRef) -> Any:
    if isinstance(part, FileRef):
        return part.to_json()
    items[f"t{place}.keys"] = encode_keys(part.first, part.keys)
    return "keys"


def _unpack_terms(items: Mapping[str, NDArray[Any]], described: Any) -> NewTermKeys | FileRef:
    if described == "keys":
        return NewTermKeys(*decode_keys(items["keys"].tobytes()))
    return FileRef.from_json(described)


def _pack_step(items: dict[str, Array | bytes], place: int, step: Changes | Layer | FileRef) -> Any:
    """Describe a step; the arrays of a step without a file are added to `items`."""
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


_SAME_AS = b"\x01" + OWL_SAME_AS.encode()


def restored(tables: Tables, dictionary: Dictionary, meta: Mapping[str, bytes]) -> Tables:
    """The tables with the closures that a store describes, instead of their own."""
    bare = made = tables.with_schemes({})
    keys = [MEMBERS_KEY, _SAME_AS, TOLD_KEY]
    members, same_as, told = dictionary.lookup_keys(keys).tolist()
    classes = kept_classes(bare, members)
    if len(classes):
        made = representatives(bare, classes, same_as, told)
    rows = made

    def read(data: bytes) -> Schemes:
        return restore(
            data,
            lambda names: dictionary.lookup_keys(list(names)).tolist(),
            lambda name: rows.stored_relation(name).keys(),
        )

    none: Schemes = {}
    if schemes := value_of(meta, SCHEMES, read, none):
        made = made.with_schemes(schemes)
    if not len(classes):
        return made
    return with_equality(bare, made, classes, same_as, told=told)


class JournalReplay:
    """Applies records to a state, one after the other; `state` is the result.

    Plain commits of one shape are collected in `_alike` and applied together; `_keys` and
    `_changes` are then collected until another kind of step follows.
    """

    def __init__(self, state: State, open_part: OpenPart) -> None:
        self._commit = state.commit
        self._dictionary = state.dictionary
        self._tables = state.tables
        self._meta = state.meta
        self._open_part = open_part
        self._shape: Shape = ()
        self._alike: list[list[bytes]] = []
        self._changes: list[Changes] = []
        self._first_key = 0
        self._keys: list[bytes] = []

    def add(self, payload: bytes) -> None:
        """Apply the commit of one record."""
        self._commit += 1
        shape, places = split(payload)
        if shape is not self._shape:
            self._settle_alike()
            self._shape = shape
        if any(name == "outline" for name, _ in shape):
            self._apply(Commit.from_bytes(payload))
        else:
            self._alike.append([payload[start:stop] for start, stop in places])

    def _apply(self, commit: Commit) -> None:
        for part in commit.terms:
            if isinstance(part, NewTermKeys):
                self._add_keys(part)
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

    def _settle_alike(self) -> None:
        """The changes of plain commits of one shape, joined column by column.

        A row may occur twice in the joined changes. The first commit stays separate, so that there
        are at least two changes, and `Changes.concat` combines equal rows.
        """
        first, rest = self._alike[:1], self._alike[1:]
        self._alike = []
        for commits in (first, rest):
            if not commits:
                continue
            arrays: dict[str, NDArray[Any]] = {}
            for (name, dtype), parts in zip(self._shape, zip(*commits, strict=True), strict=True):
                if name == _KEYS:
                    for part in parts:
                        self._add_keys(NewTermKeys(*decode_keys(part)))
                else:
                    arrays[name] = np.frombuffer(b"".join(parts), dtype)
            self._changes.append(Changes.from_arrays(arrays))

    def _add_keys(self, keys: NewTermKeys) -> None:
        self._first_key = self._first_key or keys.first
        self._keys.extend(keys.keys)

    def state(self) -> State:
        """The state after all commits that were added."""
        self._settle_alike()
        self._settle_keys()
        self._settle_changes()
        size = self._dictionary.size
        tables = restored(self._tables, self._dictionary, self._meta)
        return State(self._commit, self._dictionary, size, tables, self._meta)

    def _settle_keys(self) -> None:
        if self._keys:
            self._dictionary.append_keys(self._first_key, self._keys)
            self._first_key, self._keys = 0, []

    def _settle_changes(self) -> None:
        if self._changes:
            self._tables = self._tables.push(Layer.build(Changes.concat(self._changes)))
            self._changes = []
