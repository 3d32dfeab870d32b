"""RDF terms as HTML: short, and whole on hover.

Start at `TermWriter`; `solutions_table` and `quads_table` are the tables of terms.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

import pyoxigraph as ox

from triplestore.expressions.text.expression_printer import Namer
from triplestore.expressions.tree import Constant
from triplestore.notebook.parts import cell, escape, showing, span, table
from triplestore.terms.vocabulary import OWL, RDF, RDFS, SKOS, XSD

if TYPE_CHECKING:
    from triplestore.terms import Term

MAX_ROWS = 20
"""Maximum number of rows of a table."""

MAX_SHOWN = 72
"""Maximum number of characters of a term; longer ones are cut in their middle."""

_NUMBER = re.compile("[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?|[+-]?INF|NaN")
_NUMBERS = frozenset(
    XSD + name
    for name in (
        *("integer", "decimal", "double", "float", "long", "int", "short", "byte"),
        *("nonNegativeInteger", "positiveInteger", "nonPositiveInteger", "negativeInteger"),
        *("unsignedLong", "unsignedInt", "unsignedShort", "unsignedByte"),
    )
)
_USUAL = {"rdf": RDF, "rdfs": RDFS, "owl": OWL, "xsd": XSD, "skos": SKOS}


class TermWriter:
    """Writes terms as HTML, IRIs as prefixed names where that is possible.

    >>> writer = TermWriter({"": "http://ex.org/"})
    >>> writer.html(ox.NamedNode("http://ex.org/ada"))
    '<span title="http://ex.org/ada">:ada</span>'
    >>> writer.html(ox.Literal("<b>"))
    '<span>&quot;&lt;b&gt;&quot;</span>'
    """

    def __init__(self, prefixes: Mapping[str, str] | None = None) -> None:
        known = dict(prefixes or {})
        self._namer = Namer({**known, **{k: v for k, v in _USUAL.items() if k not in known}})

    def text(self, term: Term) -> str:
        """A term as short text; numbers without their datatype."""
        if isinstance(term, ox.Literal) and is_number(term):
            return cut(term.value)
        return cut(self._namer.term(Constant.of(term)))

    def html(self, term: Term | None) -> str:
        """A term; nothing for None."""
        if term is None:
            return ""
        whole = term.value if isinstance(term, ox.NamedNode) else str(term)
        text = self.text(term)
        return span(text, "" if text == f"<{whole}>" else whole)

    def cell(self, term: Term | None) -> str:
        """A cell of a table."""
        return cell(self.html(term), is_number(term))


def is_number(term: Term | None) -> bool:
    """Whether a term is a valid number of XSD.

    >>> xsd = "http://www.w3.org/2001/XMLSchema#"
    >>> is_number(ox.Literal("5", datatype=ox.NamedNode(xsd + "int"))), is_number(ox.Literal("5"))
    (True, False)
    """
    if not isinstance(term, ox.Literal):
        return False
    return term.datatype.value in _NUMBERS and _NUMBER.fullmatch(term.value) is not None


def cut(text: str) -> str:
    """A text of at most `MAX_SHOWN` characters: a longer one lacks its middle.

    >>> len(cut("a" * 100)), cut("a" * 50 + "b" * 50)[34:38]
    (72, 'aa…b')
    """
    if len(text) <= MAX_SHOWN:
        return text
    half = MAX_SHOWN // 2
    return f"{text[:half]}…{text[half + 1 - MAX_SHOWN :]}"


def solutions_table(
    variables: Sequence[str],
    rows: Iterable[Sequence[Term | None]],
    total: int,
    prefixes: Mapping[str, str],
    more: bool = False,
) -> str:
    """The first rows of a result, and how many there are (`more`: more than `total`)."""
    writer = TermWriter(prefixes)
    shown = [[writer.cell(term) for term in row] for row in islice(rows, MAX_ROWS)]
    heads = [f"?{name}" for name in variables]
    return table(heads, shown) + showing(len(shown), total, "solution", more)


def quads_table(
    quads: Iterable[ox.Quad | ox.Triple],
    total: int,
    prefixes: Mapping[str, str],
    what: str = "quad",
    most: int = MAX_ROWS,
) -> str:
    """The first of some quads or triples, and how many there are.

    There is a column for graphs only if one of them is in a named graph.
    """
    writer, first = TermWriter(prefixes), list(islice(quads, most))
    graphs = [getattr(quad, "graph_name", ox.DefaultGraph()) for quad in first]
    named = any(not isinstance(graph, ox.DefaultGraph) for graph in graphs)
    rows = []
    for quad, graph in zip(first, graphs, strict=True):
        row = [writer.cell(quad.subject), writer.cell(quad.predicate), writer.cell(quad.object)]
        if named:
            row.append(cell("") if isinstance(graph, ox.DefaultGraph) else writer.cell(graph))
        rows.append(row)
    heads = ["subject", "predicate", "object"] + ["graph"] * named
    return (table(heads, rows) if rows else "") + showing(len(rows), total, what)


def names_list(terms: Iterable[Term], total: int, prefixes: Mapping[str, str], most: int) -> str:
    """The first of some terms, in one line."""
    writer = TermWriter(prefixes)
    shown = [writer.html(term) for term in islice(terms, most)]
    left = f" {escape(f'and {total - len(shown):,} more')}" if total > len(shown) else ""
    return ", ".join(shown) + left
