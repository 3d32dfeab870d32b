"""The parser of programs.

Start at `read`. The grammar, with keywords in any case, comments from `#` or `//` to the end of a
line, and terms and expressions as in SPARQL:

    program     (prefix | rule | constraint)*
    prefix      '@prefix' name ':' iri '.'  |  '@base' iri '.'   (or PREFIX and BASE, without '.')
    rule        ['rule' string] atom (',' atom)* [':-' [body]] '.'
    constraint  'constraint' string [string] ':-' body '.'
    body        item (',' item)*
    item        atom | not | aggregate | 'FILTER' expression
                | 'BIND' '(' expression 'AS' variable ')'
    term        a variable, a constant, or '<<(' term term term ')>>'
    atom        iri '[' term (',' term)* ']'  |  '[' term ',' ('a' | term) ',' term ']'
    not         'NOT' ['EXISTS' variable (',' variable)* 'IN'] (item | '(' body ')')
    aggregate   'AGGREGATE' '(' body ['ON' variable [','] ...] result+ ')'
    result      'BIND' function '(' ['DISTINCT'] (expression | '*') ')' 'AS' variable

Always true: after a problem, reading continues behind the next '.', so that all problems of
a file are reported. The prefixes rdf, rdfs, owl, xsd and skos need not be declared. Reads about
100,000 atoms per second.
"""

from __future__ import annotations

from collections.abc import Mapping

from triplestore.datalog.problems import Problem, raise_errors
from triplestore.datalog.program import (
    TYPE,
    WELL_KNOWN,
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
    Source,
    TripleAtom,
    TupleAtom,
)
from triplestore.datalog.text.triple_terms import Parts, made_by, with_parts
from triplestore.expressions.functions import AGGREGATES, REMEDIES
from triplestore.expressions.text.expression_parser import ExpressionParser
from triplestore.expressions.text.term_parser import (
    MOST_PROBLEMS,
    Stop,
    SyntaxProblem,
    did_you_mean,
)
from triplestore.expressions.text.tokens import (
    AT,
    END,
    OPERATOR,
    STRING,
    VARIABLE,
    WORD,
    Tokens,
)
from triplestore.expressions.tree import Constant, Expression, Variable
from triplestore.terms.term_keys import BLANK, IRI, to_ntriples
from triplestore.thread_limits import look

_ITEMS = ("NOT", "FILTER", "BIND", "AGGREGATE")
_NO_ARROWS = ("<", "<=", "=", "-", ">")


def read(
    text: str, *, file: str | None = None, prefixes: Mapping[str, str] | None = None
) -> Program:
    """The program of a text; raises `ProgramError` with all syntax errors.

    prefixes  known prefixes besides those that the text declares, such as a store's

    >>> program = read("PREFIX : <http://e/> :b[?y] :- :a[?x], :p[?x, ?y] .")
    >>> print(program.rules[0].atoms[1])
    <http://e/p>[?x, ?y]
    >>> read("rdfs:Class[?x] rdfs:Class[?y].")
    Traceback (most recent call last):
    ...
    triplestore.errors.ProgramError: input:1:16: error: expected ',', ':-' or '.' after ...
    """
    program, problems = parse(text, file=file, prefixes=prefixes)
    raise_errors(problems)
    return program


def parse(
    text: str, *, file: str | None = None, prefixes: Mapping[str, str] | None = None
) -> tuple[Program, list[Problem]]:
    """The readable part of a text as a program, and the problems of the rest."""
    tokens = Tokens(text.removeprefix("\ufeff"), file, slash_comments=True)
    parser = _Parser(tokens, {**WELL_KNOWN, **(prefixes or {})})
    parser.program()
    program = Program(parser.rules, parser.constraints, parser.declared)
    return program, parser.listed_problems()


