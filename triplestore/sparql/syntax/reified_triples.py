"""The parser of triple terms, reifiers and annotations, in patterns, templates and data.

Start at `ReifiedTripleParser.triple_term`. Always true: what is read is `<<( s p o )>>` of plain
terms and triples with `rdf:reifies`. A term with variables is a hidden variable, and its parts are
in `terms`: in a pattern they become a `TermPattern`; in a template the term is computed
(`computed`). Equal terms have the same variable.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterable, Mapping

from triplestore.expressions.text.tokens import (
    BLANK,
    IRI,
    OPERATOR,
    PREFIXED,
    VARIABLE,
    WORD,
    Tokens,
)
from triplestore.expressions.tree import Call, Constant, Variable
from triplestore.sparql.algebra.nodes import (
    Extend,
    Node,
    Path,
    PathExpression,
    TermOrVariable,
    TermPattern,
    TriplePattern,
)
from triplestore.sparql.syntax.paths import PathParser
from triplestore.sparql.syntax.query_expressions import QueryExpressions
from triplestore.terms.term_keys import BLANK as BLANK_KIND
from triplestore.terms.term_keys import IRI as IRI_KIND
from triplestore.terms.term_keys import to_ntriples
from triplestore.terms.vocabulary import RDF_REIFIES, RDF_TYPE

TYPE = Constant.iri(RDF_TYPE)
REIFIES = Constant.iri(RDF_REIFIES)

IN_PATTERN, MADE, NEW = "term:", "made:", "blank:"
"""How names of hidden variables begin: a term of a pattern, a computed one, a new blank node."""

_NO_PATH = "a property (an IRI, a variable or 'a') in a triple term: it cannot have a path"


class ReifiedTripleParser(PathParser, QueryExpressions):
    """Reads triple terms, and triples about them.

    template      True in templates and data: blank nodes are constants, paths are not allowed
    data          True in the data of INSERT DATA and DELETE DATA, where nothing is computed
    no_variables  why variables are not allowed here; "" if they are
    no_blanks     why blank nodes are not allowed here; "" if they are
    scope         the variables in scope, in the order of the text
    terms         the triple terms with variables, inner ones first
    """

    def __init__(
        self,
        tokens: Tokens,
        prefixes: Mapping[str, str] | None = None,
        aggregate_iris: Collection[str] = (),
    ) -> None:
        super().__init__(tokens, prefixes, aggregate_iris)
        self.triples: list[TriplePattern] = []
        self.paths: list[Path] = []
        self.terms: dict[Variable, TermPattern] = {}
        self.scope: dict[Variable, None] = {}
        self.template = False
        self.data = False
        self.no_variables = ""
        self.no_blanks = ""

    @abstractmethod
    def scoped_variable(self) -> Variable:
        """The variable of the next token, which is in scope from here on."""

    @abstractmethod
    def labelled(self, label: str) -> TermOrVariable:
        """The blank node with a label."""

    @abstractmethod
    def fresh(self) -> TermOrVariable:
        """A blank node without label, or a hidden variable for one."""

    @abstractmethod
    def property_list(self, subject: TermOrVariable) -> None:
        """Properties and objects of a subject, at least one."""

    # --- terms ----------------------------------------------------------------------------------

    def triple_term(self) -> TermOrVariable:
        """The `<<( s p o )>>` that comes next."""
        start = self.at
        self.at += 1
        self.enter()
        parts = self._three("a triple term", reified=False)
        self.leave()
        self.expect(")>>", "at the end of a triple term")
        return self._term(parts, start)

    def reified_triple(self) -> TermOrVariable:
        """The reifier of the `<< s p o >>` or `<< s p o ~ r >>` that comes next."""
        start = self.at
        self.at += 1
        self.enter()
        parts = self._three("a reified triple", reified=True)
        reifier = self._reifier() if self.take("~") else self._new(start)
        self.leave()
        self.expect(">>", "at the end of a reified triple")
        self._reify(reifier, parts, start)
        return reifier

    def annotations(
        self, subject: TermOrVariable, verb: PathExpression | Variable, object_: TermOrVariable
    ) -> None:
        """The reifiers `~ r` and the blocks `{| ... |}` behind an object, if there are any."""
        reifier: TermOrVariable | None = None
        while self.kinds[self.at] == OPERATOR and self.texts[self.at] in ("~", "{|"):
            start = self.at
            if not isinstance(verb, Variable | Constant):
                self.fail("the next triple: a path cannot be annotated")
                return
            parts = (subject, verb, object_)
            self.at += 1
            if self.texts[start] == "~":
                reifier = self._reifier()
                self._reify(reifier, parts, start)
                continue
            if reifier is None:
                reifier = self._new(start)
                self._reify(reifier, parts, start)
            self.enter()
            self.property_list(reifier)
            self.leave()
            self.expect("|}", "or ';' after an object in an annotation")
            reifier = None

    def _three(
        self, where: str, reified: bool
    ) -> tuple[TermOrVariable, TermOrVariable, TermOrVariable]:
        subject = self._component(f"as subject of {where}", reified)
        verb = self._simple_verb()
        return subject, verb, self._component(f"as object of {where}", reified)

    def _component(self, where: str, reified: bool) -> TermOrVariable:
        self.look_at_limits()
        kind, text = self.kinds[self.at], self.texts[self.at]
        if kind == VARIABLE:
            return self.scoped_variable()
        if kind == BLANK:
            self.at += 1
            return self.labelled(text)
        if kind == OPERATOR:
            if text == "[" and self.texts[self.at + 1] == "]":
                start = self.at
                self.at += 2
                return self._new(start)
            if text == "<<(":
                return self.triple_term()
            if text == "<<" and reified:
                return self.reified_triple()
        return self.constant(f"or a variable {where}")

    def _simple_verb(self) -> TermOrVariable:
        kind, text = self.kinds[self.at], self.texts[self.at]
        if kind == VARIABLE:
            return self.scoped_variable()
        if kind == WORD and text == "a":
            self.at += 1
            return TYPE
        if kind not in (PREFIXED, IRI):
            self.fail(_NO_PATH)
        return self.iri()

    def _reifier(self) -> TermOrVariable:
        """The reifier behind a `~`: a new one unless it is named."""
        kind, text = self.kinds[self.at], self.texts[self.at]
        if kind == VARIABLE:
            return self.scoped_variable()
        if kind in (PREFIXED, IRI):
            return self.iri()
        start = self.at
        if kind == BLANK:
            self.at += 1
            return self.labelled(text)
        if kind == OPERATOR and text == "[" and self.texts[self.at + 1] == "]":
            self.at += 2
        return self._new(start)

    def _new(self, at: int) -> TermOrVariable:
        if self.no_blanks:
            self.report(f"a reifier without a name is not allowed here: {self.no_blanks}", at)
        return self.fresh()

    def _reify(
        self,
        reifier: TermOrVariable,
        parts: tuple[TermOrVariable, TermOrVariable, TermOrVariable],
        start: int,
    ) -> None:
        self.count_part()
        self.triples.append(TriplePattern(reifier, REIFIES, self._term(parts, start)))

    def _term(
        self, parts: tuple[TermOrVariable, TermOrVariable, TermOrVariable], start: int
    ) -> TermOrVariable:
        """A constant, if nothing has to be matched or computed; otherwise a hidden variable."""
        subject, verb, object_ = parts
        if isinstance(subject, Constant) and subject.kind not in (IRI_KIND, BLANK_KIND):
            if self.data:
                self.report(f"{subject} cannot be the subject of a triple", start)
        elif all(isinstance(part, Constant) and self._is_fixed(part) for part in parts):
            keys = (part.key for part in parts if isinstance(part, Constant))
            return Constant(b"\x06<<( " + b" ".join(map(to_ntriples, keys)) + b" )>>")
        text = " ".join(map(_text, parts))
        variable = Variable(f"{MADE if self.template else IN_PATTERN}<<( {text} )>>")
        if variable not in self.terms:
            self.terms[variable] = TermPattern(variable, subject, verb, object_)
        return variable

    def _is_fixed(self, term: Constant) -> bool:
        """True unless the term is a blank node of a template, which is made for each solution."""
        return self.data or term.kind != BLANK_KIND

    def take_terms(self) -> tuple[TermPattern, ...]:
        """The terms read so far, which are forgotten here."""
        found = tuple(self.terms.values())
        self.terms = {}
        return found


def _text(term: TermOrVariable) -> str:
    if isinstance(term, Constant):
        return str(term)
    return text_of_hidden(term) if ":" in term.name else str(term)


def text_of_hidden(variable: Variable) -> str:
    """How a text writes a hidden variable: a blank node, or a triple term.

    >>> text_of_hidden(Variable("term:<<( ?s <http://p> _:b )>>"))
    '<<( ?s <http://p> _:b )>>'
    """
    name = variable.name
    if name.startswith(NEW):
        return f"_:{name.removeprefix(NEW)}"
    return name.removeprefix(IN_PATTERN).removeprefix(MADE)


def in_order_of_names(terms: Iterable[TermPattern]) -> list[TermPattern]:
    """The terms of a pattern in an order that does not depend on where the text has them."""
    return sorted(terms, key=lambda found: found.term.name)


# --- templates -----------------------------------------------------------------------------------


def computed(pattern: Node, terms: Iterable[TermPattern]) -> Node:
    """The pattern of a template whose triple terms are computed from its solutions.

    >>> from triplestore.sparql.algebra.nodes import UNIT
    >>> s, term = Variable("s"), Variable("made:<<( ?s ?s ?s )>>")
    >>> print(computed(Extend(UNIT, s, s), [TermPattern(term, s, s, s)]).expression)
    TRIPLE(?s, ?s, ?s)
    """
    made: dict[Constant, Variable] = {}
    calls: list[tuple[Variable, Call]] = []
    for term in terms:
        parts = tuple(_made(part, made) for part in (term.subject, term.predicate, term.object))
        calls.append((term.term, Call("TRIPLE", parts)))
    for variable in made.values():
        pattern = Extend(pattern, variable, Call("BNODE"))
    for variable, call in calls:
        pattern = Extend(pattern, variable, call)
    return pattern


def _made(part: TermOrVariable, made: dict[Constant, Variable]) -> TermOrVariable:
    if not isinstance(part, Constant) or part.kind != BLANK_KIND:
        return part
    return made.setdefault(part, Variable(f"{NEW}{part.key[1:].decode()}"))


def with_new_nodes(
    terms: Iterable[TermPattern], triples: tuple[TriplePattern, ...]
) -> tuple[TriplePattern, ...]:
    """The triples of a template; blank nodes that are also parts of triple terms are variables."""
    made: dict[Constant, Variable] = {}
    for term in terms:
        for part in (term.subject, term.object):
            _made(part, made)
    if not made:
        return triples
    return tuple(
        TriplePattern(*(made.get(t, t) if isinstance(t, Constant) else t for t in triple))
        for triple in triples
    )


def as_pattern(
    triples: Iterable[TriplePattern], terms: Iterable[TermPattern]
) -> tuple[tuple[TriplePattern, ...], tuple[TermPattern, ...]]:
    """The triples and terms of a template that is also the pattern, as a pattern."""
    named: dict[TermOrVariable, TermOrVariable] = {}
    found: list[TermPattern] = []
    for term in terms:
        parts = [named.get(part, part) for part in (term.subject, term.predicate, term.object)]
        variable = Variable(term.term.name.replace(MADE, IN_PATTERN))
        named[term.term] = variable
        found.append(TermPattern(variable, *parts))
    patterns = [TriplePattern(*(named.get(part, part) for part in triple)) for triple in triples]
    return tuple(patterns), tuple(in_order_of_names(found))


def as_template(
    triples: Iterable[TriplePattern], terms: Iterable[TermPattern]
) -> tuple[tuple[TriplePattern, ...], tuple[TermPattern, ...]]:
    """The triples and terms of a pattern that is also the template, as a template."""
    named: dict[Variable, Variable] = {}
    found: list[TermPattern] = []

    def part_of(part: TermOrVariable) -> TermOrVariable:
        if not isinstance(part, Variable) or ":" not in part.name:
            return part
        return named.get(part) or Constant(b"\x02" + part.name[2:].encode())

    for term in terms:
        named[term.term] = Variable(term.term.name.replace(IN_PATTERN, MADE))
        parts = map(part_of, (term.subject, term.predicate, term.object))
        found.append(TermPattern(named[term.term], *parts))
    return tuple(TriplePattern(*map(part_of, triple)) for triple in triples), tuple(found)


def is_computed(node: Node) -> bool:
    """True for a step of `computed`, which the text of a template does not show."""
    return isinstance(node, Extend) and node.variable.name.startswith((MADE, NEW))


def without_computed(node: Node) -> Node:
    """The pattern that `computed` was given."""
    while is_computed(node):
        assert isinstance(node, Extend)
        node = node.pattern
    return node
