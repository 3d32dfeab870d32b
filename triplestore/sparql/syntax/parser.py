"""SPARQL from text to algebra: `parse_query` and `parse_update`.

Recursive descent over the tokens of `expressions.text.tokens`. Each class extends the one before,
one per file: terms and expressions (`expressions.text`), `query_expressions`, `paths`, `triples`,
`patterns`, `modifiers`, `queries`, `updates`; `data_blocks` reads large blocks of data. The algebra
is made while reading; there is no syntax tree.

Always true: the first violation of the grammar ends the reading; other errors (unknown
prefixes, misplaced variables) are collected. Both raise `QuerySyntaxError` with line and column,
what was expected, and a suggestion if a similar name exists. Escapes such as `\\u0041` stand in
strings and IRIs only, as in SPARQL 1.2.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple, TypeVar

from triplestore.errors import QuerySyntaxError
from triplestore.expressions.text.term_parser import Stop
from triplestore.expressions.text.tokens import Tokens
from triplestore.operators.deep_calls import when_large
from triplestore.sparql.algebra.nodes import Node, Query, children
from triplestore.sparql.algebra.updates import Modify, Update
from triplestore.sparql.syntax.data_blocks import data_blocks
from triplestore.sparql.syntax.updates import NotPlainError, UpdateParser
from triplestore.sparql.thresholds import SPARQL

MOST_DEEP = 300
"""Maximum depth of nested operators, as in a chain of OPTIONALs: Python's stack is limited."""


_MARK = "\ufeff"  # of the order of bytes, before the text
_LONGEST_LINE = 1000  # maximum length of the line that an error keeps for Python to print


class Mistake(NamedTuple):
    """One error in a text."""

    line: int
    column: int
    message: str


def parse_query(
    text: str,
    *,
    prefixes: Mapping[str, str] | None = None,
    base: str | None = None,
    file: str | None = None,
    aggregates: Collection[str] = (),
) -> Query:
    """The algebra of a query.

    prefixes    known prefixes besides those that the text declares, such as a store's
    base        the base of relative IRIs, unless the text has a BASE
    aggregates  IRIs of functions that are aggregates

    >>> query = parse_query("SELECT * { ?s a <http://e/C> }")
    >>> print(*query.variables, query.pattern.pattern.patterns[0].object)
    ?s <http://e/C>
    >>> parse_query("SELECT * { ?s a ?c FILER(?s = ?c) }")
    Traceback (most recent call last):
    ...
    triplestore.errors.QuerySyntaxError: input:1:20: expected ... (did you mean FILTER?)
    """
    tokens = Tokens(text.removeprefix(_MARK), file)
    parser = _parser(tokens, prefixes, base, aggregates)
    found = when_large(len(tokens.kinds), _run, parser, parser.query)
    check_depth(found.pattern, tokens)
    return found


def parse_update(
    text: str,
    *,
    prefixes: Mapping[str, str] | None = None,
    base: str | None = None,
    file: str | None = None,
    aggregates: Collection[str] = (),
) -> Update:
    """The algebra of an update, arguments as for `parse_query`.

    >>> parse_update("INSERT DATA { <http://e/a> <http://e/p> 1 }").operations[0].quads
    (<Quad subject=<NamedNode value=http://e/a> predicate=...>,)
    """
    text = text.removeprefix(_MARK)
    blocks = data_blocks(text) if len(text) > SPARQL.data_block_size else []
    try:
        return _update(Tokens(text, file, blocks=blocks), prefixes, base, aggregates)
    except NotPlainError:
        return _update(Tokens(text, file), prefixes, base, aggregates)


def _update(
    tokens: Tokens,
    prefixes: Mapping[str, str] | None,
    base: str | None,
    aggregates: Collection[str],
) -> Update:
    parser = _parser(tokens, prefixes, base, aggregates)
    size = len(tokens.kinds)
    found = when_large(size, _run, parser, parser.update)
    operations = []
    for operation in found.operations:
        if isinstance(operation, Modify):
            check_depth(operation.pattern, tokens)
            operation = replace(operation, size=size)
        operations.append(operation)
    return replace(found, operations=tuple(operations))


def _parser(
    tokens: Tokens,
    prefixes: Mapping[str, str] | None,
    base: str | None,
    aggregates: Collection[str],
) -> UpdateParser:
    parser = UpdateParser(tokens, prefixes, aggregates)
    if base is not None:
        parser.set_base(base)
    return parser


_Found = TypeVar("_Found", Query, Update)


def _run(parser: UpdateParser, read: Callable[[], _Found]) -> _Found:
    """The result of reading; raises all problems, if there are any."""
    try:
        found = read()
    except Stop:
        raise _error(parser) from None
    if parser.problems:
        raise _error(parser)
    return found


def _error(parser: UpdateParser) -> QuerySyntaxError:
    tokens = parser.tokens
    mistakes = [
        Mistake(*tokens.place(one.offset), one.message) for one in sorted(set(parser.problems))
    ]
    name = tokens.file or "input"
    first = mistakes[0]
    line_of_text = re.split(r"\n|\r\n?", tokens.text)[first.line - 1]
    return QuerySyntaxError(
        "\n".join(f"{name}:{line}:{column}: {message}" for line, column, message in mistakes),
        mistakes,
        filename=tokens.file,
        line=first.line,
        column=first.column,
        text=line_of_text if len(line_of_text) <= _LONGEST_LINE else None,
    )


# --- depth ---------------------------------------------------------------------------------------


def check_depth(node: Node, tokens: Tokens) -> None:
    """Refuse a pattern whose operators are nested too deep."""
    if len(tokens.kinds) > MOST_DEEP and max(_depths(node)) > MOST_DEEP:
        raise QuerySyntaxError(
            f"{tokens.file or 'input'}: more than {MOST_DEEP} nested operators, as in a chain "
            "of OPTIONAL, MINUS or BIND; put parts of it into separate groups"
        )


def _depths(node: Node) -> Iterator[int]:
    stack = [(node, 1)]
    while stack:
        found, depth = stack.pop()
        yield depth
        stack += [(child, depth + 1) for child in children(found)]