class _Parser(ExpressionParser):
    def __init__(self, tokens: Tokens, prefixes: Mapping[str, str]) -> None:
        super().__init__(tokens, prefixes)
        self.rules: list[Rule] = []
        self.constraints: list[Constraint] = []
        self.declared: dict[str, str] = {}
        self._triples: dict[Variable, Parts] = {}  # those of the current statement
        self._own = "triple"  # how names of variables for triple terms begin
        while f"?{self._own}" in tokens.text:
            self._own += "_"

    def listed_problems(self) -> list[Problem]:
        """The problems in the order of the text."""
        listed = []
        for offset, message, code in sorted(set(self.problems)):
            line, column = self.tokens.place(offset)
            listed.append(Problem(code, message, file=self.tokens.file, line=line, column=column))
        return listed

    # --- statements -----------------------------------------------------------------------------

    def program(self) -> None:
        while self.kinds[self.at] != END:
            look()
            if len(self.problems) >= MOST_PROBLEMS:
                message = "too many problems: the rest was not checked"
                self.problems.append(SyntaxProblem(self.tokens.start(self.at), message, "syntax"))
                return
            try:
                self.statement()
            except Stop:
                self._recover()

    def _recover(self) -> None:
        """Continue behind the next '.'."""
        self.depth = 0
        while self.kinds[self.at] != END and not self.take("."):
            self.at += 1

    def statement(self) -> None:
        kind = self.kinds[self.at]
        if kind in (WORD, AT) and self._declaration():
            return
        start = self.at
        self._triples = {}
        if kind == WORD and self.kinds[self.at + 1] == STRING:
            if self.take_word("CONSTRAINT"):
                self._constraint(start)
                return
            if self.take_word("RULE"):
                self._rule(start, self.string("after 'rule'"))
                return
        self._rule(start, "")

    def _declaration(self) -> bool:
        at_sign, word = self.kinds[self.at] == AT, self.texts[self.at]
        if not self.take_declaration():
            return False
        if at_sign:
            self.expect(".", f"after @{word.lower()}")
        else:
            self.take(".")
        return True

    def declare(self, prefix: str, namespace: str) -> None:
        super().declare(prefix, namespace)
        self.declared[prefix] = namespace

    def _rule(self, start: int, name: str) -> None:
        heads = [self._head()]
        while self.take(","):
            heads.append(self._head())
        made, self._triples = self._triples, {}
        body: tuple[Item, ...] = ()
        if self.take(":-"):
            if not self.take("."):
                body = self._body()
                self._end("',' or '.' after the body of a rule")
        else:
            arrow = self.texts[self.at] in _NO_ARROWS or self.texts[self.at + 1] == "="
            hint = "; a rule is written head :- body" if arrow else ""
            self._end("',', ':-' or '.' after the head of a rule", hint)
        body = (*with_parts(body, self._triples), *made_by(made))
        self.rules.append(Rule(tuple(heads), body, name, self._source(start)))

    def _head(self) -> Atom:
        if self.kinds[self.at] == WORD:
            word = self.texts[self.at].upper()
            if word in _ITEMS:
                self.fail("an atom in the head of a rule: only bodies have " + word)
            self.fail(
                "a rule, a constraint or a prefix",
                ("PREFIX", "BASE", "CONSTRAINT", "RULE"),
                "; a name has a prefix, such as ':'" if self.texts[self.at + 1] in "[(" else "",
            )
        return self._atom("in the head of a rule")

    def _constraint(self, start: int) -> None:
        name = self.string("after 'constraint': its id")
        message = self.string("") if self.kinds[self.at] == STRING else ""
        self.expect(":-", "after the id and message of a constraint")
        body = self._body()
        self._end("',' or '.' after the body of a constraint")
        body = with_parts(body, self._triples)
        self.constraints.append(Constraint(name, message, body, self._source(start)))

    def _end(self, expected: str, hint: str = "") -> None:
        """Skip the '.', which must come next."""
        if self.take("."):
            return
        if not hint and self.is_iri() and self.texts[self.at - 1] == "]":
            missing = self.texts[self.at + 1] == "["
            hint = "; is one missing?" if missing else "; atoms of named graphs are not supported"
        elif self.kinds[self.at] == WORD and self.texts[self.at].upper() in _ITEMS:
            hint = "; is ',' missing?"
        elif self.texts[self.at] in ("&", "&&", ";"):
            hint = "; atoms of a body are separated by ','"
        self.fail(expected, hint=hint)

    def _source(self, start: int) -> Source:
        tokens = self.tokens
        offset = tokens.start(start)
        line, column = tokens.place(offset)
        return Source(
            tokens.file, line, column, tokens.text[offset : tokens.starts[self.at - 1] + 1]
        )

    # --- bodies ---------------------------------------------------------------------------------

    def _body(self) -> tuple[Item, ...]:
        items = [self._item()]
        while self.take(","):
            items.append(self._item())
        return tuple(items)

    def _item(self) -> Item:
        if self.kinds[self.at] != WORD:
            return self._atom("in a body")
        word = self.texts[self.at].upper()
        if word not in _ITEMS:
            hint = f"; {REMEDIES[word]} and BIND it" if word in REMEDIES else ""
            self.fail(f"an atom, {', '.join(_ITEMS[:-1])} or {_ITEMS[-1]}", _ITEMS, hint)
        self.at += 1
        self.enter()
        item: Item
        if word == "NOT":
            item = self._not()
        elif word == "FILTER":
            item = self._filter()
        elif word == "BIND":
            item = self._bind()
        else:
            item = self._aggregate()
        self.leave()
        return item

    def _filter(self) -> Filter:
        condition = self.primary()
        if self.operator_follows():
            self.fail("',' or '.' after a FILTER", hint="; put its condition in parentheses")
        return Filter(condition)

    def word(self) -> Expression:
        if self.texts[self.at].upper() in ("NOT", "EXISTS"):
            hint = "; write the negation as a separate item: NOT (atom, ...)"
            self.fail("an expression", hint=hint)
        return super().word()

    def _not(self) -> Not:
        exists: list[Variable] = []
        if self.take_word("EXISTS") or self.take_word("EXIST"):
            exists = self._variables()
            if exists:
                self.expect_word("IN", "or a variable after NOT EXISTS")
        if not self.take("("):
            return Not((self._item(),), tuple(exists))
        body = self._body()
        self.expect(")", "or ',' in a negation")
        return Not(body, tuple(exists))

    def _variables(self) -> list[Variable]:
        found: list[Variable] = []
        while self.kinds[self.at] == VARIABLE:
            found.append(self.variable(""))
            self.take(",")
        return found

    def _bind(self) -> Bind:
        self.expect("(", "after BIND")
        expression = self.expression()
        self.expect_word("AS", "or an operator after the expression of a BIND")
        variable = self.variable("after AS")
        self.expect(")", "after the variable of a BIND")
        return Bind(expression, variable)

    def _aggregate(self) -> Aggregate:
        self.expect("(", "after AGGREGATE")
        items = [self._item()]
        while self.take(","):
            items.append(self._item())
        groups: list[Variable] = []
        if self.take_word("ON"):
            groups = self._variables()
            if not groups:
                self.fail("a variable after ON")
        results = []
        while self.take_word("BIND"):
            results.append(self._result())
            self.take(",")
        if not results:
            self.fail("',', ON or BIND in an aggregate", known=("ON", "BIND"))
        self.expect(")", "or BIND at the end of an aggregate")
        return Aggregate(tuple(items), tuple(groups), tuple(results))

    def _result(self) -> Result:
        start = self.at
        if self.kinds[self.at] != WORD:
            self.fail(f"one of {', '.join(AGGREGATES)}")
        function = self.texts[self.at].lower()
        self.at += 1
        if function not in AGGREGATES:
            near = did_you_mean(function, AGGREGATES)
            known = ", ".join(AGGREGATES)
            self.report(f"unknown aggregate {function}{near}: {known}", start, "function")
        self.expect("(", f"after {function}")
        distinct = self.take_word("DISTINCT")
        argument, separator = self._argument(function, start, distinct)
        self.expect(")", f"after the argument of {function}")
        self.expect_word("AS", f"after {function}(...)")
        return Result(function, argument, self.variable("after AS"), distinct, separator)

    def _argument(
        self, function: str, start: int, distinct: bool
    ) -> tuple[Expression | None, str | None]:
        if self.take("*"):
            if function != "count" or distinct:
                self.report("only count accepts *, without DISTINCT: use an expression", start)
            return None, None
        argument = self.expression()
        if not self.take(";"):
            return argument, None
        self.expect_word("SEPARATOR", "after ';'")
        self.expect("=", "after SEPARATOR")
        if function != "group_concat":
            self.report(f"{function} has no SEPARATOR", start)
        return argument, self.string("after SEPARATOR =")

    # --- atoms ----------------------------------------------------------------------------------

    def _atom(self, where: str) -> Atom:
        start = self.at
        if self.take("["):
            terms = self._terms(triple=True)
            if len(terms) != 3:
                self.report(f"a triple atom has three terms, not {len(terms)}", start)
                raise Stop
            return TripleAtom(*terms)
        if not self.is_iri():
            self.fail(f"an atom {where}", _ITEMS, self._hint_for_atom(where))
        name = self.iri()
        if not self.take("["):
            hint = "; put terms in brackets: name[?x, ?y]" if self.is_operator("(") else ""
            self.fail("'[' after the name of a class, property or relation", hint=hint)
        terms = self._terms()
        if len(terms) == 1:
            return TripleAtom(terms[0], TYPE, name)
        if len(terms) == 2:
            return TripleAtom(terms[0], name, terms[1])
        return TupleAtom(name, tuple(terms))

    def _hint_for_atom(self, where: str) -> str:
        """The correct syntax for something from another language that does not begin an atom."""
        found, in_body = self.texts[self.at], where.endswith("body")
        if found == "{":
            negated = "; put negated atoms in parentheses: NOT (atom, ...)"
            return negated if in_body else "; a rule is written head :- body"
        if self.kinds[self.at] == VARIABLE:
            tests = "a comparison is written FILTER(...), a computation BIND(... AS ?x), "
            return f"; {tests if in_body else ''}a triple is written [?x, ?p, ?y]"
        if found == "!":
            return "; negation is written NOT"
        return "; comments begin with '#' or '//'" if found in ("%", "/") else ""

    def _terms(self, triple: bool = False) -> list[Variable | Constant]:
        terms = [self._term()]
        while self.take(","):
            is_a = triple and len(terms) == 1 and self.texts[self.at] == "a"
            terms.append(TYPE if is_a and self.take_word("A") else self._term())
        self.expect("]", "or ',' after a term of an atom")
        return terms

    def _triple(self) -> Variable | Constant:
        """A triple term: a constant, or a new variable for it."""
        start = self.at
        self.at += 1
        self.enter()
        subject = self._term()
        verb = TYPE if self.texts[self.at] == "a" and self.take_word("A") else self._term()
        object_ = self._term()
        self.leave()
        self.expect(")>>", "at the end of a triple term")
        for part, kinds in ((subject, (IRI, BLANK)), (verb, (IRI,))):
            if isinstance(part, Constant) and part.kind not in kinds:
                self.report(f"{part} cannot be there in a triple term", start)
        parts = (subject, verb, object_)
        keys = [part.key for part in parts if isinstance(part, Constant)]
        if len(keys) == len(parts):
            return Constant(b"\x06<<( " + b" ".join(map(to_ntriples, keys)) + b" )>>")
        variable = Variable(f"{self._own}{start}")
        self._triples[variable] = parts
        return variable

    def _term(self) -> Variable | Constant:
        if self.kinds[self.at] == OPERATOR and self.texts[self.at] == "<<(":
            return self._triple()
        if self.kinds[self.at] == VARIABLE:
            self.at += 1
            return Variable(self.texts[self.at - 1])
        text = self.texts[self.at]
        if text[:1] == "_" and text[:2] != "_:":
            self.fail("a constant or a variable in an atom", hint="; use a new variable")
        if self.kinds[self.at] == WORD and text.lower() not in ("true", "false"):
            hint = "; a variable begins with '?', a name with its prefix"
            self.fail("a constant or a variable in an atom", hint=hint)
        return self.constant("or a variable in an atom")
