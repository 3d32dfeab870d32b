"""What a text index holds, as it is kept with the store: start at `TextSettings`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from functools import lru_cache
from secrets import token_hex
from typing import TYPE_CHECKING, Any, cast

from triplestore.data_classes import data_class
from triplestore.errors import UsageError
from triplestore.storage.metadata import TEXT_INDEX
from triplestore.storage.state import value_of
from triplestore.terms.term_keys import IRI, key_of
from triplestore.text_search.languages import stemmed

if TYPE_CHECKING:
    from pyoxigraph import NamedNode


@data_class
class TextSettings:
    """The settings of a text index.

    properties  IRIs of the properties whose literals it holds, in order; None for all
    stemmers    language tag to stemmer
    substrings  whether it also finds texts within words, for filters
    uid         a name for its folder; every index, and every numbering of terms, has another
    """

    properties: tuple[str, ...] | None
    stemmers: Mapping[str, str]
    substrings: bool
    uid: str

    @classmethod
    def of(
        cls,
        properties: Iterable[str | NamedNode] | str | NamedNode | None,
        languages: Iterable[str] | Mapping[str, str] | None,
        substrings: bool,
        prefixes: Mapping[str, str],
    ) -> TextSettings:
        """The settings that a caller asks for."""
        return cls(_iris(properties, prefixes), stemmed(languages), substrings, token_hex(8))

    def renewed(self) -> TextSettings:
        """The same settings for another folder."""
        return replace(self, uid=token_hex(8))

    def agrees(self, other: TextSettings) -> bool:
        """Whether an index with the other settings holds the same."""
        return self == replace(other, uid=self.uid)

    def to_bytes(self) -> bytes:
        """The settings as they are stored."""
        return json.dumps(asdict(self), ensure_ascii=False).encode()

    @property
    def folder(self) -> str:
        """The name of its folder beside the files of the store."""
        return f"text-{self.uid}"


def settings_of(meta: Mapping[str, bytes]) -> TextSettings | None:
    """The settings of a store's text index; None if it has none.

    >>> settings_of({}) is None
    True
    """
    return value_of(meta, TEXT_INDEX, _read, None)


@lru_cache(maxsize=16)
def _read(value: bytes) -> TextSettings:
    found: dict[str, Any] = json.loads(value)
    properties = found["properties"]
    return TextSettings(
        None if properties is None else tuple(map(str, properties)),
        {str(tag): str(name) for tag, name in found["stemmers"].items()},
        bool(found["substrings"]),
        str(found["uid"]),
    )


def _iris(
    properties: Iterable[str | NamedNode] | str | NamedNode | None, prefixes: Mapping[str, str]
) -> tuple[str, ...] | None:
    if properties is None:
        return None
    # Terms of pyoxigraph and rdflib are not iterable, or are texts.
    named = [properties] if isinstance(properties, str) or _is_term(properties) else properties
    found = sorted({_iri(name, prefixes) for name in cast("Iterable[str | NamedNode]", named)})
    if not found:
        raise UsageError("properties must name at least one property, or be None for all of them")
    return tuple(found)


def _is_term(given: object) -> bool:
    return not isinstance(given, Iterable)


def _iri(name: str | NamedNode, prefixes: Mapping[str, str]) -> str:
    """The IRI that a caller gives as such, in angle brackets, with a prefix, or as a term."""
    # Late: it reads tables, and indexes are defined seldom.
    from triplestore.loaders.tabular.mapping import checked_iri

    if type(name) is str:
        inner = name[1:-1] if name.startswith("<") and name.endswith(">") else name
        return checked_iri(inner, "a property of the text index", prefixes)
    key = key_of(name)
    if key[0] != IRI:
        raise UsageError(f"{name} is not a property: give its IRI")
    return key[1:].decode()
