"""Checks that a closure is exactly what the rules derive from asserted facts.

Start reading at `audit`. It computes the closure anew, in memory and from asserted facts alone, and
compares facts and counters, relation by relation, helper relations included. That takes as long as
materialising, and finds everything that maintenance may have left wrong. Two facts that only
support each other are found, because neither follows.

`thorough` uses none of the maintenance: it looks at every instance of every rule over the facts as
they are, so that what an instance concludes holds, and counters are right; and it goes forwards
from asserted facts, round by round, so that what is inferred does follow. That is a second opinion,
for tests and for suspicious users.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from itertools import repeat

import numpy as np

from triplestore.closures.attached import Attached
from triplestore.data_classes import data_class
from triplestore.datalog.text import show
from triplestore.evaluate.conclusions import Heads, conclude
from triplestore.maintenance.budget import ReasoningBudget
from triplestore.maintenance.modules.union import viewed_rules
from triplestore.maintenance.steps.regrouping import summarise_whole
from triplestore.maintenance.strategies import strategy
from triplestore.maintenance.update import update
from triplestore.maintenance.update_state import facts_of
from triplestore.proofs.closed_facts import NO_STRATA, Closed, Passing
from triplestore.proofs.forward_rounds import rounds
from triplestore.relations import (
    EXPLICIT,
    HOLDS,
    INFERRED,
    ChangedRows,
    Changes,
    Layer,
    Tables,
    bulk_layer,
)
from triplestore.relations.facts.fact_sets import FactSet, RelationKey, no_keys
from triplestore.relations.facts.sorted_arrays import counted, places_in, sorted_distinct, without
from triplestore.relations.facts.stored_facts import Stored, StoredPairs, StoredTuples
from triplestore.relations.packed_keys import Keys
from triplestore.rules.body_plans import WHOLE, plan_for
from triplestore.rules.compile_rules import compile_rules
from triplestore.rules.compiled_program import Compiled, recursive_numbers
from triplestore.rules.modules.written_out import Choice, Mode
from triplestore.terms import Dictionary

Progress = Callable[[str], None]

_SAYS = {
    "missing": "{} that follow are not in the store",
    "unfounded": "{} in the store as inferred do not follow from asserted facts",
    "status": "{} have a status that there is not",
    "count": "{} have a counter that is not the number of nonrecursive rule instances",
}


@data_class(frozen=False)
class Difference:
    """One way in which a closure is wrong: how many facts, and some of them.

    kind  `missing`, `unfounded`, `status` or `count`
    """

    kind: str
    facts: int = 0
    examples: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        many = f"{self.facts:,} fact" + ("" if self.facts == 1 else "s")
        text = _SAYS[self.kind].format(many)
        if self.facts == 1:
            text = text.replace(" follow are", " follows is").replace(" do not", " does not")
            text = text.replace(" have a", " has a")
        shown = "; ".join(self.examples)
        more = self.facts - len(self.examples)
        return f"{text}: {shown}" + (f"; and {more:,} more" if more else "")


@data_class(frozen=False, repr=False)
class Audit:
    """What an audit found.

    explicit, inferred  how many facts there are, without helper relations (which are also checked)
    counts              which numbers of a store differ from its rows, in words
    """

    differences: list[Difference]
    explicit: int
    inferred: int
    seconds: float
    counts: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether the closure is exactly what the rules derive, and all numbers are right."""
        return not (self.differences or self.counts)

    def problems(self) -> list[str]:
        """What is wrong, in words."""
        return [*(f"closure: {difference}" for difference in self.differences), *self.counts]

    def __str__(self) -> str:
        seen = f"{self.explicit:,} explicit and {self.inferred:,} inferred facts"
        wrong = "the closure is wrong" if self.differences else "some numbers are wrong"
        verdict = "the closure is exact" if self.ok else wrong
        return "\n".join([f"{seen}: {verdict}", *map(str, self.differences), *self.counts])

    def __repr__(self) -> str:
        return f"<audit: {str(self).splitlines()[0]}>"

    def _repr_html_(self) -> str:
        # Late: only notebooks ask for it.
        from triplestore.notebook.parts import output, preformatted

        return output(preformatted(str(self)))


