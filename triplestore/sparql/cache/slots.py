"""Exchanges constants in a plan, so that the plan of one text answers another.

Start at `exchangeable`, which finds the constants of a shape that occur only where a plan can have
others instead: as subjects and objects of triple patterns, ends of paths, in filters, BIND, VALUES
and templates. It parses the text once more, with a distinct name in each place. `Slots` notes where
the constants are while a plan is made, and puts others there later.

Always true: a plan with other constants returns the same rows as a new plan, perhaps in
another order. It is refused (`exchange` is False) where a new plan would be different: if the store
does not have a constant of a triple pattern, or has it far more or less often.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from triplestore.errors import QuerySyntaxError
from triplestore.expressions.tree import Call, Constant, Exists, Expression, Variable
from triplestore.operators.frame import Frame
from triplestore.operators.joins.probe import Probe
from triplestore.operators.leaves import Scan, Values
from triplestore.sparql.algebra import nodes as sparql
from triplestore.sparql.algebra.nodes import Construct, Node, Query, TriplePattern
from triplestore.sparql.algebra.substitute import with_values
from triplestore.sparql.algebra.text_terms import TEXT_QUERY
from triplestore.sparql.algebra.variables import exists_in, expressions_of
from triplestore.sparql.cache.text_shapes import TextShape, is_cut_between_tokens, key_of_token
from triplestore.sparql.evaluate.paths import PathProbe
from triplestore.terms.dictionary import FIRST_QUERY_ID
from triplestore.terms.term_keys import LANG, TYPED

if TYPE_CHECKING:
    from collections.abc import Callable

    from triplestore.expressions.evaluate_columns import Evaluator
    from triplestore.expressions.query_terms import QueryTerms
    from triplestore.operators.operator import Operator
    from triplestore.sparql.plan.planned import Atom

_FEW = 64.0  # maximum number of rows for which every order of joins is good enough
_ALIKE = 4.0  # maximum ratio of two numbers of rows that use the same plan


Entries: TypeAlias = tuple[Any, ...]
"""The entries of a pattern of a relation, some of them slots."""


class Slot(int):
    """The id of an exchangeable constant, and the number of the constant in the text."""

    number: int

    def __new__(cls, term_id: int, number: int) -> Slot:
        """An id as a slot."""
        made = super().__new__(cls, term_id)
        made.number = number
        return made


# --- which constants ---------------------------------------------------------------------------


class Exchangeable(NamedTuple):
    """Which constants of a shape can be exchanged.

    numbers  numbers of the constants that occur only where a plan can have others
    others   constants without a token of their own: of `a`, `true`, `-5` and lists. A text that
             also has one of them as a token is ambiguous, and is not exchanged.
    """

    numbers: frozenset[int]
    others: frozenset[bytes] = frozenset()


def exchangeable(shape: TextShape, parse: Callable[[str], Query]) -> Exchangeable:
    """Which constants of a shape can be exchanged.

    parse  returns the rewritten algebra of a text
    """
    if not is_cut_between_tokens(shape):
        return Exchangeable(frozenset())
    text, names = _with_names(shape)
    try:
        query = parse(text)
    except QuerySyntaxError:
        return Exchangeable(frozenset())
    if _is_searched_by_variable(query.pattern):
        return Exchangeable(frozenset())
    free: set[bytes] = set()
    fixed: set[bytes] = set()
    _sort(query, free, fixed)
    chosen = set(range(len(shape.constants)))
    for name, number in names:
        if name not in free or name in fixed:
            chosen.discard(number)
    others = (free | fixed).difference(name for name, _ in names)
    return Exchangeable(frozenset(chosen), frozenset(others))


def exchangeable_values(query: Query, values: Mapping[str, Constant]) -> Exchangeable:
    """Which values of a query's variables can be exchanged; equal values share one number."""
    numbers = {one: n for n, one in enumerate(dict.fromkeys(values.values()))}
    if _is_searched_by_variable(with_values(query, values).pattern):
        return Exchangeable(frozenset())
    if any(_has_table(pattern, values) for pattern in _patterns_of(query.pattern)):
        return Exchangeable(frozenset())  # the remaining rows depend on the values
    names = {one: Constant(_key_like(one.key, n)) for one, n in numbers.items()}
    free: set[bytes] = set()
    fixed: set[bytes] = set()
    _sort(with_values(query, {name: names[one] for name, one in values.items()}), free, fixed)
    own = {names[one].key: n for one, n in numbers.items()}
    chosen = frozenset(n for key, n in own.items() if key in free and key not in fixed)
    return Exchangeable(chosen, frozenset((free | fixed).difference(own)))


def _is_searched_by_variable(pattern: Node) -> bool:
    """Whether a plan has text queries that other parts of the pattern give."""
    return any(
        isinstance(node, sparql.TextHits) and isinstance(node.query, Variable)
        for node in _patterns_of(pattern)
    )


