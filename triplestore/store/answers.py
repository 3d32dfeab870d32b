"""Results of queries as documents: their formats, and writing them to a stream or a file.

Start at `write_answer`. Solutions and the answers of ASK are written in formats of results, the
triples of CONSTRUCT and DESCRIBE in formats of RDF. Always true: solutions are written block by
block while the rest is computed; a file is either complete or missing.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import PurePath
from typing import IO, Any, BinaryIO, TypeAlias, cast

import pyoxigraph as ox

from triplestore.errors import UsageError
from triplestore.loaders.formats import format_of, known_names, split_name
from triplestore.loaders.writers import write_document
from triplestore.sparql.engine import Result
from triplestore.sparql.results.formats import results_format
from triplestore.sparql.results.solutions import Solutions, Triples
from triplestore.sparql.results.table_files import table_format, write_table
from triplestore.sparql.results.write import write_boolean

__all__ = [
    "AnswerFormat",
    "Result",
    "are_triples",
    "explained",
    "for_people",
    "form_of",
    "write_answer",
]

AnswerFormat: TypeAlias = ox.QueryResultsFormat | ox.RdfFormat


def write_answer(
    result: Result,
    output: IO[bytes] | str | os.PathLike[str] | None = None,
    format: AnswerFormat | str | None = None,
    *,
    prefixes: Mapping[str, str] | None = None,
) -> bytes | None:
    """Write a result to a file or stream, or return it as bytes.

    Without `format`, it comes from the file's name, as does the compression. `prefixes` are for
    formats of RDF that abbreviate. "parquet" and "arrow" are tables (see `table_files`).

    >>> from triplestore import Store
    >>> store = Store()
    >>> _ = store.load("<http://ex.org/a> <http://ex.org/p> 1 .", "ttl")
    >>> write_answer(store.query("SELECT ?o { ?s ?p ?o }"), format="csv")
    b'o\\r\\n1\\r\\n'
    >>> write_answer(store.query("CONSTRUCT WHERE { ?s ?p ?o }"), format="ttl")
    b'<http://ex.org/a> <http://ex.org/p> 1 .\\n'
    """
    compression = None
    if isinstance(output, str | os.PathLike):
        ending, compression = _by_name(os.fspath(output))
        format = format or ending
    table = table_format(format)
    form = None if table is not None else form_of(result, format)

    def write(stream: BinaryIO) -> None:
        if form is None:
            write_table(result, stream, str(table))
        elif isinstance(form, ox.RdfFormat):
            _triples(cast(Triples, result), stream, form, prefixes)
        elif isinstance(result, Solutions):
            stream.writelines(result.document(form))
        else:
            stream.write(write_boolean(bool(result), form))

    return write_document(output, compression, write)


def form_of(result: Result, given: AnswerFormat | str | None) -> AnswerFormat:
    """The format for writing a result; unsuitable formats are refused.

    >>> from triplestore import Store
    >>> form_of(Store().query("SELECT * {}"), "csv")
    <QueryResultsFormat SPARQL Results in CSV>
    >>> form_of(Store().query("DESCRIBE <http://ex.org/a>"), "text/turtle")
    <RdfFormat Turtle>
    """
    if not isinstance(result, Triples):
        if isinstance(given, ox.RdfFormat):
            raise UsageError(f"solutions cannot be written as {given.name}")
        return results_format(given)
    if isinstance(given, ox.QueryResultsFormat):
        raise UsageError(f"triples cannot be written as {given.name}")
    if given is None:
        raise UsageError(f"needs a format of RDF; name one of: {', '.join(known_names())}")
    return format_of(given)


def are_triples(result: Result) -> bool:
    """True for the results of CONSTRUCT and DESCRIBE."""
    return isinstance(result, Triples)


def for_people(result: Result, prefixes: Mapping[str, str]) -> str:
    """A result as text for people: the first rows as a table, triples as Turtle, `true`, `false`.

    >>> from triplestore import Store
    >>> for_people(Store().query("ASK {}"), {})
    'true'
    """
    if isinstance(result, Solutions):
        return str(result)
    if isinstance(result, Triples):
        return (write_answer(result, None, "ttl", prefixes=prefixes) or b"").decode().rstrip("\n")
    return "true" if result else "false"


def explained(result: Result, *, as_json: bool = False) -> str:
    """How a result was evaluated; the query is evaluated completely."""
    if isinstance(result, bool):
        raise UsageError("the answer of an ASK cannot be explained: use SELECT")
    return json.dumps(result.explain_json(), indent=2) if as_json else result.explain()


def _by_name(path: str) -> tuple[str | None, str | None]:
    """The ending that names the format of a file, and its compression."""
    compression = split_name(path)[1]
    suffixes = PurePath(path).suffixes
    if suffixes and compression is not None:
        suffixes.pop()
    return (suffixes[-1] if suffixes else None), compression


def _triples(
    triples: Iterable[ox.Triple],
    stream: BinaryIO,
    form: ox.RdfFormat,
    prefixes: Mapping[str, str] | None,
) -> None:
    known = dict(prefixes) if prefixes else None
    try:
        ox.serialize(cast(Any, triples), cast(Any, stream), form, prefixes=known)
    except (ValueError, TypeError) as error:
        if isinstance(error, UsageError):
            raise
        raise UsageError(f"cannot be written as {form.name}: {error}") from error