def audit(
    compiled: Compiled,
    tables: Tables,
    dictionary: Dictionary | Passing,
    *,
    thorough: bool = False,
    examples: int = 5,
    progress: Progress | None = None,
    budget: ReasoningBudget | None = None,
    prefixes: Mapping[str, str] | None = None,
) -> Audit:
    """Whether tables are closed under a program, facts and counters.

    dictionary  of the tables; or the terms that the rules were compiled with
    examples    the maximum number of facts that are named for each kind of difference
    progress    called with what is being done

    >>> from triplestore.datalog.text import read
    >>> from triplestore.terms import Dictionary
    >>> dictionary = Dictionary()
    >>> rules = read("@prefix : <http://e/> . :A[:a] . :B[?x] :- :A[?x] .")
    >>> compiled = Compiled(rules, lambda keys: dictionary.encode_keys(list(keys)))
    >>> print(audit(compiled, Tables(), dictionary))
    0 explicit and 0 inferred facts: the closure is wrong
    2 facts that follow are not in the store: :A[:a]; :B[:a]
    """
    started = time.perf_counter()
    say = progress or _silent
    names = compiled.program.prefixes if prefixes is None else prefixes
    closed = Closed(compiled, tables, dictionary)
    auditor = _Auditor(compiled, closed, say, examples, names)
    auditor.check_statuses()
    if thorough:
        auditor.check_instances()
        auditor.check_foundations()
    else:
        budget = budget or ReasoningBudget()
        if budget.progress is None:
            budget.progress = say
        auditor.compare(auditor.computed_anew(budget))
    seconds = time.perf_counter() - started
    found = [one for one in auditor.differences.values() if one.facts]
    return Audit(found, auditor.explicit, auditor.inferred, seconds)


def _silent(text: str) -> None:
    pass


