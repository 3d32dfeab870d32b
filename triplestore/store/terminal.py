"""Answers and names as a terminal shows them, for the shell and the commands.

Start at `solutions_table`. Terms are written with prefixes, and tables fit a width.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

from triplestore.data_classes import data_class
from triplestore.expressions.text.expression_printer import Namer
from triplestore.expressions.tree import Constant
from triplestore.sparql.results.fitted_table import fitted_table
from triplestore.sparql.results.solutions import Solutions, Triples
from triplestore.terms import IRI
from triplestore.terms.vocabulary import RDF_TYPE

if TYPE_CHECKING:
    from triplestore.store.readable import ReadableStore

MAX_NAMES = 20_000
"""Maximum number of properties, and of classes, that completion knows."""

_IRI = re.compile(r'<([^<>"{}|^`\\\s]+)>')


def solutions_table(
    solutions: Solutions,
    prefixes: Mapping[str, str],
    width: int,
    rows: int,
    *,
    plain: bool = False,
) -> str:
    """The first rows of an answer as a table, and how many there are.

    >>> from triplestore import Store
    >>> store = Store()
    >>> _ = store.load('@prefix : <http://e/> . :a :p "x", 5 .', "ttl")
    >>> print(solutions_table(store.query("SELECT * { ?s :p ?o }"), store.prefixes, 40, 1))
    ┌────┬─────┐
    │ ?s │ ?o  │
    ├────┼─────┤
    │ :a │ "x" │
    └────┴─────┘
    1 of 2 rows shown
    """
    namer = Namer(dict(prefixes))
    shown = [[_text(term, namer) for term in row] for row in islice(solutions.tuples(), rows)]
    total = len(solutions)
    if not total:
        return counted(solutions)
    names = [f"?{name}" for name in solutions.variables]
    table = fitted_table(names, shown, width, plain=plain)
    cut = total > len(shown)
    count = f"{len(shown):,} of {total:,} rows shown" if cut else counted(solutions)
    return f"{table}\n{count}" if table else count


def counted(result: Solutions | Triples) -> str:
    """The number of rows or triples of an answer, in words.

    >>> from triplestore import Store
    >>> counted(Store().query("SELECT * {}")), counted(Store().query("DESCRIBE <http://e/a>"))
    ('1 row', 'no triples')
    """
    word, total = "triple" if isinstance(result, Triples) else "row", len(result)
    return f"{total:,} {word}" if total == 1 else f"{f'{total:,}' if total else 'no'} {word}s"


def text_table_of(
    names: list[str], rows: Iterable[Iterable[object]], width: int, *, plain: bool = False
) -> str:
    """Other rows as such a table; numbers with thousands separated.

    >>> print(text_table_of(["name", "n"], [["a", 1234]], 40, plain=True))
    +------+-------+
    | name | n     |
    +------+-------+
    | a    | 1,234 |
    +------+-------+
    """
    cells = [[f"{one:,}" if isinstance(one, int) else str(one) for one in row] for row in rows]
    return fitted_table(names, cells, width, plain=plain)


def advice_of(result: Any, prefixes: Mapping[str, str]) -> list[str]:
    """What is probably wrong with a query that found nothing; IRIs with prefixes.

    >>> from triplestore import Store
    >>> store = Store()
    >>> _ = store.load("@prefix : <http://e/> . :a :parent :b .", "ttl")
    >>> advice_of(store.query("SELECT * { ?s :parnet ?o }"), store.prefixes)
    ['no triple has the property :parnet; did you mean :parent?']
    """
    if not isinstance(result, Solutions | Triples):
        return []
    return [with_prefixes(line, prefixes) for line in result.advice()]


def with_prefixes(text: str, prefixes: Mapping[str, str]) -> str:
    """A text in which IRIs in angle brackets are written with prefixes where that is possible."""
    namer = Namer(dict(prefixes))
    return _IRI.sub(lambda match: namer.iri(match[1]), text)


def _text(term: Any, namer: Namer) -> str:
    return "" if term is None else str(namer.term(Constant.of(term)))


# -- names ---------------------------------------------------------------------------------------


@data_class
class Vocabulary:
    """The properties and classes of a store, as they are written with its prefixes."""

    properties: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()


def vocabulary_of(store: ReadableStore) -> Vocabulary:
    """The names that queries use; too many are cut off.

    >>> from triplestore import Store
    >>> store = Store()
    >>> _ = store.load("@prefix : <http://e/> . :a a :C ; :p 1 .", "ttl")
    >>> vocabulary_of(store).classes
    (':C',)
    """
    view = store._view()
    tables, dictionary = view.tables, view.dictionary
    (type_id,) = dictionary.lookup_keys([b"\x01" + RDF_TYPE.encode()]).tolist()
    properties = tables.names().tolist()
    classes = tables.relation(type_id).distinct(1).tolist() if type_id in properties else []
    namer = Namer(dict(view.prefixes))

    def names(ids: list[int]) -> tuple[str, ...]:
        keys = map(dictionary.key, ids[:MAX_NAMES])
        return tuple(sorted(namer.iri(key[1:].decode()) for key in keys if key[0] == IRI))

    return Vocabulary(names(properties), names(classes))
