"""The parser of rules in SPARQL: CONSTRUCT queries, and rules of the draft of SPARQL-RL.

    CONSTRUCT { template } WHERE { pattern }        separated by ';' or nothing
    RULE [name] { template } WHERE { pattern }      SPARQL-RL, also called SRL, of SHACL 1.2 Rules
    IF { pattern } THEN { template }
    DATA { triples }

Patterns of the draft also have `SET (?v := expression)`, a BIND, and `NOT { pattern }`, a FILTER
NOT EXISTS. Prefixes hold for all statements after them. Start at `parse_rule_set`. Always true: a
statement with a mistake is reported, and reading continues with the next one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

from triplestore.errors import QuerySyntaxError
from triplestore.expressions.text.term_parser import Stop
from triplestore.expressions.text.tokens import BLANK, END, PREFIXED, WORD, Tokens
from triplestore.expressions.tree import Call, Exists
from triplestore.operators.deep_calls import when_large
from triplestore.sparql.algebra.nodes import (
    UNIT,
    Construct,
    Extend,
    Filter,
    Node,
    TermPattern,
    TriplePattern,
)
from triplestore.sparql.syntax.parser import Mistake, check_depth
from triplestore.sparql.syntax.patterns import PatternParser, joined
from triplestore.sparql.syntax.reified_triples import computed
from triplestore.sparql.syntax.updates import UpdateParser

Template: TypeAlias = tuple[tuple[TriplePattern, ...], tuple[TermPattern, ...]]

BLANK_NODE = "["
STATEMENTS = ("CONSTRUCT", "RULE", "IF", "DATA")

_BEGINNING = re.compile(
    r"""(?ix) \A \ufeff? (?: \s | \#[^\n\r]*
        | (?:PREFIX \s+ [^\s:]* : \s* <[^<>]*> | BASE \s+ <[^<>]*>) \s* \.?
        | VERSION \s+ ["'][^"'\n]*["'] )*
    (?: CONSTRUCT\b | RULE \b \s* [^\s"'] | (?:IF|DATA) \s* \{ )""",
)


class RuleStatement(NamedTuple):
    """One statement: its query, and the tokens that it has in the text."""

    query: Construct
    name: str
    tokens: Tokens
    first: int
    last: int

    @property
    def place(self) -> tuple[int, int]:
        """Its line and column."""
        return self.tokens.place(self.tokens.start(self.first))

    def place_of(self, word: str) -> tuple[int, int]:
        """Line and column of the first occurrence of a keyword or sign, or of a blank node if it is
        `BLANK_NODE`; else of the statement."""
        for at in range(self.first, self.last):
            is_blank = word == BLANK_NODE and self.tokens.kinds[at] == BLANK
            if is_blank or self.tokens.texts[at].upper() == word:
                return self.tokens.place(self.tokens.start(at))
        return self.place


class RuleSet(NamedTuple):
    """The statements of a text, the prefixes that it declares, and its mistakes."""

    statements: list[RuleStatement]
    prefixes: dict[str, str]
    mistakes: list[Mistake]


def is_rule_set(text: str) -> bool:
    """Whether a text is rules in SPARQL; other texts of rules begin differently.

    >>> is_rule_set("PREFIX : <http://e/> CONSTRUCT { ?x a :B } WHERE { ?x a :A }")
    True
    >>> is_rule_set('rule "name" :B[?x] :- :A[?x] .')
    False
    """
    return _BEGINNING.match(text) is not None


def parse_rule_set(
    text: str, *, prefixes: Mapping[str, str] | None = None, file: str | None = None
) -> RuleSet:
    """The statements of a text.

    >>> found = parse_rule_set("CONSTRUCT { ?x a ?y } WHERE { ?x a ?y }; CONSTRUCT")
    >>> len(found.statements), found.mistakes[0].line, found.mistakes[0].column
    (1, 1, 51)
    """
    tokens = Tokens(text.removeprefix("\ufeff"), file)
    return when_large(len(tokens.kinds), _read, tokens, prefixes or {})


def _read(tokens: Tokens, prefixes: Mapping[str, str]) -> RuleSet:
    found = RuleSet([], {}, [])
    at, known, base = 0, dict(prefixes), None
    while True:
        parser = _RuleParser(tokens, known)
        parser.at, parser.base = at, base
        try:
            read = parser.statement()
            if read is not None and not parser.problems:
                check_depth(read.query.pattern, tokens)
                found.statements.append(read)
            at = parser.at
        except Stop:
            read, at = None, _next_statement(tokens, max(parser.at, at + 1))
        except QuerySyntaxError as error:
            found.mistakes.append(Mistake(*tokens.place(tokens.start(at)), error.msg))
            at = parser.at
        found.mistakes.extend(
            Mistake(*tokens.place(one.offset), one.message) for one in sorted(set(parser.problems))
        )
        known, base = parser.known_prefixes(), parser.base
        found.prefixes.update({p: n for p, n in known.items() if prefixes.get(p) != n})
        if tokens.kinds[at] == END:
            return found


def _next_statement(tokens: Tokens, at: int) -> int:
    """The next token that may begin a statement, after one with a mistake."""
    while tokens.kinds[at] != END:
        if tokens.kinds[at] == WORD and tokens.texts[at].upper() in ("CONSTRUCT", "RULE", "PREFIX"):
            break
        at += 1
    return at


class _RuleParser(UpdateParser):
    """Reads one statement."""

    def statement(self) -> RuleStatement | None:
        """The next statement; None at the end of the text."""
        while True:
            self.prologue()
            while self.take(";") or self.take("."):
                pass
            if self.is_word("VERSION"):
                self.at += 1
                self.string("after VERSION")
            elif not self._is_declaration():
                break
        if self.kinds[self.at] == END:
            return None
        first, name = self.at, ""
        word = self.texts[self.at].upper() if self.kinds[self.at] == WORD else ""
        if word not in STATEMENTS:
            self.fail(f"{', '.join(STATEMENTS[:-1])} or {STATEMENTS[-1]}", known=STATEMENTS)
        self.at += 1
        self._new_bgp()
        self.aggregates = {}
        if word == "CONSTRUCT":
            query = self._construct()
        elif word == "DATA":
            query = self._made(UNIT, self._template())
        elif word == "IF":
            pattern = self._where().node
            self.expect_word("THEN", "after the pattern of IF")
            query = self._made(pattern, self._template())
        else:
            if self.is_iri():
                name = self.iri().key[1:].decode()
            template = self._template()
            self.expect_word("WHERE", "after the template of a RULE")
            if self.is_word("DATA"):
                self.fail(
                    "a pattern in '{': WHERE DATA, which looks at asserted facts only, is "
                    "not supported"
                )
            query = self._made(self._where().node, template)
        return RuleStatement(query, name, self.tokens, first, self.at)

    def _is_declaration(self) -> bool:
        return self.is_word("PREFIX") or self.is_word("BASE")

    def _made(self, pattern: Node, template: Template) -> Construct:
        triples, terms = template
        return Construct(computed(pattern, terms), triples, **self._of_text())

    def _not(self, parts: list[Node]) -> None:
        """`NOT { ... }` of the draft."""
        if self.is_word("DATA"):
            self.fail(
                "a pattern in '{': NOT DATA, which looks at asserted facts only, is not supported"
            )
        exists = Exists(self.exists_pattern(), negated=True)
        parts[:] = [Filter(joined(parts), exists)]

    def _set(self, parts: list[Node]) -> None:
        """`SET (?v := expression)` of the draft."""
        self.expect("(", "after SET")
        variable = self.variable("after SET (")
        if not (self.kinds[self.at] == PREFIXED and self.texts[self.at] == ":"):
            self.fail("':=' after the variable of SET")
        self.at += 1
        self.expect("=", "after ':' of SET")
        expression = self.expression()
        self.expect(")", "after the expression of SET")
        if variable in self.scope:
            self.report(f"{variable} has a value before this SET; use another name", self.at - 1)
        self.scope[variable] = None
        # A solution without this value is dropped, unlike in BIND.
        known = Call("BOUND", (variable,))
        parts[:] = [Filter(Extend(joined(parts), variable, expression), known)]


_RuleParser.readers = {
    **PatternParser.readers,
    "NOT": _RuleParser._not,
    "SET": _RuleParser._set,
}