def _key_like(key: bytes, number: int) -> bytes:
    """The key of a term of the same kind that occurs nowhere else."""
    end = {LANG: b'"@en', TYPED: b'"^^<' + _OWN.encode() + b">"}.get(key[0], b"")
    return key[:1] + _OWN.encode() + b"%d" % number + end


def _patterns_of(pattern: Node) -> Iterator[Node]:
    """All nodes of a pattern, including those in EXISTS."""
    for node in sparql.walk(pattern):
        yield node
        for expression in expressions_of(node):
            for exists in exists_in(expression):
                yield from _patterns_of(exists.pattern)


def _has_table(node: Node, values: Mapping[str, Constant]) -> bool:
    return isinstance(node, sparql.Values) and any(v.name in values for v in node.variables)


def _with_names(shape: TextShape) -> tuple[str, list[tuple[bytes | None, int]]]:
    """The text with a distinct constant in each place, and the constant's number of each place."""
    text = shape.prologue
    names: list[tuple[bytes | None, int]] = []
    numbers = iter(shape.numbers)
    pieces = [*shape.pieces, ""]
    for place, token in enumerate(shape.tokens):
        text += pieces[place] or ""
        if token is None:
            text += "\n"
            continue
        number = next(numbers)
        called = token[0] not in "\"'.0123456789" and (pieces[place + 1] or "").lstrip()[:1] == "("
        if called or shape.constants[number] == TEXT_QUERY.key:
            text += token  # a function, which determines its possible arguments
            names.append((None, number))
            continue
        own = _named_like(token, place)
        text += f" {own} "
        names.append((key_of_token(own, {}), number))
    return text + (shape.pieces[-1] or ""), names


def _named_like(token: str, place: int) -> str:
    """A constant of the same kind that does not occur in texts."""
    first = token[0]
    if first in "\"'":
        rest = token[token.rindex(first) + 1 :]
        if not rest:
            return f'"{_OWN}{place}"'
        return f'"{_OWN}{place}"{rest}' if rest[0] == "@" else f'"{place}"^^<{_OWN}>'
    if first not in ".0123456789":
        return f"<{_OWN}{place}>"
    if "e" in token or "E" in token:
        return f"{place}.77e0"
    return f"{place}.0077" if "." in token else f"{place}0000077"


_OWN = "urn:triplestore:slot:"


def _sort(query: Query, free: set[bytes], fixed: set[bytes]) -> None:
    """Sort a query's constants: free ones can be exchanged where they occur, fixed ones cannot."""
    if query.dataset is not None:
        fixed.update(one.key for one in (*query.dataset.default, *query.dataset.named))
    if isinstance(query, Construct):
        _add((term for triple in query.template for term in triple), free)
    _sort_pattern(query.pattern, free, fixed)


def _sort_pattern(pattern: Node, free: set[bytes], fixed: set[bytes]) -> None:
    for node in sparql.walk(pattern):
        match node:
            case sparql.Bgp(patterns):
                for triple in patterns:
                    _add((triple.subject, triple.object), free)
                    _add((triple.predicate,), fixed)
            case sparql.Path(subject, path, object_):
                _add((subject, object_), free)
                _add(_of_path(path), fixed)
            case sparql.TermPattern():
                _add((node.subject, node.predicate, node.object), free)
            case sparql.Values(_, rows):
                _add((term for row in rows for term in row if term is not None), free)
            case sparql.Graph(name, _) | sparql.Service(name, _):
                _add((name,), fixed)
            case sparql.TextHits():
                _add((node.query, *node.properties), fixed)
        movable = isinstance(node, sparql.Filter | sparql.LeftJoin | sparql.Extend)
        for expression in expressions_of(node):
            _sort_expression(expression, free if movable else fixed, free, fixed)


def _sort_expression(
    node: Expression, chosen: set[bytes], free: set[bytes], fixed: set[bytes]
) -> None:
    if isinstance(node, Constant):
        chosen.add(node.key)
    elif isinstance(node, Call):
        for part in node.arguments:
            _sort_expression(part, chosen, free, fixed)
    elif isinstance(node, Exists):
        _sort_pattern(node.pattern, free, fixed)


def _add(terms: Iterator[Any] | Sequence[Any], to: set[bytes]) -> None:
    to.update(term.key for term in terms if isinstance(term, Constant))


def _of_path(path: sparql.PathExpression) -> Iterator[Constant]:
    match path:
        case Constant():
            yield path
        case sparql.Sequence(parts) | sparql.Alternative(parts):
            for part in parts:
                yield from _of_path(part)
        case sparql.NegatedSet(iris):
            yield from iris
        case _:
            yield from _of_path(path.path)


# --- where they are in a plan --------------------------------------------------------------------


