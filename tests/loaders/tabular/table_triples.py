"""What the tests of tables share: the triples of a load, as text."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote

from triplestore.loaders.tabular import TableOptions, load_table
from triplestore.terms.dictionary import Dictionary

E = "http://e.org/"
XSD = "http://www.w3.org/2001/XMLSchema#"
Triple = tuple[str, str, str]


def triples(source: Any, dictionary: Dictionary | None = None, **options: Any) -> list[Triple]:
    """What a load gives, as terms in N-Triples, in a fixed order."""
    dictionary = dictionary or Dictionary()
    options.setdefault("subject", E + "{id}")
    loaded = load_table(source, dictionary, TableOptions(**options))
    loaded.add_terms(dictionary)
    columns = [[str(term) for term in dictionary.terms(c)] for c in (loaded.s, loaded.p, loaded.o)]
    assert len(loaded) == sum(file.statements for file in loaded.files)
    return sorted(zip(*columns, strict=True))


def typed(text: str, datatype: str) -> str:
    return f'"{text}"^^<{XSD}{datatype}>'


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def encoded(text: str) -> str:
    """As Java's URLEncoder, with a space as %20: what Spark's side does."""
    return quote(text, safe="*").replace("~", "%7E")
