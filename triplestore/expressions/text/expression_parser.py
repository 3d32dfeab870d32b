"""The parser of expressions.

Start at `ExpressionParser.expression`: recursive descent with the precedence of SPARQL 1.1: `||`,
`&&`, comparisons and IN, `+ -`, `* /`, signs and `!`. Always true: an unknown function or a
wrong number of arguments is reported and parsing continues; see also `term_parser`.
"""

from __future__ import annotations

from collections.abc import Mapping

from triplestore.errors import ParseError
from triplestore.expressions.functions import CASTS, FUNCTIONS, MANY, REMEDIES, Function
from triplestore.expressions.text.term_parser import Stop, TermParser, did_you_mean, iri_of
from triplestore.expressions.text.tokens import END, OPERATOR, VARIABLE, WORD, Tokens
from triplestore.expressions.tree import Call, Constant, Expression, Variable, depth_of
from triplestore.terms.term_keys import BLANK, IRI, to_ntriples
from triplestore.terms.vocabulary import (
    RDF_TYPE,
    XSD,
)

MOST_DEEP = 300
"""Maximum depth of nested calls, as in a chain of additions."""


class ExpressionParser(TermParser):
    """Reads terms and expressions from tokens.

    names_blanks  True if a blank node may be a part of a triple term
    """

    names_blanks = True

    def expression(self) -> Expression:
        """An expression."""
        start = self.at
        found = self._binary(0)
        if self.at - start > MOST_DEEP and depth_of(found) > MOST_DEEP:
            self.report(
                f"operations nested more than {MOST_DEEP} deep: use BIND for parts of it", start
            )
            raise Stop
        return found

    def _binary(self, least: int) -> Expression:
        """Operands joined by operators of at least this precedence (precedence climbing)."""
        left = self._unary()
        while True:
            sign = self._next_operator()
            strength = _STRENGTH.get(sign, -1)
            if strength < least:
                return left
            self.at += 2 if sign == "NOT IN" else 1
            if sign in ("IN", "NOT IN"):
                left = Call(sign, (left, *self.arguments(sign)))
            elif sign in ("||", "&&"):
                left = Call(sign, (left, *self._alternatives(sign, strength)))
            else:
                left = Call(sign, (left, self._binary(strength + 1)))
            after = _STRENGTH.get(self._next_operator(), -1)
            if strength == after == _COMPARED:
                self.fail("an operator other than a comparison: put one in parentheses")

    def _alternatives(self, sign: str, strength: int) -> list[Expression]:
        """The operands after the first of a chain of `||` or `&&`, which is one call."""
        found = [self._binary(strength + 1)]
        while self.take(sign):
            found.append(self._binary(strength + 1))
        return found

    def _next_operator(self) -> str:
        text, kind = self.texts[self.at], self.kinds[self.at]
        if kind == OPERATOR:
            return text
        if kind == WORD:
            word = text.upper()
            if word == "NOT" and self.texts[self.at + 1].upper() == "IN":
                return "NOT IN"
            return word
        return ""

    def operator_follows(self) -> bool:
        """True if the next token joins two operands."""
        return self._next_operator() in _STRENGTH

    def _unary(self) -> Expression:
        if self.kinds[self.at] == OPERATOR and self.texts[self.at] in _SIGNS:
            sign = self.texts[self.at]
            if sign == "!" or not self.number_follows():
                self.at += 1
                self.enter()
                inner = self._unary() if sign == "!" else self.primary()
                self.leave()
                return Call(_SIGNS[sign], (inner,))
        return self.primary()

    def primary(self) -> Expression:
        """A term, a call, or an expression in parentheses."""
        kind = self.kinds[self.at]
        if kind == VARIABLE:
            self.at += 1
            return Variable(self.texts[self.at - 1])
        if kind == WORD and self.texts[self.at].lower() not in ("true", "false"):
            return self.word()
        if self.take("("):
            self.enter()
            inner = self.expression()
            self.leave()
            self.expect(")", "or an operator after an expression in parentheses")
            return inner
        if kind == OPERATOR and self.texts[self.at] == "<<(":
            return self._computed_triple()
        constant = self.constant("or a variable or function in an expression")
        if constant.kind == 1 and self.is_operator("("):
            return self.call_of(constant)
        return constant

    def _computed_triple(self) -> Expression:
        """A triple term, in which variables may stand: TRIPLE of its parts."""
        start = self.at
        self.at += 1
        self.enter()
        parts = (
            self._part_of_triple("as subject of a triple term", inner=False),
            Variable(self._name()) if self.kinds[self.at] == VARIABLE else self.verb_of_term(),
            self._part_of_triple("as object of a triple term", inner=True),
        )
        self.leave()
        self.expect(")>>", "at the end of a triple term")
        for part, kinds in zip(parts, ((IRI, BLANK), (IRI,)), strict=False):
            if isinstance(part, Constant) and part.kind not in kinds:
                self.report(
                    "a triple term consists of an IRI or blank node, an IRI, and any term", start
                )
        keys = [part.key for part in parts if isinstance(part, Constant)]
        if len(keys) < len(parts):
            return Call("TRIPLE", parts)
        return Constant(b"\x06<<( " + b" ".join(map(to_ntriples, keys)) + b" )>>")

    def _part_of_triple(self, where: str, *, inner: bool) -> Expression:
        if self.kinds[self.at] == VARIABLE:
            return Variable(self._name())
        if self.kinds[self.at] == OPERATOR and self.texts[self.at] == "<<(" and inner:
            return self._computed_triple()
        start = self.at
        found = self.constant(f"or a variable {where}")
        if found.kind == BLANK and not self.names_blanks:
            self.report(f"{found} is not allowed in an expression: use a variable", start)
        return found

    def _name(self) -> str:
        self.at += 1
        return self.texts[self.at - 1]

    def word(self) -> Expression:
        """A built-in call; subclasses add other forms."""
        start = self.at
        name = self.texts[self.at].upper()
        if name not in FUNCTIONS and self.texts[self.at + 1] != "(":
            self.fail("an expression", known=[*FUNCTIONS, "DISTINCT"])
        self.at += 1
        arguments = self.arguments(name)
        found = FUNCTIONS.get(name)
        if found is None:
            remedy = REMEDIES.get(name)
            near = f"; {remedy}" if remedy else did_you_mean(name, FUNCTIONS)
            self.report(f"unknown function {name}{near}", start, "function")
        else:
            self._check_count(name, found, len(arguments), start)
        return Call(_SYNONYMS.get(name, name), arguments)

    def call_of(self, function: Constant) -> Expression:
        """The call of a function with an IRI: a cast; subclasses add other functions."""
        start, name = self.at - 1, iri_of(function)
        arguments = self.arguments(self.texts[start])
        found = CASTS.get(name) or FUNCTIONS.get(name)
        if found is None:
            near = did_you_mean(name.removeprefix(XSD), [cast.removeprefix(XSD) for cast in CASTS])
            self.report(f"unknown function <{name}>{near}", start, "function")
        else:
            self._check_count(name.removeprefix(XSD), found, len(arguments), start)
        return Call(name, arguments)

    def arguments(self, name: str) -> tuple[Expression, ...]:
        """The arguments of a call, in parentheses."""
        self.expect("(", f"after {name}")
        if self.take(")"):
            return ()
        self.enter()
        found = [self.expression()]
        while self.take(","):
            found.append(self.expression())
        self.leave()
        self.expect(")", f"or ',' after an argument of {name}")
        return tuple(found)

    def _check_count(self, name: str, function: Function, given: int, at: int) -> None:
        least, most = function.least, function.most
        if not least <= given <= most:
            wanted = str(least) if least == most else f"{least} to {most}"
            wanted = f"at least {least}" if most == MANY else wanted
            plural = "argument" if wanted == "1" else "arguments"
            self.report(f"{name} takes {wanted} {plural}, not {given}", at, "function")