class Slots:
    """The exchangeable constants of a plan, and where they are.

    numbers  the number of each exchangeable constant of the text, by key
    keys     the constants that the plan has now
    fits     False if the plan has a place where constants cannot be exchanged
    """

    def __init__(self, keys: Sequence[bytes], chosen: frozenset[int]) -> None:
        self.keys = tuple(keys)
        self.numbers = {key: n for n, key in enumerate(keys) if n in chosen}
        self.fits = bool(chosen)
        self._now: Mapping[bytes, Constant] = {}
        self._evaluators: list[tuple[Evaluator, Expression]] = []
        self._tables: list[tuple[Values, list[list[bytes | None]]]] = []
        self._patterns: list[tuple[Scan | Probe, Entries]] = []
        self._paths: list[tuple[PathProbe, Entries]] = []
        self._sizes: list[tuple[Atom, Entries]] = []

    # While a plan is made.

    def slot(self, key: bytes, term_id: int) -> int:
        """The id of a constant of a pattern, as a slot if it is exchangeable."""
        number = self.numbers.get(key)
        return term_id if number is None else Slot(term_id, number)

    def evaluates(self, evaluator: Evaluator, expression: Expression) -> None:
        """Note an expression that the plan evaluates."""
        if self.numbers and self._has_slot(expression):
            self._evaluators.append((evaluator, expression))

    def tabulates(self, values: Values, keys: list[list[bytes | None]]) -> None:
        """Note a table of VALUES, by columns."""
        if any(key in self.numbers for column in keys for key in column):
            self._tables.append((values, keys))

    def _has_slot(self, node: Expression) -> bool:
        if isinstance(node, Constant):
            return node.key in self.numbers
        return isinstance(node, Call) and any(map(self._has_slot, node.arguments))

    def finish(self, plan: Operator, atoms: Sequence[Atom | None]) -> None:
        """Note where ids are, once the plan is made."""
        known = [atom for atom in atoms if atom is not None]
        if not self.numbers or len(known) < len(atoms):
            self.fits = False  # a pattern without matches is planned as an empty table
            return
        self._sizes = [(atom, atom.pattern) for atom in known if _slots_in(atom.pattern)]
        for node in plan.nodes():
            if isinstance(node, Scan | Probe) and _slots_in(node.pattern):
                self._patterns.append((node, node.pattern))
                node.pattern = tuple(map(_plain, node.pattern))
            elif isinstance(node, PathProbe) and _slots_in(node.ends):
                self._paths.append((node, node.ends))
                node.ends = (_plain(node.ends[0]), _plain(node.ends[1]))

    # When it is asked again.

    def exchange(self, keys: Sequence[bytes], terms: QueryTerms) -> bool:
        """Put other constants into the plan; False if the plan does not fit them."""
        if keys == self.keys:
            return True
        if not self.fits:
            return False
        ids = {n: terms.encode_key(keys[n]) for n in self.numbers.values()}
        for atom, entries in self._sizes:
            pattern = _filled(entries, ids)
            if any(isinstance(term, int) and term >= FIRST_QUERY_ID for term in pattern):
                return False
            if not _alike(atom.size, atom.size_of(pattern)):
                return False
        self._now = {key: Constant(keys[n]) for key, n in self.numbers.items()}
        self.keys = tuple(keys)
        for operator, entries in self._patterns:
            operator.pattern = _filled(entries, ids)
        for path, ends in self._paths:
            subject, object_ = _filled(ends, ids)
            path.ends = (subject, object_)
        for evaluator, expression in self._evaluators:
            evaluator.exchange(self.now(expression))
        for values, columns in self._tables:
            values.frame = self._frame(values.frame, columns, terms)
        return True

    def _frame(self, frame: Frame, columns: list[list[bytes | None]], terms: QueryTerms) -> Frame:
        now = self._now
        made = [
            terms.encode_keys([now[key].key if key and key in now else key for key in column])
            for column in columns
        ]
        return Frame(frame.names, made, frame.rows)

    def now(self, node: Expression) -> Expression:
        """An expression with the constants that the plan has now."""
        if isinstance(node, Constant):
            return self._now.get(node.key, node)
        if isinstance(node, Call):
            return Call(node.function, tuple(map(self.now, node.arguments)))
        return node

    def templates(self, template: tuple[TriplePattern, ...]) -> tuple[TriplePattern, ...]:
        """A template with the constants that the plan has now."""
        if not self._now:
            return template
        return tuple(TriplePattern(*map(self.term, triple)) for triple in template)

    def term(self, term: Variable | Constant) -> Variable | Constant:
        """A term with the constants that the plan has now."""
        return self._now.get(term.key, term) if isinstance(term, Constant) else term


def _slots_in(pattern: Entries) -> bool:
    return any(isinstance(term, Slot) for term in pattern)


def _plain(term: Any) -> Any:
    return int(term) if isinstance(term, Slot) else term


def _filled(pattern: Entries, ids: Mapping[int, int]) -> Entries:
    return tuple([ids[t.number] if isinstance(t, Slot) else t for t in pattern])


def _alike(one: float, other: float) -> bool:
    """True if the same plan is good for both numbers of rows."""
    if one <= _FEW and other <= _FEW:
        return True
    return one <= _ALIKE * other and other <= _ALIKE * one
