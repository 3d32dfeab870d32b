"""The printer of programs.

Start at `write`; `show` prints one part. Always true: the text is parsed to an equal
program, including names of rules; every used prefix is declared. The functions for parts are next
to their classes, in `items` and `rules`.
"""

from __future__ import annotations

from collections.abc import Mapping

from triplestore.datalog.items import item_text
from triplestore.datalog.program import Constraint, Item, Program, Rule
from triplestore.datalog.rules import clause_text
from triplestore.expressions.text.expression_printer import Namer
from triplestore.expressions.tree import Constant


def write(program: Program) -> str:
    """The text of a program, with its prefixes.

    >>> from triplestore.datalog.text import read
    >>> program = read("PREFIX : <http://e/> :b[?x] :- :a[?x], not :p[?x,\\"1\\"^^xsd:int].")
    >>> print(write(program), end="")
    @prefix : <http://e/> .
    @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
    <BLANKLINE>
    :b[?x] :- :a[?x], NOT :p[?x, "1"^^xsd:int] .
    """
    return str(program)


def show(
    part: Item | Rule | Constraint | Constant, prefixes: Mapping[str, str] | None = None
) -> str:
    """The text of a part of a program, with whole IRIs if there is no prefix.

    >>> from triplestore.datalog.program import TYPE, TripleAtom
    >>> show(TripleAtom(Constant.iri("http://e/a"), TYPE, Constant.iri("http://e/C")), {"": "http://e/"})
    ':C[:a]'
    """
    namer = Namer(prefixes)
    if isinstance(part, Constant):
        return namer.term(part)
    if isinstance(part, Rule | Constraint):
        return clause_text(part, namer)
    return item_text(part, namer)
