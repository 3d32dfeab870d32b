"""Columns of tables as terms in N-Triples: typed columns, and flat tables as triples.

Start at `columns_to_triples` and `as_terms`. Everything here is expressions of Spark SQL, so
Parquet, Delta and Iceberg tables are read directly, and nothing passes through Python before the
parser.

    column                      term
    string                      in `as_terms` a term in N-Triples; in a property, a plain literal
    boolean                     xsd:boolean
    tinyint ... bigint          xsd:integer
    decimal                     xsd:decimal
    float, double               xsd:float, xsd:double
    date                        xsd:date
    timestamp                   xsd:dateTime in UTC, to the microsecond
    timestamp_ntz               xsd:dateTime without a time zone
    binary                      xsd:hexBinary
    struct with `value`         as in SPARQL's JSON results: `type` (`uri`, `bnode` or `literal`, by
                                default `literal`), `value`, `datatype`, `lang`
    array                       in a property, one triple for each element; not in `as_terms`

Null is not a term: a null property gives no triple, a null graph is the default graph, and every
other null is a fault.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import reduce
from typing import Any

import pyoxigraph as ox
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the usual name

from triplestore.errors import UsageError
from triplestore.loaders.tabular.mapping import Property

_XSD = "http://www.w3.org/2001/XMLSchema#"
_RDF_TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
_PLACE = re.compile(r"\{(\w+)\}")
_INTEGERS = ("tinyint", "smallint", "int", "bigint")


def as_terms(table: DataFrame) -> DataFrame:
    """The columns s, p, o and, if it exists, g of a table, as terms in N-Triples."""
    types = dict(table.dtypes)
    missing = [name for name in ("s", "p", "o") if name not in types]
    if missing:
        raise UsageError(
            f"the table has no column {', '.join(missing)}; it has {', '.join(table.columns)}. "
            "Use columns_to_triples for flat tables"
        )
    names = [name for name in ("s", "p", "o", "g") if name in types]
    return table.select([_term(F.col(name), types[name], name).alias(name) for name in names])


def columns_to_triples(
    table: DataFrame,
    *,
    subject: str,
    properties: Mapping[str, str | Property],
    type: str | None = None,
    graph: str | None = None,
) -> DataFrame:
    """The triples of a flat table: one subject for each row, one triple for each value.

    subject : a template of IRIs such as `http://example.org/person/{id}`; a name in braces stands
        for the value of a column, percent-encoded. `{id}` alone uses the column's value as the
        whole IRI. A row with a null in one of these columns has no triples.
    properties : for each column the IRI of a property, or a `Property`
    type : a class of all subjects
    graph : the IRI of a graph for all triples

        columns_to_triples(people, subject="http://example.org/person/{id}", properties={
            "name": "http://xmlns.com/foaf/0.1/name",
            "employer": Property("http://example.org/employer", "http://example.org/org/{employer}"),
        })
    """
    types = dict(table.dtypes)
    _check_columns(types, [*properties, *_PLACE.findall(subject)])
    pairs = [] if type is None else [_pair(_RDF_TYPE, F.array(F.lit(_iri_text(type))))]
    for name, given in properties.items():
        wanted = Property(given) if isinstance(given, str) else given
        pairs.append(_pair(_iri_text(wanted.iri), _objects(name, types[name], wanted, types)))
    if not pairs:
        raise UsageError("no properties are given: pass properties={column: IRI}")
    graphs = [] if graph is None else [F.lit(_iri_text(graph)).alias("g")]
    made = table.select(_filled(subject, types).alias("s"), F.explode(_joined(pairs)).alias("po"))
    found = made.where("s IS NOT NULL AND po.o IS NOT NULL")
    return found.select("s", F.col("po.p").alias("p"), F.col("po.o").alias("o"), *graphs)


def _joined(pairs: list[Column]) -> Column:
    return reduce(lambda left, right: F.concat(left, right), pairs)


def _pair(predicate: str, objects: Column) -> Column:
    """An array of (p, o); empty if the objects are null."""
    made = F.transform(objects, lambda term: F.struct(F.lit(predicate).alias("p"), term.alias("o")))
    return F.coalesce(made, F.array().cast("array<struct<p: string, o: string>>"))


def _objects(name: str, type_: str, wanted: Property, types: Mapping[str, str]) -> Column:
    """The terms of a column's value as an array of strings."""
    if type_.startswith("array<"):
        element = type_[len("array<") : -1]
        return F.transform(F.col(name), lambda value: _object(value, element, name, wanted, types))
    return F.array(_object(F.col(name), type_, name, wanted, types))


def _object(
    value: Column, type_: str, name: str, wanted: Property, types: Mapping[str, str]
) -> Column:
    if wanted.template is not None:
        return _filled(wanted.template, types, {name: (value, type_)})
    if wanted.lang is not None:
        return _literal(_lexical(value, type_, name)[0], lang=F.lit(_checked_lang(wanted.lang)))
    if wanted.datatype is not None:
        return _literal(_lexical(value, type_, name)[0], F.lit(_checked_iri(wanted.datatype)))
    if type_ == "string":
        return _literal(value)
    return _term(value, type_, name)


