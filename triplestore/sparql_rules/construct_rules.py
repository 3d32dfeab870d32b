"""Rules made of CONSTRUCT queries.

Start at `read_rule_set`. A triple of a template becomes a rule for each branch of the pattern that
binds all of its variables (`patterns`); rules with the same body are one rule with several heads.
Always true: a rule concludes exactly the triples that the CONSTRUCT would, so that the closure is
what repeating the queries until nothing new comes would give, stratum by stratum; a statement with
a part that rules cannot say is refused as a whole, with the place of that part.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from triplestore.datalog.items import Atom, Bind, Filter, Item, TripleAtom, variables_in
from triplestore.datalog.problems import Problem
from triplestore.datalog.program import Program
from triplestore.datalog.rules import Rule, Source
from triplestore.expressions.tree import Call, Constant, Expression, Variable
from triplestore.sparql.algebra.nodes import Node, TermOrVariable, TriplePattern
from triplestore.sparql.syntax.rule_sets import (
    BLANK_NODE,
    RuleStatement,
    is_rule_set,
    parse_rule_set,
)
from triplestore.sparql_rules.branches import Branch, changed
from triplestore.sparql_rules.closures import PathReader
from triplestore.sparql_rules.conditions import TRUE, replaced
from triplestore.sparql_rules.patterns import PatternReader, unanchored
from triplestore.sparql_rules.refusals import RefusedError
from triplestore.terms.term_keys import BLANK, IRI

__all__ = ["is_rule_set", "read_rule_set"]

_LONGEST_NAME = 100


def read_rule_set(
    text: str, *, file: str | None = None, prefixes: Mapping[str, str] | None = None
) -> tuple[Program, list[Problem]]:
    """The rules of a text of CONSTRUCT queries, and what is wrong with it.

    >>> program, problems = read_rule_set(
    ...     "PREFIX : <http://e/> CONSTRUCT { ?x :grandchild ?z } "
    ...     "WHERE { ?x :child ?y . ?y :child ?z }"
    ... )
    >>> print(program.rules[0].name, len(program.rules[0].body), problems)
    CONSTRUCT { ?x :grandchild ?z } (line 1) 2 []
    """
    found = parse_rule_set(text, prefixes=prefixes, file=file)
    problems = [
        Problem("syntax", message, file=file, line=line, column=column)
        for line, column, message in found.mistakes
    ]
    rules: list[Rule] = []
    paths = PathReader()
    for statement in found.statements:
        try:
            rules += _rules(statement, file, paths, problems)
        except RefusedError as refused:
            line, column = statement.place_of(refused.word)
            message = f"{refused.message} cannot be a rule"
            problems.append(Problem("construct", message, refused.remedy, file, line, column))
    helpers = [rule for made in paths.rules.values() for rule in made]
    program = Program([_with_plain_names(rule) for rule in (*rules, *helpers)], (), found.prefixes)
    return program, problems


def _rules(
    statement: RuleStatement, file: str | None, paths: PathReader, problems: list[Problem]
) -> list[Rule]:
    query = statement.query
    line, column = statement.place
    if query.dataset is not None:
        raise RefusedError(
            "FROM", "FROM", "rules see the graphs of their scope: reason(scope=[...])"
        )
    bodies: dict[tuple[Item, ...], list[Atom]] = {}
    for triple in dict.fromkeys(query.template):
        _require_no_blanks(triple)
        for head, body in _conclusions(query.pattern, triple, paths):
            heads = bodies.setdefault(body, [])
            if head not in heads:
                heads.append(head)
    if query.template and not bodies:
        message = "no solution of the pattern binds all variables of a triple of the template"
        problems.append(Problem("construct", message, "", file, line, column, warning=True))
    name = _name_of(statement)
    source = Source(file, line, column)
    return [Rule(tuple(heads), body, name, source) for body, heads in bodies.items()]


def _name_of(statement: RuleStatement) -> str:
    """The name of the rules of a statement: its IRI, or its template and its line."""
    if statement.name:
        return statement.name
    tokens, at = statement.tokens, statement.first
    start = tokens.start(at)
    end = tokens.start(statement.last) if statement.last < len(tokens.kinds) else len(tokens.text)
    text = tokens.text[start:end]
    text = re.split(r"(?i)\bWHERE\b", text)[0] if not text.upper().startswith("IF") else text
    text = " ".join(text.split())
    if "{" not in text:  # CONSTRUCT WHERE
        text = " ".join(tokens.text[start:end].split())
    if len(text) > _LONGEST_NAME:
        text = text[: _LONGEST_NAME - 3] + "..."
    return f"{text} (line {statement.place[0]})"


def _require_no_blanks(triple: TriplePattern) -> None:
    for term in triple:
        if isinstance(term, Constant) and term.kind == BLANK:
            raise RefusedError(
                BLANK_NODE,
                "a blank node in a template, which would be a new one in each round,",
                "name it by its data: BIND(IRI(CONCAT(STR(?x), '/part')) AS ?node)",
            )


def _conclusions(
    pattern: Node, triple: TriplePattern, paths: PathReader
) -> Iterable[tuple[TripleAtom, tuple[Item, ...]]]:
    """The heads and bodies of the rules for one triple."""
    names = frozenset(term.name for term in triple if isinstance(term, Variable))
    reader = PatternReader(paths, names)
    for branch in reader.branches(pattern, names):
        if branch.same:
            raise unanchored(branch.same[0])
        made = _concluded(branch, triple)
        if made is not None:
            yield made


def _concluded(branch: Branch, triple: TriplePattern) -> tuple[TripleAtom, tuple[Item, ...]] | None:
    items = list(branch.items)
    terms: list[TermOrVariable] = []
    for term in triple:
        value: Expression | None = term
        if isinstance(term, Variable):
            value = branch.value_of(term.name)
            if value is None:
                return None
            if isinstance(value, Call):
                if not any(isinstance(one, Bind) and one.variable == term for one in items):
                    items = [_replaced(item, value, term) for item in items]
                    items.append(Bind(value, term))
                value = term
        assert isinstance(value, Variable | Constant)
        terms.append(value)
    subject, verb, object_ = terms
    if isinstance(subject, Constant) and subject.kind != IRI:
        return None
    if isinstance(verb, Constant) and verb.kind != IRI:
        return None
    items += _guards(items, subject, verb)
    return TripleAtom(subject, verb, object_), tuple(items)


def _guards(items: list[Item], subject: TermOrVariable, verb: TermOrVariable) -> list[Item]:
    """Tests that leave out what is not a triple of RDF, as CONSTRUCT does."""
    atoms = [item for item in items if isinstance(item, TripleAtom)]
    found: list[Item] = []
    if isinstance(subject, Variable) and all(subject not in (one.s, one.p) for one in atoms):
        found.append(Filter(Call("||", (Call("ISIRI", (subject,)), Call("ISBLANK", (subject,))))))
    if isinstance(verb, Variable) and all(verb != one.p for one in atoms):
        found.append(Filter(Call("ISIRI", (verb,))))
    return found


def _replaced(item: Item, value: Expression, variable: Variable) -> Item:
    """A filter that uses a value by its name."""
    if not isinstance(item, Filter):
        return item
    made = replaced(item.expression, value, variable)
    # It is bound in every match of the rule.
    known = Call("COALESCE", (Call("SAMETERM", (variable, variable)), _FALSE))
    return Filter(replaced(made, known, TRUE))


_FALSE = Constant(b'\x05false"^^<http://www.w3.org/2001/XMLSchema#boolean>')


def _with_plain_names(rule: Rule) -> Rule:
    """A rule whose variables have names that its text can have."""
    names = {v.name for item in (*rule.heads, *rule.body) for v in variables_in(item)}
    taken = {name for name in names if ":" not in name}
    new: dict[str, str] = {}
    for number, name in enumerate(sorted(names - taken)):
        plain = f"v{number}"
        while plain in taken:
            plain += "_"
        taken.add(plain)
        new[name] = plain
    if not new:
        return rule

    def change(term: TermOrVariable) -> TermOrVariable:
        if isinstance(term, Variable):
            return Variable(new.get(term.name, term.name))
        return term

    heads = tuple(head.map(change) for head in rule.heads)
    return replace(rule, heads=heads, body=tuple(changed(item, change) for item in rule.body))
