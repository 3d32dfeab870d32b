"""The printer of programs.

Start at `write`; `show` prints one part. What is always true: the text reads back as an equal
program, names of rules included; every prefix that is used is declared.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from triplestore.datalog.program import (
    TYPE,
    Aggregate,
    Atom,
    Bind,
    Constraint,
    Filter,
    Item,
    Not,
    Program,
    Result,
    Rule,
    TripleAtom,
    TupleAtom,
)
from triplestore.datalog.text.program_parser import WELL_KNOWN
from triplestore.expressions.text.expression_printer import Namer, expression_text
from triplestore.expressions.tree import Constant
from triplestore.terms.term_keys import IRI

_LINE = 96


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
    prefixes = {**WELL_KNOWN, **program.prefixes}
    namer = Namer(prefixes)
    statements = [_rule(rule, namer) for rule in program.rules]
    statements += [_constraint(constraint, namer) for constraint in program.constraints]
    declared = [
        f"@prefix {prefix}: {Constant.iri(prefixes[prefix])} ."
        for prefix in sorted(namer.used | set(program.prefixes))
    ]
    head = "\n".join(declared) + "\n\n" if declared else ""
    return head + "".join(statement + "\n" for statement in statements)


def show(
    part: Item | Rule | Constraint | Constant, prefixes: Mapping[str, str] | None = None
) -> str:
    """The text of a part of a program, with whole IRIs where no prefix is given.

    >>> show(TripleAtom(Constant.iri("http://e/a"), TYPE, Constant.iri("http://e/C")), {"": "http://e/"})
    ':C[:a]'
    """
    namer = Namer(prefixes)
    if isinstance(part, Rule):
        return _rule(part, namer, _LINE * _LINE)
    if isinstance(part, Constraint):
        return _constraint(part, namer, _LINE * _LINE)
    return namer.term(part) if isinstance(part, Constant) else _item(part, namer)


def _rule(rule: Rule, namer: Namer, width: int = _LINE) -> str:
    head = ", ".join(_atom(atom, namer) for atom in rule.heads)
    if rule.name:
        head = f"rule {_string(rule.name)} {head}"
    return _statement(head, rule.body, namer, width)


def _constraint(constraint: Constraint, namer: Namer, width: int = _LINE) -> str:
    head = f"constraint {_string(constraint.id)}"
    if constraint.message:
        head += f" {_string(constraint.message)}"
    return _statement(head, constraint.body, namer, width)


def _statement(head: str, body: tuple[Item, ...], namer: Namer, width: int) -> str:
    if not body:
        return f"{head} ."
    items = [_item(item, namer) for item in body]
    line = f"{head} :- {', '.join(items)} ."
    if len(line) <= width:
        return line
    return f"{head} :-\n    " + ",\n    ".join(items) + " ."


def _items(items: Iterable[Item], namer: Namer) -> str:
    return ", ".join(_item(item, namer) for item in items)


def _item(item: Item, namer: Namer) -> str:
    if isinstance(item, TripleAtom | TupleAtom):
        return _atom(item, namer)
    if isinstance(item, Filter):
        return f"FILTER({expression_text(item.expression, namer)})"
    if isinstance(item, Bind):
        return f"BIND({expression_text(item.expression, namer)} AS {item.variable})"
    if isinstance(item, Not):
        return _not(item, namer)
    return _aggregate(item, namer)


def _not(item: Not, namer: Namer) -> str:
    body = _items(item.body, namer)
    if len(item.body) != 1 or not isinstance(item.body[0], TripleAtom | TupleAtom):
        body = f"({body})"
    if not item.exists:
        return f"NOT {body}"
    names = ", ".join(map(str, item.exists))
    return f"NOT EXISTS {names} IN {body if body[0] == '(' else f'({body})'}"


def _aggregate(item: Aggregate, namer: Namer) -> str:
    parts = [_items(item.body, namer)]
    if item.groups:
        parts.append("ON " + " ".join(map(str, item.groups)))
    parts += [f"BIND {_result(result, namer)} AS {result.variable}" for result in item.results]
    return f"AGGREGATE({' '.join(parts)})"


def _result(result: Result, namer: Namer) -> str:
    text = "*" if result.argument is None else expression_text(result.argument, namer)
    text = f"DISTINCT {text}" if result.distinct else text
    if result.separator is not None:
        text += f"; SEPARATOR = {_string(result.separator)}"
    return f"{result.function}({text})"


def _atom(atom: Atom, namer: Namer) -> str:
    if isinstance(atom, TupleAtom):
        return f"{namer.term(atom.name)}[{', '.join(map(namer.term, atom.args))}]"
    s, p, o = atom.s, atom.p, atom.o
    if p == TYPE and isinstance(o, Constant) and o.kind == IRI:
        return f"{namer.term(o)}[{namer.term(s)}]"
    if isinstance(p, Constant) and p.kind == IRI:
        return f"{namer.term(p)}[{namer.term(s)}, {namer.term(o)}]"
    return f"[{namer.term(s)}, {namer.term(p)}, {namer.term(o)}]"


def _string(text: str) -> str:
    return str(Constant(b"\x03" + text.encode()))