def _term(value: Column, type_: str, name: str) -> Column:
    """A term in N-Triples; a string is returned unchanged."""
    if type_ == "string":
        return value
    if type_.startswith("struct<"):
        return _of_struct(value, type_, name)
    lexical, datatype = _lexical(value, type_, name)
    return _literal(lexical, F.lit(_XSD + datatype))


def _lexical(value: Column, type_: str, name: str) -> tuple[Column, str]:
    """The lexical form of a value, and the datatype's name in XSD."""
    text = value.cast("string")
    if type_ == "string":
        return text, "string"
    if type_ == "boolean":
        return text, "boolean"
    if type_ in _INTEGERS:
        return text, "integer"
    if type_.startswith("decimal"):
        return _without_exponent(text), "decimal"
    if type_ in ("float", "double"):
        return F.regexp_replace(text, "Infinity", "INF"), type_
    if type_ == "date":
        return text, "date"
    if type_ == "timestamp":
        universal = F.to_utc_timestamp(value, F.current_timezone())
        return F.date_format(universal, "yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'"), "dateTime"
    if type_ == "timestamp_ntz":
        return F.date_format(value, "yyyy-MM-dd'T'HH:mm:ss.SSSSSS"), "dateTime"
    if type_ == "binary":
        return F.hex(value), "hexBinary"
    raise UsageError(
        f"column {name} has the type {type_}, which is not supported: use a string, boolean, "
        "number, date, timestamp, binary, or a struct with value, datatype and lang"
    )


def _without_exponent(text: Column) -> Column:
    """A decimal's text without exponent: a small one may be `1.5E-7`, which XSD forbids."""
    sign = F.regexp_extract(text, "^(-?)", 1)
    digits = F.replace(F.regexp_extract(text, "^-?([0-9.]+)E", 1), F.lit("."), F.lit(""))
    # An exponent is appended, so that the cast finds a number even where it is not used.
    zeros = F.regexp_extract(F.concat(text, F.lit("E-1")), "E-([0-9]+)", 1).cast("int") - 1
    small = F.concat(sign, F.lit("0."), F.call_function("repeat", F.lit("0"), zeros), digits)
    return F.when(F.contains(text, F.lit("E")), small).otherwise(text)


def _of_struct(value: Column, type_: str, name: str) -> Column:
    fields = re.findall(r"[<,](\w+):", type_)
    if "value" not in fields:
        raise UsageError(f"column {name} is a struct without `value`: {type_}")
    text = value["value"].cast("string")
    nothing = F.lit(None).cast("string")
    kind = value["type"] if "type" in fields else nothing
    datatype = value["datatype"] if "datatype" in fields else nothing
    lang = value["lang"] if "lang" in fields else nothing
    made = (
        F.when(kind.isin("uri", "iri"), F.concat(F.lit("<"), text, F.lit(">")))
        .when(kind == "bnode", F.concat(F.lit("_:"), text))
        .when(lang.isNotNull(), _literal(text, lang=lang))
        .when(datatype.isNotNull(), _literal(text, datatype))
        .otherwise(_literal(text))
    )
    return made


def _literal(text: Column, datatype: Column | None = None, lang: Column | None = None) -> Column:
    for character, escaped in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\r", "\\r")):
        text = F.replace(text, F.lit(character), F.lit(escaped))
    parts: list[Any] = [F.lit('"'), text, F.lit('"')]
    if lang is not None:
        parts += [F.lit("@"), lang]
    elif datatype is not None:
        parts += [F.lit("^^<"), datatype, F.lit(">")]
    return F.concat(*parts)


def _filled(
    template: str, types: Mapping[str, str], own: Mapping[str, tuple[Column, str]] | None = None
) -> Column:
    """The IRI that a template gives; null if a value is null."""
    names = _PLACE.findall(template)
    _check_columns(types, names)
    given = {name: (F.col(name), types[name]) for name in names}
    given.update({name: value for name, value in (own or {}).items() if name in given})
    texts = {name: _lexical(value, type_, name)[0] for name, (value, type_) in given.items()}
    if names and template == f"{{{names[0]}}}":
        return F.concat(F.lit("<"), texts[names[0]], F.lit(">"))
    _checked_iri(_PLACE.sub("x", template))
    parts: list[Any] = [F.lit("<")]
    for index, piece in enumerate(_PLACE.split(template)):
        # url_encode encodes a space as a plus sign, as in forms.
        parts.append(
            F.replace(F.url_encode(texts[piece]), F.lit("+"), F.lit("%20"))
            if index % 2
            else F.lit(piece)
        )
    return F.concat(*parts, F.lit(">"))


def _check_columns(types: Mapping[str, str], names: list[str]) -> None:
    for name in names:
        if name not in types:
            raise UsageError(f"the table has no column {name}; it has {', '.join(types)}")


def _iri_text(iri: str) -> str:
    return f"<{_checked_iri(iri)}>"


def _checked_iri(iri: str) -> str:
    try:
        return str(ox.NamedNode(iri).value)
    except ValueError as error:
        raise UsageError(f"{iri!r} is not an IRI: {error}") from error


def _checked_lang(tag: str) -> str:
    try:
        return str(ox.Literal("", language=tag).language)
    except ValueError as error:
        raise UsageError(f"{tag!r} is not a language tag: {error}") from error