class _Auditor:
    """The differences while they are found."""

    def __init__(
        self,
        compiled: Compiled,
        closed: Closed,
        say: Progress,
        examples: int,
        names: Mapping[str, str],
    ) -> None:
        self.closed = closed
        self.compiled = compiled
        self.tables = closed.tables
        self.say = say
        self.examples = examples
        self.names = names
        self.differences = {kind: Difference(kind) for kind in _SAYS}
        self.explicit = self.inferred = 0

    def note(self, kind: str, relation: RelationKey, keys: Keys, extra: Iterable[str]) -> None:
        """Add facts of a relation to a difference; `extra` is said of each."""
        difference = self.differences[kind]
        difference.facts += len(keys)
        room = self.examples - len(difference.examples)
        for key, more in zip(keys[:room].tolist(), extra, strict=False):
            difference.examples.append(self._shown(relation, key) + more)

    def _shown(self, relation: RelationKey, key: object) -> str:
        fact = show(self.closed.fact((relation, key)), self.names)
        if relation in self.compiled.helpers:
            assert isinstance(relation, tuple)
            name = self.closed.terms.key(relation[0]), relation[1]
            about = self.compiled.simple.helpers.get(name, "another program")
            return f"{fact}, a row of the helper relation for {about}"
        return fact

    def relations(self, *others: Iterable[RelationKey]) -> list[RelationKey]:
        """All relations with rows, and others."""
        found: dict[RelationKey, None] = dict.fromkeys(self.tables.names().tolist())
        found.update(dict.fromkeys(self.tables.tuple_names()))
        for more in others:
            found.update(dict.fromkeys(more))
        return list(found)

    def keys(self, relation: RelationKey, where: int = HOLDS) -> Keys:
        """The facts of a relation, sorted."""
        return _keys(self.tables, relation, where, self.closed.type_id)

    # -- what is recorded ------------------------------------------------------------------------

    def check_statuses(self) -> None:
        """Every row is explicit or inferred, and the totals are those of the rows."""
        self.say("statuses")
        for relation in self.relations():
            rows: StoredPairs | StoredTuples
            if isinstance(relation, int) and relation in self.tables.closed:
                rows = self.closed.stored.rows(relation)
                keys = rows.array(0)
                self.inferred += self.tables.closed[relation].count() - len(keys)
                unseen = keys[~self.tables.closed[relation].contains_keys(keys)]
                self.note("unfounded", relation, unseen, repeat(", which no closure has"))
            else:
                rows, keys = self.closed.stored.of(relation), self.keys(relation)
            status = rows.status(keys)
            wrong = keys[(status != EXPLICIT) & (status != INFERRED)]
            self.note("status", relation, wrong, repeat(""))
            if relation not in self.compiled.helpers:
                self.explicit += int(np.count_nonzero(status == EXPLICIT))
                self.inferred += int(np.count_nonzero(status == INFERRED))

    # -- against a closure that is computed anew -------------------------------------------------

    def computed_anew(self, budget: ReasoningBudget) -> Tables:
        """The closure of the asserted facts."""
        self.say("asserted facts")
        stated = self._stated()
        terms = self.closed.terms
        method = strategy("dredc")
        kept: dict[bytes, Mode] = {terms.key(name): "compressed" for name in self.tables.closed}
        closure = update(
            self.compiled,
            stated,
            stated,
            {},
            {},
            method,
            terms=terms,
            budget=budget,
            choice=Choice("plain", kept),
        )
        anew = stated.push(Layer.build(closure.changes))
        return anew.with_schemes(closure.work.schemes_after())

    def _stated(self) -> Tables:
        """Tables with the asserted facts only."""
        columns: list[tuple[np.ndarray, ...]] = []
        tuples = {}
        for relation in self.relations():
            keys = self.keys(relation, EXPLICIT)
            if len(keys) == 0:
                continue
            facts = facts_of(relation, keys, self.closed.type_id)
            if isinstance(relation, tuple):
                tuples[relation] = ChangedRows.of(facts)
            else:
                name = np.full(len(keys), relation, dtype=np.uint32)
                columns.append((name, facts[0], facts[1]))
        tables = Tables()
        if columns:
            p, s, o = (np.concatenate(column) for column in zip(*columns, strict=True))
            tables = tables.push(bulk_layer(p, s, o))
        return tables.push(Layer.build(Changes(tuples=tuples)))

    def compare(self, anew: Tables) -> None:
        """Compare facts and counters with those of other tables."""
        self.say("comparing")
        other = Stored(anew, self.closed.type_id)
        names = [*anew.names().tolist(), *anew.tuple_names()]
        same = self._same_closures(anew)
        for relation in self.relations(names):
            if relation in same:  # then the edges say all
                assert isinstance(relation, int)
                keys = self.tables.stored_relation(relation).keys()
                wanted = anew.stored_relation(relation).keys()
            else:
                keys = self.keys(relation)
                wanted = _keys(anew, relation, HOLDS, self.closed.type_id)
            self.note("missing", relation, without(wanted, keys), repeat(""))
            self.note("unfounded", relation, without(keys, wanted), repeat(""))
            both = keys[places_in(keys, wanted) >= 0]
            self._check_counts(relation, both, other.of(relation).counts(both))

    def _same_closures(self, anew: Tables) -> set[RelationKey]:
        """The relations of which only edges are written, here and in other tables, if what their
        rules come to is the same, and so are the schemes' edges and the number of pairs."""
        found: set[RelationKey] = set()
        for anchor, one in self.tables.schemes.items():
            other = anew.schemes.get(anchor)
            if other is None or not (one.compressed and other.compressed):
                continue
            if one.structure == other.structure and _same_pairs(one, other):
                found.update(one.ids)
        return found

    def _check_counts(self, relation: RelationKey, keys: Keys, wanted: np.ndarray) -> None:
        counts = self.closed.stored.of(relation).counts(keys)
        wrong = counts != wanted
        pairs = zip(counts[wrong].tolist(), wanted[wrong].tolist(), strict=True)
        texts = (f" (counter {is_now}, not {should})" for is_now, should in pairs)
        self.note("count", relation, keys[wrong], texts)

    # -- against all rule instances --------------------------------------------------------------

    def check_instances(self) -> None:
        """What every instance of every rule over these facts concludes holds and is counted."""
        self.say("rule instances")
        viewed = viewed_rules(self.tables.schemes, self.compiled)
        uncounted = recursive_numbers(self.compiled) | viewed
        every = range(len(self.compiled.rules))
        counted_heads = self._heads([n for n in every if n not in uncounted])
        other_heads = self._heads([n for n in every if n in uncounted])
        for relation in self.relations(counted_heads, other_heads):
            keys = self.keys(relation)
            none = no_keys(relation)
            concluded, times = counted(counted_heads.get(relation, none))
            others = sorted_distinct(other_heads.get(relation, none))
            for heads in (concluded, without(others, concluded)):
                self.note("missing", relation, without(heads, keys), repeat(""))
            places = places_in(keys, concluded)
            wanted = np.where(places >= 0, times[places], 0) if len(times) else 0 * places
            self._check_counts(relation, keys, wanted)

    def _heads(self, numbers: list[int]) -> dict[RelationKey, Keys]:
        """The conclusions of all instances of some rules, one for each instance."""
        closed, heads = self.closed, Heads()
        rules = [self.compiled.rules[number] for number in numbers]
        work = closed.work()
        for family in compile_rules(rules, NO_STRATA, closed.terms.encode_keys, numbers):
            if family.summary is not None:
                summarise_whole(work, family, work.old(), heads, "audit")
                continue
            plan = plan_for(family, WHOLE, closed.all)
            start: list[np.ndarray | None] = [None] * (family.width + 1)
            rows, n = closed.run.follow(family, plan, start, 1, closed.all, "", closed.all)
            conclude(family, rows, n, closed.type_id, heads)
        return heads.taken()

    def check_foundations(self) -> None:
        """Every inferred fact follows from asserted facts."""
        found = FactSet()
        every = range(len(self.compiled.rules))
        for number, fresh in enumerate(rounds(self.closed, every, FactSet()), 1):
            self.say(f"round {number}")
            for relation, keys in fresh.items():
                found.add(relation, keys)
        for relation in self.relations():
            keys = self.keys(relation, INFERRED)
            unfounded = keys[~found.contains(relation, keys)]
            self.note("unfounded", relation, unfounded, repeat(""))


def _keys(tables: Tables, relation: RelationKey, where: int, type_id: int) -> Keys:
    """The facts of a relation as the engine keeps them, sorted."""
    if isinstance(relation, tuple):
        return tables.tuples(*relation).keys(where)
    return tables.relation(relation).keys(1 if relation == type_id else 0, where)


def _same_pairs(one: Attached, other: Attached) -> bool:
    """Whether two closures of one structure have the same pairs, if their rows are the same. The
    parts of a union are compared as what they are."""
    if one.structure.is_union:
        return True
    return one.closure.count() == other.closure.count() and np.array_equal(
        one.closure.edges, other.closure.edges
    )