_COMPARED = 2
_STRENGTH = {
    "||": 0,
    "&&": 1,
    **dict.fromkeys(("=", "!=", "<", ">", "<=", ">=", "IN", "NOT IN"), _COMPARED),
    **dict.fromkeys("+-", 3),
    **dict.fromkeys("*/", 4),
}
_SIGNS = {"!": "!", "-": "NEG", "+": "POS"}
_SYNONYMS = {"URI": "IRI", "ISURI": "ISIRI"}


def parse_expression(text: str, prefixes: Mapping[str, str] | None = None) -> Expression:
    """The expression of a text; raises `ParseError` with all problems.

    >>> print(parse_expression("?x + 2 * ?y > 7"))
    >(+(?x, *("2"^^<http://www.w3.org/2001/XMLSchema#integer>, ?y)), "7"^^<http://www.w3.org/2001/XMLSchema#integer>)
    """
    tokens = Tokens(text)
    parser = ExpressionParser(tokens, {"xsd": XSD, "rdf": RDF_TYPE[:-4], **(prefixes or {})})
    found: Expression | None = None
    try:
        found = parser.expression()
        if parser.kinds[parser.at] != END:
            parser.fail("an operator or the end")
    except Stop:
        pass
    if parser.problems or found is None:
        line, column = tokens.place(parser.problems[0].offset)
        message = "; ".join(problem.message for problem in parser.problems)
        raise ParseError(message, line=line, column=column, text=text)
    return found
